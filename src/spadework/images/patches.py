"""How far every patch of a photo lies from patches of normal photos.

A defect is small: pooled over the photo it may vanish, but its own patches look like
no patch of a normal photo (Roth et al. 2022).
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from spadework.arrays import Singles
from spadework.errors import InputError

MAX_PATCHES = 4096
"""Patches that are kept to compare with, drawn evenly from the photos."""

ODDEST = 10
"""Patches of a photo, of 256, whose mean distance says how odd it is."""

_BOUND_BY = 8
"""Every so many patches of the bank bound how odd a patch can be."""

_AT_ONCE = 256
"""Patches that are held against the bank together: their 4 MB stay in the cache, and
larger results would get new memory from the system every time."""

_SMALLEST = 1e-6


@dataclass(frozen=True)
class PatchBank:
    """Patches of normal photos, (n_patches, n_channels), over a scale, (n_channels,)."""

    patches: Singles
    scale: Singles

    def __post_init__(self) -> None:
        fits = self.patches.ndim == 2 and self.patches.shape[1:] == self.scale.shape
        if not fits or not len(self.patches) or not (self.scale > 0).all():
            raise InputError("a bank needs patches, with one positive scale a channel")


def draw_patches(maps: Singles, n_patches: int, rng: np.random.Generator) -> Singles:
    """Draw patches of every photo, (n_photos, n_patches, n_channels).

    Maps are of shape (n_photos, n_channels, height, width).
    """
    flat = maps.reshape(*maps.shape[:2], -1)
    n_photos, _, n_positions = flat.shape
    orders = rng.permuted(np.tile(np.arange(n_positions), (n_photos, 1)), axis=1)
    chosen = orders[:, None, :n_patches]
    return np.take_along_axis(flat, chosen, axis=2).transpose(0, 2, 1)


def make_bank(patches: Singles) -> PatchBank:
    """Scale patches, (n_patches, n_channels), so that channels count alike."""
    spread = patches.std(axis=0) + _SMALLEST
    scale = spread * np.float32(np.sqrt(patches.shape[1]))
    return PatchBank((patches / scale).astype(np.float32), scale.astype(np.float32))


def smooth(maps: Tensor) -> Tensor:
    """Let a patch know its neighbours: mean of 3 x 3 positions, same shape."""
    return functional.avg_pool2d(maps, 3, stride=1, padding=1, count_include_pad=False)


def patch_distances(maps: Tensor, patches: Tensor, own: Tensor | None = None) -> Tensor:
    """Distance of every patch to the nearest of the bank, (n_photos, height, width).

    Maps, (n_photos, n_channels, height, width), are smoothed and scaled as the bank's
    patches are, (n_patches, n_channels). Its patches that come from the photo itself do
    not count: ``own``, (n_photos, n_patches), tells them.
    """
    everywhere = torch.ones_like(maps[:, 0], dtype=torch.bool)
    return _nearest(maps, everywhere, patches, own).view(everywhere.shape).sqrt()


def mean_largest_distance(
    maps: Tensor, patches: Tensor, own: Tensor | None = None
) -> Tensor:
    """Mean distance of a photo's oddest patches, (n_photos,).

    It is that of `patch_distances` in half the time: the distance to a few patches of
    the bank bounds that to all, and shows which patches need not be looked at again.
    """
    everywhere = torch.ones_like(maps[:, 0], dtype=torch.bool)
    few = None if own is None else own[:, ::_BOUND_BY]
    squares = _nearest(maps, everywhere, patches[::_BOUND_BY], few).view(len(maps), -1)
    n_oddest = min(ODDEST, squares.shape[1])
    oddest = torch.zeros_like(squares, dtype=torch.bool)
    oddest.scatter_(1, squares.topk(n_oddest, dim=1).indices, value=True)
    squares[oddest] = _nearest(maps, oddest.view(everywhere.shape), patches, own)
    least = squares.where(oddest, torch.inf).amin(1, keepdim=True)
    unsure = (squares > least) & ~oddest
    squares[unsure] = _nearest(maps, unsure.view(everywhere.shape), patches, own)
    return squares.topk(n_oddest, dim=1).values.sqrt().mean(1)


def _nearest(maps: Tensor, where: Tensor, patches: Tensor, own: Tensor | None) -> Tensor:
    """Squared distance of patches to the nearest of the bank, (n_chosen,).

    Those are chosen that ``where``, (n_photos, height, width), tells.
    """
    # Squared distances less those of the queries from zero are one product.
    bank = torch.cat([-2 * patches, (patches**2).sum(1, keepdim=True)], dim=1).T
    queries = maps.permute(0, 2, 3, 1)[where]
    photos = where.nonzero()[:, 0]
    parts = [queries.new_empty(0)]
    for few, photo in zip(queries.split(_AT_ONCE), photos.split(_AT_ONCE), strict=True):
        squares = functional.pad(few, (0, 1), value=1.0) @ bank
        if own is not None:
            squares.masked_fill_(own[photo], torch.inf)
        parts.append(squares.amin(1) + (few**2).sum(1))
    return torch.cat(parts).clamp_min(0)
