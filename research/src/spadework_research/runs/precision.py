"""How right pseudo-labels are along the score: figure 4 of the paper.

The truth about the unlabeled rows is looked up after the fit, for this analysis
alone; no detector sees it.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from spadework.detector import SPADE
from spadework.errors import DataError, InputError
from spadework.files import write_whole
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework.scenarios import LabeledTable, new_types, training_kinds
from spadework.validation import check_rows
from spadework_research.datasets.catalog import get_dataset

PERCENTILES = tuple(range(2, 100, 2))
DATASETS = ("thyroid", "drug", "covertype")
PRECISION = "pseudo_labels.json"
_DIGITS = 6
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PrecisionCurve:
    """Precision of pseudo-labels over the percentile of the score.

    Shares are None where there is no row to take them over.

    Attributes
    ----------
    seed : int
    n_unlabeled : int
    base_rate : float
        Share of anomalies among the unlabeled rows.
    percentiles : tuple of int
        Of the mean rank over the members.
    anomaly : tuple
        Share of anomalies among the rows above each percentile.
    normal : tuple
        Share of normal rows among those below it.
    anomaly_threshold, normal_threshold : float
        The members' thresholds as percentiles of their own scores, on average.
    n_pseudo_anomalies, n_pseudo_normals : int
        Pseudo-labels that were given.
    pseudo_anomaly_precision, pseudo_normal_precision : float or None
        Shares of them that are true.
    """

    seed: int
    n_unlabeled: int
    base_rate: float
    percentiles: tuple[int, ...]
    anomaly: tuple[float | None, ...]
    normal: tuple[float | None, ...]
    anomaly_threshold: float
    normal_threshold: float
    n_pseudo_anomalies: int
    n_pseudo_normals: int
    pseudo_anomaly_precision: float | None
    pseudo_normal_precision: float | None


class MemberScores(NamedTuple):
    """Scores of the unlabeled rows by each member, and the members' thresholds.

    ``scores`` is of shape (n_unlabeled, n_members), the thresholds (n_members,).
    """

    scores: Floats
    anomaly: Floats
    normal: Floats


def precision_curve(table: LabeledTable, seed: int) -> PrecisionCurve:
    """Fit SPADE on new types of anomalies and hold its pseudo-labels to the truth."""
    trial = new_types(table, seed)
    unlabeled = trial.y == UNLABELED
    detector = SPADE(learner="forest", random_state=seed).fit(trial.X, trial.y)
    members = score_by_members(detector, trial.X[unlabeled])
    anomalous = training_kinds(table, seed)[unlabeled] > 0
    ranks = np.mean(rankdata(members.scores, axis=0), axis=1)
    cuts = np.percentile(ranks, PERCENTILES)
    if detector.pseudo_labels_ is None:
        raise InputError("there are no unlabeled rows, so there are no pseudo-labels")
    labels = detector.pseudo_labels_.labels
    return PrecisionCurve(
        seed=seed,
        n_unlabeled=len(anomalous),
        base_rate=_rounded(anomalous.mean()),
        percentiles=PERCENTILES,
        anomaly=tuple(_share(anomalous, ranks > cut) for cut in cuts),
        normal=tuple(_share(~anomalous, ranks < cut) for cut in cuts),
        anomaly_threshold=_rounded(100 * (members.scores <= members.anomaly).mean()),
        normal_threshold=_rounded(100 * (members.scores < members.normal).mean()),
        n_pseudo_anomalies=int((labels == ANOMALY).sum()),
        n_pseudo_normals=int((labels == NORMAL).sum()),
        pseudo_anomaly_precision=_share(anomalous, labels == ANOMALY),
        pseudo_normal_precision=_share(~anomalous, labels == NORMAL),
    )


def score_by_members(detector: SPADE, X: NDArray[np.number]) -> MemberScores:
    """Score rows by each one-class classifier of a fitted detector."""
    labeler = detector.pseudo_labeler_
    if labeler is None:
        raise InputError("there are no one-class classifiers: every row was labeled")
    rows = detector.model_.represent(check_rows(detector, X, fitting=False))
    scores = labeler.members.score(rows)
    return MemberScores(scores, labeler.thresholds.anomaly, labeler.thresholds.normal)


def write_precision(
    folder: Path, datasets: Iterable[str] = DATASETS, seed: int = 0
) -> Path:
    """Measure data sets, and write them to ``pseudo_labels.json`` with those there."""
    folder = Path(folder)
    curves = read_precision(folder)
    for name in datasets:
        table = get_dataset(name).load()
        if not isinstance(table, LabeledTable):
            raise InputError(f"{name} holds images; pseudo-labels are measured on tables")
        curves[name] = precision_curve(table, seed)
    content = {name: asdict(curve) for name, curve in sorted(curves.items())}
    lines = json.dumps(content).replace("}, ", "},\n") + "\n"
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / PRECISION, lines.encode())
    return folder / PRECISION


def read_precision(folder: Path) -> dict[str, PrecisionCurve]:
    """Read the curves that `write_precision` has left, by data set."""
    path = Path(folder) / PRECISION
    if not path.exists():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {name: _curve(content[name]) for name in DATASETS if name in content}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            f"{path} holds no precision curves: {error}. Remove it and write it again"
        ) from error


def _curve(content: dict[str, Any]) -> PrecisionCurve:
    """Put a curve together from its fields."""
    for name in ("percentiles", "anomaly", "normal"):
        content[name] = tuple(content[name])
    return PrecisionCurve(**content)


def _share(right: Flags, rows: Flags) -> float | None:
    """Share of the rows that are right, None without rows."""
    return _rounded(right[rows].mean()) if rows.any() else None


def _rounded(value: float) -> float:
    """Cut digits that differ between machines."""
    return round(float(value), _DIGITS)
