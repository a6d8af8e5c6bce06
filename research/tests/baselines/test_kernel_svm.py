"""The support vector machine is scikit-learn's, on a draw where a table is large."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from spadework_research.baselines import kernel_svm
from spadework_research.baselines.kernel_svm import KernelSVM


def rows(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3)) * (1, 10, 100)
    return X, (X[:, 0] + rng.normal(scale=0.2, size=n) > 0.8).astype(int)


def test_its_ranking_is_that_of_scikit_learn():
    X, y = rows()
    scaler = MinMaxScaler(clip=True).fit(X)
    naive = SVC(C=10, gamma=0.4).fit(scaler.transform(X), y)
    fresh = rows(100, seed=1)[0]
    chance = KernelSVM(C=10, gamma=0.4, random_state=0).fit(X, y).predict_proba(fresh)
    margin = naive.decision_function(scaler.transform(fresh))
    np.testing.assert_allclose(chance[:, 1], 1 / (1 + np.exp(-margin)), rtol=1e-9)
    np.testing.assert_allclose(chance.sum(axis=1), 1)


def test_of_a_large_table_it_learns_from_a_draw_that_keeps_the_shares(monkeypatch):
    X, y = rows(2_000)
    monkeypatch.setattr(kernel_svm, "SVM_ROWS", 200)
    drawn = kernel_svm._draw(y, np.random.default_rng(0))
    assert len(np.unique(drawn)) == len(drawn)
    assert y[drawn].mean() == pytest.approx(y.mean(), abs=0.01)
    model = KernelSVM(C=10, gamma=0.4, random_state=0).fit(X, y)
    assert len(model.vectors_) <= 200
    assert roc_auc_score(y, model.predict_proba(X)[:, 1]) > 0.95


def test_a_rare_class_is_never_lost_in_the_draw(monkeypatch):
    monkeypatch.setattr(kernel_svm, "SVM_ROWS", 10)
    y = np.zeros(1_000, dtype=int)
    y[7] = 1
    assert 7 in kernel_svm._draw(y, np.random.default_rng(0))
