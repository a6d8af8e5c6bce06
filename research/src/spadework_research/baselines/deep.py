"""What the deep baselines share: rows on a device, seeded layers, steps of Adam."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from spadework.base import Floats, Labels, Rows
from spadework.core.networks import find_device
from spadework.core.scaling import fit_scaler
from spadework.core.training import one_thread
from spadework_research.baselines.baseline import Baseline

BATCH_ROWS = 256
LEARNING_RATE = 1e-3
_SCORE_ROWS = 65_536


class DeepBaseline(Baseline):
    """A network on columns brought to the range 0 to 1, as their papers have them.

    Children train in ``_train`` and score scaled rows in ``_forward``.
    """

    def _learn(self, X: Rows, labels: Labels, rng: np.random.Generator) -> Floats:
        self.scaler_ = fit_scaler(X, "minmax", rng)
        device = find_device("auto")
        with one_thread():
            rows = torch.from_numpy(self.scaler_.transform(X)).to(device)
            self._train(rows, labels, rng)
        return self._score(X)

    def _score(self, X: Rows) -> Floats:
        device = find_device("auto")
        with one_thread(), torch.no_grad():
            rows = torch.from_numpy(self.scaler_.transform(X))
            parts = [
                self._forward(part.to(device)).double().cpu().numpy()
                for part in rows.split(_SCORE_ROWS)
            ]
        return np.concatenate(parts)

    @abstractmethod
    def _train(self, X: Tensor, labels: Labels, rng: np.random.Generator) -> None:
        """Train on scaled rows, (n_samples, n_features)."""

    @abstractmethod
    def _forward(self, X: Tensor) -> Tensor:
        """Anomaly scores of scaled rows, (n_rows,)."""


def layers(
    widths: tuple[int, ...], rng: np.random.Generator, *, bias: bool = True
) -> nn.Sequential:
    """Linear layers of these widths with ReLUs between, initialised from ``rng``."""
    modules: list[nn.Module] = []
    for n_in, n_out in pairwise(widths):
        linear = nn.Linear(n_in, n_out, bias=bias, device="meta")
        bound = n_in**-0.5
        linear = linear.to_empty(device="cpu")
        with torch.no_grad():
            for parameter in linear.parameters():
                values = rng.uniform(-bound, bound, tuple(parameter.shape))
                parameter.copy_(torch.from_numpy(values))
        modules += [linear, nn.ReLU()]
    return nn.Sequential(*modules[:-1])


def take_steps(
    parameters: Iterator[nn.Parameter],
    loss: Callable[[], Tensor],
    n_steps: int,
    *,
    weight_decay: float = 0.0,
) -> None:
    """Minimise by Adam; ``loss`` draws its own rows for each step."""
    optimizer = torch.optim.Adam(
        parameters, lr=LEARNING_RATE, weight_decay=weight_decay, fused=True
    )
    for _ in range(n_steps):
        optimizer.zero_grad()
        loss().backward()
        optimizer.step()


def draw(X: Tensor, positions: NDArray[np.intp], rng: np.random.Generator) -> Tensor:
    """Draw a batch of rows, with replacement, from those at the positions."""
    chosen = rng.choice(positions, min(BATCH_ROWS, 4 * len(positions)))
    return X[torch.from_numpy(chosen).to(X.device)]
