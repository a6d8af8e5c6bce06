"""Photos are changed at random, weakly and strongly."""

import pytest
import torch

from spadework_research.photos.augment import CUTOUT, strong_augment, weak_augment

each_change = pytest.mark.parametrize("change", [weak_augment, strong_augment])


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@each_change
def test_seeds_repeat_and_differ(change):
    images = torch.rand(8, 3, 64, 64, generator=generator(7))
    before = images.clone()
    first, again = (change(images, generator(3)) for _ in range(2))
    assert torch.equal(first, again)
    assert not torch.equal(first, change(images, generator(4)))
    assert torch.equal(images, before)
    assert first.min() >= 0
    assert first.max() <= 1


@each_change
def test_photos_need_not_be_square(change):
    images = torch.rand(4, 3, 48, 96, generator=generator())
    assert change(images, generator()).shape == images.shape


def test_about_half_of_the_photos_are_mirrored_by_weak_changes():
    ramp = torch.arange(32.0).expand(64, 3, 32, 32)
    rises = weak_augment(ramp, generator())[:, 0, 0, 8:24].diff(dim=1).mean(dim=1) > 0
    assert 16 < rises.sum() < 48


def test_strong_changes_cut_out_at_most_a_quarter_of_a_photo():
    white = torch.ones(64, 3, 32, 32)
    greyed = (strong_augment(white, generator()) == 0.5).all(dim=1).float()
    assert 0 < greyed.mean(dim=(1, 2)).max() <= (CUTOUT + 1 / 32) ** 2
