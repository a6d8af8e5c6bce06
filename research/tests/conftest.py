"""What tests of research share with those of the library: one made table."""

import pytest

from mismatch import mismatch_data


@pytest.fixture(scope="session")
def table():
    """Mismatched rows X, labels y (1, 0, -1) and the truth, never to be changed."""
    X, y, truth = mismatch_data(300, seed=0)
    for array in (X, y, truth):
        array.flags.writeable = False
    return X, y, truth
