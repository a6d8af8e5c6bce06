"""Photos turned into rows: a bank of normal patches, a spotter, and all the looks."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from spadework.core.networks import find_device
from spadework.images.backbone import (
    SEEN_WIDTH,
    Backbone,
    Weights,
    pretrained_weights,
    restore_backbone,
)
from spadework.images.contract import Floats, Labels, Pixels
from spadework.images.patches import (
    MAX_PATCHES,
    PatchBank,
    draw_patches,
    make_bank,
    smooth,
)
from spadework.images.sight import Sight, look
from spadework.images.spotting import Spotter, choose_views, fit_spotter
from spadework.labels import ANOMALY, NORMAL
from spadework.progress import progress

MIN_NORMALS = 20
"""Labeled normals that make a bank of patches; with fewer, unlabeled photos do too."""

MAX_BANK_PHOTOS = 256


class Seen(NamedTuple):
    """Rows of photos, and what made them.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
    views : ndarray of shape (n_views, n_learnt, n_features)
    spots : ndarray of shape (n_samples,), optional
        Held-out scores of the spotter, whose column is 0 in the rows.
    """

    weights: Weights
    bank: PatchBank
    spotter: Spotter | None
    X: NDArray[np.float32]
    views: NDArray[np.float32]
    spots: Floats | None


def see_photos(
    pixels: Pixels,
    labels: Labels,
    learnt: NDArray[np.intp],
    rng: np.random.Generator,
    *,
    n_views: int,
    spot: bool,
    verbose: bool,
) -> Seen:
    """Look at all photos, and at those that are learnt from in the other views.

    Those that give the bank its patches are looked at before. Then labeled photos come
    first: a spotter learns from their maps what to say of the rest.

    Parameters
    ----------
    learnt : ndarray of shape (n_learnt,)
        Positions of photos to learn from, all labeled ones among them.
    spot : bool
        Whether to fit a spotter, for which both classes must be labeled.
    """
    device = find_device("auto")
    weights = pretrained_weights()
    network = restore_backbone(weights, device)
    bank, owners = _fit_bank(network, device, pixels, labels, rng)
    shown, n_shown = np.empty(0, dtype=np.intp), 0
    if spot:
        shown, n_shown = choose_views(labels, n_views, rng)
    everything = np.arange(len(pixels))
    n_looks = len(everything) + (n_views - 1) * len(learnt)
    spotter, held_out = None, None
    rows: list[NDArray[np.float32]] = []
    with progress("looking at photos", n_looks, verbose=verbose) as advance:
        sight = Sight(network, bank, None, device)
        first, maps = [], []
        for view in range(n_shown):
            parts: list[NDArray[np.float32]] = []
            first.append(
                sight.rows(
                    pixels, shown, view=view, owners=owners, advance=advance, maps=parts
                )
            )
            maps.append(np.concatenate(parts))
        if spot:
            spotter, held_out = fit_spotter(np.stack(maps), labels[shown], rng, device)
            sight = Sight(network, bank, spotter, device)
        del maps
        for view in range(n_views):
            photos = learnt if view else everything
            part = np.zeros((len(photos), SEEN_WIDTH + 1 + spot), dtype=np.float32)
            known = np.isin(photos, shown) & (view < n_shown)
            if known.any():
                part[known, : SEEN_WIDTH + 1] = first[view]
            if not known.all():
                part[~known] = sight.rows(
                    pixels, photos[~known], view=view, owners=owners, advance=advance
                )
            rows.append(part)
    X = rows[0]
    views = np.stack([X[learnt], *rows[1:]])
    spots = None
    if held_out is not None:
        spots = X[:, -1].astype(np.float64)
        spots[shown] = held_out
        # Nothing else may learn from the scores of a spotter that has seen the labels.
        X[:, -1] = views[:, :, -1] = 0
    return Seen(weights, bank, spotter, X, views, spots)


def _fit_bank(
    network: Backbone,
    device: torch.device,
    pixels: Pixels,
    labels: Labels,
    rng: np.random.Generator,
) -> tuple[PatchBank, NDArray[np.intp] | None]:
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
        for _, features in look(network, device, pixels, photos)
    ]
    patches = np.concatenate(drawn)
    owners = np.repeat(photos, patches.shape[1]) if len(photos) > 1 else None
    return make_bank(patches.reshape(-1, patches.shape[2])), owners
