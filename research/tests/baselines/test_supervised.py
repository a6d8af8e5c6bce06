"""Supervised baselines are the libraries' own classifiers on the rows they say."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from threadpoolctl import threadpool_limits

from spadework.errors import InputError
from spadework_research.baselines.baseline import log_odds
from spadework_research.baselines.supervised import Supervised


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Keep boosting from waiting for cores that are busy with other tests."""
    with threadpool_limits(1):
        yield


def own_forest(X, classes, seed=0):
    """Fit scikit-learn's forest with the seed that a fit draws."""
    drawn = int(np.random.default_rng(seed).integers(2**31))
    return RandomForestClassifier(random_state=drawn).fit(X, classes)


@pytest.mark.parametrize("unlabeled", ["ignore", "normal"])
def test_scores_are_those_of_scikit_learns_own_forest(table, unlabeled):
    X, y, _ = table
    rows = np.ones(len(X), dtype=bool) if unlabeled == "normal" else y != -1
    forest = own_forest(X[rows].astype(np.float32), np.maximum(y[rows], 0))
    expected = log_odds(forest.predict_proba(X.astype(np.float32))[:, 1])
    detector = Supervised(unlabeled=unlabeled, random_state=0).fit(X, y)
    np.testing.assert_array_equal(detector.anomaly_score(X), expected)


def test_unlabeled_rows_change_nothing_where_they_are_ignored(table):
    X, y, _ = table
    other = X.copy()
    other[y == -1] += np.random.default_rng(0).normal(size=other[y == -1].shape)
    one, two = (Supervised(random_state=0).fit(rows, y) for rows in (X, other))
    np.testing.assert_array_equal(one.anomaly_score(X), two.anomaly_score(X))


def test_an_unknown_treatment_of_unlabeled_rows_is_refused(table):
    X, y, _ = table
    with pytest.raises(InputError, match="'ignore' or 'normal'; got 'anomaly'"):
        Supervised(unlabeled="anomaly").fit(X, y)
