"""Heat maps as people look at them: laid over the photo, on one scale for all."""

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from spadework.images.contract import Pixels
from spadework.images.patches import PatchBank, patch_distances

if TYPE_CHECKING:
    from PIL.Image import Image

_COOL, _HOT = np.array([255.0, 210.0, 0.0]), np.array([215.0, 0.0, 30.0])
_OPACITY = 0.7
_USUAL, _ODD = 0.99, 3.5
_SAMPLE = 512


def heat_range(bank: PatchBank) -> tuple[float, float]:
    """Heat that is still usual, and heat that is as odd as colours can show.

    Usual is what nearly all normal patches have, measured from one to the next; three
    and a half times that is drawn in full colour.
    """
    every = max(1, len(bank.patches) // _SAMPLE)
    chosen = np.arange(0, len(bank.patches), every)
    patches = torch.from_numpy(bank.patches)
    own = torch.from_numpy(chosen[:, None] == np.arange(len(patches)))
    queries = patches[torch.from_numpy(chosen)][:, :, None, None]
    if len(patches) == 1:
        own[:] = False
    distances = patch_distances(queries, patches, own).numpy()
    usual = float(np.quantile(distances, _USUAL))
    return usual, max(_ODD * usual, usual + 1e-6)


def overlay(
    pixels: Pixels, heat: NDArray[np.floating], range_: tuple[float, float]
) -> Pixels:
    """Colour photos where they are odd: yellow, then red.

    Parameters
    ----------
    pixels : uint8 ndarray of shape (n_photos, height, width, 3)
    heat : ndarray of shape (n_photos, height, width)
    range_ : pair of float
        Heat that leaves a pixel as it is, and heat of full colour.
    """
    low, high = range_
    share = ((heat - low) / (high - low)).clip(0, 1)[..., None]
    color = _COOL + share * (_HOT - _COOL)
    opacity = _OPACITY * np.sqrt(share)
    return np.rint((1 - opacity) * pixels + opacity * color).astype(np.uint8)


def as_picture(pixels: Pixels) -> "Image":
    """Return one photo, (height, width, 3), as a picture of Pillow."""
    from PIL import Image

    return Image.fromarray(pixels)
