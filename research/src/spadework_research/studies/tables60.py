"""How methods do on sixty public tables: half A to choose on, half B to confirm on.

``python -m spadework_research.studies.tables60 FILE METHOD...`` fits every method that is
named on every table whose labels it can learn from, appends a row for each seed to the
table of results, and prints means by half and scenario. What is there is not run again.
"""

import argparse
import json
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import product
from pathlib import Path
from statistics import mean
from typing import NamedTuple

from sklearn.metrics import average_precision_score, roc_auc_score

from spadework.base import AnomalyDetector
from spadework.core.cores import usable_cores
from spadework.errors import LabelError
from spadework.progress import progress
from spadework_research.datasets.tables60 import RealTable, read_tables
from spadework_research.places import results_folder
from spadework_research.runs.methods import get_method

RESULTS = "tables60.jsonl"
SEEDS = range(2)


class Outcome(NamedTuple):
    """How a method did on a table; auc and the like are of its test rows.

    ``refused`` says why labels allowed no fit; numbers are then None.
    """

    method: str
    table: str
    scenario: str
    half: str
    seed: int
    auc: float | None
    average_precision: float | None
    called: int | None
    anomalies: int
    seconds: float
    refused: str | None = None

    @property
    def calls_are_near(self) -> bool:
        """Whether between half and twice the true number of rows is called."""
        called = self.called or 0
        return self.anomalies / 2 <= called <= 2 * self.anomalies


def measure(
    table: RealTable, method: str, seed: int, detector: AnomalyDetector
) -> Outcome:
    """Fit a detector, and compare its scores of the test rows with their truth."""
    told = (method, table.name, table.scenario, table.half, seed)
    anomalies = int(table.truth.sum())
    start = time.perf_counter()
    try:
        scores = detector.fit(table.X, table.y).anomaly_score(table.X_test)
    except LabelError as error:
        return Outcome(*told, None, None, None, anomalies, 0.0, str(error))
    return Outcome(
        *told,
        auc=round(float(roc_auc_score(table.truth, scores)), 4),
        average_precision=round(float(average_precision_score(table.truth, scores)), 4),
        called=int((scores >= detector.threshold_).sum()),
        anomalies=anomalies,
        seconds=round(time.perf_counter() - start, 2),
    )


def read_outcomes(path: Path) -> list[Outcome]:
    """Read the rows of a table of results; none where there is none yet."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8") as lines:
        return [Outcome(**json.loads(line)) for line in lines]


def summary(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Lay out AUC / average precision by half and scenario, and how often calls are near.

    Tables whose labels allowed no fit are left out; "tables" says how many remain.
    """
    by_group: dict[tuple[str, str], list[Outcome]] = {}
    for outcome in outcomes:
        for part in ("all", outcome.half, f"{outcome.half} {outcome.scenario}"):
            by_group.setdefault((outcome.method, part), []).append(outcome)
    parts = sorted({part for _, part in by_group}, key=lambda part: (len(part) > 3, part))
    yield (
        f"{'':28}"
        + "".join(f"{part:>13}" for part in parts)
        + f"{'calls':>8}{'tables':>8}"
    )
    for method in sorted({method for method, _ in by_group}):
        cells = [_mean(by_group.get((method, part), [])) for part in parts]
        every = by_group[method, "all"]
        fitted = [each for each in every if each.auc is not None]
        near = mean(each.calls_are_near for each in fitted) if fitted else 0.0
        n_tables = len({each.table for each in fitted})
        row = "".join(f"{cell:>13}" for cell in cells)
        yield f"{method:28}{row}{near:8.2f}{n_tables:8}"


def _mean(outcomes: list[Outcome]) -> str:
    aucs = [o.auc for o in outcomes if o.auc is not None]
    precisions = [
        o.average_precision for o in outcomes if o.average_precision is not None
    ]
    return f"{mean(aucs):.3f}/{mean(precisions):.3f}" if aucs else "-"


_tables = cache(read_tables)


def _run(job: tuple[Path, int, str, int]) -> Outcome:
    path, position, method, seed = job
    return measure(
        _tables(path)[position], method, seed, get_method(method).detector(seed)
    )


def run(path: Path, methods: list[str], results: Path) -> None:
    """Measure what the table of results lacks; every row is kept once it is known."""
    done = {(o.method, o.table, o.seed) for o in read_outcomes(results)}
    jobs = [
        (path, position, method, seed)
        for method, seed, (position, table) in product(
            methods, SEEDS, enumerate(_tables(path))
        )
        if (method, table.name, seed) not in done
    ]
    with (
        progress("measuring", len(jobs), verbose=True) as advance,
        ProcessPoolExecutor(usable_cores()) as pool,
        results.open("a", encoding="utf-8") as file,
    ):
        for outcome in pool.map(_run, jobs):
            file.write(json.dumps(outcome._asdict()) + "\n")
            file.flush()
            advance(f"{outcome.table}, {outcome.method}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m spadework_research.studies.tables60")
    parser.add_argument("file", type=Path, help="the archive of tables, .npz")
    parser.add_argument("methods", nargs="*", help="as spadework bench names them")
    asked = parser.parse_args()
    path = results_folder() / RESULTS
    run(asked.file, asked.methods, path)
    print("\n".join(summary(read_outcomes(path))))
