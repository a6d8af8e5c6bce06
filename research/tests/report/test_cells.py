"""Cells are means over seeds, in the order of the paper, and the best are marked."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_results import done
from spadework_research.report.cells import (
    Cell,
    Runs,
    auc_heads,
    mark_best,
    measure_cell,
    order_rows,
    view_table,
)
from spadework_research.runs.methods import (
    ABLATED,
    COMPARED,
    METHODS,
    SWEPT,
    SWEPT_LITERAL,
)
from spadework_research.runs.tables import TABLES

shares = st.integers(0, 20).map(lambda twentieths: twentieths / 20)


def test_rows_are_the_papers_in_its_order_then_the_others():
    rows = order_rows(TABLES["new_types"])
    assert rows[:10] == [
        "supervised",
        "negative_supervised",
        "occ",
        "negative_occ",
        "srr",
        "vime",
        "dann",
        "spade_paper",
        "spade_paper_literal",
        "spade",
    ]
    assert sorted(rows) == sorted(COMPARED)
    assert order_rows(TABLES["alpha"]) == [*SWEPT, *SWEPT_LITERAL]


def test_an_ablation_stands_beside_itself_in_the_literal_reading_and_spade_last():
    rows = order_rows(TABLES["ablation"])
    assert sorted(rows) == sorted(ABLATED)
    assert rows[-2:] == ["spade_paper", "spade_paper_literal"]
    for nearest, literal in zip(rows[::2], rows[1::2], strict=True):
        assert METHODS[nearest].paper == METHODS[literal].paper
        assert "literal" in METHODS[literal].label


def test_methods_that_do_not_apply_come_last():
    table = TABLES["nu"]
    others = order_rows(table)[10:]
    applies = [table.applies(table.columns[0], method) for method in others]
    assert applies == sorted(applies, reverse=True)
    assert set(applies) == {True, False}


@pytest.mark.parametrize("method", ["spade", "spade_paper", "spade_paper_literal"])
def test_every_form_of_spade_is_held_against_the_papers(method):
    table = TABLES["new_types"]
    runs = Runs([done("new_types", "thyroid", method, auc=0.9)])
    cell = measure_cell(runs, table, table.columns[0], method, "auc")
    assert cell.paper == 0.921
    assert cell.difference == pytest.approx(-0.021)


@given(st.lists(shares, min_size=1, max_size=6))
def test_a_cell_is_mean_and_sample_deviation_over_seeds(values):
    table = TABLES["easiness"]
    runs = Runs([done("easiness", "drug", "occ", *run) for run in enumerate(values)])
    cell = measure_cell(runs, table, table.columns[1], "occ", "auc")
    assert cell.mean == pytest.approx(np.mean(values))
    if len(values) == 1:
        assert cell.std is None
    else:
        assert cell.std == pytest.approx(np.std(values, ddof=1))


@given(st.lists(st.none() | st.floats(0, 1), max_size=8))
def test_the_best_are_those_shown_with_the_highest_mean(means):
    cells = [Cell("not run" if mean is None else "ran", mean) for mean in means]
    shown = [f"{mean:.3f}" for mean in means if mean is not None]
    for mean, cell in zip(means, mark_best(cells), strict=True):
        assert cell.best == (mean is not None and f"{mean:.3f}" == max(shown))


def test_kinds_of_anomaly_are_shown_apart_where_the_paper_does_so():
    labels = {name: [head.label for head in auc_heads(TABLES[name])] for name in TABLES}
    kinds = ["overall", "given", "missed"]
    assert labels["new_types"] == labels["pu"] == labels["nu"] == 3 * kinds
    assert labels["easiness"] == ["thyroid", "drug", "covertype"]
    assert labels["fraud"] == ["5.0%", "10.0%", "10.0%", "20.0%"]
    groups = view_table(TABLES["ablation"], Runs([])).groups
    assert groups == [("new types", 3), ("easiness", 3)]
