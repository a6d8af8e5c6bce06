"""Boosted symmetric trees against naive ones, and what they can learn."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from spadework.core.boosting import DEPTH, N_TREES, PENALTY, _gains, boost


def learn(X, truth, weights=None, seed=0):
    """One model of all rows."""
    weights = np.ones((1, len(X))) if weights is None else weights
    models = np.repeat(X[None], len(weights), axis=0)
    return boost(models, truth, weights, np.random.default_rng(seed))


@given(st.integers(0, 2**32 - 1))
def test_gains_are_those_of_a_naive_sum_over_leaves(seed):
    rng = np.random.default_rng(seed)
    leaves = rng.integers(4, size=(2, 15))
    above = rng.random((2, 3, 15)) < 0.5
    slopes, bends = rng.normal(size=(2, 15)), rng.random((2, 15))
    found = _gains(above, leaves, slopes, bends, 4)
    for model, tried in product(range(2), range(3)):
        split = 2 * leaves[model] + above[model, tried]
        gain = sum(
            slopes[model, split == leaf].sum() ** 2
            / (bends[model, split == leaf].sum() + PENALTY)
            for leaf in range(8)
        )
        assert found[model, tried] == pytest.approx(gain, abs=1e-8)


def test_questions_that_split_alike_are_level():
    rng = np.random.default_rng(0)
    above = rng.random((1, 1, 200)) < 0.5
    leaves = rng.integers(2, size=(1, 200))
    slopes, bends = rng.normal(size=(1, 200)), rng.random((1, 200))
    alike = np.concatenate([above, ~above, above], axis=1)
    assert len(np.unique(_gains(alike, leaves, slopes, bends, 2))) == 1


def test_boosted_trees_learn_what_no_single_column_tells():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4)).astype(np.float32)
    truth = (X[:, 0] > 0) != (X[:, 1] > 0)
    log_odds = N_TREES * learn(X[:300], truth[:300]).score(X[300:])
    assert ((log_odds > 0) == truth[300:]).mean() > 0.9


def test_random_labels_are_answered_near_one_half():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4_000, 3)).astype(np.float32)
    log_odds = N_TREES * learn(X, rng.random(4_000) < 0.5).score(X)
    assert np.abs(expit(log_odds) - 0.5).mean() < 0.15


def test_rows_of_no_weight_teach_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3)).astype(np.float32)
    truth = X[:, 0] > 0
    weights = np.ones((1, 60))
    weights[:, 40:] = 0
    lied = np.where(np.arange(60) < 40, truth, ~truth)
    one, two = (learn(X, each, weights).score(X) for each in (truth, lied))
    np.testing.assert_array_equal(one, two)


def test_models_come_one_after_the_other_and_the_seed_repeats_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)).astype(np.float32)
    truth = X[:, 0] > 0
    weights = np.ones((2, 50))
    one, two = (learn(X, truth, weights, seed) for seed in (3, 3))
    assert len(one.roots) == 2 * N_TREES
    assert one.depth == DEPTH
    np.testing.assert_array_equal(one.score(X), two.score(X))


def test_two_rows_and_constant_columns_are_enough():
    X = np.array([[1.0, 5.0], [1.0, 7.0]], dtype=np.float32)
    low, high = learn(X, np.array([False, True])).score(X)
    assert low < high
    same = np.ones((2, 2), dtype=np.float32)
    one, two = learn(same, np.array([False, True])).score(same)
    assert one == two


def test_the_largest_numbers_make_finite_borders():
    largest = np.finfo(np.float32).max
    X = np.array([[largest], [largest], [-largest]], dtype=np.float32)
    forest = learn(X, np.array([True, True, False]))
    assert np.isfinite(forest.score(X)).all()
