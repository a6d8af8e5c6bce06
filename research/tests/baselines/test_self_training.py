"""Self-training is scikit-learn's own."""

import warnings

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.semi_supervised import SelfTrainingClassifier

from spadework_research.baselines import classifiers
from spadework_research.baselines.baseline import log_odds
from spadework_research.baselines.self_training import SelfTraining


def small_forest(seed, *_):
    return RandomForestClassifier(20, min_samples_leaf=5, random_state=seed)


def test_scores_are_those_of_scikit_learns_own(table, monkeypatch):
    monkeypatch.setitem(classifiers.CLASSIFIERS, "tuned_forest", small_forest)
    X, y, _ = table
    rows = X.astype(np.float32)
    seed = int(np.random.default_rng(0).integers(2**31))
    detector = SelfTraining(random_state=0).fit(X, y)
    own = SelfTrainingClassifier(small_forest(seed), max_iter=detector.model_.max_iter)
    expected = log_odds(own.fit(rows, y).predict_proba(rows)[:, 1])
    np.testing.assert_array_equal(detector.anomaly_score(X), expected)
    assert (detector.model_.transduction_ != -1).sum() > (y != -1).sum()


def test_a_table_without_unlabeled_rows_is_learnt_from_in_silence(table, monkeypatch):
    monkeypatch.setitem(classifiers.CLASSIFIERS, "tuned_forest", small_forest)
    X, _, truth = table
    detector = SelfTraining(label_map={1: 1, 0: 0}, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert detector.fit(X, truth).setting_ == "PN"
