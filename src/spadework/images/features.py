"""What a pretrained network tells of photos: rows to learn from, and heat maps."""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch.nn import functional

from spadework.arrays import Floats, Labels, Pixels, Positions, Singles
from spadework.images.augment import show
from spadework.images.backbone import (
    SEEN_WIDTH,
    Backbone,
    Features,
    Weights,
    pretrained_weights,
    restore_backbone,
)
from spadework.images.contract import check_pixels
from spadework.images.patches import (
    MAX_PATCHES,
    PatchBank,
    draw_patches,
    make_bank,
    mean_largest_distance,
    patch_distances,
    smooth,
)
from spadework.images.spotting import Spotter, choose_views, fit_spotter
from spadework.labels import ANOMALY, NORMAL
from spadework.progress import Advance, progress

MIN_NORMALS = 20
"""Labeled normals that make a bank of patches; with fewer, unlabeled photos do too."""

MAX_BANK_PHOTOS = 256

_BATCH = {"cpu": 16, "cuda": 64}


class FeatureExtractor:
    """A network, a bank and a spotter on a device: make rows and heat maps of photos."""

    def __init__(
        self, network: Backbone, bank: PatchBank, spotter: Spotter | None
    ) -> None:
        self._network, self._spotter = network, spotter
        self._patches = torch.from_numpy(bank.patches).to(network.device)
        self._scale = torch.from_numpy(bank.scale).to(network.device)[:, None, None]

    def rows(
        self,
        pixels: Pixels,
        photos: Positions,
        *,
        view: int = 0,
        owners: Positions | None = None,
        advance: Advance | None = None,
        maps: list[Singles] | None = None,
    ) -> Singles:
        """Pooled maps, correlations, how far the oddest patches are, a spotter's score.

        Of shape (n_photos, 10514); without a spotter (n_photos, 10513). Photos are
        positions, (n_photos,), of pixels, (n_samples, height, width, 3), in one of
        `N_VIEWS`. Owners, (n_patches,), are photos that the bank's patches come from,
        which do not count for those. Smoothed maps of patches, (few, n_channels,
        n_positions), are added to ``maps``.
        """
        parts = []
        for rows, features in look(self._network, pixels, photos, view):
            own = None
            if owners is not None:
                own = torch.from_numpy(rows[:, None] == owners).to(self._network.device)
            patches = smooth(features.patches)
            odd = mean_largest_distance(patches / self._scale, self._patches, own)
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

    def heat(self, pixels: Pixels) -> Singles:
        """Distances of patches, spread over the pixels, (n_samples, height, width)."""
        parts = []
        photos, size = np.arange(len(pixels)), pixels.shape[1:3]
        for _, features in look(self._network, pixels, photos):
            far = patch_distances(smooth(features.patches) / self._scale, self._patches)
            spread = functional.interpolate(far[:, None], size=size, mode="bicubic")
            parts.append(spread[:, 0])
        return torch.cat(parts).cpu().numpy()


def look(
    network: Backbone, pixels: Pixels, photos: Positions, view: int = 0
) -> Iterator[tuple[Positions, Features]]:
    """Show photos to the network, a few at a time; yield their positions and features."""
    size = _BATCH.get(network.device.type, _BATCH["cpu"])
    with torch.inference_mode():
        for start in range(0, len(photos), size):
            rows = photos[start : start + size]
            batch = torch.from_numpy(np.array(pixels[rows])).to(network.device)
            yield rows, network(show(batch.permute(0, 3, 1, 2), view))


def pooled_features(pixels: Pixels) -> Singles:
    """Return the network's maps of whole photos, pooled, (n_samples, 4296).

    Pixels are uint8 of shape (n_samples, height, width, 3).
    """
    check_pixels(pixels)
    network = restore_backbone(pretrained_weights())
    looks = look(network, pixels, np.arange(len(pixels)))
    return np.concatenate([features.pooled.cpu().numpy() for _, features in looks])


class PhotoRows(NamedTuple):
    """Rows of photos, (n_samples, n_features), and what made them.

    Views are rows of those that are learnt from, (n_views, n_learnt, n_features). Spots
    are held-out scores of the spotter, (n_samples,), whose column is 0 in the rows.
    """

    weights: Weights
    bank: PatchBank
    spotter: Spotter | None
    X: Singles
    views: Singles
    spots: Floats | None


def describe_photos(
    pixels: Pixels,
    labels: Labels,
    learnt: Positions,
    rng: np.random.Generator,
    n_views: int,
    *,
    spot: bool,
    verbose: bool,
) -> PhotoRows:
    """Look at all photos, and at those that are learnt from in the other views.

    Those that give the bank its patches are looked at before. Then labeled photos come
    first: a spotter, if wanted, learns from their maps what to say of the rest, for
    which both classes must be labeled. They are among those to learn from, (n_learnt,).
    """
    weights = pretrained_weights()
    network = restore_backbone(weights)
    bank, owners = _fit_bank(network, pixels, labels, rng)
    shown, n_shown = np.empty(0, dtype=np.intp), 0
    if spot:
        shown, n_shown = choose_views(labels, n_views, rng)
    everything = np.arange(len(pixels))
    n_looks = len(everything) + (n_views - 1) * len(learnt)
    spotter, held_out, spots = None, None, None
    rows: list[Singles] = []
    with progress("looking at photos", n_looks, verbose=verbose) as advance:
        make_rows = partial(
            FeatureExtractor.rows, pixels=pixels, owners=owners, advance=advance
        )
        extractor = FeatureExtractor(network, bank, None)
        first, maps = [], []
        for view in range(n_shown):
            parts: list[Singles] = []
            first.append(make_rows(extractor, photos=shown, view=view, maps=parts))
            maps.append(np.concatenate(parts))
        if spot:
            device = network.device
            spotter, held_out = fit_spotter(np.stack(maps), labels[shown], rng, device)
            extractor = FeatureExtractor(network, bank, spotter)
        del maps
        for view in range(n_views):
            photos = learnt if view else everything
            part = np.zeros((len(photos), SEEN_WIDTH + 1 + spot), dtype=np.float32)
            known = np.isin(photos, shown) & (view < n_shown)
            if known.any():
                part[known, : SEEN_WIDTH + 1] = first[view]
            if not known.all():
                part[~known] = make_rows(extractor, photos=photos[~known], view=view)
            rows.append(part)
    X = rows[0]
    views = np.stack([X[learnt], *rows[1:]])
    if held_out is not None:
        spots = X[:, -1].astype(np.float64)
        spots[shown] = held_out
        # Nothing else may learn from the scores of a spotter that has seen the labels.
        X[:, -1] = views[:, :, -1] = 0
    return PhotoRows(weights, bank, spotter, X, views, spots)


def _fit_bank(
    network: Backbone, pixels: Pixels, labels: Labels, rng: np.random.Generator
) -> tuple[PatchBank, Positions | None]:
    """Draw patches of normal photos, and say which photo each comes from.

    Where few photos are labeled normal, all that are not labeled anomalies give some:
    most of those are normal too. Of a single photo no patch can be left out, so None
    says which come from it.
    """
    photos = np.flatnonzero(labels == NORMAL)
    if len(photos) < MIN_NORMALS:
        photos = np.flatnonzero(labels != ANOMALY)
    if not len(photos):
        photos = np.arange(len(labels))
    if len(photos) > MAX_BANK_PHOTOS:
        photos = np.sort(rng.choice(photos, MAX_BANK_PHOTOS, replace=False))
    n_patches = -(-MAX_PATCHES // len(photos))
    drawn = [
        draw_patches(smooth(features.patches).cpu().numpy(), n_patches, rng)
        for _, features in look(network, pixels, photos)
    ]
    patches = np.concatenate(drawn)
    owners = np.repeat(photos, patches.shape[1]) if len(photos) > 1 else None
    return make_bank(patches.reshape(-1, patches.shape[2])), owners
