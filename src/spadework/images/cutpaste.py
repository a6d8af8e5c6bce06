"""CutPaste (Li et al. 2021): made-up defects that need no labels.

A piece of a photo is cut out, its colours are jittered, and it is pasted elsewhere in
the photo: upright and large, or thin, short and turned (a scar). For every pixel of a
whole batch it is looked up where it comes from.
"""

import math
from typing import NamedTuple

import torch
from torch import Generator, Tensor

from spadework.images.augment import COLOR_JITTER, gather_pixels, jitter_colors, uniform

AREA = (0.02, 0.15)
"""Share of the photo that an upright piece covers."""

ASPECTS = ((0.3, 1.0), (1.0, 3.3))
"""Ranges of width over height of an upright piece; each as likely."""

SCAR_WIDTH, SCAR_LENGTH, SCAR_ANGLE = (2.0, 16.0), (10.0, 25.0), 45.0
"""Pixels of a scar in a photo of 256 pixels, and degrees it is turned by, at most."""

PUBLISHED_SIDE = 256
N_KINDS = 3


class Pasted(NamedTuple):
    """Photos with a pasted piece, like the input, and where it is.

    Masks, (n_images, height, width), are True where a pixel was pasted; all others are
    as they were.
    """

    images: Tensor
    masks: Tensor


class ThreeWay(NamedTuple):
    """The three classes of the self-supervised task, one after the other.

    Kinds, (3 * n_images,), are 0 as is, 1 CutPaste, 2 scar; masks as of `Pasted`.
    """

    images: Tensor
    kinds: Tensor
    masks: Tensor


def cut_paste(images: Tensor, generator: Generator) -> Pasted:
    """Paste an upright piece of 2 to 15 % of each photo.

    Photos, (n_images, 3, height, width), are floats from 0 to 1, or uint8.
    """
    height, width = images.shape[2:]
    area = height * width * uniform(images, *AREA, generator)
    wide = uniform(images, 0, 1, generator) < 0.5
    aspects = (uniform(images, *bounds, generator) for bounds in ASPECTS)
    aspect = torch.where(wide, *aspects)
    rows = (area / aspect).sqrt().round().clamp(1, height)
    columns = (area / rows).round().clamp(1, width)
    return _paste(images, rows, columns, torch.zeros_like(area), generator)


def scar(images: Tensor, generator: Generator) -> Pasted:
    """Paste a thin piece, turned by up to 45 degrees; as for `cut_paste`."""
    unit = min(images.shape[2:]) / PUBLISHED_SIDE
    rows = uniform(images, *SCAR_LENGTH, generator).mul(unit).round().clamp(min=1)
    columns = uniform(images, *SCAR_WIDTH, generator).mul(unit).round().clamp(min=1)
    turn = math.radians(SCAR_ANGLE)
    angle = uniform(images, -turn, turn, generator)
    return _paste(images, rows, columns, angle, generator)


def three_way(images: Tensor, generator: Generator) -> ThreeWay:
    """Photos as they are, with CutPaste, and with a scar; as for `cut_paste`."""
    pasted = [cut_paste(images, generator), scar(images, generator)]
    untouched = torch.zeros_like(pasted[0].masks)
    kinds = torch.arange(N_KINDS, device=images.device).repeat_interleave(len(images))
    return ThreeWay(
        torch.cat([images, *(each.images for each in pasted)]),
        kinds,
        torch.cat([untouched, *(each.masks for each in pasted)]),
    )


def _paste(
    images: Tensor, rows: Tensor, columns: Tensor, angle: Tensor, generator: Generator
) -> Pasted:
    """Cut a rectangle at a random place and paste it, turned, at another.

    Its size in whole pixels and its turn in radians are of shape (n_images,).
    """
    height, width = images.shape[2:]
    cos, sin = angle.cos(), angle.sin()
    to_y = _centre(images, height, rows * cos + columns * sin.abs(), generator)
    to_x = _centre(images, width, columns * cos + rows * sin.abs(), generator)
    from_y = _centre(images, height, rows, generator)
    from_x = _centre(images, width, columns, generator)
    y = (_pixel_centres(height, images) - to_y[:, None])[:, :, None]
    x = (_pixel_centres(width, images) - to_x[:, None])[:, None, :]
    rows, columns, cos, sin, from_y, from_x = (
        each.view(-1, 1, 1) for each in (rows, columns, cos, sin, from_y, from_x)
    )
    down, right = cos * y - sin * x, sin * y + cos * x  # (n_images, height, width)
    masks = (down.abs() < rows / 2) & (right.abs() < columns / 2)
    source_y = (from_y + down).long().clamp(0, height - 1)
    source_x = (from_x + right).long().clamp(0, width - 1)
    piece = _jitter(gather_pixels(images, source_y, source_x), generator)
    return Pasted(torch.where(masks[:, None], piece, images), masks)


def _centre(images: Tensor, side: int, extent: Tensor, generator: Generator) -> Tensor:
    """Draw where a piece lies on a side, all of it inside; its middle, (n_images,)."""
    room = (side - extent).clamp(min=0)
    start = (uniform(images, 0, 1, generator) * (room + 1)).floor()
    return torch.minimum(start, room) + extent / 2


def _pixel_centres(side: int, images: Tensor) -> Tensor:
    """Middles of the pixels along a side, (side,)."""
    return torch.arange(side, device=images.device) + 0.5


def _jitter(pieces: Tensor, generator: Generator) -> Tensor:
    """Jitter colours of floats from 0 to 1 or of uint8, and return the same kind."""
    if pieces.dtype != torch.uint8:
        return jitter_colors(pieces, COLOR_JITTER, generator)
    jittered = jitter_colors(pieces.float() / 255, COLOR_JITTER, generator)
    return (255 * jittered).round().to(torch.uint8)
