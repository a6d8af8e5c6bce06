"""Two sets of rows are compared column by column and as a whole."""

import datetime as dt
import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spadework import SPADE, TreeLearner, differences
from spadework.differences import (
    advise,
    compare_rows,
    compare_table,
    find_giveaways,
    leave_itself_out,
    tell_apart,
)
from spadework.errors import InputError
from spadework.table_fitting import fit_table
from spadework.tables.encoding import fit_encoder


def made_table(n, seed, *, shift=0.0, web=0.3):
    rng = np.random.default_rng(seed)
    kind = np.where(rng.random(n) < web, "web", "shop")
    columns = {"amount": rng.normal(size=n) + shift, "other": rng.normal(size=n)}
    status = np.where(columns["amount"] > 2, "fraud", "ok")
    status[rng.random(n) < 0.8] = ""
    return pa.table({**columns, "kind": kind, "status": status})


@pytest.fixture(scope="module")
def model():
    detector = SPADE(learner=TreeLearner(n_trees=20), random_state=0)
    return fit_table(
        made_table(1_500, 0),
        label="status",
        label_map={"fraud": 1, "ok": 0},
        detector=detector,
    )


def encode(*tables):
    encoder = fit_encoder(tables[0], leave_out=["status"])
    return encoder, *(encoder.encode(table) for table in tables)


@pytest.mark.filterwarnings("error")
def test_values_that_are_seldom_missing_are_compared_without_a_warning():
    rng = np.random.default_rng(0)
    first, second = (
        pa.table({"x": pa.array(rng.normal(size=5_000), mask=rng.random(5_000) < 0.01)})
        for _ in range(2)
    )
    compare_rows(*encode(first, second))


def test_rows_from_one_source_do_not_differ():
    found = compare_rows(*encode(made_table(800, 0), made_table(800, 1)))
    assert found.auc < 0.6
    assert found.certain == []
    assert "hardly" in str(found)


def test_the_column_that_moved_comes_first_and_is_certain():
    found = compare_rows(*encode(made_table(800, 0), made_table(800, 1, shift=1.0)))
    assert found.auc > 0.7
    assert [each.name for each in found.certain] == ["amount"]
    assert found.columns[0].name == "amount"


def test_a_category_whose_shares_moved_is_named_with_its_value():
    found = compare_rows(*encode(made_table(800, 0), made_table(800, 1, web=0.7)))
    (moved,) = found.certain
    assert moved.name == "kind"
    assert moved.distance == pytest.approx(0.4, abs=0.06)
    assert "against" in moved.words
    assert moved.words.startswith(("web", "shop"))


@pytest.mark.parametrize(
    ("before", "now", "words"),
    [
        ([1.0, 2.5, 3.0], [2.0, 2.5, 7.5], "mean 2.16667 against 4"),
        ([1.0, 2.5, 3.0], [2.0, 4.5, 7.5], "median 2.5 against 4.5"),
        ([1.0, 2.5, 3.0], [None] * 3, "mean 2.16667 against 2.5 in all rows"),
        ([1.0, 2.5, 3.0, None], [3.0, None, None], "missing: 25.0% against 66.7%"),
        ([True, True, False], [False] * 3, "true or 1: 66.7% against 0.0%"),
        (
            [dt.date(2024, 3, d) for d in (1, 2, 3)],
            [dt.date(2024, 5, d) for d in (1, 2, 3)],
            "median 2024-03-02 against 2024-05-02",
        ),
        (
            [dt.datetime(2024, 3, 1, hour) for hour in (1, 2, 3)],
            [dt.datetime(2024, 3, 1, hour) for hour in (7, 8, 9)],
            "median 2024-03-01 02:00:00 against 2024-03-01 08:00:00",
        ),
        (
            [dt.time(8, minute) for minute in (1, 2, 3)],
            [dt.time(22, minute) for minute in (1, 2, 3)],
            "median 08:02:00 against 22:02:00",
        ),
    ],
)
def test_the_middles_of_a_column_are_set_side_by_side(before, now, words, monkeypatch):
    monkeypatch.setattr(differences, "tell_apart", lambda *rows: 0.5)  # takes its time
    first, second = (pa.table({"x": each * 5}) for each in (before, now))
    (column,) = compare_rows(*encode(first, second)).columns
    assert column.words == words


def with_day(model_of, n_labeled):
    """Rows of which the first so many are labeled, day after day."""
    table = made_table(1_500, 0).drop_columns(["status"])
    status = ["ok"] * (n_labeled - 20) + ["fraud"] * 20 + [""] * (1_500 - n_labeled)
    table = table.append_column("status", pa.array(status))
    day = np.arange(1_500) / 7.5 if model_of == "day" else np.arange(1_500)[::-1] % 9.5
    return fit_table(
        table.append_column("day", pa.array(day)),
        label="status",
        label_map={"fraud": 1, "ok": 0},
        detector=SPADE(learner=TreeLearner(pseudo_labels=False), random_state=0),
    )


@pytest.mark.parametrize(
    ("moved", "words"),
    [
        ({"hours": (0, 4)}, "median 12:"),
        ({"days": (5, 7)}, r"(Saturday|Sunday): 1\d\.\d% against [45]\d\.\d%"),
    ],
)
def test_hours_and_weekdays_that_moved_are_named(moved, words):
    def moments(seed, hours=(8, 18), days=(0, 7)):
        rng = np.random.default_rng(seed)
        monday = dt.datetime(2026, 1, 5)
        return [
            monday + dt.timedelta(days=int(7 * week + day), hours=float(hour))
            for week, day, hour in zip(
                rng.integers(20, size=600),
                rng.integers(*days, size=600),
                rng.uniform(*hours, size=600),
                strict=True,
            )
        ]

    found = compare_rows(
        *encode(pa.table({"at": moments(0)}), pa.table({"at": moments(1, **moved)}))
    )
    (column,) = found.certain
    assert column.name == "at"
    assert re.match(words, column.words)


def test_a_column_of_many_values_does_not_differ_because_some_are_new():
    rng = np.random.default_rng(0)
    first, second = (
        pa.table({"who": [f"u{i}" for i in rng.integers(0, 900, 2_000)]})
        for _ in range(2)
    )
    encoder, known, new = encode(first, second)
    before = compare_rows(encoder, known, new)
    after = compare_rows(encoder, leave_itself_out(encoder, known, 2_000), new)
    assert before.auc > 0.6
    assert after.auc < 0.55


def rows_of(days, seed, start=0.0, hours=(0, 24)):
    """Rows at even moments of so many days from a start, and a number like any other."""
    rng = np.random.default_rng(seed)
    first = dt.datetime(2025, 1, 6) + dt.timedelta(days=start)
    at = [
        first + dt.timedelta(days=int(day), hours=float(hour))
        for day, hour in zip(
            days * np.arange(700) / 700, rng.uniform(*hours, size=700), strict=True
        )
    ]
    return pa.table({"at": at, "x": rng.normal(size=700)})


@pytest.mark.parametrize("days", [1, 35])
def test_time_that_merely_moves_on_is_no_drift(days):
    found = compare_rows(*encode(rows_of(35, 0), rows_of(days, 1, 100)), later=True)
    assert found.certain == []
    assert found.auc < 0.6


def test_hours_that_change_are_drift_at_a_later_time_too():
    night = rows_of(35, 1, 100, hours=(0, 6))
    found = compare_rows(*encode(rows_of(35, 0), night), later=True)
    assert [each.name for each in found.certain] == ["at"]
    assert found.auc > 0.8


def test_rows_of_dates_alone_can_be_compared_at_a_later_time():
    tables = (
        pa.table({"on": [dt.date(2025, 1, day) for day in days]})
        for days in (range(1, 29), range(5, 10))
    )
    encoder, *rows = encode(*tables)
    found = compare_rows(
        encoder, *(np.repeat(each, 4, axis=0) for each in rows), later=True
    )
    assert found.auc == 0.5
    assert found.columns[0].words == "moves on with time"


def test_a_column_that_says_which_rows_were_labeled_is_a_giveaway():
    assert [each.name for each in find_giveaways(with_day("day", 100))] == ["day"]


def test_columns_that_labeled_and_unlabeled_rows_share_are_no_giveaways(model):
    assert find_giveaways(with_day("other", 100)) == []
    assert find_giveaways(model) == []


def test_too_few_labeled_normals_give_nothing_away():
    assert find_giveaways(with_day("day", 25)) == []


def test_telling_apart_the_same_rows_is_chance():
    rows = np.random.default_rng(0).normal(size=(300, 3)).astype(np.float32)
    assert tell_apart(rows, rows) == 0.5


def test_too_few_rows_are_refused():
    encoder, first = encode(made_table(800, 0))
    with pytest.raises(InputError, match="10 rows on each side; got 800 and 3"):
        compare_rows(encoder, first, first[:3])


def test_new_rows_like_the_old_ones_leave_the_model_as_it_is(model):
    drift = compare_table(model, model.encoder.encode(made_table(1_000, 5)))
    assert drift.advice == "keep"
    assert "keep the model" in str(drift)


def test_new_rows_with_more_anomalies_ask_for_labels(model):
    drift = compare_table(model, model.encoder.encode(made_table(1_000, 5, shift=1.5)))
    assert drift.called_now > 2 * drift.called_before
    assert drift.advice == "relabel"


def test_moved_values_without_moved_calls_ask_for_a_refit(model):
    drift = compare_table(model, model.encoder.encode(made_table(1_000, 5, web=0.95)))
    assert drift.difference.auc > 0.6
    assert drift.advice == "refit"


@given(st.floats(0, 1), st.integers(1, 10**6))
def test_the_same_share_of_calls_never_asks_for_labels(share, n_rows):
    assert advise(0.5, share, share, 5_000, n_rows) == "keep"
    assert advise(0.9, share, share, 5_000, n_rows) == "refit"


def test_a_doubling_that_chance_explains_does_not_ask_for_labels():
    assert advise(0.5, 0.01, 0.03, 5_000, 100) == "keep"
    assert advise(0.5, 0.01, 0.03, 5_000, 100_000) == "relabel"
    assert advise(0.5, 0.01, 0.03, 100, 100_000) == "keep"


@pytest.mark.parametrize("share", [0.0002, 0.001, 0.01])
@pytest.mark.parametrize("n_rows", [1_000, 100_000])
def test_rare_calls_that_chance_moves_hardly_ever_ask_for_labels(share, n_rows):
    rng = np.random.default_rng(0)
    before, now = (rng.binomial(n, share, 1_000) / n for n in (5_000, n_rows))
    pairs = zip(before, now, strict=True)
    advised = [advise(0.5, *pair, 5_000, n_rows) for pair in pairs]
    assert advised.count("relabel") < 20
