"""DevNet (Pang et al. 2019): anomalies score five deviations above a normal prior."""

import numpy as np
import torch
from torch import Tensor

from spadework.base import Labels
from spadework.labels import ANOMALY
from spadework_research.baselines.deep import DeepBaseline, draw, layers, take_steps

MARGIN = 5.0
N_REFERENCE = 5_000
N_HIDDEN = 20
N_STEPS = 500
WEIGHT_DECAY = 0.01


class DevNet(DeepBaseline):
    """One hidden layer, half of each step labeled anomalies, half all other rows."""

    settings = ("PNU", "PU", "PN")

    def _train(self, X: Tensor, labels: Labels, rng: np.random.Generator) -> None:
        self.network_ = layers((X.shape[1], N_HIDDEN, 1), rng).to(X.device)
        anomalies = np.flatnonzero(labels == ANOMALY)
        others = np.flatnonzero(labels != ANOMALY)

        def loss() -> Tensor:
            reference = rng.normal(size=N_REFERENCE)
            mean, std = float(reference.mean()), float(reference.std())
            normal = (self._forward(draw(X, others, rng)) - mean) / std
            anomalous = (self._forward(draw(X, anomalies, rng)) - mean) / std
            return normal.abs().mean() + torch.relu(MARGIN - anomalous).mean()

        parameters = self.network_.parameters()
        take_steps(parameters, loss, N_STEPS, weight_decay=WEIGHT_DECAY)

    def _forward(self, X: Tensor) -> Tensor:
        return self.network_(X).squeeze(-1)
