"""What a learner takes and gives: the seam between detector and learners."""

from typing import NamedTuple, Protocol

import numpy as np

from spadework.arrays import Flags, Floats, Labels, Numbers, Positions, Rows
from spadework.core.pseudo_labels import (
    FittedPseudoLabeler,
    PseudoLabeler,
    PseudoLabels,
)
from spadework.core.scaling import AsinhScaler, MinMaxScaler
from spadework.learners.label_trust import LabelTrust

Scaler = MinMaxScaler | AsinhScaler


class Scorer(Protocol):
    """What scores rows by a reading: trees, networks or one-class models."""

    def score(self, X: Numbers, /) -> Floats:
        """Score raw rows, (n_samples,), higher is more anomalous."""
        ...


class Model(Scorer, Protocol):
    """A fitted learner: plain arrays that score raw rows."""

    @property
    def gives_log_odds(self) -> bool:
        """Whether a score is the log-odds of being an anomaly."""
        ...

    def represent(self, X: Numbers, /) -> Rows:
        """Show rows as the pseudo-labeler sees them, (n_samples, n_dimensions)."""
        ...


class Task(NamedTuple):
    """What readings are learnt from, and judged by.

    Rows (n_samples, n_features) with their labels, a scaler of their columns, and the
    positions of the rows to judge by, (n_judged,): of many unlabeled ones a sample.
    """

    X: Rows
    labels: Labels
    scaler: Scaler
    judged: Positions
    rng: np.random.Generator

    @property
    def judged_labels(self) -> Labels:
        """Labels of the rows to judge by, (n_judged,)."""
        return self.labels[self.judged]

    @property
    def places(self) -> Positions:
        """Place of each row among those to judge by, -1 of others, (n_samples,)."""
        places = np.full(len(self.X), -1, dtype=np.intp)
        places[self.judged] = np.arange(len(self.judged))
        return places


class GrownReading(NamedTuple):
    """What scores rows by a reading, and its held-out scores of the judged rows.

    ``known`` tells the rows, if any, whose scores are not held out: all of the reading's
    models have learnt from them.
    """

    scorer: Scorer
    held_out: Floats
    known: Flags | None = None

    @property
    def is_known(self) -> Flags:
        """Tell of every judged row whether it is known."""
        nothing = np.zeros(len(self.held_out), dtype=bool)
        return nothing if self.known is None else self.known


class Learnt(NamedTuple):
    """All that a learner brings back.

    ``train_scores`` are the scores of the training rows that the decision
    threshold is looked for on, as honest as the learner can make them, and NaN for
    rows that were not scored. ``pseudo_labeler`` is None when no row was unlabeled, or
    when new rows cannot be pseudo-labeled, ``trust`` when the learner does not judge its
    pseudo-labels, and ``share``, that of anomalies among unlabeled rows, when it does not
    predict it.
    """

    model: Model
    pseudo_labeler: FittedPseudoLabeler | None
    pseudo_labels: PseudoLabels | None
    train_scores: Floats
    history: list[dict[str, float]]
    trust: LabelTrust | None = None
    share: float | None = None


class Learner(Protocol):
    """Learns from labels and from the pseudo-labels it has made for itself."""

    def learn(
        self,
        X: Rows,
        labels: Labels,
        scaler: Scaler,
        labeler: PseudoLabeler,
        rng: np.random.Generator,
        /,
        *,
        verbose: bool,
    ) -> Learnt:
        """Fit on raw rows X, (n_samples, n_features), and labels 1, 0, -1."""
        ...
