"""How well scores tell held-out anomalies, with intervals and curves."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import (
    average_precision_score,
    precision_recall_curve,
    precision_score,
    recall_score,
    roc_auc_score,
    roc_curve,
)

from spadework.errors import LabelError

N_RESAMPLES, N_POINTS, N_BINS = 300, 200, 10
_LOW, _HIGH = 0.025, 0.975

Floats = NDArray[np.float64]
Truth = NDArray[np.bool_]


def measure_performance(
    scores: Floats, truth: Truth, probability: Floats, threshold: float, *, seed: int = 0
) -> dict[str, Any]:
    """Measure scores of held-out rows; all arrays of shape (n_rows,).

    Intervals hold 95% of what resampled rows of both classes give.
    """
    if truth.all() or not truth.any():
        raise LabelError(
            f"measuring needs held-out anomalies and normals; got {int(truth.sum())} "
            f"anomalies among {len(truth)} labeled rows"
        )
    called = scores > threshold
    measures: dict[str, Callable[[NDArray[np.intp]], float]] = {
        "ROC AUC": lambda rows: float(roc_auc_score(truth[rows], scores[rows])),
        "average precision": lambda rows: float(
            average_precision_score(truth[rows], scores[rows])
        ),
        "precision": lambda rows: float(
            precision_score(truth[rows], called[rows], zero_division=0)  # type: ignore
        ),
        "recall": lambda rows: float(recall_score(truth[rows], called[rows])),
    }
    resamples = _resample(truth, np.random.default_rng(seed))
    everyone = np.arange(len(truth))
    return {
        "n_rows": len(truth),
        "n_anomalies": int(truth.sum()),
        "measures": {
            name: [
                measure(everyone),
                *np.quantile(
                    [measure(rows) for rows in resamples], (_LOW, _HIGH)
                ).tolist(),
            ]
            for name, measure in measures.items()
        },
        "roc": _roc(scores, truth),
        "precision_recall": _precision_recall(scores, truth),
        "lift": _lift(scores, truth),
        "errors": _errors(scores, truth),
        "calibration": _calibration(probability, truth),
    }


def _resample(truth: Truth, rng: np.random.Generator) -> list[NDArray[np.intp]]:
    """Draw rows with replacement, of each class as many as there are."""
    sides = [np.flatnonzero(truth == value) for value in (False, True)]
    return [
        np.concatenate([rng.choice(side, len(side)) for side in sides])
        for _ in range(N_RESAMPLES)
    ]


def _roc(scores: Floats, truth: Truth) -> list[list[float]]:
    false, true, _ = roc_curve(truth, scores)
    return _thin(np.stack([false, true], axis=1))


def _precision_recall(scores: Floats, truth: Truth) -> list[list[float]]:
    precision, recall, _ = precision_recall_curve(truth, scores)
    return _thin(np.stack([recall, precision], axis=1)[::-1])


def _lift(scores: Floats, truth: Truth) -> list[list[float]]:
    """Share of anomalies found by looking at a share of the rows, highest first."""
    found = np.cumsum(truth[np.argsort(-scores, kind="stable")]) / truth.sum()
    looked_at = np.arange(1, len(truth) + 1) / len(truth)
    start = np.zeros((1, 2))
    return _thin(np.concatenate([start, np.stack([looked_at, found], axis=1)]))


def _errors(scores: Floats, truth: Truth) -> list[list[float]]:
    """Missed anomalies and false alarms by threshold: what costs are made of."""
    thresholds = np.quantile(scores, np.linspace(0, 1, N_POINTS))
    return [
        [
            float(at),
            int((truth & (scores <= at)).sum()),
            int((~truth & (scores > at)).sum()),
        ]
        for at in np.unique(thresholds)
    ]


def _calibration(probability: Floats, truth: Truth) -> list[list[float]]:
    """Mean probability, share of anomalies and rows of bins of the same size."""
    bins = np.array_split(np.argsort(probability, kind="stable"), N_BINS)
    return [
        [float(probability[rows].mean()), float(truth[rows].mean()), len(rows)]
        for rows in bins
        if len(rows)
    ]


def _thin(points: Floats) -> list[list[float]]:
    """Keep as many points as can be seen, both ends among them."""
    if len(points) > N_POINTS:
        points = points[np.linspace(0, len(points) - 1, N_POINTS).round().astype(int)]
    return points.tolist()
