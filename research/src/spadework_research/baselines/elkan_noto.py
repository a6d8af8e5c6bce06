"""Weighted Elkan-Noto (2008): each unlabeled row is part anomaly, part normal."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from spadework.base import Floats, Labels, Rows
from spadework.errors import LabelError
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework_research.baselines.baseline import Baseline, log_odds, new_seed
from spadework_research.baselines.classifiers import make_classifier

HOLD_OUT = 0.2
"""Share of the rows that estimates how often an anomaly gets its label."""


class WeightedElkanNoto(Baseline):
    """A classifier tells labeled from unlabeled; a second one learns from weights.

    With c the chance that an anomaly is labeled and g(x) the chance that x is, an
    unlabeled x is an anomaly with weight w = (1 - c) / c * g / (1 - g), and normal
    with 1 - w. Labeled normals count as such.

    Parameters
    ----------
    classifier : str
        A name in ``CLASSIFIERS``.
    refit : bool
        Without it, rows are ranked by the first classifier, which is what the
        library does that the paper used.
    """

    settings = ("PNU", "PU", "PN")

    def __init__(
        self,
        *,
        classifier: str = "tuned_forest",
        refit: bool = True,
        threshold: Literal["auto"] | float = "auto",
        label_map: Mapping[Any, int] | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            threshold=threshold, label_map=label_map, random_state=random_state
        )
        self.classifier = classifier
        self.refit = refit

    def _learn(self, X: Rows, labels: Labels, rng: np.random.Generator) -> Floats:
        self.model_, held_out = self._tell_labeled(X, labels, rng)
        if self.refit:
            weights = anomaly_weights(self.model_, X, labels, held_out)
            self.model_ = self._learn_from_weights(X, weights, rng)
        return self._score(X)

    def _score(self, X: Rows) -> Floats:
        return log_odds(self.model_.predict_proba(X)[:, -1])

    def _tell_labeled(
        self, X: Rows, labels: Labels, rng: np.random.Generator
    ) -> tuple[Any, NDArray[np.intp]]:
        """Tell labeled anomalies from unlabeled rows; return what was held out too."""
        rows = np.flatnonzero(labels != NORMAL)
        if not (labels == UNLABELED).any():
            rows = np.arange(len(labels))
        labeled = labels == ANOMALY
        fit, held_out = train_test_split(
            rows,
            test_size=HOLD_OUT,
            stratify=labeled[rows] if labeled.sum() > 1 else None,
            random_state=new_seed(rng),
        )
        model = make_classifier(self.classifier, new_seed(rng), len(fit))
        return model.fit(X[fit], labeled[fit]), np.asarray(held_out)

    def _learn_from_weights(
        self, X: Rows, weights: Floats, rng: np.random.Generator
    ) -> Any:
        """Learn each row twice: as an anomaly by its weight, as normal by the rest."""
        rows = np.concatenate([X, X])
        targets = np.repeat([1, 0], len(X))
        shares = np.concatenate([weights, 1 - weights])
        used = shares > 0
        if len(np.unique(targets[used])) < 2:
            raise LabelError(
                "every row would count as an anomaly in full, so there is nothing to "
                "tell it from; give more rows"
            )
        model = make_classifier(self.classifier, new_seed(rng), int(used.sum()))
        return model.fit(rows[used], targets[used], sample_weight=shares[used])


def anomaly_weights(
    model: Any, X: Rows, labels: Labels, held_out: NDArray[np.intp]
) -> Floats:
    """How much of each row counts as an anomaly, (n_samples,).

    Parameters
    ----------
    model
        Gives the chance that a row is labeled.
    X : ndarray of shape (n_samples, n_features)
    labels : ndarray of shape (n_samples,)
    held_out : ndarray of int
        Rows that it has not seen, to estimate how often an anomaly gets its label.
    """
    weights = (labels == ANOMALY).astype(np.float64)
    unlabeled = labels == UNLABELED
    if not unlabeled.any():
        return weights
    chance = np.clip(model.predict_proba(X)[:, -1], 1e-6, 1 - 1e-6)
    anomalies = held_out[labels[held_out] == ANOMALY]
    c = chance[anomalies].mean() if len(anomalies) else chance[labels != NORMAL].mean()
    odds = chance[unlabeled] / (1 - chance[unlabeled])
    weights[unlabeled] = np.clip((1 - c) / c * odds, 0, 1)
    return weights
