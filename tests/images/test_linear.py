"""A penalised linear model of photos, from labels or with photos standing in for some."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from spadework.errors import InputError
from spadework.images import linear
from spadework.images.linear import (
    N_FOLDS,
    OFFSET,
    PURE_PENALTY,
    LinearModel,
    deal_folds,
    fit_linear,
    stand_in,
)


def made_rows(n_unlabeled=60, n_columns=40, seed=0, n_labeled=15):
    """Half-and-half labels, unlabeled rows of which a fifth is anomalous."""
    rng = np.random.default_rng(seed)
    truth = np.concatenate([np.repeat([0, 1], n_labeled), rng.random(n_unlabeled) < 0.2])
    X = rng.normal(size=(len(truth), n_columns)).astype(np.float32)
    X[:, :5] += 2 * truth[:, None]
    labels = truth.astype(np.int8)
    labels[2 * n_labeled :] = -1
    return X, labels, truth


def fit(X, labels):
    return fit_linear(X[None], labels, np.random.default_rng(0))


@pytest.mark.parametrize(("hidden", "least"), [(None, 0.9), (0, 0.85), (1, 0.65)])
def test_unseen_anomalies_rank_high_whatever_is_labeled(hidden, least):
    X, labels, _ = made_rows(n_unlabeled=300, n_labeled=80)
    labels[labels == hidden] = -1
    fitted = fit(X, labels)
    fresh, _, truth = made_rows(seed=1)
    assert roc_auc_score(truth, fitted.model.score(fresh)) > least
    assert roc_auc_score(labels == (1 if hidden != 1 else -1), fitted.held_out) > 0.6


def test_unlabeled_photos_stand_in_for_a_class_without_labels():
    assert stand_in(np.array([1, -1, -1], np.int8)).tolist() == [1, 0, 0]
    assert stand_in(np.array([0, -1, -1], np.int8)).tolist() == [0, 1, 1]
    assert stand_in(np.array([0, 1, -1], np.int8)).tolist() == [0, 1, -1]


def test_held_out_scores_come_from_models_that_have_not_seen_the_photo():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 500)).astype(np.float32)  # noise: learnt by heart or not
    labels = np.repeat([0, 1, -1], 20).astype(np.int8)
    fitted, known = fit(X, labels), labels >= 0
    assert roc_auc_score(labels[known], fitted.model.score(X)[known]) > 0.99
    assert 0.2 < roc_auc_score(labels[known], fitted.held_out[known]) < 0.8


def test_a_large_class_does_not_outweigh_a_small_one():
    X, labels, _ = made_rows()
    many = np.concatenate([X, np.repeat(X[:15], 5, axis=0)])
    models = (
        fit(X, labels).model,
        fit(many, np.concatenate([labels, np.zeros(75, np.int8)])).model,
    )
    shares = [(each.score(X) > 0).mean() for each in models]
    assert abs(shares[0] - shares[1]) < 0.15


@pytest.mark.parametrize("n_columns", [20, 90])
def test_the_model_is_the_mean_of_regressions_on_all_columns(n_columns):
    """It is found in the span of the rows where these are fewer than columns."""
    X, labels, _ = made_rows(n_columns=n_columns)
    known, folds = labels >= 0, deal_folds(labels, np.random.default_rng(1))
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    Z = np.column_stack([Z, np.full(len(Z), OFFSET)])
    naive = []
    for fold in range(N_FOLDS):
        kept = known & (folds != fold)
        model = LogisticRegression(
            C=1 / PURE_PENALTY, fit_intercept=False, tol=1e-8, max_iter=2000
        )
        model.fit(Z[kept], labels[kept], sample_weight=np.full(kept.sum(), 1 / 24))
        naive.append(model.coef_[0])
    expected = np.mean(naive, axis=0)[:-1] / X.std(axis=0)
    assert np.corrcoef(expected, fit(X, labels).model.weights)[0, 1] > 0.99


def test_what_differs_between_views_of_a_photo_is_not_learnt():
    X, labels, _ = made_rows(n_unlabeled=200, n_labeled=20)
    other = X.copy()
    X[labels >= 0, 10] += 4 * labels[labels >= 0]  # by chance, in one view alone
    other[labels >= 0, 10] -= 4 * labels[labels >= 0]
    alone, both = (
        fit_linear(views, labels, np.random.default_rng(0)).model.weights
        for views in (X[None], np.stack([X, other]))
    )
    assert abs(both[10]) < 0.2 * abs(alone[10])


def test_of_many_photos_each_is_seen_in_some_views(monkeypatch):
    monkeypatch.setattr(linear, "MAX_SEEN", 200)
    X, labels, truth = made_rows(n_unlabeled=0, n_labeled=90)
    views = np.stack([X, X + 1, X - 1])
    photos, rows = linear._choose_seen(views, labels, np.random.default_rng(0))
    assert np.bincount(photos).tolist() == [2] * 180
    shown = np.round((rows - X[photos]).mean(axis=1)).astype(int)
    assert set(shown) == {-1, 0, 1}
    assert (shown.reshape(-1, 2)[:, 0] != shown.reshape(-1, 2)[:, 1]).all()
    fitted = fit_linear(views, labels, np.random.default_rng(0))
    assert roc_auc_score(truth, fitted.held_out) > 0.9


def test_the_small_offset_finds_types_of_anomaly_that_nobody_labeled(monkeypatch):
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, -1], [100, 20, 800]).astype(np.int8)
    kind = np.repeat([0, 1, 0, 1, 2], [100, 20, 600, 80, 120])
    X = rng.normal(size=(len(labels), 300)).astype(np.float32)
    X[:, :20] += (kind == 1)[:, None]
    X[:, 20:40] += (kind == 2)[:, None]
    unknown, found = (labels == -1) & (kind != 1), []
    for offset in (0.5, 30.0):
        monkeypatch.setattr(linear, "OFFSET", offset)
        scores = fit(X, labels).model.score(X[unknown])
        found.append(roc_auc_score(kind[unknown] == 2, scores))
    assert found[0] > found[1] + 0.1


@given(st.lists(st.sampled_from([1, 0, -1]), min_size=1, max_size=40), st.integers(0, 9))
def test_folds_deal_each_kind_evenly_and_leave_out_no_only_photo(kinds, seed):
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
    fitted = fit(X, labels)
    assert np.isfinite(fitted.held_out).all()
    assert roc_auc_score(truth, fitted.model.score(X)) > 0.7


def test_a_score_is_a_weighted_sum_of_columns_above_an_intercept():
    X = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    expected = [x - 2 * y + 0.5 * z + 0.25 for x, y, z in X.tolist()]
    model = LinearModel(np.array([1.0, -2.0, 0.5]), 0.25)
    np.testing.assert_allclose(model.score(X), expected)


@pytest.mark.parametrize("weights", [[1.0, np.nan], [1.0, np.inf], [[1.0, 2.0]]])
def test_a_linear_model_needs_one_finite_weight_a_column(weights):
    with pytest.raises(InputError, match="one finite weight a column"):
        LinearModel(np.array(weights), 0.0)
