"""One column of a table as numbers: how it is encoded, kept as plain data.

Each kind of column is fitted once and holds nothing but names and numbers. It turns an
Arrow array into one or more features, the same whenever and wherever rows are scored.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from spadework.errors import InputError

pc: Any = pyarrow.compute  # its functions are made when it is imported

Features = NDArray[np.float32]
"""Features of rows, (n_rows, n_features)."""

MISSING = "missing"
_NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"
_DAY = 86_400


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
        Whether numbers come as text, of which some may be no number: they count as
        missing.
    """

    role: ClassVar[str] = "number"

    name: str
    offset: float
    fill: float
    tells_missing: bool
    as_text: bool

    def __post_init__(self) -> None:
        if not np.isfinite([self.offset, self.fill]).all():
            raise InputError(f"column {self.name} is not encoded by finite numbers")

    @property
    def features(self) -> list[str]:
        """Names of the features."""
        return [self.name, *([f"{self.name} is missing"] * self.tells_missing)]

    @property
    def arrow_type(self) -> pa.DataType:
        """Type to read the column as."""
        return pa.string() if self.as_text else pa.float64()

    def encode(self, array: pa.Array) -> Features:
        """Encode values, (n_rows,), as (n_rows, n_features)."""
        values = to_numbers(array)
        missing = ~np.isfinite(values)
        centred = np.where(missing, self.fill, values) - self.offset
        limit = np.finfo(np.float32).max
        number = np.clip(centred, -limit, limit).astype(np.float32)
        if not self.tells_missing:
            return number[:, None]
        return np.stack([number, missing.astype(np.float32)], axis=1)

    def show(self, array: pa.Array) -> list[str]:
        """Put values into words."""
        return [
            f"{value:,.6g}" if np.isfinite(value) else MISSING
            for value in to_numbers(array)
        ]


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
    """

    role: ClassVar[str] = "category"
    arrow_type: ClassVar[pa.DataType] = pa.string()

    name: str
    values: tuple[str | None, ...]
    log_shares: NDArray[np.float32]
    n_common: int

    def __post_init__(self) -> None:
        fits = self.log_shares.shape == (len(self.values) + 1,)
        if not fits or not np.isfinite(self.log_shares).all():
            raise InputError(f"column {self.name} needs a share for each of its values")
        if not 0 <= self.n_common <= len(self.values):
            raise InputError(f"column {self.name} has {len(self.values)} values")

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

    def encode(self, array: pa.Array) -> Features:
        """Encode values, (n_rows,), as (n_rows, n_features)."""
        code = self._codes(array)
        one_hot = code[:, None] == np.arange(self.n_common)
        if not self.tells_rarity:
            return one_hot.astype(np.float32)
        return np.column_stack([one_hot, self.log_shares[code]]).astype(np.float32)

    def show(self, array: pa.Array) -> list[str]:
        """Put values into words."""
        return [MISSING if v is None else str(v) for v in to_text(array).to_pylist()]

    def _codes(self, array: pa.Array) -> NDArray[np.intp]:
        """Place of each value among the known ones, the number of these if new."""
        known = pa.array(self.values, type=pa.string())
        found = pc.index_in(to_text(array), value_set=known)
        return pc.fill_null(found, len(self.values)).to_numpy(zero_copy_only=False)


@dataclass(frozen=True)
class DateColumn:
    """A point in time: days since the first in training, and where in day and week.

    Attributes
    ----------
    name : str
    unit : str
        Arrow type it is read as.
    origin, fill : float
        First day of training, and days since then that stand for a missing value.
    tells_missing : bool
    tells_hour : bool
        Whether there is a time of day.
    """

    role: ClassVar[str] = "date"

    name: str
    unit: str
    origin: float
    fill: float
    tells_missing: bool
    tells_hour: bool

    def __post_init__(self) -> None:
        if not np.isfinite([self.origin, self.fill]).all():
            raise InputError(f"column {self.name} is not encoded by finite numbers")

    @property
    def arrow_type(self) -> pa.DataType:
        """Type to read the column as."""
        return parse_type(self.unit)

    @property
    def features(self) -> list[str]:
        """Names of the features."""
        return [
            f"{self.name}: day",
            f"{self.name}: weekday",
            *([f"{self.name}: hour"] * self.tells_hour),
            *([f"{self.name} is missing"] * self.tells_missing),
        ]

    def encode(self, array: pa.Array) -> Features:
        """Encode points in time, (n_rows,), as (n_rows, n_features)."""
        days = to_days(array)
        missing = np.isnan(days)
        days = np.where(missing, self.origin + self.fill, days)
        columns = [days - self.origin, (np.floor(days) + 3) % 7]
        if self.tells_hour:
            columns.append(24 * (days % 1))
        if self.tells_missing:
            columns.append(missing)
        return np.stack(columns, axis=1).astype(np.float32)

    def show(self, array: pa.Array) -> list[str]:
        """Put points in time into words."""
        unit = "s" if self.tells_hour else "D"
        return [
            MISSING
            if np.isnan(day)
            else str(np.datetime64(round(day * _DAY), "s").astype(f"datetime64[{unit}]"))
            for day in to_days(array)
        ]


Column = NumberColumn | CategoryColumn | DateColumn


def to_numbers(array: pa.Array) -> NDArray[np.float64]:
    """Return values as float64, NaN where there is no number; (n_rows,)."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        array, kind = array.cast(kind.value_type), kind.value_type
    if pa.types.is_boolean(kind):
        array = array.cast(pa.int8())
    elif is_text(kind):
        is_number = pc.match_substring_regex(array, _NUMBER)
        array = pc.utf8_trim_whitespace(pc.if_else(is_number, array, None))
    values = array.cast(pa.float64(), safe=False)
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def to_text(array: pa.Array) -> pa.Array:
    """Return values as text; whole numbers look alike whether int or float."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        array, kind = array.cast(kind.value_type), kind.value_type
    if pa.types.is_floating(kind):
        whole = pc.equal(array, pc.floor(array))
        as_int = pc.if_else(whole, array, None).cast(pa.int64(), safe=False)
        return pc.if_else(whole, as_int.cast(pa.string()), array.cast(pa.string()))
    return array.cast(pa.string())


def to_days(array: pa.Array) -> NDArray[np.float64]:
    """Return points in time as days since 1970, NaN where missing; (n_rows,)."""
    if is_text(array.type):
        array = pc.cast(array, pa.timestamp("us"))
    kind = array.type
    if pa.types.is_timestamp(kind) and kind.tz:
        array = array.cast(pa.timestamp(kind.unit))
    stamps = array.cast(pa.timestamp("us"), safe=False)
    ticks = stamps.cast(pa.int64()).cast(pa.float64()).to_numpy(zero_copy_only=False)
    return np.asarray(ticks, dtype=np.float64) / (1e6 * _DAY)


def is_text(kind: pa.DataType) -> bool:
    """Tell the Arrow types of text."""
    return (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
    )


def parse_type(name: str) -> pa.DataType:
    """Return the date type of a name, as ``str`` of the type gives it."""
    known = [pa.date32(), pa.date64(), pa.string()]
    known += [pa.timestamp(unit) for unit in ("s", "ms", "us", "ns")]
    for kind in known:
        if str(kind) == name:
            return kind
    raise InputError(f"{name!r} is not a type of dates")
