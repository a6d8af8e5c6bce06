"""A run measures what a fit by hand gives; areas are those of naive loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, brier_score_loss, roc_auc_score

from real_data import load_table
from spadework.errors import DataError
from spadework.scenarios import LabeledTable
from spadework_research.datasets.catalog import get_dataset
from spadework_research.runs.measurement import (
    Run,
    auc_by_kind,
    calibration_error,
    execute,
    sample_rows,
)
from spadework_research.runs.methods import METHODS
from spadework_research.runs.tables import get_table


def test_a_run_measures_what_a_fit_by_hand_gives(made_data):
    column = get_table("fraud").columns[2]
    result = execute(Run("fraud", column, "negative_occ", 3, None))
    trial = column.trial(get_dataset("xente").load(), 3)
    detector = METHODS["negative_occ"].make(3).fit(trial.X, trial.y)
    scores, truth = detector.anomaly_score(trial.X_test), trial.kind_test > 0
    assert result.auc == result.auc_given == roc_auc_score(truth, scores)
    assert result.auc_missed is None
    assert result.average_precision == average_precision_score(truth, scores)
    probability = detector.predict_proba(trial.X_test)[:, 1]
    assert result.brier_score == pytest.approx(brier_score_loss(truth, probability))
    assert result.calibration_error == calibration_error(probability, truth)
    assert (result.n_train, result.n_test) == (120, 120)
    assert (result.n_labeled_anomalies, result.n_labeled_normals) == (1, 11)
    assert (result.table, result.column, result.seed) == ("fraud", "xente-0.10", 3)
    assert (result.setting, result.share, result.status) == ("PNU", 0.1, "ok")
    assert result.config["unlabeled"] == "'normal'"
    assert result.config["random_state"] == "3"
    assert result.versions.keys() >= {"spadework", "python", "numpy", "torch"}
    assert result.fit_seconds > 0
    assert result.peak_memory_mb > 10


def test_calibration_error_is_zero_where_each_probability_comes_true_as_often():
    probability = np.repeat([0.0, 0.25, 0.75, 1.0], 300)
    truth = np.concatenate([np.arange(300) % 4 < 4 * p for p in (0.0, 0.25, 0.75, 1.0)])
    assert calibration_error(probability, truth, n_bins=4) == pytest.approx(0)
    assert calibration_error(1 - probability, truth, n_bins=4) == pytest.approx(0.75)


def test_calibration_error_of_one_bin_is_how_far_the_mean_is_off():
    truth = np.array([True, False, False, False])
    assert calibration_error(np.full(4, 0.65), truth, n_bins=1) == pytest.approx(0.4)


@pytest.mark.parametrize("name", ["thyroid", "drug"])
def test_a_run_on_real_data_beats_chance_on_given_and_missed_kinds(name):
    load_table(name)
    column = next(c for c in get_table("new_types").columns if c.dataset == name)
    result = execute(Run("new_types", column, "srr", 0, None))
    assert result.auc_given is not None
    assert result.auc_missed is not None
    between = sorted([result.auc_given, result.auc_missed])
    assert between[0] <= result.auc <= between[1]
    assert result.auc_given > 0.5


@st.composite
def scored_kinds(draw):
    """Scores with ties, kinds of which one is normal and one is not, and given ones."""
    kind = [0, draw(st.integers(1, 4)), *draw(st.lists(st.integers(0, 4), max_size=30))]
    scores = draw(st.lists(st.integers(0, 9), min_size=len(kind), max_size=len(kind)))
    given_kinds = draw(st.sets(st.integers(1, 4), max_size=4))
    return np.array(scores, dtype=float), np.array(kind), tuple(given_kinds)


def naive_auc(scores, kind, wanted):
    """Share of pairs of an anomaly and a normal row that are in order; ties are half."""
    normal = [s for s, k in zip(scores, kind, strict=True) if k == 0]
    anomalous = [s for s, k in zip(scores, kind, strict=True) if k in wanted]
    pairs = [(a > n) + (a == n) / 2 for a in anomalous for n in normal]
    return pytest.approx(np.mean(pairs)) if pairs else None


@given(drawn=scored_kinds())
def test_areas_by_kind_are_those_of_a_naive_loop(drawn):
    scores, kind, given_kinds = drawn
    overall, of_given, of_missed = auc_by_kind(scores, kind, given_kinds)
    assert overall == naive_auc(scores, kind, {1, 2, 3, 4})
    assert of_given == naive_auc(scores, kind, set(given_kinds))
    assert of_missed == naive_auc(scores, kind, {1, 2, 3, 4} - set(given_kinds))


def test_test_rows_without_an_anomaly_have_no_area():
    with pytest.raises(DataError, match="no anomaly"):
        auc_by_kind(np.arange(4.0), np.zeros(4, dtype=int), (1,))


@given(
    n_rows=st.integers(1, 60),
    max_rows=st.integers(1, 70),
    split=st.none() | st.floats(0, 1),
)
def test_sampled_rows_keep_their_order_and_their_side_of_the_split(
    n_rows, max_rows, split
):
    numbers = np.arange(float(n_rows))[:, None]
    n_train = None if split is None else round(split * n_rows)
    table = LabeledTable(numbers, np.arange(n_rows) % 3, given=(1,), n_train=n_train)
    sample = sample_rows(table, max_rows)
    rows = sample.X[:, 0].astype(int)
    assert len(rows) == min(n_rows, max_rows)
    assert (np.diff(rows) > 0).all()
    np.testing.assert_array_equal(sample.kind, rows % 3)
    assert sample.given == (1,)
    if split is None:
        assert sample.n_train is None
    else:
        assert (rows[: sample.n_train] < n_train).all()
        assert (rows[sample.n_train :] >= n_train).all()


def test_a_sample_is_the_same_every_time_and_reaches_both_sides():
    numbers = np.arange(1000.0)[:, None]
    table = LabeledTable(numbers, np.zeros(1000, dtype=int), given=(), n_train=500)
    one, two = sample_rows(table, 100), sample_rows(table, 100)
    np.testing.assert_array_equal(one.X, two.X)
    assert 30 < one.n_train < 70


def test_a_sample_takes_along_what_easy_rows_are_judged_by():
    rows = np.arange(40.0)[:, None]
    table = LabeledTable(rows, np.zeros(40, dtype=int), (1,), judged_by=rows + 100)
    few = sample_rows(table, 10)
    np.testing.assert_array_equal(few.judged_by, few.X + 100)
