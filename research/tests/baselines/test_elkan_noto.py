"""Weights of the unlabeled rows follow Elkan and Noto's formula."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from mismatch import mismatch_data
from spadework_research.baselines import classifiers
from spadework_research.baselines.elkan_noto import (
    HOLD_OUT,
    WeightedElkanNoto,
    anomaly_weights,
)


def forest(seed, *_):
    return RandomForestClassifier(20, min_samples_leaf=5, random_state=seed)


@pytest.fixture(autouse=True)
def small_forest(monkeypatch):
    monkeypatch.setitem(classifiers.CLASSIFIERS, "tuned_forest", forest)


def weights_of(X, y, seed=0):
    model, held_out = WeightedElkanNoto()._tell_labeled(X, y, np.random.default_rng(seed))
    return anomaly_weights(model, X, y, held_out)


def naive_weights(X, y, seed):
    """w = (1 - c) / c * g / (1 - g), row by row."""
    rng = np.random.default_rng(seed)
    rows = np.flatnonzero(y != 0)
    fit, held_out = train_test_split(
        rows,
        test_size=HOLD_OUT,
        stratify=y[rows] == 1,
        random_state=int(rng.integers(2**31)),
    )
    model = forest(int(rng.integers(2**31))).fit(X[fit], y[fit] == 1)
    chance = model.predict_proba(X)[:, 1]
    c = np.mean([max(chance[row], 1e-6) for row in held_out if y[row] == 1])
    weights = []
    for label, g in zip(y, chance, strict=True):
        g = min(max(g, 1e-6), 1 - 1e-6)
        unlabeled = min(1.0, (1 - c) / c * g / (1 - g))
        weights.append({1: 1.0, 0: 0.0, -1: unlabeled}[int(label)])
    return np.array(weights), c


@pytest.mark.parametrize("seed", range(4))
def test_weights_are_those_of_the_formula(seed):
    X, y, _ = mismatch_data(300, seed)
    X, y = X.astype(np.float32), y.astype(np.int8)
    weights = weights_of(X, y, seed)
    expected, c = naive_weights(X, y, seed)
    np.testing.assert_allclose(weights, expected, rtol=1e-9)
    assert 0 < c < 1
    assert (weights[y == 1] == 1).all()
    assert (weights[y == 0] == 0).all()
    assert ((weights >= 0) & (weights <= 1)).all()
    assert (weights[y == -1] > 0).any()


def test_unlabeled_anomalies_weigh_more_than_unlabeled_normals():
    X, y, truth = mismatch_data(400, seed=0, missed=0.0)
    weights = weights_of(X.astype(np.float32), y.astype(np.int8))
    hidden = y == -1
    gap = weights[hidden & (truth == 1)].mean() - weights[hidden & (truth == 0)].mean()
    assert gap > 0.2


def test_where_every_row_is_labeled_weights_are_the_labels(table):
    X, _, truth = table
    weights = weights_of(X.astype(np.float32), truth.astype(np.int8))
    np.testing.assert_array_equal(weights, truth)


def test_without_refit_rows_are_ranked_by_the_chance_of_being_labeled():
    X, y, _ = mismatch_data(300, seed=0)
    detector = WeightedElkanNoto(refit=False, random_state=0).fit(X, y)
    rows, labels = X.astype(np.float32), y.astype(np.int8)
    model, _ = detector._tell_labeled(rows, labels, np.random.default_rng(0))
    chance = model.predict_proba(rows)[:, 1]
    order = np.argsort(chance)
    assert (np.diff(detector.anomaly_score(X)[order]) >= 0).all()
