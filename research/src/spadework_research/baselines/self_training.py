"""Self-training (Yarowsky 1995), as scikit-learn has it, around a random forest."""

import warnings

import numpy as np
from sklearn.semi_supervised import SelfTrainingClassifier

from spadework.base import Floats, Labels, Rows
from spadework.labels import UNLABELED
from spadework_research.baselines.baseline import Baseline, log_odds, new_seed
from spadework_research.baselines.classifiers import TREE_ROWS, make_classifier


class SelfTraining(Baseline):
    """A forest that adds its own confident predictions to its labels, up to 5 times."""

    settings = ("PNU", "PN")

    def _learn(self, X: Rows, labels: Labels, rng: np.random.Generator) -> Floats:
        forest = make_classifier("tuned_forest", new_seed(rng), len(X))
        # Labels grow from one iteration to the next; a number of draws would not.
        n_labeled = int((labels != UNLABELED).sum())
        forest.max_samples = n_labeled if len(X) > TREE_ROWS else None
        self.model_ = SelfTrainingClassifier(forest, max_iter=5)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="y contains no unlabeled")
            self.model_.fit(X, labels)
        return self._score(X)

    def _score(self, X: Rows) -> Floats:
        return log_odds(self.model_.predict_proba(X)[:, 1])
