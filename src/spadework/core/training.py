"""Algorithm 1: pseudo-labels and network, refreshed in turn until convergence."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock, local
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.optim.adam import adam

from spadework.arrays import Floats, Labels, Rows
from spadework.core.losses import labeled_loss, pseudo_loss, reconstruction_loss
from spadework.core.networks import SpadeNetwork
from spadework.core.pseudo_labels import (
    FittedPseudoLabeler,
    PseudoLabeler,
    PseudoLabels,
    learning_targets,
)
from spadework.labels import ANOMALY, NORMAL, UNLABELED

_SCORE_ROWS = 65_536


class Epoch(NamedTuple):
    """What one epoch left behind.

    The mean losses, and how many unlabeled rows were taken for each class: the
    pseudo-labels and, where a class has no labels, those that stand in for it.
    """

    loss: float
    labeled: float
    pseudo: float
    reconstruction: float
    pseudo_anomalies: int
    pseudo_normals: int


@dataclass(frozen=True)
class TrainingOptions:
    """The numbers of the training loop, as those of `NetworkLearner`.

    A step has ``batch_size`` unlabeled rows, and at most as many labeled ones. The last
    epoch always has pseudo-labels, however long the warm-up.
    """

    alpha: float
    beta: float
    batch_size: int
    learning_rate: float
    max_epochs: int
    patience: int
    warmup_epochs: int


@dataclass
class TrainingResult:
    """The last pseudo-labeler, its labels, and the history of the losses."""

    pseudo_labeler: FittedPseudoLabeler | None = None
    pseudo_labels: PseudoLabels | None = None
    history: list[Epoch] = field(default_factory=list)


def train_network(
    network: SpadeNetwork,
    X: Tensor,
    labels: Labels,
    labeler: PseudoLabeler,
    options: TrainingOptions,
    rng: np.random.Generator,
    on_epoch: Callable[[Epoch], None],
) -> TrainingResult:
    """Train encoder, predictor and projection head (Algorithm 1), in place.

    X, (n_samples, n_features), is on the device of the network. Without unlabeled rows
    there are no pseudo-labels, only labels.
    """
    optimizer = Adam(list(network.parameters()), options.learning_rate)
    batches = _Batches(X, labels, options.batch_size, rng)
    result = TrainingResult()
    stop = Patience(options.patience)
    for epoch in range(options.max_epochs):
        warm = epoch >= min(options.warmup_epochs, options.max_epochs - 1)
        if warm and batches.n_unlabeled:
            latent = encode(network, X)
            fitted, pseudo = labeler.fit(latent, labels, rng)
            result.pseudo_labeler, result.pseudo_labels = fitted, pseudo
        known = result.pseudo_labels.labels if result.pseudo_labels else None
        targets = learning_targets(labels, known, stand_in=labeler.stand_in)
        state = _run_epoch(network, optimizer, batches, targets, options)
        result.history.append(state)
        on_epoch(state)
        if warm and stop.after(state.loss):
            break
    last = result.history[-1]
    warn_of_single_class(labels, last.pseudo_anomalies, last.pseudo_normals)
    if batches.n_unlabeled:  # once more, for the code the network ended with
        fitted, pseudo = labeler.fit(encode(network, X), labels, rng)
        result.pseudo_labeler, result.pseudo_labels = fitted, pseudo
    return result


def encode(network: SpadeNetwork, X: Tensor) -> Rows:
    """Latent codes h(x) of all rows, shape (n_samples, n_hidden)."""
    with torch.no_grad():
        parts = [network.encoder(rows) for rows in X.split(_SCORE_ROWS)]
    return torch.cat(parts).cpu().numpy()


def predict_logits(network: SpadeNetwork, X: Tensor) -> Floats:
    """Logits q(h(x)) of all rows, shape (n_samples,)."""
    with torch.no_grad():
        parts = [
            network.predictor(network.encoder(rows)) for rows in X.split(_SCORE_ROWS)
        ]
    return torch.cat(parts).squeeze(-1).cpu().numpy().astype(np.float64)


class _OneThread:
    """Run small torch steps on one thread: more only wait for each other.

    The limit is that of the process, and of every thread that has used torch. Whoever
    comes second must not take the limit of the first for what is to be put back, and
    within a limit of its own a thread changes nothing.
    """

    def __init__(self) -> None:
        self._lock, self._n_inside, self._n_threads = Lock(), 0, 1
        self._own = local()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        if getattr(self._own, "inside", False):
            yield
            return
        self._own.inside = True
        with self._lock:
            if self._n_inside == 0:
                self._n_threads = torch.get_num_threads()
            self._n_inside += 1
            torch.set_num_threads(1)
        try:
            yield
        finally:
            with self._lock:
                self._n_inside -= 1
                torch.set_num_threads(self._n_threads)
            self._own.inside = False


one_thread = _OneThread()


class _Batch(NamedTuple):
    """The rows of one step: labeled and unlabeled, with the latter's positions."""

    labeled: Tensor
    label: Tensor
    unlabeled: Tensor
    position: Tensor


class _Batches:
    """Deals all rows into steps: unlabeled ones once, labeled ones in rotation."""

    def __init__(
        self, X: Tensor, labels: Labels, batch_size: int, rng: np.random.Generator
    ) -> None:
        known = torch.from_numpy(labels != UNLABELED).to(X.device)
        self.labeled, self.unlabeled = X[known], X[~known]
        self.label = torch.from_numpy(labels).to(X.device)[known].to(X.dtype)
        self.n_unlabeled = len(self.unlabeled)
        self._size = batch_size
        self._rng = rng

    def epoch(self) -> Iterator[_Batch]:
        """One pass over the unlabeled rows, or the labeled ones if there are no other."""
        n_steps = -(-(self.n_unlabeled or len(self.labeled)) // self._size)
        unlabeled = self._shuffled(self.n_unlabeled)
        n_labeled = min(self._size, len(self.labeled))
        n_turns = -(-n_steps * n_labeled // len(self.labeled))
        labeled = torch.cat([self._shuffled(len(self.labeled)) for _ in range(n_turns)])
        for step in range(n_steps):
            position = unlabeled[step * self._size : (step + 1) * self._size]
            chosen = labeled[step * n_labeled : (step + 1) * n_labeled]
            yield _Batch(
                self.labeled[chosen],
                self.label[chosen],
                self.unlabeled[position],
                position,
            )

    def _shuffled(self, n_rows: int) -> Tensor:
        """Row positions in a new random order."""
        return torch.from_numpy(self._rng.permutation(n_rows)).to(self.label.device)


def _run_epoch(
    network: SpadeNetwork,
    optimizer: "Adam",
    batches: _Batches,
    targets: Labels,
    options: TrainingOptions,
) -> Epoch:
    """Update g, h and q with one pass over the rows (eq. 5)."""
    device, dtype = batches.label.device, batches.label.dtype
    pseudo_label = torch.from_numpy(targets).to(device, dtype)
    totals, n_steps = torch.zeros(4, device=device), 0
    for batch in batches.epoch():
        rows = torch.cat([batch.labeled, batch.unlabeled])
        output = network(rows)
        logit_l, logit_u = output.logit.split([len(batch.label), len(batch.position)])
        on_labels = labeled_loss(logit_l, batch.label)
        on_pseudo = pseudo_loss(logit_u, pseudo_label[batch.position])
        on_input = _over_all_rows(batches, batch, rows, output.reconstruction)
        loss = on_labels + options.alpha * on_pseudo + options.beta * on_input  # eq. 5
        optimizer.step(loss)
        totals += torch.stack([loss, on_labels, on_pseudo, on_input]).detach()
        n_steps += 1
    loss, labeled, pseudo, reconstruction = (totals / n_steps).tolist()
    counts = [int((targets == label).sum()) for label in (ANOMALY, NORMAL)]
    return Epoch(loss, labeled, pseudo, reconstruction, *counts)


class Adam:
    """Adam with torch's defaults, by torch's own function.

    ``torch.optim.Adam`` would load torch's compiler first, which takes longer than
    training a small network.
    """

    def __init__(self, parameters: list[Tensor], learning_rate: float) -> None:
        self._parameters = parameters
        self.learning_rate = learning_rate
        self._means, self._squares = (
            [torch.zeros_like(each) for each in parameters] for _ in range(2)
        )
        self._steps = [torch.zeros((), device=each.device) for each in parameters]

    def step(self, loss: Tensor) -> None:
        """Move the parameters down the gradient of a loss."""
        gradients = torch.autograd.grad(loss, self._parameters)
        with torch.no_grad():
            adam(
                self._parameters,
                list(gradients),
                self._means,
                self._squares,
                [],
                self._steps,
                fused=True,
                amsgrad=False,
                beta1=0.9,
                beta2=0.999,
                lr=self.learning_rate,
                weight_decay=0.0,
                eps=1e-8,
                maximize=False,
            )


def _over_all_rows(
    batches: _Batches, batch: _Batch, rows: Tensor, reconstruction: Tensor
) -> Tensor:
    """L_R as a mean over the entire data, of which a batch holds labels too often."""
    sizes = [len(batch.label), len(batch.position)]
    pairs = zip(rows.split(sizes), reconstruction.split(sizes), strict=True)
    on_labeled, on_unlabeled = (reconstruction_loss(*pair) for pair in pairs)
    if not batches.n_unlabeled:
        return on_labeled
    share = len(batches.labeled) / (len(batches.labeled) + batches.n_unlabeled)
    return share * on_labeled + (1 - share) * on_unlabeled


def warn_of_single_class(
    labels: Labels, pseudo_anomalies: int, pseudo_normals: int
) -> None:
    """Warn when the predictor ended without a row of one class to learn from."""
    counts = {ANOMALY: pseudo_anomalies, NORMAL: pseudo_normals}
    for label, name in ((ANOMALY, "anomaly"), (NORMAL, "normal")):
        if not counts[label] and not (labels == label).any():
            warnings.warn(
                f"no row was labeled or pseudo-labeled {name} in the last epoch, so the "
                f"scores tell little. Label a few such rows, or set stand_in=True",
                stacklevel=2,
            )


class Patience:
    """Says stop once a loss has not improved for a number of epochs."""

    def __init__(self, patience: int) -> None:
        self._patience = patience
        self._best = np.inf
        self._waited = 0

    def after(self, loss: float) -> bool:
        """Take the loss of an epoch; return whether to stop."""
        improved = loss < self._best
        self._best = min(self._best, loss)
        self._waited = 0 if improved else self._waited + 1
        return self._waited >= self._patience
