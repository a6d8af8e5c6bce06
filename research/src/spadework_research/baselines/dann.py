"""DANN (Ganin et al. 2016): a code in which labeled and unlabeled rows look alike."""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional as F

from spadework.base import Labels
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework_research.baselines.deep import DeepBaseline, draw, layers, take_steps

N_STEPS = 600
N_HIDDEN = 64


class DANN(DeepBaseline):
    """Label head on labeled rows, domain head on both, its gradient turned round."""

    settings = ("PNU", "PN")

    def _train(self, X: Tensor, labels: Labels, rng: np.random.Generator) -> None:
        self.encoder_ = layers((X.shape[1], N_HIDDEN, N_HIDDEN), rng).to(X.device)
        self.head_ = layers((N_HIDDEN, N_HIDDEN, 1), rng).to(X.device)
        domain = layers((N_HIDDEN, N_HIDDEN, 1), rng).to(X.device)
        groups = [np.flatnonzero(labels == kind) for kind in (NORMAL, ANOMALY)]
        labeled = np.flatnonzero(labels != UNLABELED)
        unlabeled = np.flatnonzero(labels == UNLABELED)
        step = 0

        def loss() -> Tensor:
            nonlocal step
            step += 1
            logits = [self._forward(draw(X, group, rng)) for group in groups]
            total = _two_class_loss(logits[0], logits[1])
            if len(unlabeled):
                strength = 2 / (1 + math.exp(-10 * step / N_STEPS)) - 1
                source, target = (
                    domain(_Reversed.apply(self.encoder_(draw(X, rows, rng)), strength))
                    for rows in (labeled, unlabeled)
                )
                total = total + _two_class_loss(source, target)
            return total

        parts = (self.encoder_, self.head_, domain)
        take_steps((p for part in parts for p in part.parameters()), loss, N_STEPS)

    def _forward(self, X: Tensor) -> Tensor:
        return self.head_(self.encoder_(X)).squeeze(-1)


def _two_class_loss(zeros: Tensor, ones: Tensor) -> Tensor:
    """Cross-entropy of logits that should say 0 and of logits that should say 1."""
    return F.softplus(zeros).mean() + F.softplus(-ones).mean()


class _Reversed(torch.autograd.Function):
    """The identity, with its gradient turned round and scaled."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, strength: float) -> Tensor:
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor) -> tuple[Tensor, None]:
        return -ctx.strength * grad_outputs[0], None
