"""The default finds what labels alone miss, and is no worse where they say it all."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from mismatch import SETTINGS, in_setting, mismatch_data
from spadework import SPADE, TreeLearner

HARM = 0.005


def anomalies_amid_noise(n_rows, seed):
    """Anomalies are a corner of two even columns; twenty others have heavy tails.

    What is rare in this table has nothing to do with what is anomalous.
    """
    rng = np.random.default_rng(seed)
    signal = rng.uniform(-1, 1, (n_rows, 2))
    noise = rng.standard_t(2, (n_rows, 20))
    return np.c_[signal, noise], (signal.prod(axis=1) > 0.45).astype(int)


def aucs(X, y, fresh, truth):
    """AUC on fresh rows of the default, and of the same trees on labels alone."""
    alone = SPADE(learner=TreeLearner(pseudo_labels=False), random_state=0)
    return [
        roc_auc_score(truth, detector.fit(X, y).anomaly_score(fresh))
        for detector in (SPADE(random_state=0), alone)
    ]


@pytest.mark.parametrize("setting", SETTINGS)
def test_what_nobody_labeled_is_found_better_than_by_labels_alone(setting):
    X, y, _ = mismatch_data(400, seed=1)
    fresh, _, truth = mismatch_data(1_000, seed=101)
    default, alone = aucs(X, in_setting(y, setting), fresh, truth)
    assert default > 0.9
    assert default > alone + 0.05


@pytest.mark.parametrize("setting", ["PNU", "PU"])
def test_easy_anomalies_are_found_as_well_as_by_labels_alone(setting):
    X, y, _ = mismatch_data(200, seed=0, missed=0.0)
    fresh, _, truth = mismatch_data(1_000, seed=100, missed=0.0)
    default, alone = aucs(X, in_setting(y, setting), fresh, truth)
    assert default > alone - HARM


@pytest.mark.parametrize("setting", ["PNU", "PU"])
def test_where_what_is_rare_is_noise_thirty_labeled_anomalies_are_not_overruled(setting):
    X, truth = anomalies_amid_noise(1_500, 1)
    labeled = np.random.default_rng(1).random(len(X)) < 0.25
    y = in_setting(np.where(labeled, truth, -1), setting)
    assert (y == 1).sum() == 30
    default, alone = aucs(X, y, *anomalies_amid_noise(3_000, 100))
    assert default > alone - HARM
