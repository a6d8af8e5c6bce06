"""Algorithm 1 under a setting, for many trials of one shape at once."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework_research.reproduction.networks import (
    Networks,
    Pass,
    code_moments,
    encode,
    end_encoder,
    end_encoder_back,
    new_networks,
    predict,
    run,
    run_back,
    to_code,
)
from spadework_research.reproduction.optimisers import Optimiser
from spadework_research.reproduction.options import Setting
from spadework_research.reproduction.pseudo import pseudo_label

CORRUPTED = 0.3
"""Share of the values that masks corrupt, as in VIME."""


class Fitted(NamedTuple):
    """What training left of one network.

    Attributes
    ----------
    scores : ndarray of shape (n_test,)
    epochs : int
    pseudo : tuple of int
        Pseudo-normals and pseudo-anomalies in the last epoch.
    """

    scores: NDArray[np.float32]
    epochs: int
    pseudo: tuple[int, int]


class _Steps(NamedTuple):
    """Rows of all steps of an epoch, and how much each counts in each loss.

    Attributes
    ----------
    rows : Tensor of shape (n_networks, n_steps, n_rows)
    target : Tensor, the same shape
        0 or 1, and anything where no loss asks for it.
    on_labels, on_unlabeled : Tensor, the same shape
    """

    rows: Tensor
    target: Tensor
    on_labels: Tensor
    on_unlabeled: Tensor


class _Best:
    """The best loss of each network, its epochs since, and its weights where asked."""

    def __init__(self, n_networks: int) -> None:
        self.loss = torch.full((n_networks,), torch.inf)
        self.waited = torch.zeros(n_networks, dtype=torch.long)
        self.values: Tensor | None = None

    def after(self, loss: Tensor, least: float, values: Tensor | None) -> None:
        """Take the losses of an epoch, (n_networks,)."""
        better = loss < self.loss - least
        self.loss = torch.where(better, loss, self.loss)
        self.waited = torch.where(better, 0, self.waited + 1)
        if values is not None:
            kept = values if self.values is None else self.values
            self.values = torch.where(better[:, None], values, kept)

    def keep(self, chosen: Tensor) -> None:
        """Keep the state of some networks."""
        self.loss, self.waited = self.loss[chosen], self.waited[chosen]
        self.values = None if self.values is None else self.values[chosen]


@torch.no_grad()
def fit_all(
    X: Tensor, labels: Tensor, X_test: Tensor, setting: Setting, seeds: Sequence[int]
) -> list[Fitted]:
    """Train a network for each trial; score its test rows.

    Parameters
    ----------
    X : Tensor of shape (n_networks, n_rows, n_features)
    labels : Tensor of shape (n_networks, n_rows)
    X_test : Tensor of shape (n_networks, n_test, n_features)
    seeds : sequence of int
        One for each network.
    """
    return _Training(X, labels, X_test, setting, seeds).run()


class _Training:
    """The networks that are still in training, and all that belongs to them."""

    def __init__(
        self,
        X: Tensor,
        labels: Tensor,
        X_test: Tensor,
        setting: Setting,
        seeds: Sequence[int],
    ) -> None:
        self.X, self.labels, self.X_test = X, labels, X_test
        self.setting = setting
        generators = [torch.Generator().manual_seed(1000 + seed) for seed in seeds]
        self.generator = torch.Generator().manual_seed(min(seeds))
        torch.manual_seed(min(seeds))
        self.networks = new_networks(X.shape[2], setting, generators)
        self.optimiser = Optimiser(self.networks.values, setting)
        self.best = _Best(len(X))
        self.place = torch.arange(len(X))
        self.targets = labels.clone()
        self.fitted: dict[int, Fitted] = {}

    def run(self) -> list[Fitted]:
        """Train until the last network has ended."""
        setting = self.setting
        for _ in range(setting["pretraining"]):
            self._epoch(supervised=False)
        settled = setting["warmup"]
        for epoch in range(setting["max_epochs"]):
            if epoch >= settled and setting["alpha"]:
                code = encode(self.networks, self.X, setting)
                self.targets = pseudo_label(code, self.labels, setting, self.generator)
            losses = self._epoch(supervised=True)
            seen = losses[0] if setting["patience_on"] == "total" else losses[1]
            if epoch >= settled:
                kept = self.networks.values if setting["keep"] == "best" else None
                self.best.after(seen, setting["min_delta"], kept)
            over = ~torch.isfinite(seen)
            if setting["patience_on"] != "never":
                over |= self.best.waited >= 5
            if epoch + 1 == setting["max_epochs"]:
                over[:] = True
            if over.any():
                self._end(over, epoch + 1)
            if not len(self.place):
                break
        return [self.fitted[i] for i in range(len(self.fitted))]

    def _end(self, over: Tensor, epochs: int) -> None:
        """Score the test rows with networks that have ended, and let them go."""
        values = self.networks.values if self.best.values is None else self.best.values
        ended = self.networks.replace(values[over])
        before = encode(ended, self.X[over], self.setting | {"last": "linear"})
        code = encode(ended, self.X_test[over], self.setting, code_moments(before))
        scores = predict(ended, code, self.setting).numpy()
        for row, place in enumerate(self.place[over].tolist()):
            found = self.targets[over][row][self.labels[over][row] == UNLABELED]
            pseudo = tuple(int((found == kind).sum()) for kind in (NORMAL, ANOMALY))
            self.fitted[place] = Fitted(scores[row], epochs, (pseudo[0], pseudo[1]))
        left = ~over
        self.X, self.labels, self.X_test = (
            self.X[left],
            self.labels[left],
            self.X_test[left],
        )
        self.targets, self.place = self.targets[left], self.place[left]
        self.networks = self.networks.replace(self.networks.values[left])
        self.optimiser.keep(left, self.networks.values)
        self.best.keep(left)

    def _epoch(self, *, supervised: bool) -> tuple[Tensor, Tensor]:
        """Update all networks with one pass; mean losses, total and on labels."""
        setting, networks = self.setting, self.networks
        steps = _steps(self.labels, self.targets, setting, self.generator)
        weight = (steps.on_labels + setting["alpha"] * steps.on_unlabeled) * supervised
        gradients = networks.replace(torch.zeros_like(networks.values))
        first = torch.arange(len(self.X))[:, None] * self.X.shape[1]
        logits, rebuilt = torch.zeros_like(weight), torch.zeros(len(self.X))
        for step in range(steps.rows.shape[1]):
            chosen = (steps.rows[:, step] + first).flatten()
            x = self.X.flatten(0, 1)[chosen].view(len(self.X), -1, self.X.shape[2])
            gradients.values.zero_()
            logits[:, step], loss = self._gradients(
                x, steps.target[:, step], weight[:, step], gradients
            )
            rebuilt += loss
            self.optimiser.step(gradients.values)
        entropy = functional.binary_cross_entropy_with_logits(
            logits, steps.target, reduction="none"
        )
        n_steps = steps.rows.shape[1]
        on_labels = (entropy * steps.on_labels).sum(dim=(1, 2)) / n_steps
        total = (entropy * weight).sum(dim=(1, 2)) + setting["beta"] * rebuilt
        return total / n_steps, on_labels

    def _gradients(
        self, x: Tensor, target: Tensor, weight: Tensor, into: Networks
    ) -> tuple[Tensor, Tensor]:
        """Add the gradient of eq. 5; return logits, and losses of reconstruction.

        Parameters
        ----------
        x : Tensor of shape (n_networks, n_rows, n_features)
        target, weight : Tensor of shape (n_networks, n_rows)
            Of the cross-entropy of each row.
        """
        setting, networks, dropout = self.setting, self.networks, self.setting["dropout"]
        done = run(networks.encoder, x, setting, dropout)
        code = end_encoder(done.out, setting)
        predicted = run(networks.predictor, code, setting, dropout)
        logit = predicted.out.squeeze(-1)
        slope = ((logit.sigmoid() - target) * weight)[..., None]
        slope = run_back(networks.predictor, predicted, slope, into.predictor)
        slope = to_code(slope, networks.predictor)
        loss = torch.zeros(len(x))
        if setting["beta"]:
            seen, read = done, code
            if setting["corruption"] != "none":
                self._encoder_back(done, code, slope, into)
                seen = run(networks.encoder, _corrupt(x, setting), setting, dropout)
                read, slope = end_encoder(seen.out, setting), torch.zeros_like(slope)
            rebuilt = run(networks.decoder, read, setting)
            off = rebuilt.out - x
            n_values = x.shape[1] * (
                x.shape[2] if setting["reconstruction"] == "mean" else 1
            )
            loss = off.square().sum(dim=(1, 2)) / n_values
            back = run_back(
                networks.decoder,
                rebuilt,
                off * (2 * setting["beta"] / n_values),
                into.decoder,
            )
            done, code, slope = seen, read, slope + to_code(back, networks.decoder)
        self._encoder_back(done, code, slope, into)
        return logit, loss

    def _encoder_back(
        self, done: Pass, code: Tensor, slope: Tensor, into: Networks
    ) -> None:
        slope = end_encoder_back(slope, done.out, code, self.setting["last"])
        run_back(self.networks.encoder, done, slope, into.encoder)


def _corrupt(x: Tensor, setting: Setting) -> Tensor:
    """Swap values with those of other rows, or add noise."""
    if setting["corruption"] == "noise":
        return x + 0.1 * torch.randn_like(x)
    other = torch.rand_like(x).argsort(dim=1)
    return torch.where(torch.rand_like(x) < CORRUPTED, x.gather(1, other), x)


def _steps(
    labels: Tensor, targets: Tensor, setting: Setting, generator: torch.Generator
) -> _Steps:
    """One pass over the rows in steps, or so many steps as the setting says."""
    n_rows = labels.shape[1]
    size = n_rows if setting["batch"] == "all" else min(setting["batch"], n_rows)
    n_steps = -(-n_rows // size) if setting["epoch"] == "rows" else setting["epoch"]
    draw = setting["draw"]
    if draw.startswith("mixed"):
        every = torch.ones_like(labels, dtype=torch.bool)
        rows = _shuffled(every, n_steps * size, generator).unflatten(1, (n_steps, size))
    else:
        most = int((labels != UNLABELED).sum(dim=1).max())
        n_labeled = most if draw == "all_labels" else min(size, most)
        rows = torch.cat(
            [
                _shuffled(chosen, n_steps * n, generator).unflatten(1, (n_steps, n))
                for chosen, n in (
                    (labels == UNLABELED, size),
                    (labels != UNLABELED, n_labeled),
                )
            ],
            dim=2,
        )
    return _weigh(rows, labels, targets, setting)


def _shuffled(chosen: Tensor, n_drawn: int, generator: torch.Generator) -> Tensor:
    """Draw chosen rows in random order, over and over, (n_networks, n_drawn)."""
    random = torch.rand(chosen.shape, generator=generator).masked_fill(~chosen, 2.0)
    count = chosen.sum(dim=1, keepdim=True)
    turn = torch.arange(n_drawn) % count
    return random.argsort(dim=1).gather(1, turn)


def _weigh(rows: Tensor, labels: Tensor, targets: Tensor, setting: Setting) -> _Steps:
    """Say how much each row of a step counts in each loss."""
    flat = rows.flatten(1)
    label, target = (of.gather(1, flat).view(rows.shape) for of in (labels, targets))
    labeled = label != UNLABELED
    known = ~labeled & (target != UNLABELED)
    weight = setting["class_weight"]
    on_labels = _balanced(labeled, target) if weight != "none" else labeled.float()
    on_unlabeled = _balanced(known, target) if weight == "both" else known.float()
    n_labeled, n_unlabeled, n_known = (
        kind.sum(dim=2, keepdim=True).clamp(min=1) for kind in (labeled, ~labeled, known)
    )
    if setting["draw"] == "mixed_rows":
        n_labeled = n_unlabeled = rows.shape[2]
    below = n_known if setting["pseudo_mean"] == "known" else n_unlabeled
    goal = target.clamp(min=0).float()
    return _Steps(rows, goal, on_labels / n_labeled, on_unlabeled / below)


def _balanced(chosen: Tensor, target: Tensor) -> Tensor:
    """Let both classes of the chosen rows weigh the same, and as much as before."""
    weight = chosen.float()
    n_rows = weight.sum(dim=2, keepdim=True)
    kinds = [chosen & (target == kind) for kind in (NORMAL, ANOMALY)]
    counts = [kind.sum(dim=2, keepdim=True) for kind in kinds]
    both = (counts[0] > 0) & (counts[1] > 0)
    for kind, count in zip(kinds, counts, strict=True):
        share = n_rows / (2 * count.clamp(min=1))
        weight = torch.where(kind & both, share, weight)
    return weight


def as_tensors(*arrays: NDArray[Any]) -> list[Tensor]:
    """Return arrays as tensors: rows as float32, labels as they are."""
    return [
        torch.from_numpy(np.ascontiguousarray(each)).to(
            torch.float32 if each.dtype.kind == "f" else torch.int8
        )
        for each in arrays
    ]
