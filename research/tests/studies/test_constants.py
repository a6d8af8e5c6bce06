"""Every constant is moved alone, and back; a line tells what that costs."""

import importlib

import pytest

from spadework_research.studies.cells import Cell, Means
from spadework_research.studies.constants import (
    COLUMNS,
    MOVES,
    Moved,
    detectors_with,
    moved_constants,
    rows,
)

MOVED = list(moved_constants())
OF_MODULES = [moved for moved in MOVED if moved.module is not None]


def value_of(moved):
    """The value that a constant has now."""
    return getattr(importlib.import_module(moved.module), moved.name)


def test_every_constant_is_made_smaller_and_larger():
    names = {(moved.module, moved.name) for moved in MOVED}
    assert len(MOVED) == 2 * len(names)
    for name in names:
        small, large = (m.value for m in MOVED if (m.module, m.name) == name)
        assert small != large


@pytest.mark.parametrize(
    "moved", OF_MODULES, ids=lambda moved: f"{moved.name}={moved.value}"
)
def test_a_constant_of_a_module_is_moved_and_put_back(moved):
    before = value_of(moved)
    with detectors_with(moved):
        assert value_of(moved) == moved.value != before
    assert value_of(moved) == before


@pytest.mark.parametrize(
    ("moved", "where"),
    [
        (Moved(None, "n_members", 3), "n_members"),
        (Moved(None, "max_depth", 8), "learner__max_depth"),
    ],
)
def test_parameters_are_moved_in_the_detector_alone(moved, where):
    with detectors_with(moved) as made:
        assert made(5).get_params()[where] == moved.value
        assert made(5).random_state == 5
    with detectors_with(None) as made:
        assert made(5).get_params()[where] != moved.value


def test_a_line_tells_the_means_and_the_cell_that_loses_most():
    columns = list(COLUMNS)[:2]
    found = {}
    for move in MOVES:
        for n, column in enumerate(columns):
            lost = 0.1 * n if move != "default" else 0.0
            found[Cell(*column, move)] = Means(0.9 - lost, 0.5)
    default, first, *_ = rows(found)
    assert default.startswith("default")
    assert "AUC 0.8500 (-0.0500)  AP 0.5000 (-0.0000)" in first
    assert first.endswith(f"worst -0.100 {', '.join(columns[1])}")
