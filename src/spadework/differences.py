"""How two sets of rows differ: column by column, and as a whole.

Used twice: labeled rows against unlabeled ones, and new rows against training rows.
"""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.stats import chi2_contingency, ks_2samp
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from spadework.arrays import Rows
from spadework.errors import InputError
from spadework.labels import NORMAL, UNLABELED
from spadework.table_model import TableModel
from spadework.tables import columns as kinds
from spadework.tables.dates import show_day, show_hour
from spadework.tables.encoding import TableEncoder
from spadework.tables.words import WEEKDAYS

CHANCE = 0.6
"""AUC up to which a classifier hardly tells two sets of rows apart."""

LEVEL = 0.01
"""Chance, over all columns together, of calling one different that is not."""

GIVEAWAY = 0.9
"""Distance from which a column by itself tells labeled rows from unlabeled ones."""

DAYS_OF_WEEK = 7

MAX_ROWS = 5_000
MIN_ROWS = 10
"""Rows on either side that comparing needs."""

_N_FOLDS, _N_TREES = 5, 100

Advice = Literal["keep", "refit", "relabel"]


class ColumnDifference(NamedTuple):
    """How far the values of a column lie apart in two sets of rows.

    ``distance`` is 0 (the same) to 1: the largest difference of shares below a value
    (Kolmogorov and Smirnov), or for categories the share of rows that would have to
    change. ``certain`` tells what is beyond chance, all columns considered.
    """

    name: str
    distance: float
    p_value: float
    certain: bool
    words: str


@dataclass(frozen=True)
class Difference:
    """How two sets of rows differ, by columns with the largest distance first.

    The AUC is that with which held-out rows of the sets are told apart; 0.5 is chance.
    """

    auc: float
    columns: list[ColumnDifference]

    @property
    def certain(self) -> list[ColumnDifference]:
        """Columns that differ beyond chance."""
        return [each for each in self.columns if each.certain]

    def __str__(self) -> str:
        how = "can hardly be told apart" if self.auc <= CHANCE else "can be told apart"
        named = ", ".join(each.name for each in self.certain[:5])
        most = f"; most by {named}" if named else ""
        return f"the rows {how} (AUC {self.auc:.2f}){most}"


@dataclass(frozen=True)
class Drift:
    """How new rows, so many, differ from training rows, and what to do about it.

    Of unlabeled training rows and of new rows, a share is called anomalous.
    """

    difference: Difference
    called_before: float
    called_now: float
    n_rows: int
    advice: Advice

    def __str__(self) -> str:
        said = {
            "keep": "keep the model: nothing has changed that matters",
            "refit": "refit with the new rows as unlabeled ones and the labels you have: "
            "values have moved more than calls",
            "relabel": "label some of the new rows and refit: the model calls another "
            "share of them anomalous than before",
        }
        return (
            f"{self.n_rows:,} new rows: {self.difference}\n"
            f"called anomalous: {self.called_before:.2%} in training, "
            f"{self.called_now:.2%} now\n"
            f"advice: {said[self.advice]}"
        )


def compare_rows(
    encoder: TableEncoder, first: Rows, second: Rows, *, later: bool = False
) -> Difference:
    """Compare two sets of encoded rows, each (n_rows, n_features).

    Large sets are sampled. Where the second one is of a later time, what differs for that
    reason alone is left out; see `_n_moving`.
    """
    if min(len(first), len(second)) < MIN_ROWS:
        raise InputError(
            f"comparing needs {MIN_ROWS} rows on each side; got {len(first)} and "
            f"{len(second)}"
        )
    rng = np.random.default_rng(0)
    first, second = (_sample(rows, rng) for rows in (first, second))
    left_out = [
        _n_moving(column, second[:, encoder.owners == at]) if later else 0
        for at, column in enumerate(encoder.columns)
    ]
    columns = _compare_columns(encoder, first, second, left_out)
    kept = np.concatenate(
        [np.flatnonzero(encoder.owners == at)[n:] for at, n in enumerate(left_out)]
    )
    return Difference(tell_apart(first[:, kept], second[:, kept]), columns)


def find_giveaways(model: TableModel) -> list[ColumnDifference]:
    """Find columns that by themselves tell labeled normals from unlabeled rows.

    Most unlabeled rows are normal, too, so such a column hardly tells what a row is. It
    may tell when or how rows were labeled, and mislead.
    """
    reference = model.reference
    normals = reference.X[reference.labels == NORMAL]
    unlabeled = reference.X[reference.labels == UNLABELED]
    if min(len(normals), len(unlabeled)) < MIN_ROWS:
        return []
    all_kept = [0] * len(model.encoder.columns)
    columns = _compare_columns(model.encoder, normals, unlabeled, all_kept)
    return [each for each in columns if each.certain and each.distance >= GIVEAWAY]


def compare_table(model: TableModel, X: Rows) -> Drift:
    """Compare new rows, encoded, with those that the model was fitted on."""
    reference = model.reference
    usual = leave_itself_out(model.encoder, reference.X[reference.usual], model.n_rows)
    difference = compare_rows(model.encoder, usual, X, later=True)
    threshold = model.detector.threshold_
    called_before = float((reference.scores[reference.usual] > threshold).mean())
    called_now = float((model.detector.anomaly_score(X) > threshold).mean())
    n_before = int(reference.usual.sum())
    advice = advise(difference.auc, called_before, called_now, n_before, len(X))
    return Drift(difference, called_before, called_now, len(X), advice)


def leave_itself_out(encoder: TableEncoder, rows: Rows, n_rows: int) -> Rows:
    """Let a training row not count among the rows that say how common its value is.

    Values were counted in so many rows. New ones do not count there either: of a column
    with many values, most training rows would seem to have more common ones.
    """
    rows = rows.copy()
    for at, column in enumerate(encoder.columns):
        if isinstance(column, kinds.CategoryColumn) and column.tells_rarity:
            last = np.flatnonzero(encoder.owners == at)[-1]
            counts = np.round(np.exp(rows[:, last].astype(np.float64)) * n_rows)
            rows[:, last] = np.log(np.maximum(counts - 1, 1) / n_rows)
    return rows


def advise(
    auc: float, called_before: float, called_now: float, n_before: int, n_rows: int
) -> Advice:
    """Say what to do: relabel if calls have moved, refit if only values have.

    Calls have moved when their share has halved or doubled, by more than three
    standard errors of the difference of two shares, those before and those now.
    """
    n_called = n_before * called_before + n_rows * called_now
    share = max(1.0, n_called) / (n_before + n_rows)
    error = np.sqrt(share * (1 / n_before + 1 / n_rows))
    moved = not called_before / 2 <= called_now <= 2 * called_before
    if moved and abs(called_now - called_before) > 3 * error:
        return "relabel"
    return "refit" if auc > CHANCE else "keep"


def tell_apart(first: Rows, second: Rows) -> float:
    """AUC with which trees tell held-out rows of two sets apart, 0.5 at least."""
    if not first.shape[1]:
        return 0.5
    X = np.concatenate([first, second])
    which = np.repeat([0, 1], [len(first), len(second)])
    trees = ExtraTreesClassifier(
        _N_TREES, min_samples_leaf=5, class_weight="balanced", random_state=0
    )
    folds = StratifiedKFold(_N_FOLDS, shuffle=True, random_state=0)
    belief: Any = cross_val_predict(trees, X, which, cv=folds, method="predict_proba")
    return max(0.5, float(roc_auc_score(which, belief[:, 1])))


def _n_moving(column: kinds.Column, rows: Rows) -> int:
    """Count the features of a column, from the first, that differ as time goes by.

    The day of a date always does; its weekday, where rows span less than a week; its
    hour, where they span less than a day.
    """
    if not isinstance(column, kinds.DateColumn):
        return 0
    days = rows[:, 0][rows[:, 0] != np.float32(column.fill)]
    span = float(np.ptp(days)) if len(days) else 0.0
    return 1 + (span < DAYS_OF_WEEK) + (span < 1 and column.tells_hour)


def _compare_columns(
    encoder: TableEncoder, first: Rows, second: Rows, left_out: list[int]
) -> list[ColumnDifference]:
    """Compare two sets of encoded rows by column, the largest difference first.

    Of each column, so many features are left out, from the first.
    """
    columns = [
        _compare_column(
            column,
            first[:, encoder.owners == at],
            second[:, encoder.owners == at],
            LEVEL / len(encoder.columns),
            left_out[at],
        )
        for at, column in enumerate(encoder.columns)
    ]
    return sorted(columns, key=lambda each: (-each.certain, -each.distance))


def _compare_column(
    column: kinds.Column, first: Rows, second: Rows, level: float, n_left_out: int
) -> ColumnDifference:
    """Compare the features of one column; of several, that which differs most."""
    if isinstance(column, kinds.CategoryColumn):
        return _compare_category(column, first, second, level)
    kept = range(n_left_out, first.shape[1])
    if not kept:
        return ColumnDifference(column.name, 0.0, 1.0, False, "moves on with time")
    tests: Any = [ks_2samp(first[:, at], second[:, at], method="asymp") for at in kept]
    most, test = max(zip(kept, tests, strict=True), key=lambda each: each[1].statistic)
    words = _feature_words(column, most, first[:, most], second[:, most])
    distance, p_value = float(test.statistic), float(test.pvalue)
    certain = p_value < level / len(tests)
    return ColumnDifference(column.name, distance, p_value, certain, words)


def _feature_words(
    column: kinds.MeasuredColumn, at: int, first: Rows, second: Rows
) -> str:
    """Set the values of a feature, each (n_rows,), side by side."""
    if column.tells_missing and at == len(column.features) - 1:
        return f"missing: {first.mean():.1%} against {second.mean():.1%}"
    if isinstance(column, kinds.DateColumn) and at == kinds.WEEKDAY:
        days = (rows.astype(int) for rows in (first, second))
        shares = np.stack([np.bincount(each, minlength=7) / len(each) for each in days])
        day = int(np.abs(shares[0] - shares[1]).argmax())
        return f"{WEEKDAYS[day]}: {shares[0, day]:.1%} against {shares[1, day]:.1%}"
    if isinstance(column, kinds.DateColumn) and at == kinds.HOUR:
        return _middle_hours(first, second)
    return _middle_words(column, first, second)


def _middle_words(column: kinds.MeasuredColumn, first: Rows, second: Rows) -> str:
    """Set the middle of two sets of values, each (n_rows,), side by side."""
    if isinstance(column, kinds.DateColumn):
        days = [float(np.median(rows)) + column.origin for rows in (first, second)]
        with_time = column.tells_hour and len({day // 1 for day in days}) == 1
        shown = [show_day(day, with_time=with_time) for day in days]
        return "median " + " against ".join(shown)
    if isinstance(column, kinds.TimeColumn):
        return _middle_hours(first, second)
    if np.isin(first, (0, 1)).all() and np.isin(second, (0, 1)).all():
        return f"true or 1: {first.mean():.1%} against {second.mean():.1%}"
    what = "median" if np.median(first) != np.median(second) else "mean"
    middles = (getattr(np, what)(rows) + column.offset for rows in (first, second))
    one_value = " in all rows" * bool(np.ptp(second) == 0 < np.ptp(first))
    shown = " against ".join(f"{float(each):,.6g}" for each in middles)
    return f"{what} {shown}{one_value}"


def _middle_hours(first: Rows, second: Rows) -> str:
    """Set the middle of two sets of times of day, each (n_rows,), side by side."""
    hours = [show_hour(float(np.median(rows))) for rows in (first, second)]
    return "median " + " against ".join(hours)


def _compare_category(
    column: kinds.CategoryColumn, first: Rows, second: Rows, level: float
) -> ColumnDifference:
    both = np.concatenate([first, second])
    kinds, place = np.unique(both, axis=0, return_inverse=True)
    place = place.ravel()
    sides = np.split(place, [len(first)])
    counts = np.stack([np.bincount(side, minlength=len(kinds)) for side in sides])
    shares = counts / counts.sum(axis=1, keepdims=True)
    distance = float(np.abs(shares[0] - shares[1]).sum() / 2)
    test: Any = chi2_contingency(counts) if len(kinds) > 1 else None
    p_value = 1.0 if test is None else float(test.pvalue)
    moved = int(np.argmax(np.abs(shares[0] - shares[1])))
    before, after = shares[:, moved]
    words = f"{_kind_name(column, kinds[moved])}: {before:.1%} against {after:.1%}"
    return ColumnDifference(column.name, distance, p_value, p_value < level, words)


def _kind_name(column: kinds.CategoryColumn, features: Rows) -> str:
    """Name the value that features stand for, as far as they tell it."""
    common = np.flatnonzero(features[: column.n_common])
    if len(common):
        value = column.values[int(common[0])]
        return "missing" if value is None else value
    return "a rare value"


def _sample(rows: Rows, rng: np.random.Generator) -> Rows:
    if len(rows) <= MAX_ROWS:
        return rows
    return rows[rng.choice(len(rows), MAX_ROWS, replace=False)]
