"""Arrays of pixels become squares of colour; what is unclear is refused."""

import numpy as np
import pytest
import torch
from PIL import Image

from spadework.errors import InputError
from spadework.images import storing
from spadework.images.reading import as_pixels, read_photos

RNG = np.random.default_rng(0)
GREYS = RNG.integers(0, 256, (3, 8, 8), dtype=np.uint8)
COLOURS = RNG.integers(0, 256, (3, 8, 8, 3), dtype=np.uint8)


def test_pixels_of_the_right_size_stay_as_they_are():
    assert (as_pixels(COLOURS, 8) == COLOURS).all()
    for greys in (GREYS, GREYS[..., None], list(GREYS), torch.from_numpy(GREYS)):
        pixels = as_pixels(greys, 8)
        assert pixels.dtype == np.uint8
        assert pixels.shape == (3, 8, 8, 3)
        assert (pixels == GREYS[..., None]).all()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_floats_from_0_to_1_are_the_same_pixels(dtype):
    off = as_pixels((COLOURS / 255).astype(dtype), 8).astype(int) - COLOURS
    assert np.abs(off).max() <= (dtype == np.float16)


def test_arrays_of_various_sizes_and_kinds_may_be_mixed():
    pictures = [np.full((5, 9), 7, np.uint8), np.ones((30, 20, 3)), COLOURS[0]]
    pixels = as_pixels(pictures, 8)
    assert (pixels[0] == 7).all()
    assert (pixels[1] == 255).all()
    assert (pixels[2] == COLOURS[0]).all()


def test_arrays_and_files_become_the_same_pixels(tmp_path):
    picture = RNG.integers(0, 256, (50, 70, 3), dtype=np.uint8)
    Image.fromarray(picture).save(tmp_path / "a.png")
    read = read_photos([tmp_path / "a.png"], 16).pixels
    assert (as_pixels([picture], 16) == read).all()


def test_what_comes_in_is_not_changed_and_not_shared():
    given = COLOURS[:, ::-1].copy()
    given.flags.writeable = False
    as_pixels(given, 8)[:] = 0
    as_pixels(given, 5)[:] = 0
    assert (given == COLOURS[:, ::-1]).all()
    assert (as_pixels(COLOURS[:, ::-1], 8) == given).all()


def test_many_arrays_are_kept_in_a_file(monkeypatch):
    monkeypatch.setattr(storing, "MEMORY_BYTES", 100)
    pixels = as_pixels(COLOURS, 8)
    assert isinstance(pixels, np.memmap)
    assert (pixels == COLOURS).all()


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (GREYS / 100, r"image 0 .*values from 0\.\d+ to 2\.\d+, expected 0 to 1"),
        (np.full((1, 4, 4), np.nan), "values from nan"),
        (np.full((1, 4, 4), -0.1), "values from -0.1"),
        (GREYS.astype(np.int64), "uint8 from 0 to 255 or floats from 0 to 1; got int64"),
        (GREYS > 9, "got bool"),
        (np.zeros((4, 4)), r"must have the shape .*; got \(4, 4\)"),
        (np.zeros((8, 8, 3)), r"look like one colour picture.*images\[None\]"),
        (np.zeros((2, 3, 8, 8)), r"channels last .*got \(3, 8, 8\)"),
        (np.zeros((2, 8, 8, 4)), r"without transparency; got \(8, 8, 4\)"),
        (np.zeros((0, 8, 8)), "images are empty"),
        (np.zeros((1, 0, 8)), r"got \(0, 8\)"),
        ([], "images are empty"),
        ([COLOURS[0], np.zeros(4)], r"image 1 must have the shape"),
        ([[[0, 1], [1, 0]]], "image 0 must be an array; got list"),
        ([Image.new("P", (8, 8))], "convert"),
        ("folder", "an array or a list of arrays; got str"),
    ],
)
def test_other_arrays_are_refused(images, message):
    with pytest.raises(InputError, match=message):
        as_pixels(images, 8)
