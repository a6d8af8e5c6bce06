"""What becomes of the default when each of its constants is moved by half.

``python -m spadework_research.studies.constants`` fits the default, and then with one
constant at a time half as large and half as large again, on the paper's tables (large
ones: a sample of rows) under its ways of labeling, with seeds that no other benchmark
uses. It prints the mean AUC and average precision and the cell that loses most, and
keeps all cells; those that are there are measured again only for moves that are named
behind it, as in ``"ODDEST = 0.05"``.
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from itertools import product
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

from spadework import SPADE
from spadework.core import (
    boosting,
    likelihood,
    neighbours,
    pseudo_labels,
    scaling,
    trust,
    weighing,
)
from spadework.learners import (
    agreeing,
    blend,
    boosted,
    companions,
    forest,
    growing,
    linear,
    oddness,
    readings,
)
from spadework.learners.forest import ForestLearner
from spadework.scenarios import LabeledTable
from spadework_research.datasets.catalog import get_dataset
from spadework_research.places import results_folder
from spadework_research.report.summary import SUMMARIZED
from spadework_research.runs.measurement import sample_rows
from spadework_research.runs.tables import TABLES
from spadework_research.studies.cells import Cell, Means, measure, run_cells

RESULTS = results_folder() / "constants.json"
MAX_ROWS = 10_000
SEEDS = (5, 6)
COLUMNS = {
    (column.dataset, f"{column.scenario} {column.share:g}"): column
    for name in SUMMARIZED
    for column in TABLES[name].columns
    if column.dataset in ("thyroid", "drug", "covertype")
}


class Moved(NamedTuple):
    """A constant and its value: of a module, or of the learner where that is None."""

    module: str | None
    name: str
    value: float


def moved_constants() -> Iterator[Moved]:
    """List the constants behind the default, smaller and larger by half.

    Left out are those of rounding, of how finely something is drawn, and of how much
    work is done at once.
    """
    default = ForestLearner().get_params()
    agreement = trust.FULL_AGREEMENT - 0.5  # it starts to count at one half
    yield from (
        Moved(trust.__name__, "FULL_AGREEMENT", 0.5 + factor * agreement)
        for factor in (0.5, 1.5)
    )
    for factor in (0.5, 1.5):
        left = 1 - scaling.MOST_ROWS  # a share of nearly all
        yield Moved(scaling.__name__, "MOST_ROWS", 1 - factor * left)
        left = 1 - agreeing.NORMAL_SHARE
        yield Moved(agreeing.__name__, "NORMAL_SHARE", 1 - factor * left)
        for module, name in (
            (weighing, "ONE_CLASS_SHARE"),
            (weighing, "CONFIRMED"),
            (weighing, "UNJUDGED_SHARE"),
            (weighing, "FEW_ANOMALIES"),
            (weighing, "LEAST_SURE"),
            (weighing, "MOST_SURE"),
            (weighing, "AGREED_SHARE"),
            (weighing, "SURE_ALONE"),
            (agreeing, "ANOMALOUS_SHARE"),
            (companions, "NEGLIGIBLE"),
            (scaling, "LIMIT"),
            (readings, "WIDE"),
            (growing, "MANY_COLUMNS"),
            (growing, "RANDOM_TREES"),
            (forest, "MAX_DRAWS"),
            (growing, "MIN_TREES"),
            (growing, "MAX_TREES"),
            (readings, "JUDGED_ROWS"),
            (companions, "MOST"),
            (companions, "FEW_DRAWS"),
            (companions, "LEAST"),
            (companions, "SOME_DRAWS"),
            (companions, "LEAST_SLOW"),
            (boosting, "N_TREES"),
            (boosting, "DEPTH"),
            (boosting, "RATE"),
            (boosting, "N_TRIED"),
            (boosting, "PENALTY"),
            (companions, "MANY_PUT_RIGHT"),
            (weighing, "ODDEST"),
            (forest, "MUCH"),
            (growing, "MAX_WHOLE_TREES"),
            (oddness, "MIN_NORMALS"),
            (forest, "NEIGHBOURS_SHARE"),
            (oddness, "N_POINTS"),
            (oddness, "N_DRAWS"),
            (neighbours, "SLACK"),
            (pseudo_labels, "BOUND"),
            (scaling, "LEAST_SPREAD"),
            (blend, "MAX_LOG_ODDS"),
            (likelihood, "HALF_A_ROW"),
            (boosted, "MAX_ROWS"),
            (linear, "N_BAGS"),
            (linear, "PURE_PENALTY"),
            (linear, "MIXED_PENALTY"),
            (linear, "MAX_SEEN"),
            (growing, "DRAW_BUDGET"),
        ):
            value = getattr(module, name)
            yield Moved(module.__name__, name, type(value)(factor * value))
        for name in ("anomaly_weight", "normal_weight", "min_samples_leaf", "max_depth"):
            yield Moved(None, name, type(default[name])(factor * default[name]))
        yield Moved(None, "n_members", int(factor * SPADE().n_members))


@contextmanager
def detectors_with(moved: Moved | None) -> Iterator[Callable[[int], SPADE]]:
    """Yield what makes the default of a seed, with one constant moved meanwhile."""

    def detector(seed: int) -> SPADE:
        return SPADE(learner=ForestLearner(), random_state=seed)

    if moved is None:
        yield detector
    elif moved.module is not None:
        with patch(f"{moved.module}.{moved.name}", moved.value):
            yield detector
    else:
        name = moved.name if moved.name == "n_members" else f"learner__{moved.name}"
        yield lambda seed: detector(seed).set_params(**{name: moved.value})


MOVES: dict[str, Moved | None] = {"default": None} | {
    f"{moved.name} = {moved.value:g}": moved for moved in moved_constants()
}


@cache
def sampled(dataset: str) -> LabeledTable:
    """Read a data set, once in a process."""
    whole = get_dataset(dataset).load()
    assert isinstance(whole, LabeledTable)
    return sample_rows(whole, MAX_ROWS)


def measure_cell(cell: Cell) -> Means | None:
    """Mean AUC and average precision over seeds."""
    trial_of = partial(COLUMNS[cell.table, cell.scenario].trial, sampled(cell.table))
    with detectors_with(MOVES[cell.method]) as detector_of:
        return measure(detector_of, trial_of, SEEDS)


def rows(measured: dict[Cell, Means]) -> Iterator[str]:
    """Lay every move out as a line: its means and its worst cell, beside the default."""
    for move in MOVES:
        moved = [cell for cell in measured if cell.method == move]
        auc, precision = np.array([measured[cell] for cell in moved]).T
        default = [measured[cell._replace(method="default")] for cell in moved]
        auc_lost, precision_lost = np.array(default).T - (auc, precision)
        worst = moved[auc_lost.argmax()]
        yield (
            f"{move:24} AUC {auc.mean():.4f} ({-auc_lost.mean():+.4f})  "
            f"AP {precision.mean():.4f} ({-precision_lost.mean():+.4f})  "
            f"worst {-auc_lost.max():+.3f} {worst.table}, {worst.scenario}"
        )


def main(anew: list[str]) -> None:
    """Measure, print and write."""
    columns = product(MOVES, COLUMNS)
    cells = [Cell(table, scenario, move) for move, (table, scenario) in columns]
    print("\n".join(rows(run_cells(RESULTS, cells, anew, measure_cell, SEEDS))))


if __name__ == "__main__":
    main(sys.argv[1:])
