"""Cells of a benchmark: a table, a way to label it and a method, over some seeds."""

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from sklearn.metrics import average_precision_score, roc_auc_score

from spadework.base import AnomalyDetector
from spadework.core.cores import usable_cores
from spadework.errors import InputError, LabelError
from spadework.files import write_whole
from spadework.progress import progress
from spadework.scenarios import Trial


class Cell(NamedTuple):
    """Names of what is measured."""

    table: str
    scenario: str
    method: str


class Means(NamedTuple):
    """AUC and average precision, means over seeds."""

    auc: float
    average_precision: float


def measure(
    detector_of: Callable[[int], AnomalyDetector],
    trial_of: Callable[[int], Trial],
    seeds: Iterable[int],
) -> Means | None:
    """Fit and score the trial of every seed; None where labels allow no fit."""
    found: list[Means] = []
    for seed in seeds:
        trial, detector = trial_of(seed), detector_of(seed)
        try:
            scores = detector.fit(trial.X, trial.y).anomaly_score(trial.X_test)
        except LabelError:
            continue
        truth = trial.kind_test > 0
        auc = float(roc_auc_score(truth, scores))
        found.append(Means(auc, float(average_precision_score(truth, scores))))
    return Means(*map(mean, zip(*found, strict=True))) if found else None


def run_cells(
    path: Path,
    cells: Collection[Cell],
    anew: Collection[str],
    measure_cell: Callable[[Cell], Means | None],
    seeds: Sequence[int],
) -> dict[Cell, Means]:
    """Measure cells that a file lacks, and methods that are wanted anew.

    Every cell is written as soon as it is measured; what was stopped goes on. Cells of
    other seeds are measured again, those of methods that are no longer asked for stay.
    """
    known = {cell.method for cell in cells}
    if unknown := sorted(set(anew) - known):
        raise InputError(
            f"methods must be among {', '.join(sorted(known))}; got {', '.join(unknown)}"
        )
    measured = _read(path, seeds) if path.exists() else {}
    todo = [cell for cell in cells if cell not in measured or cell.method in anew]
    with (
        progress("measuring", len(todo), verbose=True) as advance,
        ProcessPoolExecutor(usable_cores()) as pool,
    ):
        for cell, means in zip(todo, pool.map(measure_cell, todo), strict=True):
            advance(f"{cell.table}, {cell.scenario}, {cell.method}")
            if means is not None:
                measured[cell] = means
                asked = {each: measured[each] for each in cells if each in measured}
                _write(path, seeds, asked | measured)
    return measured


def _read(path: Path, seeds: Sequence[int]) -> dict[Cell, Means]:
    """Read cells that were measured before with these seeds."""
    content = json.loads(path.read_text(encoding="utf-8"))
    cells = content["cells"] if content["seeds"] == list(seeds) else []
    return {
        Cell(*(cell[name] for name in Cell._fields)): Means(
            *(cell[name] for name in Means._fields)
        )
        for cell in cells
    }


def _write(path: Path, seeds: Sequence[int], measured: Mapping[Cell, Means]) -> None:
    """Write all cells to one file."""
    cells = [
        {**cell._asdict(), **{name: round(n, 4) for name, n in means._asdict().items()}}
        for cell, means in measured.items()
    ]
    content = json.dumps({"seeds": list(seeds), "cells": cells}, indent=1) + "\n"
    write_whole(path, content.encode())
