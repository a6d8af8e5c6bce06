"""Checks of pictures that come as arrays."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spadework.arrays import Pixels
from spadework.errors import InputError
from spadework.images.decoding import scale_grey


def check_images(images: Any) -> Sequence[Any] | NDArray[Any]:
    """Return several pictures, or refuse what is one picture, none, or no pictures."""
    if hasattr(images, "dtype"):
        images = np.asarray(images)
        if images.dtype != object:
            _refuse_other_shapes(images.shape)
    elif not isinstance(images, (list, tuple)):
        raise InputError(
            f"images must be an array or a list of arrays; got {type(images).__name__}"
        )
    if not len(images):
        raise InputError("images are empty: expected one picture at least")
    return images


def _refuse_other_shapes(shape: tuple[int, ...]) -> None:
    """Refuse arrays that are not several pictures."""
    if len(shape) == 3 and shape[2] in (3, 4) and shape[1] > 4:
        raise InputError(
            f"images of shape {shape} look like one colour picture; give several, of "
            f"shape (n, H, W, 3), or this one as images[None]"
        )
    if len(shape) not in (3, 4):
        raise InputError(
            f"images must have the shape (n, H, W), (n, H, W, 1) or (n, H, W, 3); got "
            f"{shape}"
        )


def eight_bit(image: Any, row: int) -> Pixels:
    """Return one picture as uint8 of shape (H, W) or (H, W, 3); row is its position."""
    if not hasattr(image, "dtype"):
        raise InputError(
            f"image {row} must be an array; got {type(image).__name__}. A picture of "
            f"Pillow becomes one with numpy.asarray(picture.convert('RGB'))"
        )
    values = np.asarray(image)
    if values.ndim == 3 and values.shape[2] == 1:
        values = values[:, :, 0]
    if values.ndim not in (2, 3) or values.shape[2:] not in ((), (3,)) or not values.size:
        raise InputError(
            f"image {row} must have the shape (H, W), (H, W, 1) or (H, W, 3), channels "
            f"last and without transparency; got {np.shape(image)}"
        )
    values = np.ascontiguousarray(values)
    if values.dtype == np.uint8:
        return values
    if values.dtype.kind != "f":
        raise InputError(
            f"image {row} must hold uint8 from 0 to 255 or floats from 0 to 1; got "
            f"{values.dtype}. Divide by the largest possible value to get floats"
        )
    try:
        return scale_grey(values)
    except ValueError as error:
        raise InputError(
            f"image {row} must hold floats from 0 to 1: {error}. Divide by the largest "
            f"possible value, and fill what is missing"
        ) from error
