"""BaggingPU scores a training row by the trees that have not drawn it."""

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from mismatch import mismatch_data
from spadework_research.baselines.bagging_pu import BaggingPU


def naive_fit(X, y, n_bags, bag, seed):
    """Trees and the rows each one has drawn."""
    rng = np.random.default_rng(seed)
    anomalies, others = np.flatnonzero(y == 1), np.flatnonzero(y != 1)
    n_draws = len(anomalies) if bag == "balanced" else len(others)
    bags = []
    for _ in range(n_bags):
        drawn = rng.choice(others, n_draws)
        tree = DecisionTreeClassifier(random_state=int(rng.integers(2**31)))
        rows = np.concatenate([anomalies, drawn])
        bags.append((tree.fit(X[rows], y[rows] == 1), set(drawn.tolist())))
    return bags


def naive_training_score(bags, X, row):
    shares = [
        tree.predict_proba(X[[row]])[0, 1] for tree, drawn in bags if row not in drawn
    ]
    return np.mean(shares) if shares else 0.0


@pytest.mark.parametrize(("bag", "n_bags"), [("balanced", 12), ("all", 5)])
def test_training_rows_are_scored_by_trees_that_have_not_drawn_them(bag, n_bags):
    X, y, _ = mismatch_data(120, seed=0)
    X = X.astype(np.float32)
    bags = naive_fit(X, y, n_bags, bag, seed=0)
    expected = [naive_training_score(bags, X, row) for row in range(len(X))]
    detector = BaggingPU(n_bags=n_bags, bag=bag)
    scores = detector._learn(X, y.astype(np.int8), np.random.default_rng(0))
    np.testing.assert_allclose(scores, expected)


@pytest.mark.parametrize(("bag", "n_bags"), [("balanced", 12), ("all", 5)])
def test_new_rows_are_scored_by_the_mean_of_all_trees(table, bag, n_bags):
    X, y, _ = table
    fresh = mismatch_data(50, seed=1)[0].astype(np.float32)
    bags = naive_fit(X.astype(np.float32), y, n_bags, bag, seed=0)
    expected = np.mean([tree.predict_proba(fresh)[:, 1] for tree, _ in bags], axis=0)
    detector = BaggingPU(n_bags=n_bags, bag=bag, random_state=0).fit(X, y)
    np.testing.assert_allclose(detector.anomaly_score(fresh), expected)


def test_labeled_normals_are_drawn_like_unlabeled_rows(table):
    X, y, _ = table
    hidden = np.where(y == 0, -1, y)
    one, two = (
        BaggingPU(n_bags=5, random_state=0).fit(X, labels) for labels in (y, hidden)
    )
    np.testing.assert_array_equal(one.anomaly_score(X), two.anomaly_score(X))
