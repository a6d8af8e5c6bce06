"""Readings learnt by small networks: each draws rows as a tree does, and columns."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spadework.arrays import Floats, Numbers, Positions, Singles
from spadework.errors import InputError
from spadework.labels import ANOMALY, NORMAL
from spadework.lazy import LazyModule
from spadework.learners.blend import mean_of_unseen
from spadework.learners.contract import GrownReading, Scaler, Task
from spadework.learners.readings import Reading, choose

if TYPE_CHECKING:
    import torch

    from spadework.core import networks, perceptrons, training
else:
    torch = LazyModule("torch")
    networks = LazyModule("spadework.core.networks")
    perceptrons = LazyModule("spadework.core.perceptrons")
    training = LazyModule("spadework.core.training")

N_NETWORKS = 32
COLUMN_SHARE = 0.3
"""Share of the columns that each network sees."""


@dataclass(frozen=True)
class Perceptrons:
    """Small networks as plain arrays; scores are means of their probabilities.

    Each network sees its columns of a scaled row, (n_networks, n_kept). Layers have
    weights (n_networks, n_in, n_out) and biases (n_networks, 1, n_out).
    """

    columns: Positions
    weights: tuple[Singles, ...]
    biases: tuple[Singles, ...]
    scaler: Scaler

    def __post_init__(self) -> None:
        n_networks, width = self.columns.shape
        for weight, bias in zip(self.weights, self.biases, strict=True):
            if weight.shape[:2] != (n_networks, width) or bias.shape != (
                n_networks,
                1,
                weight.shape[2],
            ):
                raise InputError("the layers of small networks do not fit each other")
            width = weight.shape[2]
        inside = (self.columns >= 0) & (self.columns < self.scaler.n_features)
        if width != 1 or not n_networks or not inside.all():
            raise InputError("small networks need columns of the table and one output")

    def score(self, X: Numbers) -> Floats:
        """Mean probability of an anomaly, (n_samples,)."""
        return self.probabilities(networks.to_tensor(X, self.scaler)).mean(axis=0)

    def probabilities(self, scaled: "torch.Tensor") -> Floats:
        """Probability of an anomaly by each network, (n_networks, n_samples)."""
        # In float64 a score does not depend on the rows scored beside it.
        layers = perceptrons.Layers(
            *(
                tuple(torch.from_numpy(each).to(scaled.device).double() for each in part)
                for part in (self.weights, self.biases)
            )
        )
        with training.one_thread():
            return perceptrons.predict_probabilities(
                layers, self.columns, scaled.double()
            )


def learn_reading(scaled: "torch.Tensor", reading: Reading, task: Task) -> GrownReading:
    """Train networks, and score the judged rows by those that have not drawn them.

    The scaled rows are on the device to train on, (n_samples, n_features).
    """
    rng = task.rng
    columns = _choose_columns(scaled.shape[1], rng)
    bags = _draw_bags(reading, rng)
    in_bag = np.zeros((N_NETWORKS, len(scaled)), dtype=bool)
    for side in bags.values():
        for network, rows in enumerate(side):
            in_bag[network, rows] = True
    layers = perceptrons.train_perceptrons(scaled, columns, bags, rng)
    weights, biases = (
        tuple(each.detach().cpu().numpy().copy() for each in part) for part in layers
    )
    model = Perceptrons(columns, weights, biases, task.scaler)
    values = model.probabilities(scaled[task.judged])
    in_bag = in_bag[:, task.judged]
    held_out = mean_of_unseen(values, in_bag)
    return GrownReading(model, held_out, np.logical_and.reduce(in_bag))


def _choose_columns(n_features: int, rng: np.random.Generator) -> Positions:
    """Draw the columns of each network, (n_networks, n_kept)."""
    n_kept = max(1, round(COLUMN_SHARE * n_features))
    shuffled = rng.permuted(np.tile(np.arange(n_features), (N_NETWORKS, 1)), axis=1)
    return np.ascontiguousarray(shuffled[:, :n_kept])


def _draw_bags(reading: Reading, rng: np.random.Generator) -> dict[int, list[Positions]]:
    """Draw the rows of each network; every second one takes wide draws if there are."""
    normals = [reading.wide or reading.normal, reading.normal]
    return {
        NORMAL: [choose(normals[network % 2], rng) for network in range(N_NETWORKS)],
        ANOMALY: [choose(reading.anomalous, rng) for _ in range(N_NETWORKS)],
    }
