"""One column of a table as numbers: how it is encoded, kept as plain data.

Each kind of column is fitted once and holds nothing but names and numbers. It turns an
Arrow array into one or more features, the same whenever and wherever rows are scored.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

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
    show_day,
    to_days,
)
from spadework.tables.numerals import (
    COMMA,
    GROUPED,
    PERCENT,
    POINT,
    Notation,
    blank_numbers,
    find_other_decimal,
    find_words,
    to_numbers,
)
from spadework.tables.values import Values, is_text, pc, plain, to_text, value_type

Features = NDArray[np.float32]
"""Features of rows, (n_rows, n_features)."""

MISSING = "missing"


@dataclass(frozen=True)
class NumberColumn:
    """A number; missing and infinite values take a middle value and are told apart.

    Attributes
    ----------
    name : str
    offset : float
        Subtracted, so that large numbers keep their differences in float32.
    fill : float
        Stands for a missing value.
    tells_missing : bool
        Whether values were missing in training: then a feature says where.
    as_text : bool
        Whether the cells of a text file are read here and not by its reader, which
        knows neither "true" among numbers nor what else means missing.
    decimal, unit : str
        How numbers are written in text, as of `Notation`.
    missing : tuple of str
        Further values that mean missing.
    """

    role: ClassVar[str] = "number"

    name: str
    offset: float
    fill: float
    tells_missing: bool
    as_text: bool
    decimal: str = POINT
    unit: str = ""
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not np.isfinite([self.offset, self.fill]).all():
            raise InputError(f"column {self.name} is not encoded by finite numbers")
        if self.decimal not in (POINT, COMMA, GROUPED):
            raise InputError(f"column {self.name} has decimals after {self.decimal!r}")
        if not isinstance(self.unit, str):
            raise InputError(f"column {self.name} needs a sign in text")
        _check_missing(self)

    @property
    def features(self) -> list[str]:
        """Names of the features."""
        return [self.name, *([f"{self.name} is missing"] * self.tells_missing)]

    @property
    def notation(self) -> Notation:
        """How numbers are written in text."""
        return Notation(self.decimal, self.unit)

    @property
    def arrow_type(self) -> pa.DataType:
        """Type to read the column as."""
        return pa.string() if self.as_text else pa.float64()

    def encode(self, array: Values) -> Features:
        """Encode values, (n_rows,), as (n_rows, n_features)."""
        values = self.read(array)
        missing = ~np.isfinite(values)
        if missing.any():
            values = np.where(missing, self.fill, values)
        if self.offset:
            values = values - self.offset
        limit = np.finfo(np.float32).max
        number = np.clip(values, -limit, limit).astype(np.float32)
        if not self.tells_missing:
            return number[:, None]
        return np.stack([number, missing.astype(np.float32)], axis=1)

    def is_missing(self, array: Values) -> NDArray[np.bool_]:
        """Tell values that count as missing, (n_rows,)."""
        return ~np.isfinite(self.read(array))

    def read(self, array: Values) -> NDArray[np.float64]:
        """Return values as numbers, NaN where they are missing; (n_rows,)."""
        values = to_numbers(array, self.notation, self.missing)
        words = find_words(array, values, self.missing)
        if words.any():
            self._refuse(plain(array).filter(pa.array(words)))
        if self.unit == PERCENT and not is_text(value_type(array.type)):
            self._refuse_shares(values)
        return blank_numbers(values, self.notation, self.missing)

    def _refuse(self, words: pa.Array) -> None:
        """Refuse text that is no number."""
        other = find_other_decimal(words, self.notation)
        if other is None:
            sign = f" with the sign {self.unit}" if self.unit else ""
            raise pa.ArrowInvalid(f"{str(words[0])[:60]!r} is not a number{sign}")
        raise pa.ArrowInvalid(
            f"{other!r} is not written as in training, where decimals came after "
            f"{self.decimal[-1]!r}"
        )

    def _refuse_shares(self, values: NDArray[np.float64]) -> None:
        """Refuse numbers that may be shares where percentages were."""
        if not np.isnan(values).all():
            raise pa.ArrowInvalid(
                "values had a percent sign in training; numbers without one may be shares"
            )

    def show(self, array: Values) -> list[str]:
        """Put values into words, text as it was given."""
        given = plain(array).to_pylist()
        return [_show(*each) for each in zip(given, self.read(array), strict=True)]


@dataclass(frozen=True)
class CategoryColumn:
    """A category: one feature for each common value, and one for how common it is.

    A value that was not seen in training has none of the common values and is the
    rarest. Missing is a value like any other.

    Attributes
    ----------
    name : str
    values : tuple of str
        From the most to the least common, None for missing.
    log_shares : ndarray of shape (n_values + 1,)
        Logarithm of the share of rows with each value; the last is for new values.
    n_common : int
        The first so many values have a feature of their own.
    missing : tuple of str
        Further values that mean missing.
    """

    role: ClassVar[str] = "category"
    arrow_type: ClassVar[pa.DataType] = pa.string()

    name: str
    values: tuple[str | None, ...]
    log_shares: NDArray[np.float32]
    n_common: int
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        fits = self.log_shares.shape == (len(self.values) + 1,)
        if not fits or not np.isfinite(self.log_shares).all():
            raise InputError(f"column {self.name} needs a share for each of its values")
        if not 0 <= self.n_common <= len(self.values):
            raise InputError(f"column {self.name} has {len(self.values)} values")
        _check_missing(self)

    @property
    def tells_rarity(self) -> bool:
        """Whether there are values without a feature of their own."""
        return self.n_common < len(self.values)

    @property
    def features(self) -> list[str]:
        """Names of the features."""
        common = [
            f"{self.name} = {MISSING if value is None else value}"
            for value in self.values[: self.n_common]
        ]
        return [*common, *([f"{self.name}: how common"] * self.tells_rarity)]

    def encode(self, array: Values) -> Features:
        """Encode values, (n_rows,), as (n_rows, n_features)."""
        code = self._codes(array)
        one_hot = code[:, None] == np.arange(self.n_common)
        if not self.tells_rarity:
            return one_hot.astype(np.float32)
        return np.column_stack([one_hot, self.log_shares[code]]).astype(np.float32)

    def show(self, array: Values) -> list[str]:
        """Put values into words."""
        return [MISSING if v is None else str(v) for v in self.read(array).to_pylist()]

    def read(self, array: Values) -> pa.Array:
        """Return values as text in one spelling, null where they are missing."""
        return to_text(array, self.missing)

    def shares(self, array: Values) -> NDArray[np.float64]:
        """Share of training rows with the value of each row, 0 where it was new."""
        return np.exp(np.append(self.log_shares[:-1], -np.inf))[self._codes(array)]

    def _codes(self, array: Values) -> NDArray[np.intp]:
        """Place of each value among the known ones, the number of these if new."""
        known = pa.array(self.values, type=pa.large_string())
        found = pc.index_in(self.read(array), value_set=known)
        return pc.fill_null(found, len(self.values)).to_numpy(zero_copy_only=False)


_EXAMPLES = {
    YEAR_FIRST: "2025-01-31 08:30",
    DAY_FIRST: "31.01.2025 08:30",
    MONTH_FIRST: "01/31/2025 08:30",
    MONTH_NAMED: "31 Jan 2025 08:30",
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
        _check_missing(self)

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


Column = NumberColumn | CategoryColumn | DateColumn


def _check_missing(column: Column) -> None:
    """Refuse values that mean missing unless they are given as text."""
    stated = column.missing
    if not isinstance(stated, tuple) or not all(isinstance(v, str) for v in stated):
        raise InputError(f"column {column.name} needs text that means missing")


def _show(given: Any, value: float) -> str:
    """Show text and truth values as they were given, and numbers with a few digits."""
    if given is None or np.isnan(value):
        return MISSING
    if isinstance(given, bool):
        return str(given).lower()
    return given.strip() if isinstance(given, str) else _show_number(value)


def _show_number(value: float) -> str:
    """Write a number with the digits that matter."""
    if not np.isfinite(value):
        return str(value)
    whole = value == round(value) and abs(value) < 1e15
    return f"{value:,.0f}" if whole or 1e6 <= abs(value) < 1e15 else f"{value:,.6g}"
