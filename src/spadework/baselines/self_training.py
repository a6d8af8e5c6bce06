"""Self-training (Yarowsky 1995), as scikit-learn has it, around a random forest."""

import warnings

import numpy as np
from sklearn.semi_supervised import SelfTrainingClassifier

from spadework.base import Floats, Labels, Rows
from spadework.baselines.baseline import Baseline, log_odds, new_seed
from spadework.baselines.classifiers import make_classifier


class SelfTraining(Baseline):
    """A forest that adds its own confident predictions to its labels, ten times."""

    settings = ("PNU", "PN")

    def _learn(self, X: Rows, labels: Labels, rng: np.random.Generator) -> Floats:
        self.model_ = SelfTrainingClassifier(
            make_classifier("tuned_forest", new_seed(rng))
        )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="y contains no unlabeled")
            self.model_.fit(X, labels)
        return self._score(X)

    def _score(self, X: Rows) -> Floats:
        return log_odds(self.model_.predict_proba(X)[:, 1])
