"""Run the benchmark: one run is a column, a method and a seed.

Every run leaves a row in the table of results. What is there is not run again, so a
sweep that was stopped goes on where it ended.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from spadework.core.cores import usable_cores
from spadework.errors import InputError
from spadework.progress import progress
from spadework_research.datasets.catalog import get_dataset
from spadework_research.runs.measurement import Run, execute, failed, identity
from spadework_research.runs.methods import METHODS, get_method
from spadework_research.runs.results import OK, Result, read_results, write_result
from spadework_research.runs.sweeps import logged_sweep
from spadework_research.runs.tables import TABLES, get_table
from spadework_research.runs.workers import JobError, run_jobs

SEEDS = 5
LIMIT_SECONDS = 3600.0
Key = tuple[str, str, str, int]
GPU_JOBS = 4
"""Runs that share a GPU by default: one alone leaves it idle while it reads photos."""


class Summary(NamedTuple):
    """How a sweep went: runs done, failed and found done, and what was not here.

    ``absent`` names data sets without files, or without what reads them, and methods
    without their library.
    """

    done: int
    failed: int
    found: int
    absent: tuple[str, ...]


def run_benchmark(
    folder: Path | str,
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

    Runs on photos come after those on tables, and share the GPU where there is one.

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
        Runs at a time; by default as many as there are cores, and 4 on a GPU.
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
    there = {result.key: result for result in read_results(folder)}
    wanted = plan(tables, datasets, methods, seeds, max_rows)
    absent = _absent(wanted)
    missing = [
        run
        for run in wanted
        if not absent & {run.column.dataset, run.method}
        and not _stands(there.get(_key(run)), retry_failed)
    ]
    twins = _by_question(plan(TABLES, datasets, methods, seeds, max_rows))
    asked = _by_question(
        run
        for run in missing
        if not _take_over(run, twins[_question(run)], there, folder)
    )
    n_failed = sum(
        _sweep(
            {
                what: runs
                for what, runs in asked.items()
                if runs[0].column.photos == photos
            },
            folder,
            photos=photos,
            n_jobs=n_jobs,
            limit_seconds=limit_seconds,
            verbose=verbose,
        )
        for photos in (False, True)
    )
    found = {_key(run) for run in wanted} & there.keys() - set(map(_key, missing))
    return Summary(len(missing) - n_failed, n_failed, len(found), tuple(sorted(absent)))


def _sweep(
    asked: dict[Any, list[Run]],
    folder: Path,
    *,
    photos: bool,
    n_jobs: int | None,
    limit_seconds: float,
    verbose: bool,
) -> int:
    """Run each question once and write all its results; return how many failed."""
    if not asked:
        return 0
    n_failed = 0
    queue = _Queue([runs[0] for runs in asked.values()])
    gpu = photos and _has_gpu()
    n_workers = min(n_jobs or (GPU_JOBS if gpu else usable_cores()), len(asked))
    with (
        logged_sweep(folder, n_workers, gpu=gpu) as ended,
        progress("benchmark", len(asked), verbose=verbose) as advance,
    ):

        def on_end(run: Run, answer: Result | JobError) -> None:
            nonlocal n_failed
            if isinstance(answer, JobError):
                answer = failed(run, str(answer))
                n_failed += len(asked[_question(run)])
            for twin in asked[_question(run)]:
                write_result(replace(answer, **identity(twin)), folder)
            ended()
            shown = answer.reason or f"AUC {answer.auc:.3f}"
            advance(f"{run.table} {run.column.key} {run.method} {run.seed}: {shown}")

        run_jobs(
            execute,
            queue.take,
            on_end,
            n_workers=n_workers,
            limit_seconds=limit_seconds,
            hide_gpu=not photos,
        )
    return n_failed


def _has_gpu() -> bool:
    """Tell whether detectors on photos will find a GPU."""
    import torch

    return torch.cuda.is_available()


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


def _question(run: Run) -> tuple[Any, ...]:
    """Name what a run asks; tables that share a question share its answer."""
    return *_trial_of(run), run.method


def _by_question(runs: Iterable[Run]) -> dict[Any, list[Run]]:
    """Group runs whose result is the same."""
    asked: dict[Any, list[Run]] = defaultdict(list)
    for run in runs:
        asked[_question(run)].append(run)
    return dict(asked)


def _take_over(
    run: Run, twins: list[Run], there: Mapping[Key, Result], folder: Path
) -> bool:
    """Copy the result of the same question in another table, where there is one."""
    for twin in twins:
        result = there.get(_key(twin))
        if result is not None and result.status == OK:
            write_result(replace(result, **identity(run)), folder)
            return True
    return False


def _trial_of(run: Run) -> tuple[Any, ...]:
    """Name the data of a run; runs of one trial share them."""
    column = run.column
    return column.dataset, column.scenario, column.share, run.seed


def _absent(runs: list[Run]) -> set[str]:
    """Pick the data sets that cannot be read, and the methods without their library."""
    datasets = {run.column.dataset for run in runs}
    methods = {run.method for run in runs}
    return {name for name in datasets if not _can_read(name)} | {
        name for name in methods if not METHODS[name].is_available()
    }


def _can_read(name: str) -> bool:
    """Tell whether the files of a data set, and what reads them, are here."""
    dataset = get_dataset(name)
    return dataset.find() is not None and all(map(find_spec, dataset.libraries))


def _stands(result: Result | None, retry_failed: bool) -> bool:
    """Tell whether a run has left a result that need not be made again."""
    return result is not None and (result.status == OK or not retry_failed)


def _key(run: Run) -> Key:
    """Name the result that a run leaves."""
    return run.table, run.column.key, run.method, run.seed
