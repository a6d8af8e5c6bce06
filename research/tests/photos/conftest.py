"""What tests of photo baselines share: made photos to learn from, and unseen ones."""

import pytest
from made_photos import made_photos


@pytest.fixture(scope="module")
def train():
    """Pixels and truth of 40 photos, of which 12 have a defect."""
    pixels, truth = made_photos(40, 12, seed=0)
    pixels.setflags(write=False)
    return pixels, truth


@pytest.fixture(scope="module")
def unseen():
    """As many others."""
    return made_photos(40, 12, seed=1)
