"""Sixty public tables: half A to choose on, half B to confirm on."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import numpy as np

from spadework_research.report.summary import OURS
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


class Lead(NamedTuple):
    """Mean difference over tables, and its standard error."""

    mean: float
    error: float


class Row(NamedTuple):
    """A method or weights: a cell for each of `PARTS`, None where no table was fitted.

    ``n_tables`` counts tables that were fitted; on a share of these, ``near``, between
    half and twice the true number of rows is called. ``leads`` are those of our SPADE in
    AUC and average precision, on the tables that both were fitted on.
    """

    label: str
    cells: list[Cell | None]
    near: float
    n_tables: int
    leads: tuple[Lead, Lead] | None = None


def view_methods(folder: Path) -> list[Row]:
    """Rows of the methods that were measured, in the order of `METHODS`."""
    found = _by_method(read_outcomes(folder / RESULTS))
    ours = found.get(OURS, [])
    return [
        _row(method.label, found[name])._replace(leads=_lead(ours, found[name]))
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


def _lead(ours: list[Outcome], others: list[Outcome]) -> tuple[Lead, Lead] | None:
    """How far our outcomes are above others, table by table; seeds are averaged first."""
    own, other = _by_table(ours), _by_table(others)
    apart = [np.subtract(own[at], other[at]) for at in own.keys() & other.keys()]
    if len(apart) < 2 or own == other:
        return None
    errors = np.std(apart, axis=0, ddof=1) / np.sqrt(len(apart))
    auc, precision = zip(np.mean(apart, axis=0).tolist(), errors.tolist(), strict=True)
    return Lead(*auc), Lead(*precision)


def _by_table(outcomes: list[Outcome]) -> dict[tuple[str, str], Cell]:
    """Cells by table and scenario, means over seeds."""
    found: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        found[outcome.table, outcome.scenario].append(outcome)
    cells = {at: _cell(each) for at, each in found.items()}
    return {at: cell for at, cell in cells.items() if cell}
