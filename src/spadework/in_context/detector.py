"""A detector that has learned to detect: labels and unlabeled rows are its context."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from scipy.special import expit

from spadework.arrays import Floats, Labels, Rows
from spadework.base import AnomalyDetector, RandomState
from spadework.errors import InputError
from spadework.in_context.members import InContextEnsemble
from spadework.in_context.weights import Weights
from spadework.labels import UNLABELED
from spadework.parameters import check_positive_integer

_DEVICES = ("auto", "cpu")
_THRESHOLD_ROWS = 10_000


@dataclass(eq=False, repr=False, kw_only=True)
class InContextDetector(AnomalyDetector):
    """Scores rows in the context of labels, with a model trained for label mismatch.

    Nothing is learnt in ``fit``: it stores contexts, each the labeled rows and an own
    part of the unlabeled ones, and a pretrained model reads them. The model was trained
    on made tables whose labels were drawn with every kind of mismatch. What a context
    cannot hold is sampled: up to 1,000 rows of each label, 3,000 unlabeled rows and 96
    columns each.

    Parameters
    ----------
    n_members : int
        Contexts whose log-odds are averaged. More of them change little where a
        context holds most of the table.
    weights : path, optional
        File of weights that you trained; those of this package if None.
    device : {"auto", "cpu"}
        Where to compute. "auto" takes a GPU where there is one.
    threshold : "auto" or float
        Decision threshold on the anomaly score, the log-odds. "auto" calls the share
        of anomalies that the model predicts among unlabeled rows; where every row is
        labeled, what is more likely an anomaly than not.
    label_map : mapping, optional
        From your label values to 1 (anomaly), 0 (normal) and -1 (unlabeled).
    random_state : int, numpy Generator or RandomState, or None

    Attributes
    ----------
    model_ : InContextEnsemble
        The pretrained model and the contexts of its members.
    share_ : float
        Predicted share of anomalies among unlabeled rows.
    threshold_ : float
        Rows that score above it are predicted anomalies. It is not the log-odds of one
        half: rows are called as many as there should be anomalies, while
        ``predict_proba`` says of each how likely it is one.
    setting_, census_, classes_, n_features_in_, feature_names_in_
        As those of `spadework.SPADE`.
    """

    n_members: int = 1
    weights: str | os.PathLike[str] | None = None
    device: Literal["auto", "cpu"] = "auto"
    threshold: Literal["auto"] | float = "auto"
    label_map: Mapping[Any, int] | None = None
    random_state: RandomState = None

    model_: InContextEnsemble = field(init=False)
    share_: float = field(init=False)

    def to_probability(self, scores: Floats) -> Floats:
        """Map anomaly scores, which are log-odds, to probabilities, both (n_samples,)."""
        return expit(scores)

    def _learn(self, X: Rows, labels: Labels, rng: np.random.Generator) -> Floats:
        """Store contexts; return scores of some unlabeled rows, and NaN for the rest."""
        weights = None if self.weights is None else Weights.read(self.weights)
        self.model_ = InContextEnsemble.draw(
            X, labels, self.n_members, rng, weights=weights, device=self.device
        )
        self.share_ = self.model_.share
        scores = np.full(len(X), np.nan)
        unlabeled = rng.permutation(np.flatnonzero(labels == UNLABELED))
        asked = np.sort(unlabeled[:_THRESHOLD_ROWS])
        if len(asked):
            scores[asked] = self._score(X[asked])
        return scores

    def _score(self, X: Rows) -> Floats:
        return self.model_.log_odds(X)

    def _decide_threshold(self, scores: Floats, labels: Labels) -> float:
        if self.threshold != "auto":
            return float(self.threshold)
        scored = scores[~np.isnan(scores)]
        return float(np.quantile(scored, 1 - self.share_)) if len(scored) else 0.0

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_positive_integer("n_members", self.n_members)
        if self.device not in _DEVICES:
            raise InputError(f"device must be one of {_DEVICES}; got {self.device!r}")
