"""Run the benchmark: one run is a column, a method and a seed.

Every run leaves one JSON file. What is there is not run again, so a sweep that was
stopped goes on where it ended, and sweeps of several machines can be put together
by copying files.
"""

import os
import platform
import re
import time
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

from spadework.benchmark.datasets import get_dataset
from spadework.benchmark.methods import METHODS, get_method
from spadework.benchmark.results import (
    FAILED,
    OK,
    Result,
    read_result,
    result_path,
    write_result,
)
from spadework.benchmark.scenarios import LabeledTable, Trial
from spadework.benchmark.tables import TABLES, Column, get_table
from spadework.benchmark.workers import JobError, run_jobs
from spadework.core.trees import usable_cores
from spadework.errors import DataError, InputError
from spadework.labels import ANOMALY, NORMAL
from spadework.progress import progress
from spadework.version import __version__

SEEDS = 5
LIMIT_SECONDS = 3600.0
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "torch", "xgboost-cpu", "catboost")


class Run(NamedTuple):
    """One run: a method on a column of a table with a seed."""

    table: str
    column: Column
    method: str
    seed: int
    max_rows: int | None


class Summary(NamedTuple):
    """How a sweep went: runs done, failed and found done, and what was not here.

    ``absent`` names data sets without files and methods without their library.
    """

    done: int
    failed: int
    found: int
    absent: tuple[str, ...]


def run_benchmark(
    folder: Path | str = "experiments",
    *,
    tables: Iterable[str] = TABLES,
    datasets: Iterable[str] | None = None,
    methods: Iterable[str] | None = None,
    seeds: int = SEEDS,
    max_rows: int | None = None,
    n_jobs: int | None = None,
    limit_seconds: float = LIMIT_SECONDS,
    retry_failed: bool = False,
    verbose: bool = True,
) -> Summary:
    """Run what is chosen and not yet there, each run on one core.

    Parameters
    ----------
    folder : path
        Where results go.
    tables, datasets, methods : iterables of str
        Names; by default all.
    seeds : int
        Seeds 0 to ``seeds - 1``.
    max_rows : int, optional
        Draw this many rows, at most, of a data set: for a quick look. Results of
        different sizes do not belong into one folder.
    n_jobs : int, optional
        Runs at a time; by default as many as there are cores.
    limit_seconds : float
        Time that a run may take.
    retry_failed : bool
        Run again what has failed.
    """
    for name, value in (
        ("n_jobs", n_jobs),
        ("max_rows", max_rows),
        ("limit_seconds", limit_seconds),
    ):
        if value is not None and not value > 0:
            raise InputError(f"{name} must be a positive number; got {value!r}")
    folder = Path(folder)
    wanted = plan(tables, datasets, methods, seeds, max_rows)
    absent = _absent(wanted)
    missing = [
        run
        for run in wanted
        if not absent & {run.column.dataset, run.method}
        and not _is_done(run, folder, retry_failed)
    ]
    queue = _Queue(missing)
    failed = 0
    with progress("benchmark", len(missing), verbose=verbose) as advance:

        def on_end(run: Run, answer: Result | JobError) -> None:
            nonlocal failed
            if isinstance(answer, JobError):
                failed += 1
                answer = _failed(run, str(answer))
            write_result(answer, folder)
            shown = answer.reason or f"AUC {answer.auc:.3f}"
            advance(f"{run.table} {run.column.key} {run.method} {run.seed}: {shown}")

        n_workers = min(n_jobs or usable_cores(), len(missing))
        run_jobs(
            execute,
            queue.take,
            on_end,
            n_workers=n_workers,
            limit_seconds=limit_seconds,
        )
    found = sum(_is_done(run, folder, retry_failed=False) for run in wanted)
    found -= len(missing)
    return Summary(len(missing) - failed, failed, found, tuple(sorted(absent)))


def plan(
    tables: Iterable[str] = TABLES,
    datasets: Iterable[str] | None = None,
    methods: Iterable[str] | None = None,
    seeds: int = SEEDS,
    max_rows: int | None = None,
) -> list[Run]:
    """List the runs of these tables, data sets, methods and seeds."""
    chosen = None if datasets is None else {get_dataset(name).name for name in datasets}
    named = None if methods is None else {get_method(name).name for name in methods}
    if seeds < 1:
        raise InputError(f"seeds must be a positive number; got {seeds}")
    return [
        Run(table.name, column, method, seed, max_rows)
        for table in map(get_table, tables)
        for column in table.columns
        if chosen is None or column.dataset in chosen
        for seed in range(seeds)
        for method in table.methods
        if (named is None or method in named) and table.applies(column, method)
    ]


def execute(run: Run) -> Result:
    """Fit, score and measure; called in a process of its own."""
    trial = _trial(run.column, run.seed, run.max_rows)
    detector = METHODS[run.method].make(run.seed)
    _forget_peak_memory()
    start = time.perf_counter()
    detector.fit(trial.X, trial.y)
    fitted = time.perf_counter()
    scores = detector.anomaly_score(trial.X_test)
    scored = time.perf_counter()
    overall, given, missed = auc_by_kind(scores, trial.kind_test, trial.given)
    return Result(
        **_identity(run),
        auc=overall,
        auc_given=given,
        auc_missed=missed,
        average_precision=float(average_precision_score(trial.kind_test > 0, scores)),
        fit_seconds=round(fitted - start, 4),
        score_seconds=round(scored - fitted, 4),
        peak_memory_mb=_peak_memory_mb(),
        n_train=len(trial.X),
        n_test=len(trial.X_test),
        n_labeled_anomalies=int((trial.y == ANOMALY).sum()),
        n_labeled_normals=int((trial.y == NORMAL).sum()),
        config={name: repr(value) for name, value in detector.get_params().items()},
        versions=_versions(),
    )


def auc_by_kind(
    scores: NDArray[np.float64], kind: NDArray[np.int64], given: tuple[int, ...]
) -> tuple[float, float | None, float | None]:
    """AUC of normal rows against all, the given and the missed kinds of anomaly.

    Parameters
    ----------
    scores, kind : ndarray of shape (n_test,)
        Kind 0 is normal.
    given : tuple of int
        Kinds that could have been labeled.
    """
    anomalous, is_given = kind > 0, np.isin(kind, given)

    def auc(rows: NDArray[np.bool_]) -> float | None:
        if not (anomalous & rows).any():
            return None
        return float(roc_auc_score(anomalous[rows], scores[rows]))

    overall = auc(np.ones(len(kind), dtype=bool))
    if overall is None:
        raise DataError("the test rows hold no anomaly, so there is no AUC")
    missed = auc(~is_given) if (anomalous & ~is_given).any() else None
    return overall, auc(~anomalous | is_given), missed


class _Queue:
    """Runs by trial: a worker stays with its trial, then takes up the fullest."""

    def __init__(self, runs: list[Run]) -> None:
        self._waiting: dict[Any, list[Run]] = defaultdict(list)
        for run in reversed(runs):
            self._waiting[_trial_of(run)].append(run)
        self._untouched = set(self._waiting)

    def take(self, last: Run | None) -> Run | None:
        """Return the next run for the worker whose last one is given."""
        key = _trial_of(last) if last else None
        if not self._waiting.get(key):
            waiting = {key: runs for key, runs in self._waiting.items() if runs}
            if not waiting:
                return None
            fresh = [key for key in waiting if key in self._untouched]
            key = fresh[0] if fresh else max(waiting, key=lambda k: len(waiting[k]))
        self._untouched.discard(key)
        return self._waiting[key].pop()


def _trial_of(run: Run) -> tuple[Any, ...]:
    """Name the data of a run; runs of one trial share them."""
    column = run.column
    return column.dataset, column.scenario, column.share, run.seed


@lru_cache(maxsize=1)
def _trial(column: Column, seed: int, max_rows: int | None) -> Trial:
    return column.trial(_table(column.dataset, max_rows), seed)


@lru_cache(maxsize=1)
def _table(name: str, max_rows: int | None) -> LabeledTable:
    table = get_dataset(name).load()
    if not isinstance(table, LabeledTable):
        raise InputError(f"{name} holds images; this benchmark runs on tables")
    return table if max_rows is None else sample_rows(table, max_rows)


def sample_rows(table: LabeledTable, max_rows: int) -> LabeledTable:
    """Draw rows of a table, kept in their order; each side of a split by its share."""
    if len(table.X) <= max_rows:
        return table
    rng = np.random.default_rng(0)
    rows = np.sort(rng.choice(len(table.X), max_rows, replace=False))
    n_train = None if table.n_train is None else int((rows < table.n_train).sum())
    return LabeledTable(table.X[rows], table.kind[rows], table.given, n_train)


def _absent(runs: list[Run]) -> set[str]:
    """Pick the data sets whose files, and the methods whose library, are not here."""
    datasets = {run.column.dataset for run in runs}
    methods = {run.method for run in runs}
    return {name for name in datasets if get_dataset(name).find() is None} | {
        name for name in methods if not METHODS[name].is_available()
    }


def _is_done(run: Run, folder: Path, retry_failed: bool) -> bool:
    """Tell whether a run has left a result that stands."""
    path = result_path(folder, run.table, run.column.key, run.method, run.seed)
    if not path.exists():
        return False
    return read_result(path).status == OK or not retry_failed


def _identity(run: Run) -> dict[str, Any]:
    """Return the fields that say which run it is."""
    column = run.column
    return {
        "table": run.table,
        "column": column.key,
        "dataset": column.dataset,
        "scenario": column.scenario,
        "share": column.share,
        "setting": column.setting,
        "method": run.method,
        "seed": run.seed,
    }


def _failed(run: Run, reason: str) -> Result:
    """Record a run that failed."""
    return Result(**_identity(run), status=FAILED, reason=reason, versions=_versions())


@lru_cache
def _versions() -> dict[str, str]:
    """Versions of what the numbers depend on."""
    found = {"spadework": __version__, "python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _forget_peak_memory() -> None:
    """Start measuring the peak memory of this process anew, where Linux can."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return


def _peak_memory_mb() -> float:
    """Peak memory of this process in megabytes."""
    status = Path("/proc/self/status")
    if status.exists():
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
        if found:
            return round(int(found[1]) / 1024, 1)
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (1 << 20 if os.uname().sysname == "Darwin" else 1024), 1)
