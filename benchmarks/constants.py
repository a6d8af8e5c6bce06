"""What becomes of the default when each of its constants is moved by half.

``python -m benchmarks.constants`` fits the default, and then with one constant at a
time half as large and half as large again, on every cell of the paper's tables that
is here (large tables: a sample of rows) with seeds that no other benchmark uses. It
prints the mean AUC and average precision and writes them to
``benchmarks/constants.json``.
"""

import json
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from spadework import SPADE
from spadework.benchmark.datasets import get_dataset
from spadework.benchmark.measurement import sample_rows
from spadework.benchmark.report.summary import SUMMARIZED
from spadework.benchmark.scenarios import LabeledTable
from spadework.benchmark.tables import TABLES, Column
from spadework.core import boosting, neighbours, pseudo_labels, scaling, trust
from spadework.core.cores import usable_cores
from spadework.learners import (
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

MAX_ROWS = 10_000
SEEDS = (5, 6)
HERE = Path(__file__).parent


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
        for module, name in (
            (trust, "ONE_CLASS_SHARE"),
            (trust, "CONFIRMED"),
            (trust, "UNJUDGED_SHARE"),
            (trust, "LEAST_SURE"),
            (trust, "MOST_SURE"),
            (blend, "NEGLIGIBLE"),
            (scaling, "LIMIT"),
            (readings, "WIDE"),
            (growing, "MANY_COLUMNS"),
            (growing, "RANDOM_TREES"),
            (forest, "MAX_DRAWS"),
            (forest, "MIN_TREES"),
            (forest, "MAX_TREES"),
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
            (companions, "MOST_TIMES"),
            (trust, "ODDEST"),
            (forest, "MUCH"),
            (forest, "MAX_WHOLE_TREES"),
            (oddness, "MIN_NORMALS"),
            (forest, "NEIGHBOURS_SHARE"),
            (oddness, "N_POINTS"),
            (oddness, "N_DRAWS"),
            (neighbours, "SLACK"),
            (pseudo_labels, "BOUND"),
            (scaling, "LEAST_SPREAD"),
            (blend, "MAX_LOG_ODDS"),
            (boosted, "MAX_ROWS"),
            (linear, "N_BAGS"),
            (linear, "PURE_PENALTY"),
            (linear, "MIXED_PENALTY"),
            (linear, "MAX_SEEN"),
            (forest, "DRAW_BUDGET"),
        ):
            value = getattr(module, name)
            yield Moved(module.__name__, name, type(value)(factor * value))
        for name in ("anomaly_weight", "normal_weight", "min_samples_leaf", "max_depth"):
            yield Moved(None, name, type(default[name])(factor * default[name]))
        yield Moved(None, "n_members", int(factor * SPADE().n_members))


@contextmanager
def detector_with(moved: Moved | None, seed: int) -> Iterator[SPADE]:
    """Yield the default detector, with one constant moved while it is used."""
    detector = SPADE(learner=ForestLearner(), random_state=seed)
    if moved is None:
        yield detector
    elif moved.module is not None:
        with patch(f"{moved.module}.{moved.name}", moved.value):
            yield detector
    else:
        name = moved.name if moved.name == "n_members" else f"learner__{moved.name}"
        yield detector.set_params(**{name: moved.value})


@cache
def sampled(dataset: str) -> LabeledTable:
    """Read a data set, once in a process."""
    whole = get_dataset(dataset).load()
    assert isinstance(whole, LabeledTable)
    return sample_rows(whole, MAX_ROWS)


def measure(moved: Moved | None, column: Column) -> tuple[float, float]:
    """Mean AUC and average precision over seeds."""
    found = []
    for seed in SEEDS:
        trial = column.trial(sampled(column.dataset), seed)
        with detector_with(moved, seed) as detector:
            scores = detector.fit(trial.X, trial.y).anomaly_score(trial.X_test)
        truth = trial.kind_test > 0
        found.append(
            (roc_auc_score(truth, scores), average_precision_score(truth, scores))
        )
    auc, precision = np.mean(found, axis=0)
    return float(auc), float(precision)


def main() -> None:
    """Measure, print and write."""
    columns = [
        column
        for name in SUMMARIZED
        for column in TABLES[name].columns
        if get_dataset(column.dataset).find() is not None
    ]
    moves = {f"{each.name} = {each.value:g}": each for each in moved_constants()}
    work = list(product([None, *moves.values()], columns))
    with ProcessPoolExecutor(usable_cores()) as pool:
        found = np.array(list(pool.map(measure, *zip(*work, strict=True))))
    means = found.reshape(-1, len(columns), 2).mean(axis=1)
    measured = dict(zip(["default", *moves], means, strict=True))
    auc, precision = measured["default"]
    for name, (a, p) in measured.items():
        print(
            f"{name:28} AUC {a:.4f} ({a - auc:+.4f})  AP {p:.4f} ({p - precision:+.4f})"
        )
    content = {
        "max_rows": MAX_ROWS,
        "seeds": list(SEEDS),
        "n_cells": len(columns),
        "measured": {
            name: {"auc": round(float(a), 4), "average_precision": round(float(p), 4)}
            for name, (a, p) in measured.items()
        },
    }
    (HERE / "constants.json").write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
