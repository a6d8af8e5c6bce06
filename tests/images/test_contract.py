"""Learners of photos refuse pixels that are none."""

import numpy as np
import pytest

from spadework.errors import InputError
from spadework.images.contract import check_pixels


def test_bytes_of_colour_photos_are_pixels():
    check_pixels(np.zeros((2, 8, 9, 3), np.uint8))


@pytest.mark.parametrize(
    ("shape", "dtype"),
    [((2, 8, 8, 3), np.float32), ((2, 8, 8), np.uint8), ((2, 3, 8, 8), np.uint8)],
)
def test_pixels_that_are_no_bytes_or_have_no_colours_are_refused(shape, dtype):
    with pytest.raises(InputError, match="pixels must be uint8 of shape"):
        check_pixels(np.zeros(shape, dtype))
