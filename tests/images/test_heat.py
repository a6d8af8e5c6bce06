"""Heat is laid over photos on one scale, and pictures become files."""

import io

import numpy as np
from PIL import Image

from spadework.images.heat import encode_picture, heat_range, overlay
from spadework.images.patches import PatchBank


def bank(n_patches):
    patches = np.random.default_rng(0).normal(size=(n_patches, 4)).astype(np.float32)
    return PatchBank(patches, np.ones(4, np.float32))


def test_usual_heat_is_what_nearly_all_normal_patches_have_from_the_next():
    patches = bank(300).patches
    gaps = np.linalg.norm(patches[:, None] - patches, axis=2)
    np.fill_diagonal(gaps, np.inf)
    usual, odd = heat_range(bank(300))
    np.testing.assert_allclose(usual, np.quantile(gaps.min(axis=1), 0.99), rtol=1e-3)
    assert odd == 3.5 * usual


def test_a_bank_of_one_patch_has_a_range_too():
    usual, odd = heat_range(bank(1))
    assert 0 <= usual < odd


def test_usual_places_stay_as_they_are_and_odd_ones_turn_red():
    grey = np.full((1, 2, 3, 3), 100, np.uint8)
    heat = np.array([[[0.0, 1.0, 2.0], [3.0, 5.0, 99.0]]])
    drawn = overlay(grey, heat, (2.0, 5.0))[0].astype(int)
    assert (drawn[0] == 100).all()
    red, green, _ = np.moveaxis(drawn[1], -1, 0)
    assert (red > 150).all()
    assert green[0] > green[1] == green[2]
    assert (drawn[1, 1] == drawn[1, 2]).all()


def test_a_picture_becomes_a_file_and_is_made_smaller_only_if_it_is_too_large():
    pixels = np.random.default_rng(0).integers(0, 256, (20, 40, 3), dtype=np.uint8)
    with Image.open(io.BytesIO(encode_picture(pixels, "PNG", largest=40))) as picture:
        np.testing.assert_array_equal(np.asarray(picture), pixels)
    with Image.open(io.BytesIO(encode_picture(pixels, "JPEG", largest=10))) as picture:
        assert (picture.format, picture.size) == ("JPEG", (10, 5))
