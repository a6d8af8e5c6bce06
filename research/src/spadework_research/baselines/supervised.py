"""Supervised and negative supervised: a classifier on labels alone."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from spadework.base import Floats, Labels, Rows
from spadework.errors import LabelError
from spadework.labels import UNLABELED
from spadework_research.baselines.baseline import (
    Baseline,
    Unlabeled,
    check_unlabeled,
    classes_of,
    log_odds,
    new_seed,
)
from spadework_research.baselines.classifiers import make_classifier


class Supervised(Baseline):
    """A classifier on the labeled rows, or with unlabeled rows taken for normal.

    Parameters
    ----------
    classifier : str
        A name in ``CLASSIFIERS``.
    unlabeled : "ignore" or "normal"
        "normal" makes it the paper's negative supervised baseline.
    """

    settings = ("PNU", "PU", "PN")

    def __init__(
        self,
        *,
        classifier: str = "random_forest",
        unlabeled: Unlabeled = "ignore",
        threshold: Literal["auto"] | float = "auto",
        label_map: Mapping[Any, int] | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            threshold=threshold, label_map=label_map, random_state=random_state
        )
        self.classifier = classifier
        self.unlabeled: Unlabeled = unlabeled

    def _learn(self, X: Rows, labels: Labels, rng: np.random.Generator) -> Floats:
        self.model_ = fit_classifier(self.classifier, X, labels, self.unlabeled, rng)
        return self._score(X)

    def _score(self, X: Rows) -> Floats:
        return log_odds(self.model_.predict_proba(X)[:, 1])


def fit_classifier(
    name: str, X: Rows, labels: Labels, unlabeled: Unlabeled, rng: np.random.Generator
) -> Any:
    """Fit the named classifier on the rows whose class is taken as known."""
    check_unlabeled(unlabeled)
    classes = classes_of(labels, unlabeled)
    rows = classes != UNLABELED
    if len(np.unique(classes[rows])) < 2:
        raise LabelError(
            "a supervised baseline needs rows of both classes; label some normals, or "
            "take unlabeled rows for normal with unlabeled='normal'"
        )
    model = make_classifier(name, new_seed(rng), int(rows.sum()))
    return model.fit(X[rows], classes[rows])
