"""Weighted Elkan-Noto (2008): each unlabeled row is part anomaly, part normal."""

import numpy as np
from sklearn.model_selection import train_test_split

from spadework.base import Floats, Labels, Rows
from spadework.baselines.baseline import Baseline, log_odds, new_seed
from spadework.baselines.classifiers import make_classifier
from spadework.errors import LabelError
from spadework.labels import ANOMALY, NORMAL, UNLABELED

HOLD_OUT = 0.2
"""Share of the rows that estimates how often an anomaly gets its label."""


class WeightedElkanNoto(Baseline):
    """A classifier tells labeled from unlabeled; a second one learns from weights.

    With c the chance that an anomaly is labeled and g(x) the chance that x is, an
    unlabeled x is an anomaly with weight w = (1 - c) / c * g / (1 - g), and normal
    with 1 - w. Labeled normals count as such.
    """

    settings = ("PNU", "PU", "PN")

    def _learn(self, X: Rows, labels: Labels, rng: np.random.Generator) -> Floats:
        weights = self._anomaly_weights(X, labels, rng)
        rows = np.concatenate([X, X])
        targets = np.repeat([1, 0], len(X))
        shares = np.concatenate([weights, 1 - weights])
        used = shares > 0
        if len(np.unique(targets[used])) < 2:
            raise LabelError(
                "every row would count as an anomaly in full, so there is nothing to "
                "tell it from; give more rows"
            )
        self.model_ = make_classifier("tuned_forest", new_seed(rng), int(used.sum()))
        self.model_.fit(rows[used], targets[used], sample_weight=shares[used])
        return self._score(X)

    def _score(self, X: Rows) -> Floats:
        return log_odds(self.model_.predict_proba(X)[:, 1])

    def _anomaly_weights(
        self, X: Rows, labels: Labels, rng: np.random.Generator
    ) -> Floats:
        """How much of each row counts as an anomaly, (n_samples,)."""
        labeled = (labels == ANOMALY).astype(np.float64)
        unlabeled = np.flatnonzero(labels == UNLABELED)
        if not len(unlabeled):
            return labeled
        candidates = np.flatnonzero(labels != NORMAL)
        fit, held_out = train_test_split(
            candidates,
            test_size=HOLD_OUT,
            stratify=labeled[candidates] if labeled.sum() > 1 else None,
            random_state=new_seed(rng),
        )
        model = make_classifier("tuned_forest", new_seed(rng), len(fit))
        model.fit(X[fit], labeled[fit])
        chance = np.clip(model.predict_proba(X)[:, -1], 1e-6, 1 - 1e-6)
        anomalies = held_out[labeled[held_out] == 1]
        c = chance[anomalies].mean() if len(anomalies) else chance[fit].mean()
        odds = chance[unlabeled] / (1 - chance[unlabeled])
        labeled[unlabeled] = np.clip((1 - c) / c * odds, 0, 1)
        return labeled
