"""Views of photos: turned and tilted, never mirrored."""

import numpy as np
import pytest
import torch

from spadework.images.augment import N_VIEWS, QUARTERS, show


def photos(size=64):
    rng = np.random.default_rng(0)
    return torch.from_numpy(rng.integers(0, 256, (2, 3, size, size), dtype=np.uint8))


def test_the_first_view_is_the_photo_itself():
    assert torch.equal(show(photos(), 0), photos())


def test_four_quarter_turns_bring_a_photo_back():
    turned = photos()
    for _ in range(QUARTERS):
        turned = show(turned, 1)
    assert torch.equal(turned, photos())


@pytest.mark.parametrize("view", range(N_VIEWS))
def test_every_view_has_the_shape_and_the_range_of_photos(view):
    seen = show(photos(), view)
    assert seen.shape == photos().shape
    assert seen.min() >= 0
    assert seen.max() <= 255


@pytest.mark.parametrize("view", range(N_VIEWS))
def test_no_view_mirrors_a_photo(view):
    """Three spots at the tips of an L keep their sense of rotation."""
    spots = torch.zeros(1, 3, 64, 64)
    corner, long, short = (44, 20), (14, 20), (44, 40)
    for colour, (y, x) in enumerate((corner, long, short)):
        spots[0, colour, y - 2 : y + 3, x - 2 : x + 3] = 255
    seen = show(spots, view)[0]
    weight = seen / seen.sum(dim=(1, 2), keepdim=True)
    place = torch.arange(64.0)
    y = (weight.sum(dim=2) * place).sum(dim=1)
    x = (weight.sum(dim=1) * place).sum(dim=1)
    turn = (x[1] - x[0]) * (y[2] - y[0]) - (y[1] - y[0]) * (x[2] - x[0])
    assert turn > 100


def test_tilted_views_differ_from_quarter_turns():
    views = [show(photos(), view).float() for view in range(N_VIEWS)]
    for i, one in enumerate(views):
        for other in views[:i]:
            assert (one - other).abs().mean() > 10
