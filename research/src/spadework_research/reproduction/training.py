"""Algorithm 1 under a setting, for many trials of one shape at once."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework_research.reproduction.networks import (
    Networks,
    code_moments,
    decode,
    encode,
    new_networks,
    predict,
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


class _Batch(NamedTuple):
    """Rows of one step and how much each counts in each loss, (n_networks, n_rows)."""

    rows: Tensor
    on_labels: Tensor
    on_unlabeled: Tensor
    on_input: Tensor


class _Best:
    """The best loss of each network, its epochs since, and its weights where asked."""

    def __init__(self, n_networks: int) -> None:
        self.loss = torch.full((n_networks,), torch.inf)
        self.waited = torch.zeros(n_networks, dtype=torch.long)
        self.parameters: list[Tensor] = []

    def after(self, loss: Tensor, least: float, parameters: list[Tensor] | None) -> None:
        """Take the losses of an epoch, (n_networks,)."""
        better = loss < self.loss - least
        self.loss = torch.where(better, loss, self.loss)
        self.waited = torch.where(better, 0, self.waited + 1)
        if parameters is None:
            return
        if not self.parameters:
            self.parameters = [each.detach().clone() for each in parameters]
        for kept, each in zip(self.parameters, parameters, strict=True):
            kept[better] = each.detach()[better]

    def keep(self, chosen: Tensor) -> None:
        """Keep the state of some networks."""
        self.loss, self.waited = self.loss[chosen], self.waited[chosen]
        self.parameters = [each[chosen] for each in self.parameters]


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
        self._ask_gradients()
        self.optimiser = Optimiser(self.networks.parameters, setting)
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
                with torch.no_grad():
                    code = self._encode(self.X)
                self.targets = pseudo_label(code, self.labels, setting, self.generator)
            losses = self._epoch(supervised=True)
            seen = losses[0] if setting["patience_on"] == "total" else losses[1]
            if epoch >= settled:
                kept = self.networks.parameters if setting["keep"] == "best" else None
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
        parameters = self.networks.parameters
        if self.best.parameters:
            parameters = self.best.parameters
        ended = self.networks.replace([each.detach()[over] for each in parameters])
        with torch.no_grad():
            moments = code_moments(_plain_code(ended, self.X[over], self.setting))
            code = encode(ended, self.X_test[over], self.setting, moments=moments)
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
        kept = [each.detach()[left] for each in self.networks.parameters]
        self.networks = self.networks.replace(kept)
        self._ask_gradients()
        self.optimiser.keep(left)
        self.best.keep(left)

    def _ask_gradients(self) -> None:
        for each in self.networks.parameters:
            each.requires_grad_()

    def _encode(self, x: Tensor) -> Tensor:
        return encode(self.networks, x, self.setting)

    def _epoch(self, *, supervised: bool) -> tuple[Tensor, Tensor]:
        """Update all networks with one pass; mean losses, total and on labels."""
        totals = torch.zeros(2, len(self.X))
        n_steps = 0
        for batch in _batches(self.labels, self.targets, self.setting, self.generator):
            each = torch.arange(len(self.X))[:, None]
            x, target = self.X[each, batch.rows], self.targets[each, batch.rows]
            labels, pseudo, rebuilt = self._losses(x, target, batch)
            setting = self.setting
            loss = setting["beta"] * rebuilt
            if supervised:
                loss = loss + labels + setting["alpha"] * pseudo  # eq. 5
            self.optimiser.step(loss.sum(), self.networks.parameters)
            totals += torch.stack([loss, labels]).detach()
            n_steps += 1
        return totals[0] / n_steps, totals[1] / n_steps

    def _losses(
        self, x: Tensor, target: Tensor, batch: _Batch
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return the three losses of eq. 5 of every network, (n_networks,) each."""
        setting, networks = self.setting, self.networks
        dropout = setting["dropout"]
        code = encode(networks, x, setting, dropout=dropout)
        logit = predict(networks, code, setting, dropout)
        entropy = functional.binary_cross_entropy_with_logits(
            logit, target.clamp(min=0).to(logit.dtype), reduction="none"
        )
        labels = (entropy * batch.on_labels).sum(dim=1)
        pseudo = (entropy * batch.on_unlabeled).sum(dim=1)
        if not setting["beta"]:
            return labels, pseudo, torch.zeros_like(labels)
        if setting["corruption"] != "none":
            code = encode(networks, _corrupt(x, setting), setting, dropout=dropout)
        squares = (decode(networks, code, setting) - x) ** 2
        per_row = (
            squares.sum(-1) if setting["reconstruction"] == "sum" else squares.mean(-1)
        )
        return labels, pseudo, (per_row * batch.on_input).sum(dim=1)


def _plain_code(networks: Networks, x: Tensor, setting: Setting) -> Tensor:
    """Codes before batch normalisation."""
    return encode(networks, x, setting | {"last": "linear"})


def _corrupt(x: Tensor, setting: Setting) -> Tensor:
    """Swap values with those of other rows, or add noise."""
    if setting["corruption"] == "noise":
        return x + 0.1 * torch.randn_like(x)
    other = torch.rand_like(x).argsort(dim=1)
    return torch.where(torch.rand_like(x) < CORRUPTED, x.gather(1, other), x)


def _batches(
    labels: Tensor, targets: Tensor, setting: Setting, generator: torch.Generator
) -> Iterator[_Batch]:
    """One pass over the rows in steps, or so many steps as the setting says."""
    n_rows = labels.shape[1]
    size = n_rows if setting["batch"] == "all" else min(setting["batch"], n_rows)
    n_steps = -(-n_rows // size) if setting["epoch"] == "rows" else setting["epoch"]
    draw = setting["draw"]
    if draw.startswith("mixed"):
        rows = _shuffled(
            torch.ones_like(labels, dtype=torch.bool), n_steps * size, generator
        )
        n_labeled = 0
    else:
        unlabeled = _shuffled(labels == UNLABELED, n_steps * size, generator)
        most = int((labels != UNLABELED).sum(dim=1).max())
        n_labeled = most if draw == "all_labels" else min(size, most)
        labeled = _shuffled(labels != UNLABELED, n_steps * n_labeled, generator)
        rows = torch.cat(
            [
                labeled.view(len(labels), n_steps, n_labeled),
                unlabeled.view(len(labels), n_steps, size),
            ],
            dim=2,
        ).flatten(1)
    for chosen in rows.split(n_labeled + size, dim=1):
        yield _weigh(chosen, labels, targets, setting)


def _shuffled(chosen: Tensor, n_drawn: int, generator: torch.Generator) -> Tensor:
    """Draw chosen rows in random order, over and over, (n_networks, n_drawn)."""
    random = torch.rand(chosen.shape, generator=generator).masked_fill(~chosen, 2.0)
    count = chosen.sum(dim=1, keepdim=True)
    turn = torch.arange(n_drawn) % count
    return random.argsort(dim=1).gather(1, turn)


def _weigh(rows: Tensor, labels: Tensor, targets: Tensor, setting: Setting) -> _Batch:
    """Say how much each row of a batch counts in each loss."""
    label, target = labels.gather(1, rows), targets.gather(1, rows)
    labeled = label != UNLABELED
    known = ~labeled & (target != UNLABELED)
    weight = setting["class_weight"]
    on_labels = _balanced(labeled, target) if weight != "none" else labeled.float()
    on_unlabeled = _balanced(known, target) if weight == "both" else known.float()
    n_labeled, n_unlabeled = (
        kind.sum(dim=1, keepdim=True).clamp(min=1) for kind in (labeled, ~labeled)
    )
    n_known = known.sum(dim=1, keepdim=True).clamp(min=1)
    if setting["draw"] == "mixed_rows":
        n_labeled = n_unlabeled = rows.shape[1]
    below = n_known if setting["pseudo_mean"] == "known" else n_unlabeled
    on_input = torch.full(rows.shape, 1 / rows.shape[1])
    return _Batch(rows, on_labels / n_labeled, on_unlabeled / below, on_input)


def _balanced(chosen: Tensor, target: Tensor) -> Tensor:
    """Let both classes of the chosen rows weigh the same, and as much as before."""
    weight = chosen.float()
    n_rows = weight.sum(dim=1, keepdim=True)
    kinds = [chosen & (target == kind) for kind in (NORMAL, ANOMALY)]
    counts = [kind.sum(dim=1, keepdim=True) for kind in kinds]
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
