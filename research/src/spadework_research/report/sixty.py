"""Sixty public tables: half A to choose on, half B to confirm on."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from spadework_research.runs.methods import METHODS
from spadework_research.studies.tables60 import RESULTS, Outcome, read_outcomes

WEIGHTS_TRIED = "weights_tried.jsonl"
"""Outcomes of the in-context model alone, whose ``method`` says with which weights."""

PARTS = {
    "A": "half A",
    "B": "half B",
    "pnu": "random labels",
    "easy": "easy rows",
    "risk": "high risk",
    "pu": "PU",
    "nu": "NU",
}
"""Parts of the tables, by half or scenario, and their names."""


class Cell(NamedTuple):
    """Means over tables and seeds."""

    auc: float
    average_precision: float


class Row(NamedTuple):
    """A method or weights: a cell for each of `PARTS`, None where no table was fitted.

    ``n_tables`` counts tables that were fitted; on a share of these, ``near``, between
    half and twice the true number of rows is called.
    """

    label: str
    cells: list[Cell | None]
    near: float
    n_tables: int


def view_methods(folder: Path) -> list[Row]:
    """Rows of the methods that were measured, in the order of `METHODS`."""
    found = _by_method(read_outcomes(folder / RESULTS))
    return [
        _row(method.label, found[name])
        for name, method in METHODS.items()
        if name in found
    ]


def view_weights(folder: Path) -> list[Row]:
    """Rows of the weights that were tried, in the order of the trial."""
    found = _by_method(read_outcomes(folder / WEIGHTS_TRIED))
    return [_row(told, outcomes) for told, outcomes in found.items()]


def _by_method(outcomes: Iterable[Outcome]) -> dict[str, list[Outcome]]:
    """Outcomes of tables whose labels allowed a fit, by method."""
    found: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        if outcome.refused is None:
            found[outcome.method].append(outcome)
    return found


def _row(label: str, outcomes: list[Outcome]) -> Row:
    return Row(
        label,
        [_cell([o for o in outcomes if part in (o.half, o.scenario)]) for part in PARTS],
        mean(o.calls_are_near for o in outcomes),
        len({(o.table, o.scenario) for o in outcomes}),
    )


def _cell(outcomes: list[Outcome]) -> Cell | None:
    """Average what has numbers."""
    numbers = [
        (o.auc, o.average_precision)
        for o in outcomes
        if o.auc is not None and o.average_precision is not None
    ]
    return Cell(*map(mean, zip(*numbers, strict=True))) if numbers else None
