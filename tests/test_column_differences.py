"""Two sets of rows are compared column by column, whichever of them was in training."""

import datetime as dt
import re

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from spadework.column_differences import Side, compare_columns, pair_columns
from spadework.tables.encoding import fit_encoder


def compare(first, second, **told):
    """Compare two tables, the first of which was in training."""
    encoder = fit_encoder(first)
    sides = (Side.of(encoder, table) for table in (first, second))
    return compare_columns(pair_columns(encoder, *sides, **told))


def users(seed, low=0, high=900, n_rows=2_000):
    rng = np.random.default_rng(seed)
    return pa.table({"who": [f"u{i}" for i in rng.integers(low, high, n_rows)]})


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
def test_the_middles_of_a_column_are_set_side_by_side(before, now, words):
    first, second = (pa.table({"x": each * 5}) for each in (before, now))
    (column,) = compare(first, second)
    assert column.words == words


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

    (column,) = compare(
        pa.table({"at": moments(0)}), pa.table({"at": moments(1, **moved)})
    )
    assert column.certain
    assert column.name == "at"
    assert re.match(words, column.words)


@pytest.mark.filterwarnings("error")
def test_values_that_are_seldom_missing_are_compared_without_a_warning():
    rng = np.random.default_rng(0)
    first, second = (
        pa.table({"x": pa.array(rng.normal(size=5_000), mask=rng.random(5_000) < 0.01)})
        for _ in range(2)
    )
    compare(first, second)


def test_new_values_of_a_column_of_many_values_are_no_difference_by_themselves():
    (column,) = compare(users(0), users(1))
    assert not column.certain
    assert column.distance < 0.1


def test_other_values_are_found_though_each_is_rare():
    (column,) = compare(users(0), users(1, 300, 1_200))
    assert column.certain
    assert column.distance > 0.2


def test_a_value_that_training_did_not_have_is_said_to_be_new():
    before, now = (["a"] * 60 + ["b"] * 40, ["a"] * 20 + ["c"] * 80)
    (column,) = compare(pa.table({"x": before}), pa.table({"x": now}))
    assert column.words == "a new value: 0.0% against 80.0%"


def test_a_value_that_went_missing_is_named():
    before, now = (["a"] * 50 + ["b"] * 40 + [None] * 10, ["b"] * 40 + [None] * 60)
    (column,) = compare(pa.table({"x": before}), pa.table({"x": now}))
    assert column.words in (
        "a: 50.0% against 0.0%",
        "missing: 10.0% against 60.0%",
    )


@given(st.integers(0, 10**6))
@examples(20)
def test_it_does_not_matter_which_side_was_in_training(seed):
    first, second = (users(each, high=40, n_rows=100) for each in (seed, seed + 1))
    sides = []
    for trained in (first, second):
        encoder = fit_encoder(trained)
        (pair,) = pair_columns(encoder, *(Side.of(encoder, t) for t in (first, second)))
        sides.append((pair.encode(), pair.compare(100).p_value))
    np.testing.assert_array_equal(sides[0][0], sides[1][0])
    assert sides[0][1] == sides[1][1]


def test_only_so_many_rows_of_a_large_set_are_compared():
    table = users(0, n_rows=6_000)
    side = Side.of(fit_encoder(table), table)
    assert len(side.sample(np.random.default_rng(0))) == 5_000
    few = side.take(np.arange(7))
    assert few.sample(np.random.default_rng(0)) is few
