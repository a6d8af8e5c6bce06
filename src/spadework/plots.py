"""Plots of what a model does; each draws into given Axes, or new ones, and returns them.

They need matplotlib: ``pip install 'spadework[plots]'``.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import average_precision_score, precision_recall_curve

from spadework.arrays import Flags, Floats, Pixels
from spadework.base import AnomalyDetector
from spadework.detector import SPADE
from spadework.differences import Difference
from spadework.errors import InputError
from spadework.evaluation import LabelEvaluation
from spadework.explain import Explanation
from spadework.labels import ANOMALY, NORMAL, UNLABELED, translate_labels

try:
    from matplotlib import pyplot
except ImportError as error:
    raise InputError(
        "plots need matplotlib, which is not installed: pip install 'spadework[plots]'"
    ) from error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ANOMALOUS, USUAL, OTHER, LINE = "#c1272d", "#0b6e99", "#9aa5ad", "#222222"
"""Colours that stay apart for people who see few, and in print."""

_NAMES = {
    UNLABELED: ("unlabeled", OTHER),
    NORMAL: ("labeled normal", USUAL),
    ANOMALY: ("labeled anomaly", ANOMALOUS),
}
_N_BINS = 40
_MOST_BARS = 12


def plot_scores(
    detector: AnomalyDetector, X: ArrayLike, y: ArrayLike | None = None, *, ax: Any = None
) -> "Axes":
    """Scores of rows by what is known of them, and the threshold.

    Parameters
    ----------
    detector : AnomalyDetector
        Fitted.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,), optional
        Labels as the detector takes them; all rows are unlabeled if None.
    ax : Axes, optional
    """
    scores = detector.anomaly_score(X)
    labels = np.full(len(scores), UNLABELED)
    if y is not None:
        labels = translate_labels(y, detector.label_map)
    _refuse_other_length("y", len(labels), len(scores))
    ax = _axes(ax)
    _densities(ax, scores, {_NAMES[v]: labels == v for v in _NAMES})
    called = int((scores > detector.threshold_).sum())
    ax.axvline(detector.threshold_, color=LINE, linestyle="--", linewidth=1)
    ax.set_title(f"{called:,} of {len(scores):,} rows lie above the threshold")
    ax.set_xlabel("anomaly score")
    ax.set_ylabel("share of the rows of a kind")
    ax.legend(frameon=False)
    return ax


def plot_pseudo_labels(
    detector: SPADE, X: ArrayLike, y: ArrayLike, *, ax: Any = None
) -> "Axes":
    """Scores of the unlabeled rows of a fit, by the pseudo-label that they got.

    Parameters
    ----------
    detector : SPADE
        Fitted on these rows.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    ax : Axes, optional
    """
    if detector.pseudo_labels_ is None:
        raise InputError(
            "there are no pseudo-labels to plot: the detector was fitted without them, "
            "or without unlabeled rows"
        )
    unlabeled = translate_labels(y, detector.label_map) == UNLABELED
    given = detector.pseudo_labels_.labels
    _refuse_other_length("the unlabeled rows of y", int(unlabeled.sum()), len(given))
    scores = detector.anomaly_score(np.asarray(X)[unlabeled])
    names = {
        UNLABELED: ("members disagree, or were not asked", OTHER),
        NORMAL: ("pseudo-normal", USUAL),
        ANOMALY: ("pseudo-anomaly", ANOMALOUS),
    }
    ax = _axes(ax)
    _densities(ax, scores, {names[value]: given == value for value in names})
    ax.axvline(detector.threshold_, color=LINE, linestyle="--", linewidth=1)
    ax.set_title("What unlabeled rows were taken for")
    ax.set_xlabel("anomaly score")
    ax.set_ylabel("share of the rows of a kind")
    ax.legend(frameon=False)
    return ax


def plot_precision_recall(
    scores: ArrayLike, truth: ArrayLike, *, ax: Any = None
) -> "Axes":
    """Precision against recall over all thresholds, for rows whose truth is known.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)
    truth : array-like of shape (n_samples,)
        1 anomaly, 0 normal.
    ax : Axes, optional
    """
    scores, anomalous = _known(scores, truth)
    precision, recall, _ = precision_recall_curve(anomalous, scores)
    ax = _axes(ax)
    ax.step(recall, precision, where="post", color=ANOMALOUS)
    ax.axhline(anomalous.mean(), color=OTHER, linestyle="--", linewidth=1)
    area = average_precision_score(anomalous, scores)
    ax.set_title(f"Average precision {area:.3f}; chance is {anomalous.mean():.3f}")
    ax.set_xlabel("share of the anomalies that are called")
    ax.set_ylabel("share of the calls that are right")
    ax.set_ylim(0, 1.02)
    return ax


def plot_budget(scores: ArrayLike, truth: ArrayLike, *, ax: Any = None) -> "Axes":
    """Share of the anomalies found by the share of rows looked at, highest scores first.

    Parameters as of `plot_precision_recall`.
    """
    scores, anomalous = _known(scores, truth)
    found = np.cumsum(anomalous[np.argsort(-scores, kind="stable")]) / anomalous.sum()
    looked_at = np.arange(len(found) + 1) / len(found)
    ax = _axes(ax)
    ax.plot(looked_at, np.append(0, found), color=ANOMALOUS, label="by score")
    ax.plot([0, 1], [0, 1], color=OTHER, linestyle="--", linewidth=1, label="by chance")
    ax.set_title("Anomalies found by rows looked at")
    ax.set_xlabel("share of the rows looked at")
    ax.set_ylabel("share of the anomalies found")
    ax.legend(frameon=False, loc="lower right")
    return ax


def plot_evaluation(evaluation: LabelEvaluation, *, ax: Any = None) -> "Axes":
    """Share of held-out labeled anomalies found by budget, with 90 % intervals.

    Parameters
    ----------
    evaluation : LabelEvaluation
        As `spadework.cross_validate_labels` returns it.
    ax : Axes, optional
    """
    budgets = np.array(list(evaluation.recall))
    found = np.array(list(evaluation.recall.values()))
    ax = _axes(ax)
    away = np.abs(found[:, 1:] - found[:, :1]).T
    ax.errorbar(budgets, found[:, 0], yerr=away, fmt="o-", color=ANOMALOUS, capsize=4)
    ax.set_title("Labeled anomalies that a fit has not seen")
    ax.set_xlabel("share of the rows looked at")
    ax.set_ylabel("share of them found")
    ax.set_ylim(0, 1.02)
    return ax


def plot_drift(difference: Difference, *, ax: Any = None) -> "Axes":
    """How far columns differ, those that do so beyond chance in colour.

    Parameters
    ----------
    difference : Difference
        As `spadework.differences` finds it.
    ax : Axes, optional
    """
    shown = difference.columns[:_MOST_BARS][::-1]
    ax = _axes(ax)
    colors = [ANOMALOUS if each.certain else OTHER for each in shown]
    _bars(ax, [each.name for each in shown], [each.distance for each in shown], colors)
    ax.set_title("Columns by how far they differ; beyond chance in red")
    ax.set_xlabel("distance")
    ax.set_xlim(0, 1)
    return ax


def plot_reasons(explanation: Explanation, *, ax: Any = None) -> "Axes":
    """Bars of what each column adds to the score of a row.

    Parameters
    ----------
    explanation : Explanation
        Of one row, as `spadework.explain.explain_rows` returns them.
    ax : Axes, optional
    """
    ordered = sorted(explanation.reasons, key=lambda each: abs(each.share))[-_MOST_BARS:]
    ax = _axes(ax)
    colors = [ANOMALOUS if each.share > 0 else USUAL for each in ordered]
    _bars(ax, [each.column for each in ordered], [each.share for each in ordered], colors)
    ax.axvline(0, color=LINE, linewidth=1)
    ax.set_title(
        f"Score {explanation.score:.2f}, where ordinary rows have "
        f"{explanation.baseline:.2f}"
    )
    ax.set_xlabel("added to the score")
    return ax


def plot_heat_map(
    photo: Pixels, heat: ArrayLike, *, usual: float, odd: float, ax: Any = None
) -> "Axes":
    """Show a photo with what is odd in it, from usual heat to what is surely odd.

    Parameters
    ----------
    photo : ndarray of shape (height, width, 3)
    heat : array-like of shape (height, width)
    usual, odd : float
        Heat below which nothing is drawn, and from which colour is full.
    ax : Axes, optional
    """
    if not usual < odd:
        raise InputError(f"usual must be less than odd; got {usual:g} and {odd:g}")
    height = np.asarray(heat, np.float64)
    _refuse_other_length("heat", height.shape, photo.shape[:2])
    share = ((height - usual) / (odd - usual)).clip(0, 1)
    ax = _axes(ax)
    ax.imshow(photo)
    ax.imshow(share, cmap="YlOrRd", alpha=0.7 * np.sqrt(share), vmin=0, vmax=1)
    ax.set_axis_off()
    return ax


def _axes(ax: Any) -> Any:
    """Return the given Axes, or those of a new figure."""
    if ax is None:
        _, ax = pyplot.subplots(figsize=(6.4, 4.0), layout="constrained")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def _densities(ax: Any, scores: Floats, kinds: dict[tuple[str, str], Flags]) -> None:
    """Draw a histogram of each kind of rows, as shares of their own number."""
    bins = np.linspace(scores.min(), scores.max() + 1e-9, _N_BINS + 1)
    for (name, color), chosen in kinds.items():
        if chosen.any():
            ax.hist(
                scores[chosen],
                bins,
                weights=np.full(chosen.sum(), 1 / chosen.sum()),
                histtype="stepfilled",
                alpha=0.5,
                color=color,
                label=f"{name} ({int(chosen.sum()):,})",
            )


def _bars(
    ax: Any, names: Sequence[str], values: Sequence[float], colors: Sequence[str]
) -> None:
    """Draw bars to the right or left, the last one on top."""
    if not names:
        raise InputError("there is no column to plot; expected one at least")
    ax.barh(range(len(names)), values, color=colors)
    ax.set_yticks(range(len(names)), names)


def _known(scores: ArrayLike, truth: ArrayLike) -> tuple[Floats, Flags]:
    """Check scores and their truth, both (n_samples,)."""
    found, known = np.asarray(scores, np.float64), np.asarray(truth)
    _refuse_other_length("truth", len(known), len(found))
    if set(np.unique(known).tolist()) != {NORMAL, ANOMALY}:
        raise InputError(
            "truth must hold 1 for anomalies and 0 for normal rows, both of them; got "
            f"the values {np.unique(known)[:5].tolist()}. Leave unlabeled rows out"
        )
    return found, known == ANOMALY


def _refuse_other_length(name: str, found: Any, expected: Any) -> None:
    if found != expected:
        raise InputError(f"{name} must be of size {expected}; got {found}")
