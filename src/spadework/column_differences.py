"""How two sets of rows differ, column by column.

Both are encoded the same way, without regard to which rows were in training: values of
categories are known by their marks, and are as common as they are in both sets together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from spadework.arrays import Flags, Marks, Positions, Rows
from spadework.tables import columns as kinds
from spadework.tables.dates import show_day, show_hour
from spadework.tables.encoding import TableEncoder
from spadework.tables.recognition import MAX_COMMON
from spadework.tables.words import WEEKDAYS
from spadework.two_samples import (
    Test,
    compare_counts,
    compare_numbers,
    count_values,
    find_certain,
)

LEVEL = 0.01
"""Chance, over all columns together, of calling one different that is not."""

DAYS_OF_WEEK = 7

MAX_ROWS = 5_000


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
class Side:
    """Rows to compare: encoded, (n_rows, n_features), with marks of their categories."""

    X: Rows
    categories: Marks

    @classmethod
    def of(cls, encoder: TableEncoder, table: pa.Table) -> "Side":
        """Encode the rows of a table."""
        return cls(encoder.encode(table), encoder.mark(table))

    def __len__(self) -> int:
        return len(self.X)

    def take(self, rows: Positions | Flags) -> "Side":
        """Return some of the rows."""
        return Side(self.X[rows], self.categories[rows])

    def sample(self, rng: np.random.Generator) -> "Side":
        """Return `MAX_ROWS` of the rows, or all if there are no more."""
        if len(self) <= MAX_ROWS:
            return self
        return self.take(rng.choice(len(self), MAX_ROWS, replace=False))


class Measured(NamedTuple):
    """A column of numbers or times in two sets, each (n_rows, n_features).

    So many features are left out, from the first.
    """

    column: kinds.MeasuredColumn
    first: Rows
    second: Rows
    n_left_out: int

    def encode(self) -> Rows:
        """Return the features of both sets together."""
        return np.concatenate([self.first, self.second])[:, self.n_left_out :]

    def compare(self, n_draws: int) -> ColumnDifference:
        """Compare feature by feature; of several, that which differs most surely."""
        name, first, second = self.column.name, self.first, self.second
        kept = range(self.n_left_out, first.shape[1])
        if not kept:
            return ColumnDifference(name, 0.0, 1.0, False, "moves on with time")
        tests = {
            at: _compare_feature(self.column, at, first[:, at], second[:, at], n_draws)
            for at in kept
        }
        most = min(kept, key=lambda at: (tests[at].p_value, -tests[at].distance))
        words = _feature_words(self.column, most, first[:, most], second[:, most])
        p_value = min(1.0, len(tests) * tests[most].p_value)
        return ColumnDifference(name, tests[most].distance, p_value, False, words)


class Marked(NamedTuple):
    """A column of categories in two sets, as marks, each (n_rows,)."""

    column: kinds.CategoryColumn
    first: Marks
    second: Marks

    def encode(self) -> Rows:
        """Return for both sets which common value a row has, and how common its is."""
        both = np.concatenate([self.first, self.second])
        _, place, counts = np.unique(both, return_inverse=True, return_counts=True)
        common = np.argsort(-counts, kind="stable")[:MAX_COMMON]
        one_hot = place[:, None] == common
        return np.column_stack([one_hot, np.log(counts[place])]).astype(np.float32)

    def compare(self, n_draws: int) -> ColumnDifference:
        """Compare how often values are."""
        both = np.concatenate([self.first, self.second])
        marks, place = np.unique(both, return_inverse=True)
        counts = count_values(place, len(self.first))
        test = compare_counts(counts, n_draws)
        shares = counts / counts.sum(axis=1, keepdims=True)
        moved = int(np.argmax(np.abs(shares[0] - shares[1])))
        before, after = shares[:, moved]
        value = self.column.name_of(int(marks[moved]))
        words = f"{value}: {before:.1%} against {after:.1%}"
        return ColumnDifference(self.column.name, *test, False, words)


Pair = Measured | Marked
"""A column in two sets of rows."""


def pair_columns(
    encoder: TableEncoder, first: Side, second: Side, *, later: bool = False
) -> list[Pair]:
    """Set two sets of rows side by side, column by column.

    Where the second one is of a later time, what differs for that reason alone is left
    out; see `_n_moving`.
    """
    pairs: list[Pair] = []
    n_categories = 0
    for at, column in enumerate(encoder.columns):
        if isinstance(column, kinds.CategoryColumn):
            marks = (side.categories[:, n_categories] for side in (first, second))
            pairs.append(Marked(column, *marks))
            n_categories += 1
        else:
            before, now = (side.X[:, encoder.owners == at] for side in (first, second))
            n_left_out = _n_moving(column, now) if later else 0
            pairs.append(Measured(column, before, now, n_left_out))
    return pairs


def compare_columns(pairs: Sequence[Pair]) -> list[ColumnDifference]:
    """Compare two sets of rows by column, the largest difference first."""
    n_draws = int(np.ceil(2 * sum(len(each.column.features) for each in pairs) / LEVEL))
    columns = [each.compare(n_draws) for each in pairs]
    certain = find_certain([each.p_value for each in columns], LEVEL)
    columns = [
        each._replace(certain=bool(is_certain))
        for each, is_certain in zip(columns, certain, strict=True)
    ]
    return sorted(columns, key=lambda each: (-each.certain, -each.distance))


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


def _compare_feature(
    column: kinds.MeasuredColumn, at: int, first: Rows, second: Rows, n_draws: int
) -> Test:
    """Compare a feature, each (n_rows,): weekdays by their shares, others as numbers."""
    if isinstance(column, kinds.DateColumn) and at == kinds.WEEKDAY:
        days = np.concatenate([first, second]).astype(int)
        return compare_counts(count_values(days, len(first)), n_draws)
    return compare_numbers(first, second, n_draws)


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
