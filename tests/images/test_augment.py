"""Views of photos, turned and tilted but never mirrored; and photos changed at random."""

import numpy as np
import pytest
import torch

from spadework.images.augment import (
    N_VIEWS,
    QUARTERS,
    base_augment,
    jitter_colors,
    show,
    translate,
)


def photos(size=64):
    rng = np.random.default_rng(0)
    return torch.from_numpy(rng.integers(0, 256, (2, 3, size, size), dtype=np.uint8))


# Views


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


# Changes at random


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def floats():
    return torch.rand(8, 3, 64, 64, generator=generator(7))


def test_seeds_repeat_and_differ():
    images = floats()
    before = images.clone()
    first, again = (base_augment(images, generator(3)) for _ in range(2))
    assert torch.equal(first, again)
    assert not torch.equal(first, base_augment(images, generator(4)))
    assert torch.equal(images, before)
    assert first.shape == images.shape
    assert first.min() >= 0
    assert first.max() <= 1


def test_photos_need_not_be_square():
    images = torch.rand(4, 3, 48, 96, generator=generator())
    assert base_augment(images, generator()).shape == images.shape


def test_translation_moves_and_mirrors():
    ramp = torch.arange(32.0).expand(16, 3, 32, 32)
    moved = translate(ramp, 1 / 8, generator())[:, 0, 0, :]
    inside = moved[:, 4:-4].diff(dim=1)
    assert torch.equal(inside, torch.ones_like(inside))
    assert moved[:, 16].unique().numel() > 3


def test_colour_jitter_without_strength_changes_nothing():
    images = floats()
    torch.testing.assert_close(
        jitter_colors(images, 0.0, generator()), images, atol=1e-5, rtol=0
    )


def test_colour_jitter_keeps_grey_photos_grey():
    grey = floats()[:, :1].expand(-1, 3, -1, -1)
    jittered = jitter_colors(grey, 0.1, generator())
    assert (jittered.amax(dim=1) - jittered.amin(dim=1)).max() < 1e-3
