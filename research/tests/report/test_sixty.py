"""Outcomes on sixty tables become a row for each method, a cell for each part."""

import json

import pytest

from made_results import done, stored
from spadework_research.report import build_report
from spadework_research.report.sixty import (
    PARTS,
    WEIGHTS_TRIED,
    Cell,
    view_methods,
    view_weights,
)
from spadework_research.studies.tables60 import RESULTS, Outcome


def outcome(method, table, scenario="pnu", half="A", auc=0.75, called=10, refused=None):
    numbers = (auc, auc / 2, called) if refused is None else (None, None, None)
    return Outcome(method, table, scenario, half, 0, *numbers, 10, 1.0, refused)


def written(folder, name, outcomes):
    lines = (json.dumps(each._asdict()) + "\n" for each in outcomes)
    (folder / name).write_text("".join(lines))
    return folder


def test_a_cell_is_the_mean_over_the_tables_of_a_half_or_scenario(tmp_path):
    outcomes = [
        outcome("spade", "one", auc=0.5),
        outcome("spade", "two", "pu", auc=1.0, called=40),
        outcome("spade", "three", half="B", auc=0.9),
    ]
    (row,) = view_methods(written(tmp_path, RESULTS, outcomes))
    cells = dict(zip(PARTS, row.cells, strict=True))
    assert cells["A"] == Cell(0.75, 0.375)
    assert cells["pnu"] == Cell(pytest.approx(0.7), pytest.approx(0.35))
    assert cells["pu"] == Cell(1.0, 0.5)
    assert cells["nu"] is None
    assert row.near == pytest.approx(2 / 3)
    assert row.n_tables == 3


def test_tables_whose_labels_allowed_no_fit_do_not_count(tmp_path):
    outcomes = [outcome("catboost", "one"), outcome("catboost", "two", refused="PU")]
    (row,) = view_methods(written(tmp_path, RESULTS, outcomes))
    assert row.n_tables == 1


def test_a_lead_is_the_mean_difference_on_the_tables_that_both_ran_on(tmp_path):
    outcomes = [outcome("spade", name, auc=0.8) for name in ("one", "two", "three")]
    outcomes += [outcome("catboost", "one", auc=0.7), outcome("catboost", "two", auc=0.6)]
    ours, other = view_methods(written(tmp_path, RESULTS, outcomes))
    assert ours.leads is None
    assert other.leads[0] == (pytest.approx(0.15), pytest.approx(0.05))
    assert other.leads[1] == (pytest.approx(0.075), pytest.approx(0.025))


def test_weights_are_told_in_the_order_in_which_they_were_tried(tmp_path):
    outcomes = [outcome(told, "one") for told in ("second thoughts", "a first try")]
    rows = view_weights(written(tmp_path, WEIGHTS_TRIED, outcomes))
    assert [row.label for row in rows] == ["second thoughts", "a first try"]


def test_both_forms_of_the_report_show_the_same_numbers(tmp_path):
    folder = stored([done("new_types", "thyroid", "spade", auc=0.911)], tmp_path)
    written(folder, RESULTS, [outcome("spade", "one", auc=0.814)])
    report = build_report(folder)
    assert "0.814 / 0.407" in report.markdown
    assert "0.814<small>0.407</small>" in report.html
