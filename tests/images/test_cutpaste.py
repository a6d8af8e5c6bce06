"""Pieces of a photo are cut and pasted where a mask says."""

import pytest
import torch

from spadework.images.cutpaste import cut_paste, scar, three_way

PASTES = [cut_paste, scar]


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def photos(n_photos=8, side=64, dtype=torch.float32):
    drawn = torch.rand(n_photos, 3, side, side, generator=generator(7))
    return drawn if dtype == torch.float32 else (255 * drawn).to(dtype)


@pytest.mark.parametrize("paste", PASTES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.uint8])
def test_only_masked_pixels_change_and_seeds_repeat(paste, dtype):
    images = photos(dtype=dtype)
    before = images.clone()
    pasted, again = (paste(images, generator()) for _ in range(2))
    assert torch.equal(pasted.images, again.images)
    assert not torch.equal(pasted.images, paste(images, generator(4)).images)
    outside = ~pasted.masks[:, None].expand_as(images)
    assert torch.equal(images, before)
    assert pasted.images.dtype == dtype
    assert torch.equal(pasted.images[outside], images[outside])
    changed = (pasted.images != images).any(dim=1)
    assert (changed & pasted.masks).sum() > 0.9 * pasted.masks.sum()


def test_an_upright_piece_covers_2_to_15_percent():
    masks = cut_paste(photos(60, 128), generator()).masks
    area = masks.float().mean(dim=(1, 2))
    assert area.min() > 0.019
    assert area.max() < 0.152
    assert area.min() < 0.03
    assert area.max() > 0.13


def test_an_upright_piece_is_a_rectangle_of_the_stated_shape():
    masks = cut_paste(photos(60, 128), generator()).masks
    rows, columns = masks.any(dim=2).sum(dim=1), masks.any(dim=1).sum(dim=1)
    assert torch.equal(rows * columns, masks.sum(dim=(1, 2)))
    aspect = columns / rows
    assert aspect.min() > 0.27
    assert aspect.max() < 3.7
    assert 0.3 < (aspect < 1).float().mean() < 0.7


@pytest.mark.parametrize(("side", "unit"), [(256, 1), (64, 0.25)])
def test_a_scar_is_thin_short_and_scales_with_the_photo(side, unit):
    area = scar(photos(64, side), generator()).masks.sum(dim=(1, 2))
    assert area.min() >= 0.5 * (2 * unit) * (10 * unit)
    assert area.max() <= 1.3 * (16 * unit) * (25 * unit)


def test_scars_are_turned():
    masks = scar(photos(64, 256), generator()).masks
    box = masks.any(dim=2).sum(dim=1) * masks.any(dim=1).sum(dim=1)
    assert (masks.sum(dim=(1, 2)) < 0.8 * box).float().mean() > 0.5


def test_a_pasted_piece_comes_from_the_same_photo():
    shades = torch.linspace(0.2, 0.8, 8).view(-1, 1, 1, 1).expand(8, 3, 64, 64)
    pasted = cut_paste(shades, generator()).images
    assert (pasted / shades - 1).abs().max() < 0.15


def test_three_ways_keep_the_first_as_it_is():
    images = photos()
    views = three_way(images, generator())
    assert torch.equal(views.images[:8], images)
    assert not views.masks[:8].any()
    assert views.masks[8:].any(dim=(1, 2)).all()
    assert views.kinds.tolist() == [0] * 8 + [1] * 8 + [2] * 8


def test_photos_need_not_be_square():
    images = torch.rand(4, 3, 48, 96, generator=generator())
    assert three_way(images, generator()).masks.shape == (12, 48, 96)
