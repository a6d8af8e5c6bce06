"""Values of a column as numbers, text or points in time, whatever type they come in.

Values that mean the same come out the same, whatever type a file or a frame gives them.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
from numpy.typing import NDArray

pc: Any = pyarrow.compute  # its functions are made when it is imported

Values = Any
"""Values of one column, (n_rows,): an Arrow array, chunked or not, of any type."""

MISSING_WORDS: list[str] = pyarrow.csv.ConvertOptions().null_values
"""Text that means a missing value, in a text file as in a frame."""

POINT, COMMA = ".", ","
"""What parts the decimals of a number in text; a comma may have groups before it."""

_NUMBER = {
    POINT: r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$",
    COMMA: r"^[+-]?((\d{1,3}([. \x{a0}\x{202f}]\d{3})+|\d+)(,\d*)?|,\d+)([eE][+-]?\d+)?$",
}
_GROUP_MARKS = r"[. \x{a0}\x{202f}]"
_ZONE = r"[T ]\d.*(Z|[+-]\d\d(:?\d\d)?)$"
_TEXT = pa.large_string()
_EXACT = 2.0**53
_DAY = 86_400


def to_numbers(array: Values, decimal: str = POINT) -> NDArray[np.float64]:
    """Return values as float64, NaN where there is no number; (n_rows,)."""
    array = simple(array)
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.int8())
    elif is_text(array.type):
        array = _parse_numbers(plain(array), decimal)
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


def show_day(day: float, *, with_time: bool) -> str:
    """Write a point in time, given as days since 1970."""
    second = np.datetime64(round(day * _DAY), "s")
    shown = second if with_time else second.astype("datetime64[D]")
    return str(shown).replace("T", " ")


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


def find_other_decimal(
    array: Values, values: NDArray[np.float64], decimal: str
) -> str | None:
    """Return the first text that is a number only with the other decimal mark."""
    if not is_text(value_type(array.type)) or not np.isnan(values).any():
        return None
    text = plain(array).filter(pa.array(np.isnan(values))).drop_null()
    other = COMMA if decimal == POINT else POINT
    found = pc.match_substring_regex(pc.utf8_trim_whitespace(text), _NUMBER[other])
    numbers = text.filter(found)
    return str(numbers[0])[:60] if len(numbers) else None


def _parse_numbers(text: pa.Array, decimal: str) -> pa.Array:
    """Read text as numbers, "true" and "false" as 1 and 0, all else as missing."""
    text = pc.utf8_trim_whitespace(text)
    is_number = pc.match_substring_regex(text, _NUMBER[decimal])
    numbers = pc.if_else(is_number, text, None)
    if decimal == COMMA:
        numbers = pc.replace_substring_regex(numbers, _GROUP_MARKS, "")
        numbers = pc.replace_substring(numbers, COMMA, POINT)
    numbers = numbers.cast(pa.float64())
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
