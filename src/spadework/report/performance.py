"""How well scores tell held-out anomalies, with intervals and curves."""

from typing import Any

import numpy as np
from sklearn.metrics import precision_recall_curve, roc_curve

from spadework.arrays import Flags, Floats, Positions
from spadework.errors import LabelError

N_RESAMPLES, N_POINTS, N_BINS = 300, 200, 10
MEASURES = ("ROC AUC", "average precision", "precision", "recall")
CURVES = ("roc", "precision_recall", "lift")
_INTERVAL = (0.025, 0.975)
_DEVIATIONS = 1.96
"""Standard deviations that hold as much of a normal distribution."""

_STOPS = np.linspace(0, 1, 101)
"""Where intervals of curves are measured."""


def measure_performance(
    scores: Floats, truth: Flags, probability: Floats, threshold: float
) -> dict[str, Any]:
    """Measure scores of held-out rows; all arrays of shape (n_rows,).

    Intervals hold 95% of what resampled rows of both classes give; ``bands`` are those
    of curves, each a list of place, low and high. Intervals of calibration are Wilson's.
    Lift is the share of anomalies found in a share of the rows, highest scores first.
    """
    if truth.all() or not truth.any():
        raise LabelError(
            f"measuring needs held-out anomalies and normals; got {int(truth.sum())} "
            f"anomalies among {len(truth)} labeled rows"
        )
    measures, bands = _measures(scores, truth, threshold, np.random.default_rng(0))
    false, true, _ = roc_curve(truth, scores)
    precision, recall, _ = precision_recall_curve(truth, scores)
    found = np.cumsum(truth[np.argsort(-scores, kind="stable")]) / truth.sum()
    return {
        "n_rows": len(truth),
        "n_anomalies": int(truth.sum()),
        "measures": measures,
        "bands": bands,
        "roc": _thin(false, true),
        "precision_recall": _thin(recall[::-1], precision[::-1]),
        "lift": _thin(np.arange(len(truth) + 1) / len(truth), np.append(0, found)),
        "errors": _errors(scores, truth, threshold),
        "calibration": _calibration(probability, truth),
    }


def _measures(
    scores: Floats, truth: Flags, threshold: float, rng: np.random.Generator
) -> tuple[dict[str, list[float]], dict[str, list[list[float]]]]:
    """Return measures on all rows with intervals, and intervals along the curves."""
    order = np.argsort(-scores, kind="stable")
    ranked, truth = scores[order], truth[order]
    ends = np.append(np.flatnonzero(np.diff(ranked)), len(ranked) - 1)
    n_called = int((ranked > threshold).sum())
    whole = _measure(np.ones(len(truth)), truth, ends, n_called)
    drawn, curves = [], []
    for _ in range(N_RESAMPLES):
        times = _draw(truth, rng)
        drawn.append(_measure(times, truth, ends, n_called))
        curves.append(_follow(times, truth, ends))
    lows, highs = np.quantile(drawn, _INTERVAL, axis=0).tolist()
    measures = zip(whole, lows, highs, strict=True)
    low, high = np.quantile(curves, _INTERVAL, axis=0)
    bands = np.stack([np.broadcast_to(_STOPS, low.shape), low, high], axis=2)
    return (
        {name: list(each) for name, each in zip(MEASURES, measures, strict=True)},
        dict(zip(CURVES, bands.tolist(), strict=True)),
    )


def _follow(times: Floats, truth: Flags, ends: Positions) -> Floats:
    """Return how high each of `CURVES` is at every stop, (n_curves, n_stops).

    Parameters as of `_measure`.
    """
    found = np.append(0, np.cumsum(times * truth)[ends])
    looked_at = np.append(0, np.cumsum(times)[ends])
    false = looked_at - found
    wanted = np.maximum(_STOPS * found[-1], 1)  # before the first, nothing is right
    reached = np.searchsorted(found, wanted - 1e-9)
    roc = np.interp(_STOPS, false / false[-1], found / found[-1])
    precision_recall = found[reached] / looked_at[reached]
    lift = np.interp(_STOPS, looked_at / looked_at[-1], found / found[-1])
    return np.stack([roc, precision_recall, lift])


def _draw(truth: Flags, rng: np.random.Generator) -> Floats:
    """Draw rows with replacement, of each class as many as there are; how often each."""
    times = np.zeros(len(truth))
    for value in (False, True):
        side = np.flatnonzero(truth == value)
        drawn = rng.integers(len(side), size=len(side))
        times[side] = np.bincount(drawn, minlength=len(side))
    return times


def _measure(
    times: Floats, truth: Flags, ends: Positions, n_called: int
) -> tuple[float, float, float, float]:
    """Measure rows in the order of their scores, highest first, each counted so often.

    ``ends`` are the last rows of each score, and ``n_called`` the rows above the
    threshold. The measures are those of `MEASURES`.
    """
    found = np.append(0, np.cumsum(times * truth))
    looked_at = np.append(0, np.cumsum(times))
    n_found, n_looked_at = found[n_called], looked_at[n_called]
    found, looked_at = (each[np.append(0, ends + 1)] for each in (found, looked_at))
    area = (found[1:] + found[:-1]) @ np.diff(looked_at - found) / 2
    n_anomalies, n_normals = found[-1], looked_at[-1] - found[-1]
    right = found[1:] / np.maximum(looked_at[1:], 1)
    return (
        float(area / (n_anomalies * n_normals)),
        float(np.diff(found) @ right / n_anomalies),
        float(n_found / max(n_looked_at, 1)),
        float(n_found / n_anomalies),
    )


def _errors(scores: Floats, truth: Flags, threshold: float) -> list[list[float]]:
    """Missed anomalies and false alarms by threshold: what costs are made of.

    Anomalies are few and high, so half of the thresholds lie among their scores.
    """
    shares = np.linspace(0, 1, N_POINTS // 2)
    sides = [np.quantile(each, shares) for each in (scores, scores[truth])]
    points = []
    for at in np.unique(np.concatenate([*sides, [threshold]])):
        missed, alarms = truth & (scores <= at), ~truth & (scores > at)
        points.append([float(at), int(missed.sum()), int(alarms.sum())])
    return points


def _calibration(probability: Floats, truth: Flags) -> list[list[float]]:
    """Mean probability, share of anomalies, rows and interval of bins.

    Half of the bins part all rows, half part the anomalies, which may be few.
    """
    shares = np.linspace(0, 1, N_BINS // 2 + 1)[1:-1]
    sides = [np.quantile(each, shares) for each in (probability, probability[truth])]
    bins = np.digitize(probability, np.unique(sides))
    points = []
    for each in np.unique(bins):
        own = bins == each
        share, n_rows = float(truth[own].mean()), int(own.sum())
        mean = float(probability[own].mean())
        points.append([mean, share, n_rows, *_wilson(share, n_rows)])
    return points


def _wilson(share: float, n_rows: int) -> tuple[float, float]:
    """Return Wilson's interval of a share that was seen in so many rows."""
    spread = _DEVIATIONS**2 / n_rows
    middle = (share + spread / 2) / (1 + spread)
    half = np.sqrt(share * (1 - share) * spread + spread**2 / 4) / (1 + spread)
    return float(max(0.0, middle - half)), float(min(1.0, middle + half))


def _thin(x: Floats, y: Floats) -> list[list[float]]:
    """Keep as many points as can be seen, evenly along the curve, with both ends."""
    points = np.stack([x, y], axis=1)
    if len(points) > N_POINTS:
        steps = np.abs(np.diff(points, axis=0)).sum(axis=1)
        along = np.append(0, np.cumsum(steps))
        stops = np.linspace(0, along[-1], N_POINTS)
        kept = np.minimum(np.searchsorted(along, stops), len(points) - 1)
        points = points[np.unique(np.append(kept, len(points) - 1))]
    return points.tolist()
