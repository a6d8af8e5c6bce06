"""One run of the benchmark: fit, score, measure, and what the numbers depend on."""

import os
import platform
import re
import time
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score, roc_auc_score

import spadework
from spadework.errors import DataError
from spadework.labels import ANOMALY, NORMAL
from spadework.lazy import LazyModule
from spadework.scenarios import LabeledTable, Trial
from spadework.version import __version__

if TYPE_CHECKING:
    from spadework_research.datasets import photo_tables
else:  # tables need neither Pillow nor a pretrained network
    photo_tables = LazyModule("spadework_research.datasets.photo_tables")
from spadework_research.datasets.catalog import get_dataset
from spadework_research.datasets.photo_sets import LabeledImages
from spadework_research.runs.methods import METHODS
from spadework_research.runs.results import FAILED, Result
from spadework_research.runs.tables import Column

_LIBRARIES = ("numpy", "scipy", "scikit-learn", "torch", "xgboost-cpu", "catboost")
_BASELINES = ("baselines", "photos")


class Run(NamedTuple):
    """One run: a method on a column of a table with a seed."""

    table: str
    column: Column
    method: str
    seed: int
    max_rows: int | None


def execute(run: Run) -> Result:
    """Fit, score and measure; called in a process of its own."""
    trial = _trial(run.column, run.seed, run.max_rows)
    detector = METHODS[run.method].detector(run.seed, photos=run.column.photos)
    _forget_peak_memory()
    start = time.perf_counter()
    detector.fit(trial.X, trial.y)
    fitted = time.perf_counter()
    scores = detector.anomaly_score(trial.X_test)
    scored = time.perf_counter()
    overall, given, missed = auc_by_kind(scores, trial.kind_test, trial.given)
    probability, truth = detector.to_probability(scores), trial.kind_test > 0
    return Result(
        **identity(run),
        auc=overall,
        auc_given=given,
        auc_missed=missed,
        # A perfect one may come out above 1 by the last digit.
        average_precision=min(1.0, float(average_precision_score(truth, scores))),
        brier_score=float(np.mean((probability - truth) ** 2)),
        calibration_error=calibration_error(probability, truth),
        fit_seconds=round(fitted - start, 4),
        score_seconds=round(scored - fitted, 4),
        peak_memory_mb=_peak_memory_mb(),
        n_train=len(trial.X),
        n_test=len(trial.X_test),
        n_labeled_anomalies=int((trial.y == ANOMALY).sum()),
        n_labeled_normals=int((trial.y == NORMAL).sum()),
        config={name: repr(value) for name, value in detector.get_params().items()},
        versions=versions() | (_gpu() if run.column.photos else {}),
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


def calibration_error(
    probability: NDArray[np.float64], truth: NDArray[np.bool_], n_bins: int = 15
) -> float:
    """Mean distance of what was foretold from what came true, over equal bins.

    Rows are ordered by probability and parted into bins of the same size.

    Parameters
    ----------
    probability, truth : ndarray of shape (n_test,)
    """
    bins = np.array_split(np.argsort(probability, kind="stable"), n_bins)
    gaps = [abs(np.sum(probability[rows] - truth[rows])) for rows in bins]
    return float(np.sum(gaps) / len(truth))


@lru_cache(maxsize=1)
def _trial(column: Column, seed: int, max_rows: int | None) -> Trial:
    return column.trial(_table(column.dataset, max_rows), seed)


@lru_cache(maxsize=1)
def _table(name: str, max_rows: int | None) -> LabeledTable:
    table = get_dataset(name).load()
    if isinstance(table, LabeledImages):
        table = photo_tables.read_table(table)
    return table if max_rows is None else sample_rows(table, max_rows)


def sample_rows(table: LabeledTable, max_rows: int) -> LabeledTable:
    """Draw rows of a table, kept in their order; each side of a split by its share."""
    if len(table.X) <= max_rows:
        return table
    rng = np.random.default_rng(0)
    rows = np.sort(rng.choice(len(table.X), max_rows, replace=False))
    n_train = None if table.n_train is None else int((rows < table.n_train).sum())
    return replace(
        table,
        X=table.X[rows],
        kind=table.kind[rows],
        n_train=n_train,
        judged_by=None if table.judged_by is None else table.judged_by[rows],
    )


def identity(run: Run) -> dict[str, Any]:
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


def failed(run: Run, reason: str) -> Result:
    """Record a run that failed."""
    return Result(**identity(run), status=FAILED, reason=reason, versions=versions())


@lru_cache
def versions() -> dict[str, str]:
    """Versions of what the numbers depend on."""
    found = {
        "spadework": __version__,
        "source": source_digest(),
        "python": platform.python_version(),
    }
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _gpu() -> dict[str, str]:
    """Name the GPU that detectors on photos take where there is one."""
    import torch

    return {"gpu": torch.cuda.get_device_name()} if torch.cuda.is_available() else {}


def source_digest() -> str:
    """Digest of what detectors are made of, to tell which code made a result.

    What is run around them, and the command line, are left out.
    """
    library, research = Path(spadework.__file__).parent, Path(__file__).parents[1]
    digest = sha256()
    for root in (library, *(research / each for each in _BASELINES)):
        for path in sorted(root.rglob("*.py")):
            name = path.relative_to(root.parent).as_posix()
            if not name.startswith("spadework/cli/"):
                digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


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
