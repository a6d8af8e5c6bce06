"""The paper's numbers have their places, and differences their explanations."""

import json
import re
from pathlib import Path

import pytest

from spadework_research.report import published
from spadework_research.report.cells import auc_heads
from spadework_research.report.published import (
    NO_EXPLANATION,
    explain,
    is_within,
    paper_value,
    read_paper,
)
from spadework_research.runs.methods import METHODS
from spadework_research.runs.tables import TABLES


def test_every_number_of_the_paper_has_a_place_in_a_table():
    for name, rows in read_paper().items():
        table, found = TABLES[name], set()
        for head in auc_heads(table):
            for method in table.methods:
                row = METHODS[method].paper
                if paper_value(name, head.column, head.measure, row):
                    found.add((row, head.column.key, head.measure))
        # Of photos, those of MVTec are means over categories, which no column is.
        printed = [key for columns in rows.values() for key in columns]
        assert len(found) == sum(not key.startswith("mvtec/") for key in printed)


@pytest.mark.parametrize(
    ("difference", "std", "within"),
    [
        (0.03, None, True),
        (0.831 - 0.801, None, True),  # a little more than 0.03 in binary
        (-0.031, 0.015, False),
        (-0.031, 0.016, True),
        (0.029, 0.0, True),
        (0.2, 0.099, False),
    ],
)
def test_within_is_the_larger_of_0_03_and_two_deviations(difference, std, within):
    assert is_within(difference, std) is within


def test_the_most_specific_explanation_is_taken():
    table = TABLES["high_risk"]
    column = table.columns[0]
    sentences = {
        "vime": "coarse",
        "thyroid/vime": "finer",
        "high_risk/thyroid-0.010/vime": "finest",
    }
    found = []
    for key in reversed(list(sentences)):
        found.append(explain("high_risk", column, "vime", sentences))
        del sentences[key]
    assert found == ["finest", "finer", "coarse"]
    assert explain("high_risk", column, "vime", sentences) == NO_EXPLANATION


PAPER = json.loads(Path(published.__file__).with_name("paper.json").read_text())
IN_PAPER = [table for table in TABLES.values() if table.name in PAPER]


@pytest.mark.parametrize("table", IN_PAPER, ids=lambda table: table.name)
def test_every_column_is_one_of_the_papers_and_none_of_them_is_left_out(table):
    keys = {column.key.replace("-", "/", 1) for column in table.columns}
    if table.name == "images":  # the paper has but one mean over all categories
        keys = {re.sub("^mvtec_ad/.*-", "mvtec/", key) for key in keys}
    for row, cells in PAPER[table.name].items():
        measured = {key.removesuffix("/overall") for key in cells}
        whole = {key for key in measured if not key.endswith(("/given", "/missed"))}
        assert whole == keys, row


@pytest.mark.parametrize("table", IN_PAPER, ids=lambda table: table.name)
def test_every_row_of_the_paper_is_a_method_that_applies(table):
    ours = {
        METHODS[name].paper
        for name in table.methods
        if any(table.applies(column, name) for column in table.columns)
    }
    assert PAPER[table.name].keys() <= ours


@pytest.mark.parametrize(
    "method",
    [each for each in METHODS.values() if each.paper],
    ids=lambda each: each.name,
)
def test_a_method_of_the_paper_has_numbers_in_a_table_it_is_in(method):
    assert any(
        method.paper in PAPER[table.name]
        for table in IN_PAPER
        if method.name in table.methods
    )


def test_tables_that_the_paper_prints_are_all_here():
    assert PAPER.keys() <= TABLES.keys()
    assert TABLES.keys() - PAPER.keys() == {"nu", "alpha", "parts"}


def test_the_papers_numbers_are_areas_under_curves():
    cells = [
        cell for rows in PAPER.values() for row in rows.values() for cell in row.values()
    ]
    assert all(cell.keys() == {"mean", "std"} for cell in cells)
    assert all(0 <= cell["mean"] <= 1 for cell in cells)
    assert all(cell["std"] is None or 0 <= cell["std"] < 0.5 for cell in cells)
