"""Results on disk: one JSON file a run, checked when written and when read."""

import json
import math
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from spadework.errors import DataError
from spadework.files import write_whole

OK, FAILED = "ok", "failed"

_TEXT = ("table", "column", "dataset", "scenario", "setting", "method", "status")
_COUNTS = ("seed", "n_train", "n_test", "n_labeled_anomalies", "n_labeled_normals")
_SHARES = ("auc", "average_precision")
_OPTIONAL_SHARES = ("auc_given", "auc_missed", "brier_score", "calibration_error")
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

    def path(self, folder: Path) -> Path:
        """Where the result lies below a folder of results."""
        return result_path(folder, self.table, self.column, self.method, self.seed)


def result_path(folder: Path, table: str, column: str, method: str, seed: int) -> Path:
    """``<folder>/<table>/<column>/<method>/<seed>.json``."""
    return folder / table / column / method / f"{seed}.json"


def write_result(result: Result, folder: Path) -> None:
    """Write a result to its place, whole or not at all."""
    path = result.path(folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(asdict(result), indent=1, allow_nan=False) + "\n"
    write_whole(path, text.encode())


def read_result(path: Path) -> Result:
    """Read a result, or say what is wrong with the file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(
            f"{path} is not a result: {error}. Remove it and run again"
        ) from (error)
    try:
        return parse_result(content)
    except DataError as error:
        raise DataError(f"{path}: {error}. Remove it and run again") from error


def read_results(folder: Path) -> list[Result]:
    """Read every result below a folder, in order of their paths."""
    results = []
    for path in sorted(folder.glob("*/*/*/*.json")):
        result = read_result(path)
        if result.path(folder) != path:
            raise DataError(f"{path} holds the result of {result.path(folder)}")
        results.append(result)
    return results


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
