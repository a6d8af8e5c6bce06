"""Changes of photos, a whole batch at a time, on the device they are on.

Photos are ``(n_images, 3, height, width)``, and left as they are. Random changes draw
from the generator they are given, which lives on the same device.
"""

import math

import torch
from torch import Generator, Tensor
from torch.nn import functional

TRANSLATION = 1 / 16
"""Share of a side that photos are moved by, at most. CutPaste's authors translate
photos and do not say how far."""

COLOR_JITTER = 0.1
"""Of CutPaste: largest relative change of brightness, contrast and saturation, and
largest turn of the hue."""

_RGB_TO_YIQ = ((0.299, 0.587, 0.114), (0.596, -0.274, -0.322), (0.211, -0.523, 0.312))

QUARTERS = 4
TILTS = ((20, 1.08, 0.05), (-20, 0.93, -0.05))
"""Degrees, zoom, and how far a view moves as a share of half a side."""

N_VIEWS = QUARTERS + len(TILTS)
"""Views in which photos are learnt from; the first is the photo itself."""


def base_augment(images: Tensor, generator: Generator) -> Tensor:
    """Translate photos and jitter their colours, as before CutPaste; floats 0 to 1."""
    moved = translate(images, TRANSLATION, generator)
    return jitter_colors(moved, COLOR_JITTER, generator)


def uniform(images: Tensor, low: float, high: float, generator: Generator) -> Tensor:
    """One number in a range for each photo, (n_images,)."""
    drawn = torch.rand(len(images), generator=generator, device=images.device)
    return low + (high - low) * drawn


def gather_pixels(images: Tensor, y: Tensor, x: Tensor) -> Tensor:
    """Photos whose pixel at each place is that at (y, x) of the same photo.

    The integers y and x broadcast to (n_images, height, width).
    """
    photo = torch.arange(len(images), device=images.device).view(-1, 1, 1)
    return images.permute(0, 2, 3, 1)[photo, y, x].permute(0, 3, 1, 2)


def translate(images: Tensor, share: float, generator: Generator) -> Tensor:
    """Move photos by up to a share of their sides; what comes in is mirrored."""
    places = []
    for side in images.shape[2:]:
        reach = share * side
        offset = uniform(images, -reach, reach, generator).round().long()
        place = (torch.arange(side, device=images.device) + offset[:, None]).abs()
        places.append(side - 1 - (side - 1 - place).abs())  # (n_images, side)
    y, x = places
    return gather_pixels(images, y[:, :, None], x[:, None, :])


def jitter_colors(images: Tensor, strength: float, generator: Generator) -> Tensor:
    """Change brightness, contrast, saturation and hue, one draw of each a photo.

    The first three of photos, 0 to 1, are multiplied by 1 - strength to 1 + strength,
    and the hue is turned by up to ``strength`` of a full turn. All four are linear in a
    pixel once the photo's mean grey is known: one 3 x 3 matrix and one offset a photo.
    """
    brightness, contrast, saturation = (
        uniform(images, 1 - strength, 1 + strength, generator) for _ in range(3)
    )
    angle = 2 * math.pi * uniform(images, -strength, strength, generator)
    grey = images.new_tensor(_RGB_TO_YIQ[0])
    keep = saturation.view(-1, 1, 1)
    saturate = keep * torch.eye(3, device=images.device) + (1 - keep) * grey.expand(3, 3)
    matrix = _turn_hue(angle) @ saturate * (brightness * contrast).view(-1, 1, 1)
    colors_last = images.permute(0, 2, 3, 1)
    flat = colors_last.flatten(1, 2)  # (n_images, height * width, 3)
    mean_grey = flat.mean(dim=1) @ grey
    offset = (1 - contrast) * brightness * mean_grey
    changed = torch.baddbmm(offset.view(-1, 1, 1), flat, matrix.transpose(1, 2))
    return changed.clamp_(0, 1).view(colors_last.shape).permute(0, 3, 1, 2)


def _turn_hue(angle: Tensor) -> Tensor:
    """Matrices that turn colours around the grey axis, (n_images, 3, 3)."""
    turn = torch.zeros(len(angle), 3, 3, device=angle.device)
    turn[:, 0, 0] = 1
    turn[:, 1, 1] = turn[:, 2, 2] = angle.cos()
    turn[:, 2, 1], turn[:, 1, 2] = angle.sin(), -angle.sin()
    to_yiq = torch.tensor(_RGB_TO_YIQ)
    to_rgb = torch.linalg.inv(to_yiq)  # where it makes no GPU wait
    return to_rgb.to(angle.device) @ turn @ to_yiq.to(angle.device)


def warp(images: Tensor, matrices: Tensor) -> Tensor:
    """Show photos through affine maps, (n_images, 2, 3); what comes in is mirrored."""
    grid = functional.affine_grid(matrices, list(images.shape), align_corners=False)
    return functional.grid_sample(
        images, grid, padding_mode="reflection", align_corners=False
    )


def show(images: Tensor, view: int) -> Tensor:
    """Show photos, 0 to 255, in one of `N_VIEWS`: turned, or tilted, zoomed and moved.

    Views mean the same and are learnt too. They are not mirrored: a part that is its
    own mirror image may be a defect.
    """
    if view < QUARTERS:
        return images.rot90(view, dims=(2, 3)) if view else images
    degrees, zoom, shift = TILTS[view - QUARTERS]
    angle = math.radians(degrees)
    cos, sin = math.cos(angle) / zoom, math.sin(angle) / zoom
    images = images.float()
    matrix = images.new_tensor([[cos, -sin, shift], [sin, cos, -shift]])
    return warp(images, matrix.expand(len(images), 2, 3)).round().clamp(0, 255)
