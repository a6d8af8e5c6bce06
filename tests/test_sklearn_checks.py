"""scikit-learn's own estimator checks pass, without exceptions."""

import numpy as np
from sklearn.utils.estimator_checks import parametrize_with_checks

from spadework import SPADE, ForestLearner, NetworkLearner


class TwoClassSPADE(SPADE):
    """The suite knows no 1, 0 and -1: its two classes become normal and anomaly."""

    def fit(self, X, y):
        values = np.asarray(y)
        classes, codes = np.unique(values, return_inverse=True)
        if len(classes) != 2:  # for SPADE to refuse
            return super().fit(X, y)
        super().fit(X, codes.reshape(values.shape))
        self.classes_ = classes
        return self

    def score(self, X, y, sample_weight=None):
        return super().score(X, np.searchsorted(self.classes_, y), sample_weight)


STATED = {1: 1, 0: 0, -1: -1}
TREES = TwoClassSPADE(label_map=STATED)
FOREST = TwoClassSPADE(learner=ForestLearner(n_trees=20), label_map=STATED)
NETWORK = TwoClassSPADE(learner=NetworkLearner(max_epochs=2), label_map=STATED)


@parametrize_with_checks([TREES, FOREST, NETWORK])
def test_scikit_learn_check_passes(estimator, check):
    check(estimator)
