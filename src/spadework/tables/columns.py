"""One column of a table as numbers: how it is encoded, kept as plain data.

Each kind of column is fitted once and holds nothing but names and numbers. It turns an
Arrow array into one or more features, the same whenever and wherever rows are scored:
values that mean the same have one form, whatever type a file or a frame gives them.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
from numpy.typing import NDArray

from spadework.errors import InputError

pc: Any = pyarrow.compute  # its functions are made when it is imported

Values = Any
"""Values of one column, (n_rows,): an Arrow array, chunked or not, of any type."""

Features = NDArray[np.float32]
"""Features of rows, (n_rows, n_features)."""

MISSING = "missing"
MISSING_WORDS: list[str] = pyarrow.csv.ConvertOptions().null_values
"""Text that means a missing value, in a text file as in a frame."""

_NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$"
_ZONE = r"[T ]\d.*(Z|[+-]\d\d(:?\d\d)?)$"
_TEXT = pa.large_string()
_EXACT = 2.0**53
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
        Whether text is read by us: "true" and "false" are 1 and 0, and what is no
        number counts as missing. Otherwise such text is refused.
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

    def encode(self, array: Values) -> Features:
        """Encode values, (n_rows,), as (n_rows, n_features)."""
        values = to_numbers(array)
        if not self.as_text:
            _refuse_words(array, values)
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

    def show(self, array: Values) -> list[str]:
        """Put values into words."""
        return [_show_number(value) for value in to_numbers(array)]


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

    def encode(self, array: Values) -> Features:
        """Encode values, (n_rows,), as (n_rows, n_features)."""
        code = self._codes(array)
        one_hot = code[:, None] == np.arange(self.n_common)
        if not self.tells_rarity:
            return one_hot.astype(np.float32)
        return np.column_stack([one_hot, self.log_shares[code]]).astype(np.float32)

    def show(self, array: Values) -> list[str]:
        """Put values into words."""
        return [MISSING if v is None else str(v) for v in to_text(array).to_pylist()]

    def shares(self, array: Values) -> NDArray[np.float64]:
        """Share of training rows with the value of each row, 0 where it was new."""
        return np.exp(np.append(self.log_shares[:-1], -np.inf))[self._codes(array)]

    def _codes(self, array: Values) -> NDArray[np.intp]:
        """Place of each value among the known ones, the number of these if new."""
        known = pa.array(self.values, type=_TEXT)
        found = pc.index_in(to_text(array), value_set=known)
        return pc.fill_null(found, len(self.values)).to_numpy(zero_copy_only=False)


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
    """

    role: ClassVar[str] = "date"
    arrow_type: ClassVar[pa.DataType] = pa.string()

    name: str
    origin: float
    fill: float
    tells_missing: bool
    tells_hour: bool

    def __post_init__(self) -> None:
        if not np.isfinite([self.origin, self.fill]).all():
            raise InputError(f"column {self.name} is not encoded by finite numbers")

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
        days = to_days(array)
        missing = np.isnan(days)
        days = np.where(missing, self.origin + self.fill, days)
        columns = [days - self.origin, (np.floor(days) + 3) % 7]
        if self.tells_hour:
            columns.append(24 * (days % 1))
        if self.tells_missing:
            columns.append(missing)
        return np.stack(columns, axis=1).astype(np.float32)

    def show(self, array: Values) -> list[str]:
        """Put points in time into words."""
        unit = "s" if self.tells_hour else "D"
        return [
            MISSING
            if np.isnan(day)
            else str(np.datetime64(round(day * _DAY), "s").astype(f"datetime64[{unit}]"))
            for day in to_days(array)
        ]


Column = NumberColumn | CategoryColumn | DateColumn


def to_numbers(array: Values) -> NDArray[np.float64]:
    """Return values as float64, NaN where there is no number; (n_rows,)."""
    array = simple(array)
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.int8())
    elif is_text(array.type):
        array = _parse_numbers(plain(array))
    values = array.cast(pa.float64(), safe=False)
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def to_text(array: Values) -> pa.Array:
    """Return values as text: 1.0 as "1" and True as "true", of whatever type they are."""
    array = plain(array)
    if is_text(array.type):
        encoded = array.dictionary_encode()
        return _one_spelling(encoded.dictionary).take(encoded.indices)
    if pa.types.is_floating(array.type):
        whole = pc.and_(pc.equal(array, pc.floor(array)), pc.less(pc.abs(array), _EXACT))
        as_int = pc.if_else(whole, array, None).cast(pa.int64(), safe=False)
        return pc.if_else(whole, as_int.cast(_TEXT), array.cast(_TEXT))
    return array.cast(_TEXT)


def to_days(array: Values) -> NDArray[np.float64]:
    """Return points in time as days since 1970, NaN where missing; (n_rows,)."""
    array = plain(array)
    kind = array.type
    if is_text(kind):
        array = _parse_dates(array)
    elif not (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        if array.null_count < len(array):
            raise pa.ArrowInvalid(f"expected points in time; got values of type {kind}")
    elif pa.types.is_timestamp(kind) and kind.tz:
        array = array.cast(pa.timestamp(kind.unit))
    if array.null_count == len(array):
        return np.full(len(array), np.nan)
    stamps = array.cast(pa.timestamp("us"), safe=False)
    ticks = stamps.cast(pa.int64()).cast(pa.float64()).to_numpy(zero_copy_only=False)
    return np.asarray(ticks, dtype=np.float64) / (1e6 * _DAY)


def simple(array: Values) -> pa.Array:
    """Return values in one array: no dictionary or extension, and one type of text."""
    kind = value_type(array.type)
    if kind != array.type:
        array = array.cast(kind)
    if is_text(kind):
        array = array.cast(_TEXT)
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if getattr(kind, "extension_name", "") == "arrow.uuid":
        return pa.array([None if v is None else str(v) for v in array.to_pylist()], _TEXT)
    return array


def value_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of the values themselves, of dictionaries and of named text."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    is_named = isinstance(kind, pa.BaseExtensionType) and is_text(kind.storage_type)
    return kind.storage_type if is_named else kind


def plain(array: Values) -> pa.Array:
    """Return values in one array of a plain type; NaN and words for missing are null."""
    array = simple(array)
    kind = array.type
    if is_text(kind):
        missing = pc.is_in(array, value_set=pa.array(MISSING_WORDS, type=_TEXT))
        return pc.if_else(missing, None, array)
    if pa.types.is_float16(kind):
        array = array.cast(pa.float32())
    elif pa.types.is_decimal(kind):
        array = array.cast(pa.float64())
    if pa.types.is_floating(array.type):
        return pc.if_else(pc.is_nan(array), None, array)
    return array


def is_text(kind: pa.DataType) -> bool:
    """Tell the Arrow types of text."""
    return (
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
    )


def _parse_numbers(text: pa.Array) -> pa.Array:
    """Read text as numbers, "true" and "false" as 1 and 0, all else as missing."""
    text = pc.utf8_trim_whitespace(text)
    is_number = pc.match_substring_regex(text, _NUMBER)
    numbers = pc.if_else(is_number, text, None).cast(pa.float64())
    if numbers.null_count == text.null_count:
        return numbers
    truth = pa.array(["false", "true"], type=_TEXT)
    found = pc.index_in(pc.utf8_lower(text), value_set=truth)
    return pc.coalesce(numbers, found.cast(pa.float64()))


def _parse_dates(text: pa.Array) -> pa.Array:
    """Read ISO text as points in time, those with a zone in UTC."""
    text = pc.utf8_trim_whitespace(text)
    text = pc.replace_substring_regex(text, r"(\.\d{6})\d+", r"\1")
    zoned = pc.match_substring_regex(text, _ZONE)
    in_utc = pc.if_else(zoned, text, None).cast(pa.timestamp("us", "UTC"))
    local = pc.if_else(zoned, None, text).cast(pa.timestamp("us"))
    return pc.coalesce(local, in_utc.cast(pa.timestamp("us")))


def _one_spelling(names: pa.Array) -> pa.Array:
    """Spell whole numbers and truth values as other types of columns would."""
    for pattern, spelling in (
        (r"^([+-]?\d+)\.0*$", r"\1"),
        (r"^-0$", "0"),
        (r"(?i)^true$", "true"),
        (r"(?i)^false$", "false"),
    ):
        names = pc.replace_substring_regex(names, pattern, spelling)
    return names


def _refuse_words(array: Values, values: NDArray[np.float64]) -> None:
    """Refuse text that is no number, in a column that has held numbers only."""
    if not is_text(simple(array).type):
        return
    array = plain(array)
    wrong = np.isnan(values) & array.is_valid().to_numpy(zero_copy_only=False)
    if wrong.any():
        word = array[int(np.flatnonzero(wrong)[0])].as_py()
        raise pa.ArrowInvalid(f"{word[:60]!r} is not a number")


def _show_number(value: float) -> str:
    """Write a number with the digits that matter."""
    if not np.isfinite(value):
        return MISSING
    whole = value == round(value) and abs(value) < 1e15
    return f"{value:,.0f}" if whole or 1e6 <= abs(value) < 1e15 else f"{value:,.6g}"
