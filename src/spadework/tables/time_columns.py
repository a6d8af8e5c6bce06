"""Columns of dates and of times of day, and how they are encoded."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from spadework.errors import InputError
from spadework.tables.dates import (
    DAY_FIRST,
    MONTH_FIRST,
    MONTH_NAMED,
    YEAR_FIRST,
    find_no_dates,
    find_no_times,
    show_day,
    show_hour,
    to_days,
    to_hours,
)
from spadework.tables.features import MISSING, Features, check_column
from spadework.tables.values import Values, is_text, plain

WEEKDAY, HOUR = 1, 2
"""Where features of a date are, behind its day."""

_EXAMPLES = {
    YEAR_FIRST: "2025-01-31 08:30",
    DAY_FIRST: "31.01.2025 08:30",
    MONTH_FIRST: "01/31/2025 08:30",
    MONTH_NAMED: "31 Jan 2025 08:30 or 2025-01-31",
}


@dataclass(frozen=True)
class DateColumn:
    """A point in time: days since the first in training, and where in day and week.

    Times with a zone are counted in UTC, all others as they are.

    Attributes
    ----------
    name : str
    origin, fill : float
        First day of training, and days since then that stand for a missing value.
    tells_missing : bool
    tells_hour : bool
        Whether there is a time of day.
    missing : tuple of str
        Further values that mean missing.
    first : str
        What dates in text begin with: "year", "day" or "month"; or "name".
    """

    role: ClassVar[str] = "date"
    arrow_type: ClassVar[pa.DataType] = pa.string()

    name: str
    origin: float
    fill: float
    tells_missing: bool
    tells_hour: bool
    missing: tuple[str, ...] = ()
    first: str = YEAR_FIRST

    def __post_init__(self) -> None:
        if not np.isfinite([self.origin, self.fill]).all():
            raise InputError(f"column {self.name} is not encoded by finite numbers")
        if self.first not in _EXAMPLES:
            raise InputError(f"column {self.name} has dates that begin with {self.first}")
        check_column(self.name, self.missing, self.tells_missing, self.tells_hour)

    @property
    def features(self) -> list[str]:
        """Names of the features."""
        return [
            f"{self.name}: day",
            f"{self.name}: weekday",
            *([f"{self.name}: hour"] * self.tells_hour),
            *([f"{self.name} is missing"] * self.tells_missing),
        ]

    def encode(self, array: Values) -> Features:
        """Encode points in time, (n_rows,), as (n_rows, n_features)."""
        days = self.read(array)
        missing = np.isnan(days)
        days = np.where(missing, self.origin + self.fill, days)
        columns = [days - self.origin, (np.floor(days) + 3) % 7]
        if self.tells_hour:
            columns.append(24 * (days % 1))
        if self.tells_missing:
            columns.append(missing)
        return np.stack(columns, axis=1).astype(np.float32)

    def is_missing(self, array: Values) -> NDArray[np.bool_]:
        """Tell values that are missing, (n_rows,)."""
        return np.isnan(self.read(array))

    def read(self, array: Values) -> NDArray[np.float64]:
        """Return values as days since 1970, NaN where they are missing; (n_rows,)."""
        try:
            return to_days(array, self.missing, self.first)
        except pa.ArrowException as error:
            known = plain(array, self.missing).drop_null()
            if not is_text(known.type):
                raise
            wrong = known.filter(pa.array(find_no_dates(known, self.first)))
            raise pa.ArrowInvalid(
                f"{str(wrong[0])[:60]!r} is no date such as {_EXAMPLES[self.first]}"
            ) from error

    def show(self, array: Values) -> list[str]:
        """Put points in time into words."""
        return [
            MISSING if np.isnan(day) else show_day(day, with_time=self.tells_hour)
            for day in self.read(array)
        ]


@dataclass(frozen=True)
class TimeColumn:
    """A time of day, in hours since midnight.

    Attributes
    ----------
    name : str
    fill : float
        Hours that stand for a missing value.
    tells_missing : bool
    missing : tuple of str
        Further values that mean missing.
    """

    role: ClassVar[str] = "time"
    arrow_type: ClassVar[pa.DataType] = pa.string()

    name: str
    fill: float
    tells_missing: bool
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not np.isfinite(self.fill):
            raise InputError(f"column {self.name} is not encoded by finite numbers")
        check_column(self.name, self.missing, self.tells_missing)

    @property
    def features(self) -> list[str]:
        """Names of the features."""
        return [f"{self.name}: hour", *([f"{self.name} is missing"] * self.tells_missing)]

    def encode(self, array: Values) -> Features:
        """Encode times of day, (n_rows,), as (n_rows, n_features)."""
        hours = self.read(array)
        missing = np.isnan(hours)
        columns = [np.where(missing, self.fill, hours), missing]
        encoded = np.stack(columns, axis=1).astype(np.float32)
        return encoded if self.tells_missing else encoded[:, :1]

    def is_missing(self, array: Values) -> NDArray[np.bool_]:
        """Tell values that are missing, (n_rows,)."""
        return np.isnan(self.read(array))

    def read(self, array: Values) -> NDArray[np.float64]:
        """Return values as hours since midnight, NaN where missing; (n_rows,)."""
        known = plain(array, self.missing)
        if is_text(known.type):
            wrong = known.filter(pa.array(find_no_times(known)))
            if len(wrong):
                raise pa.ArrowInvalid(
                    f"{str(wrong[0])[:60]!r} is no time of day such as 08:30"
                )
        return to_hours(known, self.missing)

    def show(self, array: Values) -> list[str]:
        """Put times of day into words."""
        return [MISSING if np.isnan(h) else show_hour(h) for h in self.read(array)]
