"""Deep SAD (Ruff et al. 2020): normal rows near a centre, labeled anomalies far off."""

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from spadework.base import Labels
from spadework.labels import ANOMALY
from spadework_research.baselines.deep import DeepBaseline, draw, layers, take_steps

N_PRETRAINING, N_STEPS = 1_000, 100
WEIGHT_DECAY = 1e-6
ETA = 1.0
"""Weight of the labeled rows."""


class DeepSAD(DeepBaseline):
    """An encoder without biases, first trained to reconstruct, then to gather."""

    def _train(self, X: Tensor, labels: Labels, rng: np.random.Generator) -> None:
        n_features = X.shape[1]
        n_hidden, n_code = 2 * n_features, max(4, n_features // 2)
        widths = (n_features, n_hidden, n_code)
        self.encoder_ = layers(widths, rng, bias=False).to(X.device)
        decoder = layers(widths[::-1], rng, bias=False).to(X.device)
        everything = np.arange(len(X))

        def reconstruction() -> Tensor:
            rows = draw(X, everything, rng)
            return F.mse_loss(decoder(self.encoder_(rows)), rows)

        both = [*self.encoder_.parameters(), *decoder.parameters()]
        take_steps(iter(both), reconstruction, N_PRETRAINING)
        self.centre_ = self._centre(X)
        groups = {kind: np.flatnonzero(labels == kind) for kind in (-1, 0, 1)}

        def loss() -> Tensor:
            total = torch.zeros((), device=X.device)
            for kind, positions in groups.items():
                if len(positions):
                    distance = self._forward(draw(X, positions, rng))
                    if kind == ANOMALY:
                        distance = 1 / (distance + 1e-6)
                    total = total + (1.0 if kind == -1 else ETA) * distance.mean()
            return total

        parameters = self.encoder_.parameters()
        take_steps(parameters, loss, N_STEPS, weight_decay=WEIGHT_DECAY)

    def _forward(self, X: Tensor) -> Tensor:
        return (self.encoder_(X) - self.centre_).square().sum(dim=1)

    @torch.no_grad()
    def _centre(self, X: Tensor) -> Tensor:
        """Mean code, with coordinates kept off zero: (n_code,)."""
        centre = self.encoder_(X).mean(dim=0)
        sign = torch.where(centre < 0, -1.0, 1.0)
        return torch.where(centre.abs() < 0.1, 0.1 * sign, centre)
