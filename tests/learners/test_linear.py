"""Linear readings: cross-fitted, bagged where a class is a mixture."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from spadework.learners.linear import N_FOLDS, PURE_PENALTY, deal_folds, fit_linear
from spadework.learners.readings import make_readings


def made_rows(n_unlabeled=60, n_columns=40, seed=0, n_labeled=15):
    """Half-and-half labels, unlabeled rows of which a fifth is anomalous."""
    rng = np.random.default_rng(seed)
    truth = np.concatenate([np.repeat([0, 1], n_labeled), rng.random(n_unlabeled) < 0.2])
    X = rng.normal(size=(len(truth), n_columns)).astype(np.float32)
    X[:, :5] += 2 * truth[:, None]
    labels = truth.astype(np.int8)
    labels[2 * n_labeled :] = -1
    return X, labels, truth


def readings_of(labels):
    nothing = np.full((labels == -1).sum(), -1, dtype=np.int8)
    return make_readings(
        labels, nothing, {0: 0.3, 1: 0.3}, max_draws=2 * len(labels), min_leaf=1
    )


def grow(name, X, labels, seed=0):
    rng = np.random.default_rng(seed)
    return fit_linear(X[None], readings_of(labels)[name], deal_folds(labels, rng), rng)


@pytest.mark.parametrize(
    ("name", "least"), [("labels", 0.85), ("as_normal", 0.85), ("as_suspect", 0.65)]
)
def test_every_reading_ranks_unseen_anomalies_above_unseen_normals(name, least):
    X, labels, _ = made_rows(n_unlabeled=300, n_labeled=80)
    grown = grow(name, X, labels)
    fresh, _, truth = made_rows(seed=1)
    assert roc_auc_score(truth, grown.scorer.score(fresh)) > least
    assert roc_auc_score(labels >= 1, grown.held_out) > 0.6


def test_held_out_scores_come_from_models_that_have_not_seen_the_row():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 500)).astype(np.float32)  # noise: learnt by heart or not
    labels = np.repeat([0, 1, -1], 20).astype(np.int8)
    grown = grow("labels", X, labels)
    known = labels >= 0
    assert roc_auc_score(labels[known], grown.scorer.score(X)[known]) > 0.99
    assert 0.2 < roc_auc_score(labels[known], grown.held_out[known]) < 0.8


def test_a_large_class_does_not_outweigh_a_small_one():
    X, labels, _ = made_rows()
    many = np.concatenate([X, np.repeat(X[:15], 5, axis=0)])
    grown = (
        grow("labels", X, labels),
        grow("labels", many, np.concatenate([labels, np.zeros(75, np.int8)])),
    )
    shares = [(each.scorer.score(X) > 0).mean() for each in grown]
    assert abs(shares[0] - shares[1]) < 0.15


def test_the_span_of_few_rows_holds_the_same_model_as_all_columns():
    X, labels, _ = made_rows(n_columns=90)
    known = labels >= 0
    scorer = grow("labels", X, labels).scorer
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    folds = deal_folds(labels, np.random.default_rng(0))
    directions = [
        LogisticRegression(C=1 / PURE_PENALTY, tol=1e-8, max_iter=2000)
        .fit(
            Z[known & (folds != fold)],
            labels[known & (folds != fold)],
            sample_weight=np.full((known & (folds != fold)).sum(), 1 / 24),
        )
        .coef_[0]
        for fold in range(N_FOLDS)
    ]
    naive = np.mean(directions, axis=0) / X.std(axis=0)
    assert np.corrcoef(naive, scorer.weights)[0, 1] > 0.999


def test_what_differs_between_views_of_a_row_is_not_learnt():
    X, labels, _ = made_rows(n_unlabeled=200, n_labeled=20)
    other = X.copy()
    X[labels >= 0, 10] += 4 * labels[labels >= 0]  # by chance, in one view alone
    other[labels >= 0, 10] -= 4 * labels[labels >= 0]
    rng = np.random.default_rng(0)
    folds = deal_folds(labels, rng)
    alone, both = (
        fit_linear(views, readings_of(labels)["labels"], folds, rng).scorer.weights
        for views in (X[None], np.stack([X, other]))
    )
    assert abs(both[10]) < 0.2 * abs(alone[10])


def with_offset(X, labels, offset):
    folds = deal_folds(labels, np.random.default_rng(0))
    labels_alone = readings_of(labels)["labels"]
    rng = np.random.default_rng(0)
    return fit_linear(X[None], labels_alone, folds, rng, offset=offset).scorer


def test_a_small_offset_keeps_the_mean_of_all_rows_at_the_border():
    X, labels, _ = made_rows(n_unlabeled=300)
    free, small = (with_offset(X, labels, offset) for offset in (None, 1e-3))
    assert abs(small.score(X).mean()) < 1e-3 < 0.1 < abs(free.score(X).mean())


def test_a_large_offset_is_a_free_intercept():
    X, labels, _ = made_rows(n_unlabeled=300)
    free, large = (with_offset(X, labels, offset) for offset in (None, 30.0))
    np.testing.assert_allclose(large.score(X), free.score(X), atol=0.05)


def test_a_small_offset_finds_types_of_anomaly_that_nobody_labeled():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, -1], [100, 20, 800]).astype(np.int8)
    kind = np.repeat([0, 1, 0, 1, 2], [100, 20, 600, 80, 120])
    X = rng.normal(size=(len(labels), 300)).astype(np.float32)
    X[:, :20] += (kind == 1)[:, None]
    X[:, 20:40] += (kind == 2)[:, None]
    unknown = (labels == -1) & (kind != 1)
    free, small = (
        roc_auc_score(
            kind[unknown] == 2, with_offset(X, labels, offset).score(X[unknown])
        )
        for offset in (None, 0.5)
    )
    assert small > free + 0.1


@given(st.lists(st.sampled_from([1, 0, -1]), min_size=1, max_size=40), st.integers(0, 9))
def test_folds_deal_each_kind_evenly_and_leave_out_no_only_row(kinds, seed):
    labels = np.array(kinds, dtype=np.int8)
    folds = deal_folds(labels, np.random.default_rng(seed))
    for kind in (1, 0, -1):
        own = folds[labels == kind]
        if len(own) == 1:
            assert own[0] == -1
        elif len(own):
            counts = np.bincount(own, minlength=N_FOLDS)
            assert counts.max() - counts.min() <= 1


def test_a_single_labeled_anomaly_is_learnt_from_in_every_fold():
    X, labels, truth = made_rows()
    labels[16:30] = -1
    grown = grow("labels", X, labels)
    assert np.isfinite(grown.held_out).all()
    assert roc_auc_score(truth, grown.scorer.score(X)) > 0.7
