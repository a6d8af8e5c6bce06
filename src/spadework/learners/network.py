"""The network learner: Algorithm 1 with encoder, predictor and projection head.

What it has learnt counts as far as held-out labels speak for its pseudo-labels, as one
of the readings of the unlabeled rows. Small networks learn the others, and stand beside
it in that one where there are few rows; linear models stand beside all where there are
few to draw, and distances to the nearest rows beside one-class scores.

Importing torch takes seconds, so it loads when a network is trained or scored and
not with this module.
"""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator

from spadework.arrays import Floats, Labels, Numbers, Rows, Singles
from spadework.core.pseudo_labels import PseudoLabeler, PseudoLabels, learning_targets
from spadework.core.trust import LEARNT, ONE_CLASS, PSEUDO
from spadework.errors import InputError
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework.lazy import LazyModule
from spadework.learners.blend import judge_readings
from spadework.learners.companions import (
    LEAST,
    LINEAR,
    NEIGHBOURS,
    NEIGHBOURS_SHARE,
    SMALL,
    Companion,
    blend_by_trust,
    fit_companions,
    join_all,
    share_of_few,
)
from spadework.learners.contract import GrownReading, Learnt, Scaler, Task
from spadework.learners.oddness import read_neighbours, read_one_class
from spadework.learners.perceptrons import learn_reading
from spadework.learners.readings import MAX_DRAWS, Reading, judged_rows, make_readings
from spadework.parameters import (
    check_positive,
    check_positive_integer,
    check_weight,
)
from spadework.progress import Advance, progress

if TYPE_CHECKING:
    import torch

    from spadework.core import networks, training
else:
    torch = LazyModule("torch")
    networks = LazyModule("spadework.core.networks")
    training = LazyModule("spadework.core.training")

_STARTS = ("torch", "glorot")

MIN_BATCH, MAX_STEPS = 256, 256
"""Rows in a step at least, and steps in an epoch at most, by default."""

MAX_NETWORKS, ROW_BUDGET = 5, 1 << 18
"""Networks at most, and rows that all of them read in an epoch, by default."""

FEW_ROWS = 10_000
"""Rows at which the share of small networks in what pseudo-labels teach has halved: an
encoder needs many rows to learn from."""


@dataclass(eq=False, repr=False, kw_only=True)
class NetworkLearner(BaseEstimator):
    """Encoder, predictor and self-supervised head trained together (eq. 5).

    Parameters
    ----------
    n_networks : int, optional
        Networks that are trained from different starts, and whose logits are
        averaged. By default 5, and down to 1 on large tables. The history is that
        of the first.
    alpha : float
        Weight of the loss on pseudo-labels.
    beta : float
        Weight of the self-supervised (reconstruction) loss.
    n_layers : 1 or 2
        Layers of encoder, predictor and head each. With one, encoder and predictor
        together are a two-layer perceptron, and so are encoder and head.
    start : "torch" or "glorot"
        Weights to begin with: small ones for layers that read much, and biases, as torch
        draws them; or larger ones by Glorot's rule, and no biases, as Keras does.
    linear_code : bool
        End the encoder in a linear layer instead of a ReLU, which can kill
        dimensions of the code that the one-class models look at.
    warmup_epochs : int
        Epochs before the first pseudo-labels, in which the code settles.
    batch_size : int, optional
        Unlabeled rows in a step. By default 256, or as many more as let an epoch
        take at most 256 steps.
    learning_rate : float
    max_epochs : int
    patience : int
        Stop when the training loss has not improved for this many epochs.
    device : "auto" or a torch device name
        Where to train; "auto" takes a GPU where there is one, and so does scoring.
    judge : bool
        Count these networks as far as held-out labels speak for their pseudo-labels,
        beside small networks that take unlabeled rows for normal, for suspects or
        for nothing, or learn from pseudo-labels, too, where there are few rows, and
        beside one-class scores. Otherwise they score alone, as in the paper, and codes
        and pseudo-labels are theirs.
    """

    n_networks: int | None = None
    alpha: float = 1.0
    beta: float = 1.0
    n_layers: Literal[1, 2] = 2
    start: Literal["torch", "glorot"] = "torch"
    linear_code: bool = True
    warmup_epochs: int = 5
    batch_size: int | None = None
    learning_rate: float = 1e-3
    max_epochs: int = 30
    patience: int = 5
    device: str = "auto"
    judge: bool = True

    def learn(
        self,
        X: Rows,
        labels: Labels,
        scaler: Scaler,
        labeler: PseudoLabeler,
        rng: np.random.Generator,
        *,
        verbose: bool,
    ) -> Learnt:
        """Scale the rows, run Algorithm 1 on them, and judge what it has learnt."""
        options = self._options(len(X))
        n_steps = self._n_networks(len(X)) * options.max_epochs + len(LEARNT)
        device = networks.find_device(self.device)
        features = scaler.transform(X)
        scaled = torch.from_numpy(features).to(device)
        with (
            training.one_thread(),
            progress("training", n_steps, verbose=verbose) as advance,
        ):
            learnt = self._train(
                X, scaled, labels, scaler, labeler, options, rng, advance
            )
            if not self.judge or not (labels == UNLABELED).any():
                return learnt
            # Not on the code, where consensus agrees with the labels it has learnt.
            fitted, pseudo = labeler.fit(features, labels, rng)
            readings = self._readings(labels, pseudo, stand_in=labeler.stand_in)
            task = Task(X, labels, scaler, judged_rows(labels, rng), rng)
            judged, judged_labels = task.judged, task.judged_labels
            grown = {}
            for name, reading in readings.items():
                grown[name] = learn_reading(scaled, reading, task)
                advance(f"unlabeled rows read by {name}")
        linear = fit_companions(task, readings)
        beside = {name: {LINEAR: companion} for name, companion in linear.items()}
        if small := grown.pop(PSEUDO, None):
            companion = Companion(small_share(len(X)), small)
            beside.setdefault(PSEUDO, {})[SMALL] = companion
        grown[PSEUDO] = GrownReading(
            learnt.model, learnt.train_scores[judged], judged_labels != UNLABELED
        )
        grown |= read_one_class(fitted.members, labeler.one_class, task)
        for name, nearest in read_neighbours(task).items():
            beside[name] = {NEIGHBOURS: Companion(NEIGHBOURS_SHARE, nearest)}
        joined = join_all(grown, beside, judged_labels, scaler)
        trust = judge_readings(joined, judged_labels, grown[ONE_CLASS].held_out)
        scores = np.full(len(X), np.nan)
        model, scores[judged], trust = blend_by_trust(
            grown, beside, trust, judged_labels, scaler, lift=True
        )
        return Learnt(model, fitted, pseudo, scores, learnt.history, trust)

    def _readings(
        self, labels: Labels, pseudo: PseudoLabels, *, stand_in: bool
    ) -> dict[str, Reading]:
        """Return what small networks learn: pseudo-labels only where rows are few."""
        targets = learning_targets(labels, pseudo.labels, stand_in=stand_in)
        alphas = {ANOMALY: self.alpha, NORMAL: self.alpha}
        readings = make_readings(labels, targets, alphas, max_draws=MAX_DRAWS, min_leaf=1)
        if not small_share(len(labels)):
            readings.pop(PSEUDO, None)
        return readings

    def _train(
        self,
        X: Rows,
        scaled: "torch.Tensor",
        labels: Labels,
        scaler: Scaler,
        labeler: PseudoLabeler,
        options: "training.TrainingOptions",
        rng: np.random.Generator,
        advance: Advance,
    ) -> Learnt:
        """Run Algorithm 1 from several starts."""
        weights, results = [], []
        for _ in range(self._n_networks(len(X))):
            network = networks.new_network(
                X.shape[1],
                n_layers=self.n_layers,
                linear_code=self.linear_code,
                start=self.start,
                rng=rng,
            ).to(scaled.device)
            results.append(
                training.train_network(
                    network,
                    scaled,
                    labels,
                    labeler,
                    options,
                    rng,
                    lambda epoch: advance(_note(epoch)),
                )
            )
            weights.append(networks.network_weights(network))
        model = NetworkModel(tuple(weights), self.linear_code, scaler)
        first = results[0]
        return Learnt(
            model,
            first.pseudo_labeler,
            first.pseudo_labels,
            model.score(X),
            [epoch._asdict() for epoch in first.history],
            trust=None,
        )

    def _n_networks(self, n_rows: int) -> int:
        """Networks that are asked for, or that a fixed budget of rows allows."""
        return self.n_networks or int(np.clip(ROW_BUDGET // n_rows, 1, MAX_NETWORKS))

    def _options(self, n_rows: int) -> "training.TrainingOptions":
        """Check the numbers of the training loop and put them together."""
        for name in ("max_epochs", "patience"):
            check_positive_integer(name, getattr(self, name))
        for name in ("batch_size", "n_networks"):
            if getattr(self, name) is not None:
                check_positive_integer(name, getattr(self, name))
        for name in ("alpha", "beta", "warmup_epochs"):
            check_weight(name, getattr(self, name))
        check_positive("learning_rate", self.learning_rate)
        if self.n_layers not in (1, 2):
            raise InputError(f"n_layers must be 1 or 2; got {self.n_layers!r}")
        if self.start not in _STARTS:
            raise InputError(f"start must be one of {_STARTS}; got {self.start!r}")
        options = training.TrainingOptions
        own: dict[str, Any] = {
            each.name: getattr(self, each.name) for each in fields(options)
        }
        own["batch_size"] = self.batch_size or max(MIN_BATCH, n_rows // MAX_STEPS)
        return options(**own)


@dataclass(frozen=True)
class NetworkModel:
    """Trained `SpadeNetwork`s as plain arrays; scores are means of their logits."""

    weights: tuple[dict[str, Singles], ...]
    linear_code: bool
    scaler: Scaler

    def __post_init__(self) -> None:
        if not self.weights:
            raise InputError("a model needs the weights of at least one network")
        self._networks()

    def score(self, X: Numbers) -> Floats:
        """Mean logit q(h(x)) of each row, (n_samples,)."""
        with training.one_thread():
            # In float64 a score does not depend on the rows scored beside it.
            rows = networks.to_tensor(X, self.scaler).double()
            logits = [
                training.predict_logits(network.double(), rows)
                for network in self._networks()
            ]
        return np.mean(logits, axis=0)

    def represent(self, X: Numbers) -> Rows:
        """Latent codes h(x) of the first network."""
        with training.one_thread():
            rows = networks.to_tensor(X, self.scaler)
            return training.encode(self._networks()[0], rows)

    def _networks(self) -> list["networks.SpadeNetwork"]:
        device = networks.find_device("auto")
        return [
            networks.restore_network(weights, linear_code=self.linear_code).to(device)
            for weights in self.weights
        ]


def small_share(n_rows: int) -> float:
    """Return the share of small networks beside Algorithm 1; 0 where rows are many.

    Examples
    --------
    >>> small_share(10_000), small_share(1_000_000)
    (0.25, 0.0)
    """
    return share_of_few(n_rows, FEW_ROWS, LEAST)


def _note(epoch: "training.Epoch") -> str:
    """One line on how an epoch went."""
    return (
        f"loss {epoch.loss:.4f}, pseudo-labels {epoch.pseudo_anomalies:,} anomalies, "
        f"{epoch.pseudo_normals:,} normals"
    )
