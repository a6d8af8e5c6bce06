"""Where the one-class view is noise, the default is no worse than labels alone."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from mismatch import in_setting
from spadework import SPADE, ForestLearner

HARM = 0.005


def anomalies_amid_noise(n_rows, seed):
    """Anomalies are a corner of two even columns; twenty others have heavy tails.

    What is rare in this table has nothing to do with what is anomalous.
    """
    rng = np.random.default_rng(seed)
    signal = rng.uniform(-1, 1, (n_rows, 2))
    noise = rng.standard_t(2, (n_rows, 20))
    return np.c_[signal, noise], (signal.prod(axis=1) > 0.45).astype(int)


def auc(detector, X, y, fresh, truth):
    return roc_auc_score(truth, detector.fit(X, y).anomaly_score(fresh))


@pytest.mark.parametrize("setting", ["PNU", "PU"])
def test_noise_in_the_one_class_view_does_no_harm(setting):
    X, truth = anomalies_amid_noise(3_000, 0)
    labeled = np.random.default_rng(0).random(len(X)) < 0.1
    y = in_setting(np.where(labeled, truth, -1), setting)
    test = anomalies_amid_noise(3_000, 100)
    alone = SPADE(random_state=0, learner=ForestLearner(readings=["labels"]))
    assert auc(SPADE(random_state=0), X, y, *test) > auc(alone, X, y, *test) - HARM
