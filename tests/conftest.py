"""What all tests share: an order, and one made table."""

import pytest

from mismatch import mismatch_data

pytest.register_assert_rewrite("contract")

LONG = ("test_docs.py", "test_real_data.py")


def pytest_collection_modifyitems(items):
    """Begin with what takes long: at the end no worker waits for another."""
    items.sort(key=lambda item: item.path.name not in LONG)


@pytest.fixture(scope="session")
def table():
    """Mismatched rows X, labels y (1, 0, -1) and the truth, never to be changed."""
    X, y, truth = mismatch_data(300, seed=0)
    for array in (X, y, truth):
        array.flags.writeable = False
    return X, y, truth
