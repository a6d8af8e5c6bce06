"""XGBOD-style (Zhao and Hryniewicki 2018): boosting on features and outlier scores."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from spadework.base import Floats, Labels, Rows
from spadework.core.scaling import fit_scaler
from spadework.learners.one_class import make_one_class
from spadework_research.baselines.baseline import Baseline, Unlabeled, log_odds
from spadework_research.baselines.supervised import fit_classifier

OUTLIER_MODELS = ("gaussian", "isolation_forest", "svm")


class XGBOD(Baseline):
    """Gradient boosting that also sees what unsupervised detectors think of a row.

    The detectors learn from all rows, labeled or not.

    Parameters
    ----------
    unlabeled : "ignore" or "normal"
        What the boosting does with unlabeled rows.
    """

    settings = ("PNU", "PU", "PN")

    def __init__(
        self,
        *,
        unlabeled: Unlabeled = "ignore",
        threshold: Literal["auto"] | float = "auto",
        label_map: Mapping[Any, int] | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            threshold=threshold, label_map=label_map, random_state=random_state
        )
        self.unlabeled: Unlabeled = unlabeled

    def _learn(self, X: Rows, labels: Labels, rng: np.random.Generator) -> Floats:
        self.scaler_ = fit_scaler(X, "minmax", rng)
        rows, group = self.scaler_.transform(X), np.zeros(len(X), dtype=np.intp)
        self.detectors_ = [
            make_one_class(name).fit_members(rows, group, rng) for name in OUTLIER_MODELS
        ]
        widened = self._with_scores(X)
        self.model_ = fit_classifier("boosting", widened, labels, self.unlabeled, rng)
        return log_odds(self.model_.predict_proba(widened)[:, 1])

    def _score(self, X: Rows) -> Floats:
        return log_odds(self.model_.predict_proba(self._with_scores(X))[:, 1])

    def _with_scores(self, X: Rows) -> Rows:
        """Append one column per detector, (n_samples, n_features + n_detectors)."""
        scaled = self.scaler_.transform(X)
        scores = [detector.score(scaled) for detector in self.detectors_]
        return np.concatenate([X, *scores], axis=1).astype(np.float32)
