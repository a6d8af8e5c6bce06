"""Boosted readings: what each fold sees, and what scores it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from spadework.learners.boosted import MAX_ROWS, _choose, fit_boosted
from spadework.learners.linear import N_FOLDS
from spadework.learners.readings import Draws, Reading


def reading_of(normal, anomalous, wide=None):
    every = Draws(normal, None, len(normal))
    return Reading(every, Draws(anomalous, None, len(anomalous)), 1, wide=wide)


@given(st.integers(1, 40), st.integers(1, 60), st.integers(0, 2**32 - 1))
def test_a_fold_sees_no_row_of_its_own_and_its_rows_weigh_one(n_rows, n_draws, seed):
    rng = np.random.default_rng(seed)
    folds = rng.integers(-1, N_FOLDS, size=50)
    side = Draws(rng.permutation(50)[:n_rows], None, n_rows)
    sample = _choose(side.rows, n_draws, folds, rng)
    np.testing.assert_allclose(sample.weights.sum(axis=1), 1)
    for fold, (rows, weights) in enumerate(zip(*sample, strict=True)):
        assert set(rows) <= set(side.rows)
        counted = rows[weights > 0]
        assert len(set(counted)) == len(counted) <= n_draws
        if (folds[side.rows] != fold).any():
            assert (folds[rows] != fold).all()


def test_large_classes_are_drawn_from():
    rng = np.random.default_rng(0)
    side = Draws(np.arange(9_000), None, 9_000)
    sample = _choose(side.rows, side.n_draws, rng.integers(N_FOLDS, size=9_000), rng)
    assert sample.rows.shape == (N_FOLDS, MAX_ROWS)


def test_held_out_scores_and_the_mean_of_all_models_tell_the_classes_apart():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6)).astype(np.float32)
    truth = X[:, :3].sum(axis=1) > 1.5
    rows = np.arange(100)
    reading = reading_of(rows[~truth[:100]], rows[truth[:100]])
    grown = fit_boosted(X, reading, np.arange(300) % N_FOLDS, rng)
    assert roc_auc_score(truth[:100], grown.held_out[:100]) > 0.8
    assert roc_auc_score(truth[100:], grown.scorer.score(X[100:])) > 0.8


@pytest.mark.parametrize("n_anomalies", [1, 2])
def test_one_labeled_anomaly_is_enough(n_anomalies):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)).astype(np.float32)
    X[:n_anomalies] += 5
    folds = np.arange(60) % N_FOLDS
    folds[0] = -1 if n_anomalies == 1 else folds[0]
    reading = reading_of(np.arange(n_anomalies, 60), np.arange(n_anomalies))
    grown = fit_boosted(X, reading, folds, rng)
    assert grown.held_out.argmax() in range(n_anomalies)


def test_a_mixture_is_drawn_widely_for_each_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4)).astype(np.float32)
    X[:10] += 3
    others = np.arange(10, 500)
    reading = reading_of(others, np.arange(10), wide=Draws(others, None, 100))
    folds = rng.integers(N_FOLDS, size=500)
    grown = fit_boosted(X, reading, folds, rng)
    assert roc_auc_score(np.arange(500) < 10, grown.held_out) > 0.95
