"""TabPFN says what it needs, and gives its rows to the library as they are."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest

from spadework.errors import InputError
from spadework_research.baselines.tabpfn import MAX_ROWS, WEIGHTS, TabPFN


class Regressor:
    """Stands for the library's: predicts the mean class of the rows it was given."""

    def __init__(self, **options):
        self.options = options

    def fit(self, X, y):
        self.n_rows, self.mean = len(X), y.mean()

    def predict(self, X):
        return np.linspace(-0.2, 1.2, len(X))


@pytest.fixture
def installed(monkeypatch, tmp_path):
    weights = tmp_path / "weights.ckpt"
    weights.touch()
    monkeypatch.setitem(sys.modules, "tabpfn", SimpleNamespace(TabPFNRegressor=Regressor))
    monkeypatch.setenv(WEIGHTS, str(weights))
    return weights


def rows(n):
    return np.zeros((n, 3), np.float32), (np.arange(n) % 2).astype(np.int8)


def test_probabilities_are_expected_classes_between_zero_and_one(installed):
    likely = TabPFN(0).fit(*rows(10)).predict_proba(rows(5)[0])
    np.testing.assert_allclose(likely[:, 1], [0.0, 0.15, 0.5, 0.85, 1.0])
    np.testing.assert_allclose(likely.sum(axis=1), 1.0)


def test_it_computes_with_the_weights_that_were_named(installed):
    model = TabPFN(3).fit(*rows(10)).model_
    assert model.options["model_path"] == str(installed)
    assert model.options["random_state"] == 3


def test_it_is_given_no_more_rows_than_it_was_made_for(installed):
    assert TabPFN(0).fit(*rows(MAX_ROWS + 5)).model_.n_rows == MAX_ROWS


def test_without_weights_it_says_where_they_lie(installed, monkeypatch):
    monkeypatch.delenv(WEIGHTS)
    with pytest.raises(InputError, match=r"tabpfn-time-series==0\.1\.3"):
        TabPFN(0).fit(*rows(10))


def test_without_the_library_it_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "tabpfn", None)
    with pytest.raises(InputError, match=r"spadework-research\[tabpfn\]"):
        TabPFN(0).fit(*rows(10))
