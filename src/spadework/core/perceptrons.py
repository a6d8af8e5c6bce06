"""Small networks trained side by side, as one axis of every tensor.

Each network has its own rows and its own columns. A single network on all columns
leans on all of them at once, and misses rows that are odd in one; networks of few
columns, whose probabilities are averaged, each can raise the alarm on their own.
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from spadework.arrays import Floats, Positions
from spadework.core.training import Adam
from spadework.labels import ANOMALY, NORMAL

HIDDEN, LAYERS = 32, 2
STEPS, BATCH, LEARNING_RATE = 200, 256, 3e-3
_SCORE_ROWS = 8192


class Layers(NamedTuple):
    """The layers of all networks.

    **Shape**

    - weights, each: ``(n_networks, n_in, n_out)``
    - biases, each: ``(n_networks, 1, n_out)``
    """

    weights: tuple[Tensor, ...]
    biases: tuple[Tensor, ...]

    def logits(self, x: Tensor) -> Tensor:
        """Run rows of shape ``(n_networks, n_rows, n_in)``; ``(n_networks, n_rows)``."""
        for layer, (weight, bias) in enumerate(
            zip(self.weights, self.biases, strict=True)
        ):
            x = torch.baddbmm(bias, torch.relu(x) if layer else x, weight)
        return x.squeeze(-1)


def train_perceptrons(
    X: Tensor,
    columns: Positions,
    bags: dict[int, list[Positions]],
    rng: np.random.Generator,
) -> Layers:
    """Train networks, each on as many normal as anomalous rows of its bag.

    Each sees its columns, (n_networks, n_kept), of X, (n_samples, n_features). Bags are,
    by class, the positions of the rows that each network draws from.
    """
    n_networks, n_kept = columns.shape
    layers = _new_layers(n_networks, n_kept, rng, X.device)
    parameters = [*layers.weights, *layers.biases]
    optimizer = Adam(parameters, LEARNING_RATE)
    rows = {kind: _stack(each) for kind, each in bags.items()}
    picked = torch.from_numpy(columns).to(X.device)[:, None, :]
    label = torch.tensor([NORMAL, ANOMALY], device=X.device, dtype=X.dtype)
    label = label.repeat_interleave(BATCH // 2).expand(n_networks, -1)
    for step in range(STEPS):
        drawn = [_draw(rows[kind], BATCH // 2, rng) for kind in (NORMAL, ANOMALY)]
        batch = torch.from_numpy(np.concatenate(drawn, axis=1)).to(X.device)
        logits = layers.logits(X[batch[:, :, None], picked])
        losses = functional.binary_cross_entropy_with_logits(
            logits, label, reduction="none"
        )
        optimizer.learning_rate = LEARNING_RATE * (1 - step / STEPS)
        optimizer.step(losses.mean(dim=1).sum())
    return layers


def predict_probabilities(layers: Layers, columns: Positions, X: Tensor) -> Floats:
    """Probability of an anomaly by every network, shape (n_networks, n_samples)."""
    picked = torch.from_numpy(columns).to(X.device)
    with torch.no_grad():
        parts = [
            torch.sigmoid(layers.logits(rows[:, picked].transpose(0, 1)))
            for rows in X.split(_SCORE_ROWS)
        ]
    return torch.cat(parts, dim=1).cpu().numpy().astype(np.float64)


def _new_layers(
    n_networks: int, n_in: int, rng: np.random.Generator, device: torch.device
) -> Layers:
    """Draw weights for ReLU layers (He et al. 2015); biases are zero."""
    widths = [n_in, *[HIDDEN] * LAYERS, 1]
    weights, biases = [], []
    for before, after in pairwise(widths):
        drawn = rng.normal(0, (2 / before) ** 0.5, (n_networks, before, after))
        weights.append(torch.from_numpy(drawn.astype(np.float32)).to(device))
        biases.append(torch.zeros(n_networks, 1, after, device=device))
    for each in (*weights, *biases):
        each.requires_grad_()
    return Layers(tuple(weights), tuple(biases))


def _stack(bags: list[Positions]) -> Positions:
    """Bags as rows of one array, the shorter ones repeated, (n_networks, n_longest)."""
    longest = max(map(len, bags))
    return np.stack([np.resize(bag, longest) for bag in bags])


def _draw(rows: Positions, n_rows: int, rng: np.random.Generator) -> Positions:
    """Draw from each network's bag with replacement, (n_networks, n_rows)."""
    drawn = rng.integers(rows.shape[1], size=(len(rows), n_rows))
    return np.take_along_axis(rows, drawn, axis=1)
