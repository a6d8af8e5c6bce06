"""Trials are scaled by what training rows show, and measured as the paper does."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from spadework.scenarios import LabeledTable
from spadework_research.report.published import read_paper
from spadework_research.reproduction import trials
from spadework_research.reproduction.options import READINGS
from spadework_research.reproduction.trials import measure, paper_cells, scale

RNG = np.random.default_rng(0)
X = np.column_stack([RNG.normal(size=400), RNG.exponential(5, 400), np.ones(400)])
X[0] = 1000, -1000, 1


@pytest.mark.parametrize("scaling", READINGS["scaling"])
def test_test_rows_are_scaled_as_training_rows_and_change_nothing_of_them(scaling):
    train, test = scale(X, X[::-1], scaling)
    np.testing.assert_array_equal(test, train[::-1])
    np.testing.assert_array_equal(scale(X, 50 * X[:9], scaling)[0], train)
    assert np.isfinite(train).all()
    assert (train[:, 2] == train[0, 2]).all()


@pytest.mark.parametrize("scaling", ["clipped", "percentiles", "quantile"])
def test_a_value_far_out_does_not_press_the_others_together(scaling):
    plain, robust = (scale(X, X, each)[0][1:, 0] for each in ("minmax", scaling))
    assert np.ptp(plain) < 0.01
    assert np.ptp(robust) > 0.4


def test_standard_scaling_leaves_no_mean_and_unit_variance():
    train, _ = scale(X[1:], X, "standard")
    np.testing.assert_allclose(train.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(train[:, :2].std(axis=0), 1, rtol=1e-4)


def test_areas_are_over_all_given_and_missed_kinds():
    kinds = np.repeat([0, 1, 2], [50, 10, 10])
    scores = np.random.default_rng(1).normal(kinds)
    found = measure(scores, kinds, [1])
    assert found.overall == pytest.approx(roc_auc_score(kinds > 0, scores), abs=1e-4)
    of_given, of_missed = kinds != 2, kinds != 1
    for area, rows in ((found.given, of_given), (found.missed, of_missed)):
        expected = roc_auc_score(kinds[rows] > 0, scores[rows])
        assert area == pytest.approx(expected, abs=1e-4)
    assert measure(scores, kinds, [1, 2]).missed == 0.5


@pytest.mark.parametrize("row", ["SPADE", "Negative Supervised"])
def test_cells_of_the_paper_have_its_numbers(row):
    cells = paper_cells(row)
    paper = read_paper()
    tables = [paper[name][row] for name in ("new_types", "pu", "easiness", "high_risk")]
    assert len(cells) == sum(map(len, tables)) + 2  # two of credit cards
    of_fraud = paper["fraud"][row]["creditcard/0.05"]
    assert cells["creditcard", "time/0.05", "overall"] == of_fraud
    of_missed = cells["drug", "new_types", "missed"]
    assert of_missed == paper["new_types"][row]["drug/missed"]
    of_shares = cells["thyroid", "high_risk/0.010", "overall"]
    assert of_shares == paper["high_risk"][row]["thyroid/0.010"]


def test_a_sample_of_a_table_is_read_in_its_place(tmp_path, monkeypatch):
    whole = LabeledTable(np.arange(200.0)[:, None], np.arange(200) % 3, given=(1,))
    source = SimpleNamespace(load=lambda: whole)
    monkeypatch.setattr(trials, "get_dataset", lambda name: source)
    monkeypatch.setenv("SPADEWORK_DATA", str(tmp_path))
    trials.write_sample("drug", 50, tmp_path)
    try:
        found = trials.read_table("drug")
    finally:
        trials.read_table.cache_clear()
    assert found.X.shape == (50, 1)
    np.testing.assert_array_equal(found.kind, found.X[:, 0] % 3)
    assert found.given == (1,)
