"""Weak and strong changes of photos, as FixMatch makes them.

Photos are ``(n_images, 3, height, width)``, and left as they are.
"""

import math

import torch
from torch import Generator, Tensor

from spadework.images.augment import jitter_colors, translate, uniform, warp

STRONG_JITTER, STRONG_ANGLE, STRONG_SHEAR, STRONG_TRANSLATION = 0.5, 30.0, 0.3, 0.3
"""Ranges of RandAugment for colours, degrees, shear and share of a side."""

CUTOUT = 0.5
"""Side of the square that FixMatch greys out, at most, as a share of the photo's."""

_GREY = 0.5


def weak_augment(images: Tensor, generator: Generator) -> Tensor:
    """Flip half of the photos and translate by up to an eighth (FixMatch)."""
    flip = uniform(images, 0, 1, generator).view(-1, 1, 1, 1) < 0.5
    return translate(torch.where(flip, images.flip(3), images), 1 / 8, generator)


def strong_augment(images: Tensor, generator: Generator) -> Tensor:
    """Turn, shear, move and recolour photos and cut a square out; floats 0 to 1."""
    changed = _affine(images, generator)
    return _cut_out(jitter_colors(changed, STRONG_JITTER, generator), generator)


def _affine(images: Tensor, generator: Generator) -> Tensor:
    """Turn, shear and move photos."""
    turn = math.radians(STRONG_ANGLE)
    angle = uniform(images, -turn, turn, generator)
    shear = uniform(images, -STRONG_SHEAR, STRONG_SHEAR, generator)
    # The grid runs from -1 to 1, so a share of a side is twice as much of it.
    reach = 2 * STRONG_TRANSLATION
    x, y = (uniform(images, -reach, reach, generator) for _ in range(2))
    cos, sin = angle.cos(), angle.sin()
    rows = [torch.stack([cos, shear - sin, x]), torch.stack([sin, cos, y])]
    return warp(images, torch.stack(rows).permute(2, 0, 1))


def _cut_out(images: Tensor, generator: Generator) -> Tensor:
    """Grey out a square of random size around a random place."""
    share = uniform(images, 0, CUTOUT, generator)
    near = []
    for side in images.shape[2:]:
        centre = uniform(images, 0, side, generator)
        place = torch.arange(side, device=images.device) + 0.5
        near.append((place - centre[:, None]).abs() < side * share[:, None] / 2)
    inside = near[0][:, None, :, None] & near[1][:, None, None, :]
    return images.masked_fill(inside, _GREY)
