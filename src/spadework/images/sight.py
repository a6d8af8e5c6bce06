"""What a pretrained network sees in photos: rows to learn from, and heat maps."""

from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from spadework.core.networks import find_device
from spadework.images.backbone import (
    Backbone,
    Features,
    pretrained_weights,
    restore_backbone,
)
from spadework.images.contract import Pixels, check_pixels
from spadework.images.patches import PatchBank, oddness, patch_distances, smooth
from spadework.images.spotting import Spotter
from spadework.images.views import show
from spadework.progress import Advance

_BATCH = {"cpu": 16, "cuda": 64}


class Sight:
    """A network, a bank and a spotter on a device: make rows and heat maps of photos."""

    def __init__(
        self,
        network: Backbone,
        bank: PatchBank,
        spotter: Spotter | None,
        device: torch.device,
    ) -> None:
        self._network, self._spotter, self._device = network, spotter, device
        self._patches = torch.from_numpy(bank.patches).to(device)
        self._scale = torch.from_numpy(bank.scale).to(device)[:, None, None]

    def rows(
        self,
        pixels: Pixels,
        photos: NDArray[np.intp] | None = None,
        *,
        view: int = 0,
        owners: NDArray[np.intp] | None = None,
        advance: Advance | None = None,
        maps: list[NDArray[np.float32]] | None = None,
    ) -> NDArray[np.float32]:
        """Pooled maps, correlations, the oddness of patches, and a spotter's score.

        Of shape (n_photos, 10514); without a spotter (n_photos, 10513).

        Parameters
        ----------
        pixels : uint8 ndarray of shape (n_samples, height, width, 3)
        photos : ndarray of shape (n_photos,), optional
            Positions of those to look at; by default all.
        view : int
            View to look at them in, of `N_VIEWS`.
        owners : ndarray of shape (n_patches,), optional
            Photos that the bank's patches come from; they do not count for those.
        advance : callable, optional
            Called after each photo.
        maps : list, optional
            Smoothed maps of patches are added to it, (few, n_channels, n_positions).
        """
        if photos is None:
            photos = np.arange(len(pixels))
        parts = []
        for rows, features in look(self._network, self._device, pixels, photos, view):
            own = None
            if owners is not None:
                own = torch.from_numpy(rows[:, None] == owners).to(self._device)
            patches = smooth(features.patches)
            odd = oddness(patches / self._scale, self._patches, own)
            columns = [features.pooled, features.correlations, odd[:, None]]
            if self._spotter is not None:
                columns.append(self._spotter.spot(patches)[:, None])
            parts.append(torch.cat(columns, dim=1).cpu().numpy())
            if maps is not None:
                maps.append(patches.flatten(2).cpu().numpy())
            if advance is not None:
                for _ in rows:
                    advance("")
        return np.concatenate(parts)

    def heat(self, pixels: Pixels) -> NDArray[np.float32]:
        """Distances of patches, spread over the pixels, (n_samples, height, width)."""
        everything = np.arange(len(pixels))
        size = pixels.shape[1:3]
        parts = [
            functional.interpolate(
                self._distances(features)[:, None], size=size, mode="bicubic"
            )[:, 0]
            for _, features in look(self._network, self._device, pixels, everything)
        ]
        return torch.cat(parts).cpu().numpy()

    def _distances(self, features: Features) -> torch.Tensor:
        """Distance of every patch to the bank, (n_photos, height, width)."""
        return patch_distances(smooth(features.patches) / self._scale, self._patches)


def look(
    network: Backbone,
    device: torch.device,
    pixels: Pixels,
    photos: NDArray[np.intp],
    view: int = 0,
) -> Iterator[tuple[NDArray[np.intp], Features]]:
    """Show photos to the network, a few at a time; yield their positions and features."""
    size = _BATCH.get(device.type, _BATCH["cpu"])
    with torch.inference_mode():
        for start in range(0, len(photos), size):
            rows = photos[start : start + size]
            batch = torch.from_numpy(np.array(pixels[rows])).to(device)
            yield rows, network(show(batch.permute(0, 3, 1, 2), view))


def pooled_features(pixels: Pixels) -> NDArray[np.float32]:
    """Return the network's maps of whole photos, pooled, (n_samples, 4296).

    Parameters
    ----------
    pixels : uint8 ndarray of shape (n_samples, height, width, 3)
    """
    check_pixels(pixels)
    device = find_device("auto")
    network = restore_backbone(pretrained_weights(), device)
    looks = look(network, device, pixels, np.arange(len(pixels)))
    return np.concatenate([features.pooled.cpu().numpy() for _, features in looks])
