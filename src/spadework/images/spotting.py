"""Which patches tell a defect, learnt from labels of whole photos.

A label does not say where a defect is. A photo is therefore taken to be as anomalous as
its most anomalous patches are (multiple-instance learning). What makes a patch anomalous
is learnt: a linear model of its channels and of their squares, so that it begins as the
distance from the mean of normal patches.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from spadework.arrays import Floats, Labels, Positions, Singles
from spadework.errors import InputError
from spadework.images.linear import N_FOLDS, deal_folds, pick_held_out
from spadework.labels import ANOMALY, NORMAL, UNLABELED

SPOTS = 1 / 16
"""Share of a photo's patches whose mean score is the photo's."""

PENALTY = 0.01
"""Ridge on weights, where the mean loss of both classes weighs 1."""

N_STEPS = 50
"""Of L-BFGS; more change little."""

MAX_VIEWS = 1024
"""Views of labeled photos to learn from at most."""

LARGEST = 30.0
"""Where squares are cut: a patch can be too odd to compare."""

_START = 0.05
_SMALLEST = 1e-6


@dataclass(frozen=True)
class Spotter:
    """Models of patches, whose mean counts.

    Mean and spread, (n_channels,), are those of patches of normal photos. Weights,
    (2 * n_channels, n_models), are for channels, then for their squares.
    """

    mean: Singles
    spread: Singles
    weights: Singles

    def __post_init__(self) -> None:
        shapes = {self.mean.shape, self.spread.shape, (len(self.weights) // 2,)}
        if len(shapes) > 1 or self.weights.ndim != 2 or not (self.spread > 0).all():
            raise InputError(
                "a spotter needs a mean and a positive spread for every channel, and two "
                "weights each"
            )

    def spot(self, maps: Tensor) -> Tensor:
        """Score photos by their most anomalous patches, (n_photos,).

        Maps are smoothed, (n_photos, n_channels, height, width).
        """
        parts = (self.mean, self.spread, self.weights)
        mean, spread, weights = (torch.from_numpy(part).to(maps.device) for part in parts)
        return _pool(_traits(maps.flatten(2), mean, spread) @ weights).mean(1)


def choose_views(
    labels: Labels, n_views: int, rng: np.random.Generator
) -> tuple[Positions, int]:
    """Positions of labeled photos to learn from, and in how many views each.

    Of a class that leaves the other too little room, some are drawn.
    """
    kinds = [np.flatnonzero(labels == kind) for kind in (NORMAL, ANOMALY)]
    most = MAX_VIEWS - min(*map(len, kinds), MAX_VIEWS // 2)
    drawn = [rng.permutation(kind)[:most] for kind in kinds]
    photos = np.sort(np.concatenate(drawn))
    return photos, int(np.clip(MAX_VIEWS // len(photos), 1, n_views))


def fit_spotter(
    maps: Singles, labels: Labels, rng: np.random.Generator, device: torch.device
) -> tuple[Spotter, Floats]:
    """Fit a model without each fold; score photos by models that have not seen them.

    Maps are smoothed, (n_views, n_photos, n_channels, n_positions), and labels of both
    classes. Returns held-out scores, (n_photos,), of the first view: a photo that is the
    only one of its class is scored by all models.
    """
    normal = maps[:, labels == NORMAL]
    mean = normal.mean(axis=(0, 1, 3))
    spread = normal.std(axis=(0, 1, 3)) + np.float32(_SMALLEST)
    n_views, n_photos, n_channels, n_positions = maps.shape
    flat = torch.from_numpy(maps.reshape(-1, n_channels, n_positions)).to(device)
    scale = (torch.from_numpy(each).to(device) for each in (mean, spread))
    traits = _traits(flat, *scale)
    folds = deal_folds(labels, rng)
    counted = (np.where(folds == fold, UNLABELED, labels) for fold in range(N_FOLDS))
    models = [_fit(traits, np.tile(each, n_views)) for each in counted]
    weights = torch.stack(models, dim=1)
    scores = _pool(traits[:n_photos] @ weights).double().cpu().numpy()
    spotter = Spotter(mean, spread, weights.cpu().numpy())
    return spotter, pick_held_out(scores, folds)


def _fit(traits: Tensor, labels: Labels) -> Tensor:
    """Fit the weights of patches, (2 * n_channels,), both classes weighing the same.

    Traits are of shape (n_views, n_positions, 2 * n_channels), labels (n_views,);
    unlabeled views are left out.
    """
    device, n_traits = traits.device, traits.shape[2]
    shares = np.zeros(len(labels), dtype=np.float32)
    for kind in (NORMAL, ANOMALY):
        shares[labels == kind] = 0.5 / (labels == kind).sum()
    targets = torch.from_numpy((labels == ANOMALY).astype(np.float32)).to(device)
    loss_weights = torch.from_numpy(shares).to(device)
    weights = torch.zeros(n_traits, device=device)
    weights[n_traits // 2 :] = _START
    weights.requires_grad_()
    intercept = torch.zeros(1, device=device, requires_grad=True)
    steps = torch.optim.LBFGS(
        [weights, intercept], max_iter=N_STEPS, line_search_fn="strong_wolfe"
    )

    def loss() -> Tensor:
        steps.zero_grad()
        logits = _pool((traits @ weights)[:, :, None])[:, 0] + intercept
        losses = functional.binary_cross_entropy_with_logits(
            logits, targets, weight=loss_weights, reduction="sum"
        )
        total = losses + 0.5 * PENALTY * (weights**2).sum()
        total.backward()
        return total

    with torch.enable_grad():
        steps.step(loss)  # type: ignore[arg-type]
    return weights.detach()


def _traits(maps: Tensor, mean: Tensor, spread: Tensor) -> Tensor:
    """Scale channels, add their squares, (n_photos, n_positions, 2 * n_channels)."""
    z = (maps.transpose(1, 2) - mean) / spread
    return torch.cat([z, (z**2 - 1).clamp(max=LARGEST) / 3], dim=2)


def _pool(scores: Tensor) -> Tensor:
    """Mean of the highest scores, (n_photos, n_positions, k) to (n_photos, k)."""
    return scores.topk(n_spots(scores.shape[1]), dim=1).values.mean(1)


def n_spots(n_positions: int) -> int:
    """Return how many patches count, of all that a photo has."""
    return max(1, round(SPOTS * n_positions))
