"""Two sets of rows are compared column by column and as a whole."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from spadework import SPADE, TreeLearner, differences
from spadework.column_differences import LEVEL, Side
from spadework.differences import advise, compare_rows, compare_table, find_giveaways
from spadework.errors import InputError
from spadework.table_fitting import fit_table
from spadework.tables.encoding import fit_encoder
from spadework.two_samples import Telling


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
    return encoder, *(Side.of(encoder, table) for table in tables)


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


def mixed_table(n_rows, seed=0):
    """Rows of all kinds of columns, which go together; many a category is rare."""
    rng = np.random.default_rng(seed)
    x, start = rng.normal(size=n_rows), dt.datetime(2026, 1, 5)
    shops = (150 * rng.random(n_rows) ** (1 + np.abs(x))).astype(int)
    days = rng.uniform(0, 60, n_rows)
    return pa.table(
        {
            "x": x,
            "size": pa.array(np.exp(x + rng.normal(size=n_rows)), mask=x > 1),
            "count": rng.poisson(1 + x**2),
            "shop": [f"S{shop}" for shop in shops],
            "kind": np.where(rng.random(n_rows) < 0.1 + 0.5 * (x > 0), "web", "desk"),
            "at": [start + dt.timedelta(hours=int(24 * day)) for day in days],
        }
    )


N_HALVES = 40
MOST = int(binom.ppf(0.999, N_HALVES, 0.05))
"""False alarms of a test at 5 %, at most, but for one study in a thousand."""


@pytest.fixture(scope="module")
def halves():
    """Differences of random halves, the first of which was in training."""
    table, found = mixed_table(1_200), []
    for seed in range(N_HALVES):
        rows = np.random.default_rng(seed).permutation(table.num_rows)[:600]
        first, second = (table.take(half) for half in np.split(rows, 2))
        encoder = fit_encoder(first)
        sides = (Side.of(encoder, half) for half in (first, second))
        found.append(compare_rows(encoder, *sides, later=True))
    return found


def test_random_halves_of_a_table_hardly_ever_differ(halves):
    assert sum(each.matters for each in halves) <= MOST
    assert sum(bool(each.certain) for each in halves) <= MOST
    assert sum(each.p_value <= LEVEL for each in halves) <= MOST


def test_p_values_of_random_halves_are_spread_as_by_chance(halves):
    assert sum(each.p_value < 0.3 for each in halves) < binom.ppf(0.999, N_HALVES, 0.3)
    lowest = [min(column.p_value for column in each.columns) for each in halves]
    assert sum(p < 0.05 / 6 for p in lowest) <= MOST
    assert sum(p < 0.3 for p in lowest) > N_HALVES / 4, "tests that never find anything"


@pytest.mark.parametrize("name", ["x", "size", "count", "shop", "kind", "at"])
def test_a_change_of_one_column_is_found_and_named_first(name, monkeypatch):
    monkeypatch.setattr(differences, "tell_apart", lambda *rows: Telling(0.5, 1.0))
    first, second = mixed_table(600, 1), mixed_table(600, 2)
    values = second.column(name).to_pylist()
    places = np.random.default_rng(0).random(600) < 0.6
    known = sorted(value for value in values if value is not None)
    high = known[int(0.98 * len(known))]
    changed = [high if c else v for c, v in zip(places, values, strict=True)]
    second = second.set_column(second.column_names.index(name), name, pa.array(changed))
    encoder = fit_encoder(first)
    sides = (Side.of(encoder, table) for table in (first, second))
    found = compare_rows(encoder, *sides, later=True)
    assert found.certain[0].name == name
    assert found.matters


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
        encoder, *(side.take(np.arange(len(side)).repeat(4)) for side in rows), later=True
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


def test_too_few_rows_are_refused():
    encoder, first = encode(made_table(800, 0))
    with pytest.raises(InputError, match="10 rows on each side; got 800 and 3"):
        compare_rows(encoder, first, first.take(np.arange(3)))


def test_new_rows_like_the_old_ones_leave_the_model_as_it_is(model):
    drift = compare_table(model, made_table(1_000, 5))
    assert drift.advice == "keep"
    assert "keep the model" in str(drift)


def test_rows_whose_labels_were_learnt_from_are_left_out(model):
    table = made_table(1_500, 0)
    n_labeled = int((np.array(table.column("status")) != "").sum())
    drift = compare_table(model, table)
    assert drift.n_left_out == n_labeled > 0
    assert drift.n_rows == 1_500 - n_labeled
    assert f"left out: {n_labeled} rows" in str(drift)
    assert compare_table(model, made_table(1_000, 5)).n_left_out == 0


def test_labeled_rows_alone_are_compared_all_the_same(model):
    table = made_table(1_500, 0)
    labeled = table.filter(pa.array(np.array(table.column("status")) != ""))
    assert compare_table(model, labeled).n_rows == labeled.num_rows


@pytest.mark.parametrize("n_rows", [1_500, 400])
def test_training_rows_themselves_leave_the_model_as_it_is(model, n_rows):
    drift = compare_table(model, made_table(1_500, 0)[-n_rows:])
    assert drift.advice == "keep"
    assert drift.difference.certain == []


def test_new_rows_with_more_anomalies_ask_for_labels(model):
    drift = compare_table(model, made_table(1_000, 5, shift=1.5))
    assert drift.called_now > 2 * drift.called_before
    assert drift.advice == "relabel"


def test_moved_values_without_moved_calls_ask_for_a_refit(model):
    drift = compare_table(model, made_table(1_000, 5, web=0.95))
    assert drift.difference.auc > 0.6
    assert drift.advice == "refit"


@given(st.floats(0, 1), st.integers(1, 10**6))
def test_the_same_share_of_calls_never_asks_for_labels(share, n_rows):
    assert advise(False, share, share, 5_000, n_rows) == "keep"
    assert advise(True, share, share, 5_000, n_rows) == "refit"


def test_a_doubling_that_chance_explains_does_not_ask_for_labels():
    assert advise(False, 0.01, 0.03, 5_000, 100) == "keep"
    assert advise(False, 0.01, 0.03, 5_000, 100_000) == "relabel"
    assert advise(False, 0.01, 0.03, 100, 100_000) == "keep"


@pytest.mark.parametrize("share", [0.0002, 0.001, 0.01])
@pytest.mark.parametrize("n_rows", [1_000, 100_000])
def test_rare_calls_that_chance_moves_hardly_ever_ask_for_labels(share, n_rows):
    rng = np.random.default_rng(0)
    before, now = (rng.binomial(n, share, 1_000) / n for n in (5_000, n_rows))
    pairs = zip(before, now, strict=True)
    advised = [advise(False, *pair, 5_000, n_rows) for pair in pairs]
    assert advised.count("relabel") < 20
