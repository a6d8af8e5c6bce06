"""Heat maps as people look at them: laid over the photo, on one scale for all."""

import io
from typing import Any

import numpy as np
import torch

from spadework.arrays import Numbers, Pixels
from spadework.images.patches import PatchBank, patch_distances

_COOL, _HOT = np.array([255.0, 210.0, 0.0]), np.array([215.0, 0.0, 30.0])
_OPACITY = 0.7
_USUAL, _ODD = 0.99, 3.5
_SAMPLE = 512


def heat_range(bank: PatchBank) -> tuple[float, float]:
    """Heat that is still usual, and heat that is as odd as colours can show.

    Usual is what nearly all normal patches have, measured from one to the next; three
    and a half times that is drawn in full colour.
    """
    patches = torch.from_numpy(bank.patches)
    every = max(1, len(patches) // _SAMPLE)
    queries = patches[::every, :, None, None]
    own = torch.eye(len(patches), dtype=torch.bool)[::every]
    if len(patches) == 1:
        own[:] = False
    distances = patch_distances(queries, patches, own).numpy()
    usual = float(np.quantile(distances, _USUAL))
    return usual, max(_ODD * usual, usual + 1e-6)


def overlay(pixels: Pixels, heat: Numbers, range_: tuple[float, float]) -> Pixels:
    """Colour photos, (n_photos, height, width, 3), where they are odd: yellow, then red.

    Of heat, (n_photos, height, width), the low end of the range leaves a pixel as it is,
    and the high end is full colour.
    """
    low, high = range_
    share = ((heat - low) / (high - low)).clip(0, 1)[..., None]
    color = _COOL + share * (_HOT - _COOL)
    opacity = _OPACITY * np.sqrt(share)
    return np.rint((1 - opacity) * pixels + opacity * color).astype(np.uint8)


def encode_picture(
    pixels: Pixels, kind: str, largest: int | None = None, **options: Any
) -> bytes:
    """Return one photo, (height, width, 3), as a file, made smaller if too large."""
    from PIL import Image

    picture, content = Image.fromarray(pixels), io.BytesIO()
    if largest is not None:
        picture.thumbnail((largest, largest))
    picture.save(content, kind, **options)
    return content.getvalue()
