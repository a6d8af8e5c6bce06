"""One column of a table as numbers: how it is encoded, kept as plain data.

Each kind of column is fitted once and holds nothing but names and numbers. It turns an
Arrow array into one or more features, the same whenever and wherever rows are scored.

Of every kind, ``missing`` are further values that mean missing. If ``tells_missing``,
values were missing in training: then the last feature says where, and ``fill`` stands
for them.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from spadework.arrays import Flags, Floats, Marks, Positions, Singles
from spadework.errors import InputError
from spadework.tables import dates, numerals
from spadework.tables.values import Values, is_text, pc, plain, to_text, value_type

Features = Singles
"""Features of rows, (n_rows, n_features)."""

MISSING = "missing"

WEEKDAY, HOUR = 1, 2
"""Where features of a date are, behind its day."""

_EXAMPLES = {
    dates.YEAR_FIRST: "2025-01-31 08:30",
    dates.DAY_FIRST: "31.01.2025 08:30",
    dates.MONTH_FIRST: "01/31/2025 08:30",
    dates.MONTH_NAMED: "31 Jan 2025 08:30 or 2025-01-31",
}


@dataclass(frozen=True)
class NumberColumn:
    """A number; missing and infinite values take a middle value and are told apart.

    ``offset`` is subtracted, so that large numbers keep their differences in float32. If
    ``as_text``, the cells of a text file are read here and not by its reader, which knows
    neither "true" among numbers nor what else means missing. ``decimal`` and ``unit`` say
    how numbers are written in text, as of `Notation`.
    """

    role: ClassVar[str] = "number"

    name: str
    offset: float
    fill: float
    tells_missing: bool
    as_text: bool
    decimal: str = numerals.POINT
    unit: str = ""
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_numbers(self.name, self.offset, self.fill)
        if self.decimal not in (numerals.POINT, numerals.COMMA, numerals.GROUPED):
            raise InputError(f"column {self.name} has decimals after {self.decimal!r}")
        if not isinstance(self.unit, str):
            raise InputError(f"column {self.name} needs a sign in text")
        _check_column(self.name, self.missing, self.tells_missing, self.as_text)

    @property
    def features(self) -> list[str]:
        """Names of the features."""
        return [self.name, *([f"{self.name} is missing"] * self.tells_missing)]

    @property
    def notation(self) -> numerals.Notation:
        """How numbers are written in text."""
        return numerals.Notation(self.decimal, self.unit)

    @property
    def arrow_type(self) -> pa.DataType:
        """Type to read the column as."""
        return pa.string() if self.as_text else pa.float64()

    def encode(self, array: Values) -> Features:
        """Encode values, (n_rows,), as (n_rows, n_features)."""
        values = self.read(array)
        missing = ~np.isfinite(values)
        limit = np.finfo(np.float32).max
        number = np.where(missing, self.fill, values) - self.offset
        encoded = [np.clip(number, -limit, limit), *([missing] * self.tells_missing)]
        return np.stack(encoded, axis=1).astype(np.float32)

    def read(self, array: Values) -> Floats:
        """Return values as numbers, NaN where they are missing; (n_rows,)."""
        values = numerals.to_numbers(array, self.notation, self.missing)
        words = numerals.find_words(array, values, self.missing)
        if words.any():
            raise pa.ArrowInvalid(self._why_no_number(plain(array).filter(words)))
        needs_unit = self.notation.needs_unit and not is_text(value_type(array.type))
        if needs_unit and not np.isnan(values).all():
            raise pa.ArrowInvalid(
                f"values had {self.unit} behind or before them in training; numbers "
                f"without it may mean others"
            )
        return numerals.blank_numbers(values, self.notation, self.missing)

    def _why_no_number(self, words: pa.Array) -> str:
        """Say what is wrong with text that is no number."""
        other = numerals.find_other_decimal(words, self.notation)
        if other is None:
            sign = f" with {self.unit}" if self.unit else ""
            return f"{str(words[0])[:60]!r} is not a number{sign}"
        if self.decimal == numerals.POINT:
            return (
                f"{other!r} has a mark that no number in training told the meaning of: "
                f"it may part thousands or decimals"
            )
        return (
            f"{other!r} is not written as in training, where decimals came after "
            f"{self.decimal[-1]!r}"
        )

    def show(self, array: Values) -> list[str]:
        """Put values into words, text as it was given."""
        given = plain(array).to_pylist()
        return [_show(*each) for each in zip(given, self.read(array), strict=True)]


def _show(given: Any, value: float) -> str:
    """Show text and truth values as they were given, and numbers with a few digits."""
    if given is None or np.isnan(value):
        return MISSING
    if isinstance(given, bool):
        return str(given).lower()
    if isinstance(given, str):
        return given.strip()
    if not np.isfinite(value):
        return str(value)
    whole = value == round(value) and abs(value) < 1e15
    return f"{value:,.0f}" if whole or 1e6 <= abs(value) < 1e15 else f"{value:,.6g}"


@dataclass(frozen=True)
class CategoryColumn:
    """A category: one feature for each common value, and one for how common it is.

    A value that was not seen in training has none of the common values and is as rare as
    one that was seen once. Missing is a value like any other, None among the ``values``.
    These go from the most to the least common; the first ``n_common`` have a feature of
    their own. ``log_shares``, (n_values + 1,), are logarithms of the share of rows with
    each; the last is for new values.
    """

    role: ClassVar[str] = "category"
    arrow_type: ClassVar[pa.DataType] = pa.string()

    name: str
    values: tuple[str | None, ...]
    log_shares: Singles
    n_common: int
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        fits = self.log_shares.shape == (len(self.values) + 1,)
        if not fits or not np.isfinite(self.log_shares).all():
            raise InputError(f"column {self.name} needs a share for each of its values")
        if not 0 <= self.n_common <= len(self.values):
            raise InputError(f"column {self.name} has {len(self.values)} values")
        _check_column(self.name, self.missing)

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

    def shares(self, array: Values) -> Floats:
        """Share of training rows with the value of each row, 0 where it was new."""
        return np.exp(np.append(self.log_shares[:-1], -np.inf))[self._codes(array)]

    def mark(self, array: Values) -> Marks:
        """Mark values, known or new, (n_rows,); those that differ hardly ever alike."""
        encoded = pc.dictionary_encode(self.read(array), null_encoding="encode")
        marks = [_mark(value) for value in encoded.dictionary.to_pylist()]
        return np.array(marks, np.uint64)[np.asarray(encoded.indices)]

    def name_of(self, mark: int) -> str:
        """Say which value has a mark."""
        for value in self.values:
            if _mark(value) == mark:
                return MISSING if value is None else value
        return "a new value"

    def _codes(self, array: Values) -> Positions:
        """Place of each value among the known ones, the number of these if new."""
        known = pa.array(self.values, type=pa.large_string())
        found = pc.index_in(self.read(array), value_set=known)
        return pc.fill_null(found, len(self.values)).to_numpy(zero_copy_only=False)


def _mark(value: str | None) -> int:
    """Return a number that hardly any other value has; that of missing is 0."""
    if value is None:
        return 0
    return int.from_bytes(blake2b(value.encode(), digest_size=8).digest(), "little")


@dataclass(frozen=True)
class DateColumn:
    """A point in time: days since the first in training, and where in day and week.

    Times with a zone are counted in UTC, all others as they are. ``origin`` is the first
    day of training, ``first`` what dates in text begin with: "year", "day" or "month";
    or "name".
    """

    role: ClassVar[str] = "date"
    arrow_type: ClassVar[pa.DataType] = pa.string()

    name: str
    origin: float
    fill: float
    tells_missing: bool
    tells_hour: bool
    missing: tuple[str, ...] = ()
    first: str = dates.YEAR_FIRST

    def __post_init__(self) -> None:
        _check_numbers(self.name, self.origin, self.fill)
        if self.first not in _EXAMPLES:
            raise InputError(f"column {self.name} has dates that begin with {self.first}")
        _check_column(self.name, self.missing, self.tells_missing, self.tells_hour)

    @property
    def features(self) -> list[str]:
        """Names of the features."""
        names = [f"{self.name}: day", f"{self.name}: weekday"]
        names += [f"{self.name}: hour"] * self.tells_hour
        return names + [f"{self.name} is missing"] * self.tells_missing

    def encode(self, array: Values) -> Features:
        """Encode points in time, (n_rows,), as (n_rows, n_features)."""
        days = self.read(array)
        missing = np.isnan(days)
        days = np.where(missing, self.origin + self.fill, days)
        columns = [days - self.origin, (np.floor(days) + 3) % 7]
        columns += [24 * (days % 1)] * self.tells_hour + [missing] * self.tells_missing
        return np.stack(columns, axis=1).astype(np.float32)

    def read(self, array: Values) -> Floats:
        """Return values as days since 1970, NaN where they are missing; (n_rows,)."""
        try:
            return dates.to_days(array, self.missing, self.first)
        except pa.ArrowException as error:
            known = plain(array, self.missing).drop_null()
            if not is_text(known.type):
                raise
            wrong = known.filter(pa.array(dates.find_no_dates(known, self.first)))
            raise pa.ArrowInvalid(
                f"{str(wrong[0])[:60]!r} is no date such as {_EXAMPLES[self.first]}"
            ) from error

    def show(self, array: Values) -> list[str]:
        """Put points in time into words."""
        return [
            MISSING if np.isnan(day) else dates.show_day(day, with_time=self.tells_hour)
            for day in self.read(array)
        ]


@dataclass(frozen=True)
class TimeColumn:
    """A time of day, in hours since midnight."""

    role: ClassVar[str] = "time"
    arrow_type: ClassVar[pa.DataType] = pa.string()

    name: str
    fill: float
    tells_missing: bool
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _check_numbers(self.name, self.fill)
        _check_column(self.name, self.missing, self.tells_missing)

    @property
    def features(self) -> list[str]:
        """Names of the features."""
        return [f"{self.name}: hour", *([f"{self.name} is missing"] * self.tells_missing)]

    def encode(self, array: Values) -> Features:
        """Encode times of day, (n_rows,), as (n_rows, n_features)."""
        hours = self.read(array)
        missing = np.isnan(hours)
        columns = [np.where(missing, self.fill, hours), *([missing] * self.tells_missing)]
        return np.stack(columns, axis=1).astype(np.float32)

    def read(self, array: Values) -> Floats:
        """Return values as hours since midnight, NaN where missing; (n_rows,)."""
        known = plain(array, self.missing)
        if is_text(known.type):
            wrong = known.filter(pa.array(dates.find_no_times(known)))
            if len(wrong):
                raise pa.ArrowInvalid(
                    f"{str(wrong[0])[:60]!r} is no time of day such as 08:30"
                )
        return dates.to_hours(known, self.missing)

    def show(self, array: Values) -> list[str]:
        """Put times of day into words."""
        hours = self.read(array)
        return [MISSING if np.isnan(hour) else dates.show_hour(hour) for hour in hours]


MeasuredColumn = NumberColumn | DateColumn | TimeColumn
"""What has a middle; a category has none."""

Column = MeasuredColumn | CategoryColumn


def find_missing(column: MeasuredColumn, array: Values) -> Flags:
    """Tell values that count as missing, (n_rows,)."""
    return ~np.isfinite(column.read(array))


def _check_numbers(name: object, *numbers: float) -> None:
    """Refuse to encode by what is not finite."""
    if not np.isfinite(numbers).all():
        raise InputError(f"column {name} is not encoded by finite numbers")


def _check_column(name: object, missing: object, *flags: object) -> None:
    """Refuse a name, values that mean missing or flags of another type than theirs."""
    if not isinstance(name, str):
        raise InputError(f"a column needs text as its name; got {name!r}")
    if not isinstance(missing, tuple) or not all(isinstance(v, str) for v in missing):
        raise InputError(f"column {name} needs text that means missing")
    if not all(isinstance(flag, bool) for flag in flags):
        raise InputError(f"column {name} needs True or False")
