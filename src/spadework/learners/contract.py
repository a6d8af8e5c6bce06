"""What a learner takes and gives: the seam between detector and learners."""

from typing import NamedTuple, Protocol

import numpy as np

from spadework.arrays import Floats, Labels, Numbers, Rows
from spadework.core.pseudo_labels import (
    FittedPseudoLabeler,
    PseudoLabeler,
    PseudoLabels,
)
from spadework.core.scaling import AsinhScaler, MinMaxScaler
from spadework.learners.label_trust import LabelTrust

Scaler = MinMaxScaler | AsinhScaler


class Model(Protocol):
    """A fitted learner: plain arrays that score raw rows."""

    @property
    def gives_log_odds(self) -> bool:
        """Whether a score is the log-odds of being an anomaly."""
        ...

    def score(self, X: Numbers, /) -> Floats:
        """Score raw rows, (n_samples,), higher is more anomalous."""
        ...

    def represent(self, X: Numbers, /) -> Rows:
        """Show rows as the pseudo-labeler sees them, (n_samples, n_dimensions)."""
        ...


class Learnt(NamedTuple):
    """All that a learner brings back.

    ``train_scores`` are the scores of the training rows that the decision
    threshold is looked for on, as honest as the learner can make them, and NaN for
    rows that were not scored. ``pseudo_labeler`` is None when no row was unlabeled, or
    when new rows cannot be pseudo-labeled, ``trust`` when the learner does not judge its
    pseudo-labels, and ``share``, that of anomalies among unlabeled rows, when it does not
    predict it. ``likely_shares`` are the ends of an interval around that share.
    """

    model: Model
    pseudo_labeler: FittedPseudoLabeler | None
    pseudo_labels: PseudoLabels | None
    train_scores: Floats
    history: list[dict[str, float]]
    trust: LabelTrust | None = None
    share: float | None = None
    likely_shares: tuple[float, float] | None = None


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
