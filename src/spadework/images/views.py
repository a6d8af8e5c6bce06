"""Views of a photo: copies, turned or tilted, that mean the same and are learnt too.

Photos are not mirrored: a part that is its own mirror image may be a defect.
"""

import math
from typing import NamedTuple

from torch import Tensor, rot90

from spadework.images.augment import warp


class _Tilt(NamedTuple):
    """Degrees, zoom, and how far the view moves as a share of half a side."""

    degrees: float
    zoom: float
    shift: float


QUARTERS = 4
TILTS = (_Tilt(20, 1.08, 0.05), _Tilt(-20, 0.93, -0.05))

N_VIEWS = QUARTERS + len(TILTS)
"""Views in which photos are learnt from; the first is the photo itself."""


def show(images: Tensor, view: int) -> Tensor:
    """Show photos, (n_images, 3, height, width), 0 to 255, in one of their views."""
    if view < QUARTERS:
        return rot90(images, view, dims=(2, 3)) if view else images
    return _tilt(images.float(), TILTS[view - QUARTERS])


def _tilt(images: Tensor, tilt: _Tilt) -> Tensor:
    """Turn, zoom and move photos."""
    angle = math.radians(tilt.degrees)
    cos, sin = math.cos(angle) / tilt.zoom, math.sin(angle) / tilt.zoom
    matrix = images.new_tensor([[cos, -sin, tilt.shift], [sin, cos, -tilt.shift]])
    return warp(images, matrix.expand(len(images), 2, 3)).round().clamp(0, 255)
