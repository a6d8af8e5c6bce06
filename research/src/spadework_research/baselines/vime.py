"""VIME (Yoon et al. 2020): learn to undo corruption, then to be steady under it."""

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from spadework.base import Labels
from spadework.labels import ANOMALY, NORMAL
from spadework_research.baselines.deep import DeepBaseline, draw, layers, take_steps

MASK_RATE = 0.3
FEATURE_WEIGHT = 2.0
CONSISTENCY_WEIGHT = 1.0
N_VIEWS = 3
N_HIDDEN = 100
N_PRETRAINING, N_STEPS = 2_000, 300


class VIME(DeepBaseline):
    """A self-supervised encoder, and a predictor that agrees with itself on views."""

    settings = ("PNU", "PN")

    def _train(self, X: Tensor, labels: Labels, rng: np.random.Generator) -> None:
        n_features = X.shape[1]
        self.encoder_ = layers((n_features, n_features), rng).append(torch.nn.ReLU())
        self.encoder_.to(X.device)
        self._pretrain(X, rng)
        self.encoder_.requires_grad_(False)
        self.predictor_ = layers((n_features, N_HIDDEN, N_HIDDEN, 1), rng).to(X.device)
        everything = np.arange(len(X))
        groups = [np.flatnonzero(labels == kind) for kind in (NORMAL, ANOMALY)]

        def loss() -> Tensor:
            normal, anomalous = (self._forward(draw(X, rows, rng)) for rows in groups)
            supervised = F.softplus(normal).mean() + F.softplus(-anomalous).mean()
            rows = draw(X, everything, rng)
            views = [corrupt(rows, X, rng)[0] for _ in range(N_VIEWS)]
            logits = torch.stack([self._forward(view) for view in views])
            return supervised + CONSISTENCY_WEIGHT * logits.var(dim=0).mean()

        take_steps(self.predictor_.parameters(), loss, N_STEPS)

    def _pretrain(self, X: Tensor, rng: np.random.Generator) -> None:
        """Guess which entries were swapped, and what they had been."""
        n_features = X.shape[1]
        heads = [layers((n_features, n_features), rng).to(X.device) for _ in range(2)]
        everything = np.arange(len(X))

        def loss() -> Tensor:
            rows = draw(X, everything, rng)
            corrupted, mask = corrupt(rows, X, rng)
            code = self.encoder_(corrupted)
            guess, restored = (head(code) for head in heads)
            masks = F.binary_cross_entropy_with_logits(guess, mask)
            return masks + FEATURE_WEIGHT * F.mse_loss(restored, rows)

        modules = (self.encoder_, *heads)
        take_steps(
            (p for part in modules for p in part.parameters()), loss, N_PRETRAINING
        )

    def _forward(self, X: Tensor) -> Tensor:
        return self.predictor_(self.encoder_(X)).squeeze(-1)


def corrupt(rows: Tensor, X: Tensor, rng: np.random.Generator) -> tuple[Tensor, Tensor]:
    """Swap a share of the entries for those of other rows, column by column.

    Returns the corrupted rows and a mask of what has changed, both of the shape of
    ``rows``, (n_rows, n_features).
    """
    chosen = rng.integers(len(X), size=tuple(rows.shape))
    other = X.gather(0, torch.from_numpy(chosen).to(X.device))
    mask = torch.from_numpy(rng.random(tuple(rows.shape)) < MASK_RATE).to(X.device)
    corrupted = torch.where(mask, other, rows)
    return corrupted, (corrupted != rows).float()
