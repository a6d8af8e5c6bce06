"""Cells are measured once, kept, and measured again where it is asked for."""

import json

import pytest

from spadework.errors import InputError
from spadework_research.studies.cells import Cell, Means, run_cells

CELLS = [Cell("wine", "PU", method) for method in ("spade", "catboost", "occ")]


def measured_as(auc):
    """Measure every cell alike, but the last, whose labels allow no fit."""
    return {"spade": Means(auc, 0.5), "catboost": Means(auc, 0.5), "occ": None}


def first(cell):
    return measured_as(0.25)[cell.method]


def second(cell):
    return measured_as(0.75)[cell.method]


def aucs(cells):
    return {cell.method: means.auc for cell, means in cells.items()}


def test_cells_are_kept_and_only_named_methods_are_measured_again(tmp_path):
    path = tmp_path / "cells.json"
    assert aucs(run_cells(path, CELLS, [], first, range(2))) == {
        "spade": 0.25,
        "catboost": 0.25,
    }
    kept = run_cells(path, CELLS, [], second, range(2))
    assert aucs(kept) == {"spade": 0.25, "catboost": 0.25}
    renewed = run_cells(path, CELLS, ["spade"], second, range(2))
    assert aucs(renewed) == {"spade": 0.75, "catboost": 0.25}
    content = json.loads(path.read_text())
    assert content["seeds"] == [0, 1]
    assert [cell["method"] for cell in content["cells"]] == ["spade", "catboost"]


def test_cells_of_other_seeds_are_measured_again(tmp_path):
    path = tmp_path / "cells.json"
    run_cells(path, CELLS, [], first, range(2))
    again = run_cells(path, CELLS, [], second, range(3))
    assert aucs(again) == {"spade": 0.75, "catboost": 0.75}
    assert json.loads(path.read_text())["seeds"] == [0, 1, 2]


def test_an_unknown_method_names_the_known_ones(tmp_path):
    with pytest.raises(InputError, match=r"among catboost, occ, spade; got spades"):
        run_cells(tmp_path / "cells.json", CELLS, ["spades"], first, range(2))
