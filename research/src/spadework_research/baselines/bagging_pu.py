"""BaggingPU (Mordelet and Vert 2014): labeled anomalies against random draws."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from spadework.base import Floats, Labels, Rows
from spadework.errors import InputError
from spadework.labels import ANOMALY
from spadework.parameters import check_positive_integer
from spadework_research.baselines.baseline import Baseline, new_seed
from spadework_research.baselines.classifiers import make_classifier

Bag = Literal["all", "balanced"]


class BaggingPU(Baseline):
    """Classifiers, each on all labeled anomalies and on draws from the other rows.

    A training row is scored by the classifiers that have not drawn it.

    Parameters
    ----------
    classifier : str
        A name in ``CLASSIFIERS``.
    n_bags : int
    bag : "all" or "balanced"
        As many draws as there are other rows, or as there are labeled anomalies.
        The former is what the library that the paper used does by default; the
        authors of the method advise the latter.
    """

    settings = ("PNU", "PU", "PN")

    def __init__(
        self,
        *,
        classifier: str = "tree",
        n_bags: int = 100,
        bag: Bag = "balanced",
        threshold: Literal["auto"] | float = "auto",
        label_map: Mapping[Any, int] | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            threshold=threshold, label_map=label_map, random_state=random_state
        )
        self.classifier = classifier
        self.n_bags = n_bags
        self.bag: Bag = bag

    def _learn(self, X: Rows, labels: Labels, rng: np.random.Generator) -> Floats:
        if self.bag not in ("all", "balanced"):
            raise InputError(f"bag must be 'all' or 'balanced'; got {self.bag!r}")
        check_positive_integer("n_bags", self.n_bags)
        anomalies = np.flatnonzero(labels == ANOMALY)
        others = np.flatnonzero(labels != ANOMALY)
        n_draws = len(anomalies) if self.bag == "balanced" else len(others)
        targets = np.repeat([1, 0], [len(anomalies), n_draws])
        self.models_ = []
        total, count = np.zeros(len(X)), np.zeros(len(X))
        for _ in range(self.n_bags):
            drawn = rng.choice(others, n_draws)
            model = make_classifier(self.classifier, new_seed(rng), len(targets))
            model.fit(X[np.concatenate([anomalies, drawn])], targets)
            unseen = np.ones(len(X), dtype=bool)
            unseen[drawn] = False
            total[unseen] += _chance(model, X[unseen])
            count[unseen] += 1
            self.models_.append(model)
        return total / np.maximum(count, 1)

    def _score(self, X: Rows) -> Floats:
        return np.mean([_chance(model, X) for model in self.models_], axis=0)


def _chance(model: Any, X: Rows) -> Floats:
    """Chance of an anomaly by one classifier, (n_samples,)."""
    return np.asarray(model.predict_proba(X))[:, 1]
