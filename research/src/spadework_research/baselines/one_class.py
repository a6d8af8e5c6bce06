"""OCC and negative OCC: a one-class classifier on rows taken for normal."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from spadework.base import Floats, Labels, Rows
from spadework.core.scaling import fit_scaler
from spadework.errors import LabelError
from spadework.labels import NORMAL
from spadework.learners.one_class import make_one_class
from spadework_research.baselines.baseline import (
    Baseline,
    Unlabeled,
    check_unlabeled,
    classes_of,
)


class OneClass(Baseline):
    """One one-class classifier on min-max scaled rows, as in the paper.

    Parameters
    ----------
    model : "gaussian", "neighbours", "isolation_forest", "svm" or an object
    unlabeled : "ignore" or "normal"
        "normal" makes it the paper's negative OCC: only labeled anomalies are
        left out.
    """

    def __init__(
        self,
        *,
        model: Any = "gaussian",
        unlabeled: Unlabeled = "ignore",
        threshold: Literal["auto"] | float = "auto",
        label_map: Mapping[Any, int] | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            threshold=threshold, label_map=label_map, random_state=random_state
        )
        self.model = model
        self.unlabeled: Unlabeled = unlabeled

    def _learn(self, X: Rows, labels: Labels, rng: np.random.Generator) -> Floats:
        check_unlabeled(self.unlabeled)
        normal = classes_of(labels, self.unlabeled) == NORMAL
        if normal.sum() < 2:
            raise LabelError(
                f"a one-class classifier needs at least 2 normal rows; there are "
                f"{normal.sum()}. Label some, or take unlabeled rows for normal with "
                f"unlabeled='normal'"
            )
        self.scaler_ = fit_scaler(X, "minmax", rng)
        rows = self.scaler_.transform(X[normal])
        one_group = np.zeros(len(rows), dtype=np.intp)
        self.model_ = make_one_class(self.model).fit_members(rows, one_group, rng)
        return self._score(X)

    def _score(self, X: Rows) -> Floats:
        return self.model_.score(self.scaler_.transform(X))[:, 0]
