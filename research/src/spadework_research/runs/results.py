"""What a run leaves behind: a row of the table of results, checked when it is read."""

import math
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from spadework.errors import DataError
from spadework_research.ledger import Ledger, Row

OK, FAILED = "ok", "failed"

_TEXT = ("table", "column", "dataset", "scenario", "setting", "method", "status")
_COUNTS = ("seed", "n_train", "n_test", "n_labeled_anomalies", "n_labeled_normals")
_SHARES = ("auc", "average_precision")
_OPTIONAL_SHARES = ("auc_given", "auc_missed", "brier_score", "calibration_error")
_EMPTY: dict[str, Any] = {"config": {}, "versions": {}}
_AMOUNTS = ("fit_seconds", "score_seconds", "peak_memory_mb")


@dataclass(frozen=True)
class Result:
    """What one run left behind.

    ``auc_given`` and ``auc_missed`` set normal test rows against the kinds of anomaly
    that could have been labeled, and against the others; None where there are none.
    ``brier_score`` and ``calibration_error`` judge the probabilities of test rows.
    A failed run has a reason and no measurements.
    """

    table: str
    column: str
    dataset: str
    scenario: str
    share: float
    setting: str
    method: str
    seed: int
    status: str = OK
    reason: str | None = None
    auc: float | None = None
    auc_given: float | None = None
    auc_missed: float | None = None
    average_precision: float | None = None
    brier_score: float | None = None
    calibration_error: float | None = None
    fit_seconds: float | None = None
    score_seconds: float | None = None
    peak_memory_mb: float | None = None
    n_train: int | None = None
    n_test: int | None = None
    n_labeled_anomalies: int | None = None
    n_labeled_normals: int | None = None
    config: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What tells it apart from all others."""
        return self.table, self.column, self.method, self.seed


def results_ledger(folder: Path | str) -> Ledger:
    """Return the table of results in a folder, ``runs.parquet`` and its journal."""
    return Ledger(Path(folder) / "runs.parquet", ("table", "column", "method", "seed"))


def write_result(result: Result, folder: Path | str) -> None:
    """Add a result to those of a folder, whole or not at all."""
    results_ledger(folder).append(asdict(result))


def read_results(folder: Path | str) -> list[Result]:
    """Read every result of a folder, in the order of their keys."""
    ledger = results_ledger(folder)
    return [_parse_row(ledger, row) for row in ledger.read()]


def _parse_row(ledger: Ledger, row: Row) -> Result:
    """Check a row; an error names it."""
    try:
        return parse_result(_EMPTY | row)
    except DataError as error:
        where = ", ".join(f"{name} {row.get(name)!r}" for name in ledger.key)
        raise DataError(
            f"{ledger.path}, {where}: {error}. Remove that run and run it again"
        ) from error


def parse_result(content: Any) -> Result:
    """Check the fields of a result and put them together."""
    known = {each.name for each in fields(Result)}
    if not isinstance(content, dict) or set(content) != known:
        given = set(content) if isinstance(content, dict) else set()
        raise DataError(
            f"a result has other fields: missing {sorted(known - given)}, unknown "
            f"{sorted(given - known)}"
        )
    for name in _TEXT:
        _require(isinstance(content[name], str), content, name, "text")
    _require(content["status"] in (OK, FAILED), content, "status", "ok or failed")
    ran = content["status"] == OK
    for name in _COUNTS:
        value = content[name]
        is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        absent = not ran and name != "seed" and value is None
        _require(is_count or absent, content, name, "a count")
    for name in (*_SHARES, *_OPTIONAL_SHARES):
        absent = content[name] is None and (not ran or name in _OPTIONAL_SHARES)
        _require(absent or _is_between(content[name], 1.0), content, name, "0 to 1")
    _require(_is_between(content["share"], 1.0), content, "share", "0 to 1")
    for name in _AMOUNTS:
        absent = content[name] is None and not ran
        whole = _is_between(content[name], math.inf)
        _require(absent or whole, content, name, "a positive number")
    reason = content["reason"]
    told = reason is None if ran else isinstance(reason, str)
    _require(told, content, "reason", "text where a run failed, and null otherwise")
    for name in ("config", "versions"):
        _require(isinstance(content[name], dict), content, name, "a mapping")
    return Result(**content)


def _is_between(value: Any, high: float) -> bool:
    """Tell a finite number from 0 to high."""
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and math.isfinite(value) and 0 <= value <= high


def _require(holds: bool, content: dict[str, Any], name: str, what: str) -> None:
    """Raise, naming the field, unless it is what it must be."""
    if not holds:
        raise DataError(f"{name} must be {what}; it is {content[name]!r}")
