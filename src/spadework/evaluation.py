"""What to expect of a detector, from labels alone: no test set is needed.

Labeled rows are dealt into folds. As often as there are folds a detector is fitted, each
time with the labels of one fold hidden, so that every labeled row is ranked among the
unlabeled rows once by a detector that has not seen its label.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit
from sklearn.base import clone
from sklearn.metrics import average_precision_score, roc_auc_score

from spadework import scenarios, validation
from spadework.arrays import Floats, Labels, Positions
from spadework.base import AnomalyDetector
from spadework.core.ranks import share_below
from spadework.errors import InputError, LabelError
from spadework.labels import (
    ANOMALY,
    NORMAL,
    STATED,
    UNLABELED,
    LabelCensus,
    count_labels,
)
from spadework.parameters import check_positive_integer
from spadework.progress import Advance, progress
from spadework.scenarios import LabeledTable

BUDGETS = (0.01, 0.02, 0.05, 0.1)
"""Shares of the rows that somebody may look at."""

CURVE_SHARES = (0.35, 0.6)
"""Shares of the labels of a fit that the learning curve is measured with, besides all."""

COMPARED_ROWS = 10_000
"""Unlabeled rows, at most, that held-out rows are ranked among."""

MORE_LABELS = 200
"""Further labels whose gain is told."""

_DEVIATIONS = 1.645
"""Standard deviations on each side that hold 90 % of a normal distribution."""

SCENARIOS = {
    "a random share": partial(scenarios.new_types, share=0.05),
    "easy rows": scenarios.easiness,
    "suspicious rows": partial(scenarios.high_risk, share=0.025),
    "anomalies only": scenarios.positives_only,
    "normals only": scenarios.negatives_only,
}
"""Ways in which labels come to be, each as `spadework.scenarios` draws it."""


class Interval(NamedTuple):
    """An estimate, and where the truth lies with a chance of 90 %."""

    value: float
    low: float
    high: float

    @classmethod
    def of_share(cls, n_found: int, n: int) -> Self:
        """Share of n that was found, with Wilson's interval."""
        share, spread = n_found / n, _DEVIATIONS**2 / n
        middle = (share + spread / 2) / (1 + spread)
        half = np.sqrt(share * (1 - share) * spread + spread**2 / 4) / (1 + spread)
        return cls(share, float(max(0, middle - half)), float(min(1, middle + half)))

    @classmethod
    def of_auc(cls, auc: float, n_positive: int, n_negative: int) -> Self:
        """Area under a ROC curve, with Hanley and McNeil's interval.

        Its ends are computed on the scale of log-odds, each as if half a row more were
        ranked that far, so that a perfect ranking of few rows is not certain.
        """
        n = min(n_positive, n_negative)
        pessimistic, optimistic = auc * n / (n + 0.5), (auc * n + 0.5) / (n + 0.5)
        return cls(
            auc,
            _auc_end(pessimistic, n_positive, n_negative, -_DEVIATIONS),
            _auc_end(optimistic, n_positive, n_negative, _DEVIATIONS),
        )

    def in_percent(self) -> str:
        """Say it for a share."""
        return f"{self.value:.0%} ({self.low:.0%} to {self.high:.0%})"

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


def _auc_end(auc: float, n_positive: int, n_negative: int, deviations: float) -> float:
    """Move an area by so many deviations, after Hanley and McNeil (1982)."""
    if not 0 < auc < 1:
        return auc
    both_above, both_below = auc / (2 - auc), 2 * auc**2 / (1 + auc)
    variance = auc * (1 - auc)
    variance += (n_positive - 1) * (both_above - auc**2)
    variance += (n_negative - 1) * (both_below - auc**2)
    deviation = np.sqrt(variance / (n_positive * n_negative))
    return float(expit(logit(auc) + deviations * deviation / (auc * (1 - auc))))


@dataclass(frozen=True)
class LabelEvaluation:
    """What labels that a fit has not seen tell of a detector.

    It holds for anomalies like those that were labeled; of other kinds nothing is known.

    Attributes
    ----------
    census : LabelCensus
    n_folds : int
    recall : dict of float to Interval
        By share of the rows looked at, those of highest score: the share of labeled
        anomalies that are among them.
    auc_unlabeled : Interval
        Of labeled anomalies against unlabeled rows. It is below that against normal
        rows, the more so the more of the unlabeled rows are anomalies.
    auc : Interval, optional
        Of labeled anomalies against labeled normals, where there are any.
    curve : dict of int to float
        ``auc_unlabeled`` by the number of labels that a fit had; empty if it was not
        asked for.
    """

    census: LabelCensus
    n_folds: int
    recall: dict[float, Interval]
    auc_unlabeled: Interval
    auc: Interval | None
    curve: dict[int, float]

    @property
    def least_precision(self) -> dict[float, float]:
        """By share of the rows looked at: the share of labeled anomalies among them.

        As many of these rows at least are anomalies; how many more nobody has said.
        """
        n_rows = self.census.n_anomalies + self.census.n_unlabeled
        return {
            budget: min(1.0, each.value * self.census.n_anomalies / (budget * n_rows))
            for budget, each in self.recall.items()
        }

    def gain(self, n_more: int) -> float | None:
        """AUC that so many more labels of the same kind should bring.

        The curve is taken to go on as a straight line in the logarithm of the number of
        labels. None where no curve was measured.
        """
        if not self.curve:
            return None
        areas = list(self.curve.values())
        slope = float(np.polyfit(np.log(list(self.curve)), areas, 1)[0])
        more = slope * np.log1p(n_more / self.census.n_labeled)
        return float(np.clip(more, 0, 1 - areas[-1]))

    def as_dict(self) -> dict[str, Any]:
        """All numbers, as plain values for JSON."""
        return {
            "census": self.census._asdict(),
            "n_folds": self.n_folds,
            "recall": {f"{b:g}": each._asdict() for b, each in self.recall.items()},
            "least_precision": {f"{b:g}": v for b, v in self.least_precision.items()},
            "auc_unlabeled": self.auc_unlabeled._asdict(),
            "auc": self.auc and self.auc._asdict(),
            "curve": self.curve,
            "gain": self.gain(MORE_LABELS),
        }

    def lines(self) -> list[str]:
        """Say it in sentences."""
        return [
            f"{self.n_folds} fits, each with other labels hidden; intervals hold the "
            "truth with a chance of 90 %.",
            *(self._line_of(budget) for budget in self.recall),
            f"AUC against unlabeled rows {self.auc_unlabeled}"
            + (f", against labeled normals {self.auc}." if self.auc else "."),
            *(
                [
                    f"{MORE_LABELS} more labels of the same kind should gain about "
                    f"{self.gain(MORE_LABELS):.3f} AUC."
                ]
                if self.curve
                else []
            ),
            "This holds for anomalies like those that were labeled; of other kinds "
            "nothing is known.",
        ]

    def _line_of(self, budget: float) -> str:
        """Say what is found among the top rows."""
        found, known = self.recall[budget].in_percent(), self.least_precision[budget]
        return (
            f"The top {100 * budget:.3g}% of rows hold {found} of labeled anomalies, "
            f"which are {known:.1%} of these rows."
        )

    def __str__(self) -> str:
        return "\n".join(self.lines())


def cross_validate_labels(
    detector: AnomalyDetector,
    X: ArrayLike,
    y: ArrayLike,
    *,
    n_folds: int = 5,
    budgets: Sequence[float] = BUDGETS,
    learning_curve: bool = False,
    random_state: int = 0,
    verbose: bool = False,
) -> LabelEvaluation:
    """Estimate how well a detector does on rows whose labels it has not seen.

    Parameters
    ----------
    detector : AnomalyDetector
        It is cloned, and stays as it is.
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
        1 anomaly, 0 normal, -1 unlabeled, or what the detector's ``label_map`` names.
    n_folds : int
        As often a detector is fitted; no more often than anomalies are labeled.
    budgets : sequence of float
        Shares of the rows that somebody may look at, between 0 and 1.
    learning_curve : bool
        Fit with fewer labels, too, to tell what more of them would bring: three times
        as many fits.
    random_state : int
    verbose : bool
        Show progress.

    Examples
    --------
    >>> import numpy as np
    >>> from spadework import SPADE
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(0, 1, (380, 3)), rng.normal(5, 1, (20, 3))])
    >>> y = np.full(400, -1)
    >>> y[:30], y[-10:] = 0, 1
    >>> cross_validate_labels(SPADE(random_state=0), X, y, n_folds=2).auc.value
    1.0
    """
    check_positive_integer("n_folds", n_folds)
    _check_budgets(budgets)
    labels = validation.read_labels(y, detector.label_map, len(np.asarray(X)))
    census = count_labels(labels)
    _check_census(census)
    n_folds = min(max(2, n_folds), census.n_anomalies)
    shares = (*CURVE_SHARES, 1.0) if learning_curve else (1.0,)
    with progress("evaluating", n_folds * len(shares), verbose=verbose) as advance:
        by_share = [
            _hold_out(
                detector,
                np.asarray(X),
                labels,
                n_folds=n_folds,
                share=share,
                rng=np.random.default_rng(random_state),
                advance=advance,
            )
            for share in shares
        ]
    found = by_share[-1]
    anomalies, normals = found.ranks[labels == ANOMALY], found.ranks[labels == NORMAL]
    return LabelEvaluation(
        census,
        n_folds,
        {budget: _recall(anomalies, budget) for budget in budgets},
        Interval.of_auc(float(anomalies.mean()), len(anomalies), census.n_unlabeled),
        _against_normals(anomalies, normals),
        {each.n_labels: float(each.ranks[labels == ANOMALY].mean()) for each in by_share}
        if learning_curve
        else {},
    )


class HeldOut(NamedTuple):
    """Labeled rows as detectors rank them that have not seen their labels.

    Attributes
    ----------
    ranks : ndarray of shape (n_samples,)
        Share of the unlabeled rows below each labeled row; NaN for unlabeled ones.
    n_labels : int
        That a detector had, on average.
    """

    ranks: Floats
    n_labels: int


def _hold_out(
    detector: AnomalyDetector,
    X: Any,
    labels: Labels,
    *,
    n_folds: int,
    share: float,
    rng: np.random.Generator,
    advance: Advance,
) -> HeldOut:
    """Fit once a fold, with a share of the other labels; see `HeldOut`."""
    folds = _deal(labels, n_folds, rng)
    among = rng.permutation(np.flatnonzero(labels == UNLABELED))[:COMPARED_ROWS]
    ranks, counts = np.full(len(labels), np.nan), []
    for fold in range(n_folds):
        shown = _hide(labels, folds, fold, share, rng)
        fitted: Any = clone(detector)
        fitted.set_params(label_map=STATED).fit(X, shown)
        hidden = np.flatnonzero(folds == fold)
        ranks[hidden] = share_below(
            fitted.anomaly_score(X[hidden]), fitted.anomaly_score(X[among])
        )
        counts.append(int((shown != UNLABELED).sum()))
        advance("")
    return HeldOut(ranks, round(float(np.mean(counts))))


class ScenarioResult(NamedTuple):
    """How a detector does where labels came about in one way: means over seeds."""

    auc: float
    average_precision: float


def compare_scenarios(
    detector: AnomalyDetector,
    X: ArrayLike,
    truth: ArrayLike,
    *,
    n_seeds: int = 3,
    verbose: bool = False,
) -> dict[str, ScenarioResult]:
    """Hide most labels of a table that is labeled in full, in each of the usual ways.

    Half of the rows train, with labels as `SCENARIOS` draw them, and the other half is
    scored.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    truth : array-like of shape (n_samples,)
        1 anomaly, 0 normal.
    """
    check_positive_integer("n_seeds", n_seeds)
    labels = np.asarray(truth)
    if not np.isin(labels, (NORMAL, ANOMALY)).all() or len(np.unique(labels)) < 2:
        raise LabelError(
            "scenarios need a table that is labeled in full, with 1 (anomaly) and 0 "
            f"(normal); got the values {np.unique(labels)[:5].tolist()}. For few labels "
            "there is cross_validate_labels"
        )
    table = LabeledTable(np.asarray(X), labels.astype(np.int64), given=(1,))
    found: dict[str, ScenarioResult] = {}
    with progress("evaluating", len(SCENARIOS) * n_seeds, verbose=verbose) as advance:
        for name, draw in SCENARIOS.items():
            results = []
            for seed in range(n_seeds):
                trial = draw(table, seed)
                fitted: Any = clone(detector)
                fitted.set_params(random_state=seed, label_map=STATED)
                scores = fitted.fit(trial.X, trial.y).anomaly_score(trial.X_test)
                known = trial.kind_test > 0
                results.append(
                    (roc_auc_score(known, scores), average_precision_score(known, scores))
                )
                advance(name)
            found[name] = ScenarioResult(*(float(v) for v in np.mean(results, axis=0)))
    return found


def _check_budgets(budgets: Sequence[float]) -> None:
    for budget in budgets:
        if not 0 < budget < 1:
            raise InputError(
                f"budgets must be shares of the rows, between 0 and 1; got {budget!r}"
            )


def _check_census(census: LabelCensus) -> None:
    if census.n_anomalies < 2 or not census.n_unlabeled:
        raise LabelError(
            "an evaluation of labels needs unlabeled rows, and two labeled anomalies at "
            f"least, of which one is hidden; got {census}. Label more anomalies; where "
            "all rows are labeled, there is compare_scenarios"
        )


def _deal(labels: Labels, n_folds: int, rng: np.random.Generator) -> Positions:
    """Deal labeled rows of each class into folds, (n_samples,); -1 for unlabeled ones."""
    folds = np.full(len(labels), -1)
    for label in (ANOMALY, NORMAL):
        rows = rng.permutation(np.flatnonzero(labels == label))
        folds[rows] = np.arange(len(rows)) % n_folds
    return folds


def _hide(
    labels: Labels, folds: Positions, fold: int, share: float, rng: np.random.Generator
) -> Labels:
    """Hide the labels of a fold, and all but a share of each class of the others."""
    shown = np.where(folds == fold, UNLABELED, labels).astype(labels.dtype)
    for label in (ANOMALY, NORMAL):
        rows = rng.permutation(np.flatnonzero(shown == label))
        shown[rows[max(1, round(share * len(rows))) :]] = UNLABELED
    return shown


def _recall(ranks: Floats, budget: float) -> Interval:
    """Share of anomalies, by their ranks, among the top rows."""
    return Interval.of_share(int((ranks > 1 - budget).sum()), len(ranks))


def _against_normals(anomalies: Floats, normals: Floats) -> Interval | None:
    """AUC of the ranks of held-out anomalies over those of held-out normals."""
    if not len(normals):
        return None
    auc = float(share_below(anomalies, normals).mean())
    return Interval.of_auc(auc, len(anomalies), len(normals))


def told_by_scenario(found: Mapping[str, ScenarioResult]) -> list[str]:
    """Say in lines how a detector does by scenario."""
    return [
        f"{name}:".ljust(18) + f"AUC {each.auc:.3f}, average precision "
        f"{each.average_precision:.3f}"
        for name, each in found.items()
    ]
