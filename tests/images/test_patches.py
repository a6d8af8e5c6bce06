"""Patches of photos, and their distances to a bank."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from spadework.errors import InputError
from spadework.images.patches import (
    PatchBank,
    draw_patches,
    make_bank,
    mean_largest_distance,
    patch_distances,
    smooth,
)


def test_distances_are_those_of_a_naive_search():
    rng = np.random.default_rng(0)
    maps = torch.from_numpy(rng.normal(size=(2, 5, 3, 4)).astype(np.float32))
    patches = torch.from_numpy(rng.normal(size=(7, 5)).astype(np.float32))
    own = torch.zeros(2, 7, dtype=torch.bool)
    own[1, 3] = True
    found = patch_distances(maps, patches, own)
    for photo in range(2):
        for row in range(3):
            for column in range(4):
                patch = maps[photo, :, row, column]
                gaps = (patches[~own[photo]] - patch).norm(dim=1)
                torch.testing.assert_close(found[photo, row, column], gaps.min())


def test_a_patch_of_the_bank_is_at_no_distance():
    maps = torch.randn(1, 4, 2, 2, generator=torch.Generator().manual_seed(0))
    patches = maps.flatten(2)[0].T.contiguous()
    assert patch_distances(maps, patches).max() < 1e-3


@given(data=st.data())
def test_the_score_of_patches_is_the_mean_of_the_ten_largest_distances(data):
    n_photos, n_channels, height, width, n_patches = data.draw(
        st.tuples(*(st.integers(1, most) for most in (3, 4, 6, 6, 40)))
    )
    seed = data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    shapes = (n_photos, n_channels, height, width), (n_patches, n_channels)
    # Whole numbers, so that many distances are the same.
    maps, patches = (
        torch.from_numpy(rng.integers(-3, 4, shape).astype(np.float32))
        for shape in shapes
    )
    own = None
    if data.draw(st.booleans()):
        own = torch.from_numpy(rng.random((n_photos, n_patches)) < 0.3)
        own[:, 0] = False
    distances = patch_distances(maps, patches, own).flatten(1)
    oddest = distances.sort(dim=1, descending=True).values[:, :10]
    torch.testing.assert_close(mean_largest_distance(maps, patches, own), oddest.mean(1))


def test_patches_are_drawn_from_their_own_photo_without_repetition():
    maps = np.arange(2 * 3 * 4, dtype=np.float32).reshape(2, 3, 2, 2)
    drawn = draw_patches(maps, 3, np.random.default_rng(0))
    assert drawn.shape == (2, 3, 3)
    for photo in range(2):
        every = {tuple(each) for each in maps[photo].reshape(3, -1).T}
        found = {tuple(each) for each in drawn[photo]}
        assert len(found) == 3
        assert found <= every


def test_channels_of_a_bank_count_alike():
    rng = np.random.default_rng(0)
    bank = make_bank((rng.normal(size=(500, 4)) * [1, 10, 100, 0]).astype(np.float32))
    assert np.allclose(bank.patches.std(axis=0)[:3], 0.5, atol=0.01)
    assert np.isfinite(bank.patches).all()


def test_a_bank_without_patches_is_refused():
    with pytest.raises(InputError, match="bank"):
        PatchBank(np.zeros((0, 3), np.float32), np.ones(3, np.float32))


def test_smoothing_is_a_mean_over_neighbours_that_are_there():
    maps = torch.arange(9.0).reshape(1, 1, 3, 3)
    assert smooth(maps)[0, 0, 1, 1] == 4
    assert smooth(maps)[0, 0, 0, 0] == np.mean([0, 1, 3, 4])
