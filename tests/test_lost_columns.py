"""Columns that say nothing of new rows are named; those that may be empty are not."""

import logging

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitted_payments import fitted, payments
from properties import examples
from spadework.errors import InputError
from spadework.lost_columns import MIN_ROWS
from spadework.scoring import score_table
from spadework.table_fitting import fit_table

NEVER_EMPTY = ["amount", "place"]


def with_column(table, name, values):
    return table.set_column(table.column_names.index(name), name, pa.array(values))


def emptied(table, name):
    nulls = pa.nulls(table.num_rows, table.column(name).type)
    return table.set_column(table.column_names.index(name), name, nulls)


def names(lost):
    return [each.name for each in lost]


def test_rows_like_those_of_training_lose_nothing():
    assert fitted().find_lost(payments(300, seed=4)) == []


@pytest.mark.parametrize("name", NEVER_EMPTY)
def test_a_column_that_is_empty_in_all_new_rows_is_named(name):
    (lost,) = fitted().find_lost(emptied(payments(50, seed=4), name))
    assert str(lost) == (
        f"column {name} is missing in all 50 rows, and was in no training row"
    )


def test_categories_in_another_spelling_are_named_with_an_example():
    table = payments(50, seed=4)
    shouted = [str(value).upper() for value in table.column("place").to_pylist()]
    (lost,) = fitted().find_lost(with_column(table, "place", shouted))
    assert lost.name == "place"
    assert f"such as {shouted[0]!r}" in lost.why


def test_one_known_value_among_many_rows_clears_a_column():
    table = payments(200, seed=4)
    for name in NEVER_EMPTY:
        values = [None] * 199 + table.column(name).to_pylist()[:1]
        assert fitted().find_lost(with_column(table, name, values)) == []


def test_few_rows_may_lack_anything():
    table = emptied(payments(MIN_ROWS - 1, seed=4), "amount")
    assert fitted().find_lost(table) == []


@examples(20)
@given(n_rows=st.integers(MIN_ROWS, 60), cut=st.integers(0, 60))
def test_batches_tell_the_same_as_the_whole(n_rows, cut):
    table = emptied(payments(n_rows, seed=4), "amount")
    watch = fitted().watch_columns()
    for part in (table[:cut], table[cut:]):
        watch.look(part)
    assert watch.found() == fitted().find_lost(table)


def sparse(n_rows, seed):
    """A column that is mostly empty, and one in which half of the values are new."""
    rng = np.random.default_rng(seed)
    rare = np.where(rng.random(n_rows) < 0.95, np.nan, rng.normal(size=n_rows))
    return {
        "amount": rng.normal(size=n_rows),
        "rare": pa.array(rare, from_pandas=True),
        "shop": ["kiosk" if n % 100 > 48 else f"shop {n}" for n in range(n_rows)],
        "status": ["bad"] * 9 + ["good"] * 20 + [None] * (n_rows - 29),
    }


def test_what_is_often_missing_or_new_must_be_so_in_many_rows_to_be_named():
    meanings = {"bad": 1, "good": 0}
    model = fit_table(pa.table(sparse(400, 0)), label="status", label_map=meanings)
    assert {"rare", "shop"} <= set(model.columns)
    new = pa.table(sparse(400, 1)).drop_columns(["status"])
    new = with_column(emptied(new, "rare"), "shop", [f"new {n}" for n in range(400)])
    assert names(model.find_lost(new[:10])) == []
    assert names(model.find_lost(new)) == ["rare", "shop"]


@pytest.mark.parametrize("row", [0, 49])
def test_what_cannot_be_read_is_refused_as_ever(row):
    table = payments(50, seed=4)
    values = [str(value) for value in table.column("amount").to_pylist()]
    values[row] = "a lot"
    with pytest.raises(InputError, match="column amount was a number in training"):
        fitted().score(with_column(table, "amount", values))
    with pytest.raises(InputError, match="lacks columns that the model was fitted with"):
        fitted().score(table.drop_columns(["amount"]))


def test_scoring_logs_a_lost_column_and_counts_it(tmp_path, caplog):
    table = emptied(payments(50, seed=4), "amount")
    with caplog.at_level(logging.WARNING, logger="spadework"):
        counts = score_table(fitted(), table, tmp_path / "scores.csv")
        fitted().score(table)
    assert names(counts.lost_columns) == ["amount"]
    assert [each.levelname for each in caplog.records] == ["WARNING"] * 2
    assert "look at where the rows come from" in caplog.text
