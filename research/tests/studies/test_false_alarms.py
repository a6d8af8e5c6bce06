"""False alarms of comparing are counted on tables of all kinds of columns."""

import json

import numpy as np
import pytest

from spadework.tables.encoding import fit_encoder
from spadework_research.studies.false_alarms import (
    LABEL,
    RESULTS,
    TABLES,
    Alarms,
    bound,
    change,
    lines,
    measure,
)


@pytest.fixture(scope="module")
def results():
    return [Alarms(**each) for each in json.loads(RESULTS.read_text())]


def test_halves_that_do_not_differ_raise_no_more_alarms_than_was_said(results):
    assert [each.table for each in results] == list(TABLES)
    n_halves = sum(each.n_halves for each in results)
    assert n_halves >= 200
    for kind in ("advised", "told_apart", "columns"):
        assert sum(getattr(each, kind) for each in results) <= 0.05 * n_halves
    assert sum(each.own_rows for each in results) == 0


def test_a_column_that_was_changed_comes_first(results):
    for each in results:
        assert each.found >= 0.95 * each.n_halves


def test_one_pair_of_halves_is_counted():
    found = measure("breast cancer", 1)
    assert found.n_halves == 1
    assert all(count in (0, 1) for count in found[1:])


@pytest.mark.parametrize("name", ["payments", "breast cancer", "digits, 1 and 2"])
def test_tables_have_dates_categories_and_missing_values(name):
    table = TABLES[name]()
    roles = fit_encoder(table, leave_out=[LABEL]).roles
    assert {"number", "category", "date"} <= set(roles)
    if name != "payments":
        assert table.column("x1").null_count > 0


def test_only_the_column_that_is_named_is_changed():
    table = TABLES["breast cancer"]()
    for name in ("x0", "shop"):
        changed = change(table, name, np.random.default_rng(0))
        differ = [each for each in table.column_names if changed[each] != table[each]]
        assert differ == [name]


def test_lines_tell_the_sum_and_its_bound():
    one = Alarms("a", 40, 1, 0, 1, 0, 40)
    told = lines([one, one._replace(table="b", n_halves=60)])
    assert len(told) == 5
    assert told[-1].startswith("false alarms: 2.0%, <= 6.")


def test_the_bound_of_a_share_lies_above_it():
    assert bound(0, 200) == pytest.approx(0.0149, abs=1e-4)
    assert 0.05 < bound(10, 200) < 0.09
    assert bound(5, 5) == 1
