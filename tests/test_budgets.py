"""A budget calls the rows with the highest scores, and never more than asked."""

import datetime as dt
import os

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
import pytest

from fitted_payments import fitted, payments
from spadework.budgets import Budget
from spadework.errors import InputError
from spadework.scoring import score_table
from spadework.tables import table_files
from spadework.tables.reading import read_table

N_ROWS = 300


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(table_files, "BATCH_ROWS", 60)


@pytest.fixture(scope="module")
def new(tmp_path_factory):
    """A file of rows to score."""
    path = tmp_path_factory.mktemp("new") / "new.parquet"
    pa_parquet.write_table(payments(N_ROWS, seed=3), path)
    return path


def scored(source, folder, **options):
    """Score a source, and read what was written."""
    counts = score_table(fitted(), source, folder / "s.csv", force=True, **options)
    return counts, read_table(folder / "s.csv")


def columns(table, *names):
    return [table.column(name).to_numpy() for name in names]


@pytest.mark.parametrize("calls", [1, 7, 200, 299, 300, 1_000, 0.02, 0.5])
def test_the_rows_with_the_highest_scores_are_called(calls, new, tmp_path):
    counts, found = scored(new, tmp_path, budget=Budget(calls))
    score, called = columns(found, "anomaly_score", "anomaly")
    n_asked = min(N_ROWS, round(calls * N_ROWS) if calls < 1 else calls)
    assert called.sum() == counts.n_anomalies == n_asked
    best = np.argsort(-score, kind="stable")[:n_asked]
    assert set(np.flatnonzero(called)) == set(best)


def test_all_but_calls_is_as_without_a_budget(new, tmp_path):
    _, plain = scored(new, tmp_path)
    _, found = scored(new, tmp_path, budget=Budget(9))
    assert plain.drop_columns("anomaly") == found.drop_columns("anomaly")


def test_a_budget_leaves_nothing_beside_the_output(new, tmp_path):
    scored(new, tmp_path, budget=Budget(9))
    assert os.listdir(tmp_path) == ["s.csv"]


def test_of_rows_that_tie_across_the_budget_the_earlier_are_called_and_that_is_said(
    tmp_path, caplog
):
    rows = payments(100, seed=4)
    both = pa.concat_tables([rows, rows])
    counts, found = scored(both, tmp_path, budget=Budget(55))
    assert counts.n_anomalies == 55
    score, called = columns(found, "anomaly_score", "anomaly")
    last = score[called == 1].min()
    assert (called[score > last] == 1).all()
    tied = called[score == last].tolist()
    assert tied == sorted(tied, reverse=True)
    assert f"{tied.count(0)} later ones are not" in caplog.text


def test_no_more_than_the_budget_are_called_of_each_day(tmp_path):
    table = payments(N_ROWS, seed=3)
    _, found = scored(table, tmp_path, budget=Budget(2, "at"))
    day = np.array([each.date() for each in table.column("at").to_pylist()])
    score, called = columns(found, "anomaly_score", "anomaly")
    assert len(set(day)) > 20
    for each in set(day):
        own = np.flatnonzero(day == each)
        best = own[np.argsort(-score[own], kind="stable")[:2]]
        assert set(own[called[own] == 1]) == set(best)


@pytest.mark.parametrize("write", [str, dt.date.fromisoformat])
def test_days_are_told_by_a_column_that_the_model_does_not_know(write, tmp_path, caplog):
    texts = [f"2025-03-{1 + i % 3:02}" for i in range(N_ROWS)]
    days = [write(text) for text in texts]
    days[::50] = [None] * 6
    table = payments(N_ROWS, seed=3).append_column("seen", pa.array(days))
    pa_csv.write_csv(table, tmp_path / "new.csv")
    for source in (table, tmp_path / "new.csv"):
        counts, _ = scored(source, tmp_path, budget=Budget(4, "seen"))
        assert counts.n_anomalies == 16
    assert "rows without a date are called as those of one day" in caplog.text


def test_top_and_only_anomalies_go_with_a_budget(new, tmp_path):
    counts, found = scored(new, tmp_path, budget=Budget(9), only_anomalies=True)
    assert len(found) == counts.n_written == 9
    counts, found = scored(new, tmp_path, budget=Budget(9), top=20)
    assert found.column("anomaly").to_pylist() == [1] * 9 + [0] * 11


@pytest.mark.parametrize("calls", [0, -1, 1.5, float("nan")])
def test_what_is_no_budget_is_refused(calls):
    with pytest.raises(InputError, match="a whole number of rows"):
        Budget(calls)


def test_a_share_of_each_day_is_refused():
    with pytest.raises(InputError, match="without days"):
        Budget(0.5, "at")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"budget": Budget(0.001)}, "less than one row"),
        ({"budget": Budget(3, "day")}, "no column 'day'"),
        ({"budget": Budget(3, "place")}, "must hold dates"),
        ({"budget": Budget(3, "amount")}, "must hold dates"),
        ({"budget": Budget(3), "threshold": 1.0}, "not both"),
    ],
)
def test_a_budget_that_cannot_be_kept_is_refused_and_nothing_is_left(
    options, words, new, tmp_path
):
    with pytest.raises(InputError, match=words):
        scored(new, tmp_path, **options)
    assert os.listdir(tmp_path) == []
