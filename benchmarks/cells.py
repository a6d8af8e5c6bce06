"""Cells of a benchmark: a table, a way to label it and a method, over some seeds."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from sklearn.metrics import average_precision_score, roc_auc_score

from spadework.benchmark.methods import get_method
from spadework.benchmark.scenarios import Trial
from spadework.errors import LabelError


class Cell(NamedTuple):
    """Names of what is measured."""

    table: str
    scenario: str
    method: str


class Means(NamedTuple):
    """AUC and average precision, means over seeds."""

    auc: float
    average_precision: float


def measure(method: str, trial_of: Callable[[int], Trial], seeds: int) -> Means | None:
    """Fit and score the trial of every seed; None where labels allow no fit."""
    found: list[Means] = []
    for seed in range(seeds):
        trial = trial_of(seed)
        detector = get_method(method).detector(seed)
        try:
            scores = detector.fit(trial.X, trial.y).anomaly_score(trial.X_test)
        except LabelError:
            continue
        truth = trial.kind_test > 0
        auc = float(roc_auc_score(truth, scores))
        found.append(Means(auc, float(average_precision_score(truth, scores))))
    return Means(*map(mean, zip(*found, strict=True))) if found else None


def write(path: Path, seeds: int, measured: Mapping[Cell, Means | None]) -> None:
    """Write all cells that could be measured to one file."""
    cells = [
        {**cell._asdict(), **{name: round(n, 4) for name, n in means._asdict().items()}}
        for cell, means in measured.items()
        if means is not None
    ]
    path.write_text(json.dumps({"seeds": seeds, "cells": cells}, indent=1) + "\n")
