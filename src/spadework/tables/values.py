"""Values of a column as numbers, text or points in time, whatever type they come in.

Values that mean the same come out the same, whatever type a file or a frame gives them.
That holds for what a user says means missing, too: -999 is also the number -999.0.
"""

from collections.abc import Sequence
from contextlib import suppress
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

YEAR_FIRST, DAY_FIRST, MONTH_FIRST = "year", "day", "month"
"""What comes first in a date in text."""

_NUMBER = {
    POINT: r"^[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i:inf(inity)?))$",
    COMMA: r"^[+-]?((\d{1,3}([. \x{a0}\x{202f}]\d{3})+|\d+)(,\d*)?|,\d+)([eE][+-]?\d+)?$",
}
_DATE = (
    r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
    r"([T ]([01]\d|2[0-3])(:?[0-5]\d){0,2}(\.\d*)?(Z|[+-]\d\d(:?\d\d)?)?)?$"
)
_YEAR_LAST = r"^(\d{1,2})[-./](\d{1,2})[-./](\d{4})"
_TO_YEAR_FIRST = {DAY_FIRST: r"\3-\2-\1", MONTH_FIRST: r"\3-\1-\2"}
_ONE_DIGIT = (
    (r"^(\d{4})-(\d)-", r"\1-0\2-"),
    (r"^(\d{4}-\d\d)-(\d)(\D|$)", r"\1-0\2\3"),
    (r"^(\S+) (\d):", r"\1 0\2:"),
)
_GROUP_MARKS = r"[. \x{a0}\x{202f}]"
_ZONE = r"[T ]\d.*(Z|[+-]\d\d(:?\d\d)?)$"
_TEXT = pa.large_string()
_EXACT = 2.0**53
_DAY, _DAY_LETTERS = 86_400, len("2024-03-01")


def to_numbers(
    array: Values, decimal: str = POINT, missing: Sequence[str] = ()
) -> NDArray[np.float64]:
    """Return values as float64, NaN where there is no number; (n_rows,).

    Of what means ``missing``, only text is looked for; `blank_numbers` does the rest.
    """
    array = simple(array)
    if pa.types.is_boolean(array.type):
        array = array.cast(_TEXT if missing else pa.int8())
    if is_text(array.type):
        array = _parse_numbers(plain(array, missing), decimal)
    values = array.cast(pa.float64(), safe=False)
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def blank_numbers(
    values: NDArray[np.float64], decimal: str, missing: Sequence[str]
) -> NDArray[np.float64]:
    """Return numbers, (n_rows,), with NaN for those that mean missing."""
    if not missing:
        return values
    return np.where(np.isin(values, numbers_among(missing, decimal)), np.nan, values)


def numbers_among(texts: Sequence[str], decimal: str) -> list[float]:
    """Return those texts that are numbers, as numbers."""
    return _match_numbers(pa.array(texts, type=_TEXT), decimal).drop_null().to_pylist()


def to_text(array: Values, missing: Sequence[str] = ()) -> pa.Array:
    """Return values as text: 1.0 as "1" and True as "true", of whatever type they are."""
    text = _spell(plain(array, missing))
    return _blank_text(text, missing) if missing else text


def to_days(
    array: Values, missing: Sequence[str] = (), first: str = YEAR_FIRST
) -> NDArray[np.float64]:
    """Return points in time as days since 1970, NaN where missing; (n_rows,)."""
    array = plain(array, missing)
    kind = array.type
    if is_text(kind):
        array = _parse_dates(_put_year_first(array, first))
    elif not (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        if array.null_count < len(array):
            raise pa.ArrowInvalid(f"expected points in time; got values of type {kind}")
    elif pa.types.is_timestamp(kind) and kind.tz:
        array = array.cast(pa.timestamp(kind.unit))
    if array.null_count == len(array):
        return np.full(len(array), np.nan)
    stamps = array.cast(pa.timestamp("us"), safe=False)
    ticks = stamps.cast(pa.int64()).cast(pa.float64(), safe=False)
    days = np.asarray(ticks, dtype=np.float64) / (1e6 * _DAY)
    if not missing:
        return days
    return np.where(np.isin(days, days_among(missing, first)), np.nan, days)


def days_among(texts: Sequence[str], first: str) -> list[float]:
    """Return those texts that are points in time as days since 1970."""
    days: list[float] = []
    for text in texts:
        with suppress(pa.ArrowException):
            days.extend(to_days(pa.array([text], type=_TEXT), first=first))
    return days


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


def plain(array: Values, missing: Sequence[str] = ()) -> pa.Array:
    """Return values in one array of a plain type; NaN and words for missing are null."""
    array = simple(array)
    kind = array.type
    if is_text(kind):
        bare = pc.utf8_trim_whitespace(array)
        known = pc.is_in(bare, value_set=pa.array(MISSING_WORDS, type=_TEXT))
        array = pc.if_else(known, None, array)
        return _blank_text(array, missing) if missing else array
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


def find_words(
    array: Values, values: NDArray[np.float64], missing: Sequence[str] = ()
) -> NDArray[np.bool_]:
    """Tell text that is not missing and was read as no number, (n_rows,)."""
    if not is_text(value_type(array.type)) or not np.isnan(values).any():
        return np.zeros(len(values), dtype=bool)
    return np.isnan(values) & plain(array, missing).is_valid().to_numpy(
        zero_copy_only=False
    )


def find_other_decimal(words: pa.Array, decimal: str) -> str | None:
    """Return the first text that is a number only with the other decimal mark."""
    other = COMMA if decimal == POINT else POINT
    found = pc.match_substring_regex(pc.utf8_trim_whitespace(words), _NUMBER[other])
    numbers = words.filter(found)
    return str(numbers[0])[:60] if len(numbers) else None


def find_no_dates(text: pa.Array, first: str = YEAR_FIRST) -> NDArray[np.bool_]:
    """Tell text that is no point in time, (n_rows,)."""
    text = _put_year_first(pc.utf8_trim_whitespace(text), first)
    wrong = ~pc.match_substring_regex(text, _DATE).to_numpy(zero_copy_only=False)
    days = pc.utf8_slice_codeunits(text.filter(pa.array(~wrong)), 0, _DAY_LETTERS)
    encoded = days.dictionary_encode()  # there are fewer days than points in time
    no_days = _find_unreadable(encoded.dictionary)
    wrong[~wrong] = no_days[encoded.indices.to_numpy(zero_copy_only=False)]
    wrong[~wrong] = _find_unreadable(text.filter(pa.array(~wrong)))
    return wrong


def _find_unreadable(text: pa.Array) -> NDArray[np.bool_]:
    """Tell what looks like a date and is none, such as February 30; (n_rows,)."""
    try:
        to_days(text)
    except pa.ArrowException:
        half = len(text) // 2
        if not half:
            return np.ones(1, dtype=bool)
        return np.concatenate(
            [_find_unreadable(text[:half]), _find_unreadable(text[half:])]
        )
    return np.zeros(len(text), dtype=bool)


def _blank_text(text: pa.Array, missing: Sequence[str]) -> pa.Array:
    """Return text with null where it means missing, spaces around it or not."""
    bare, stated = map(_bare, (text, pa.array(missing, type=_TEXT)))
    return pc.if_else(pc.is_in(bare, value_set=stated), None, text)


def words_among(texts: Sequence[str]) -> list[str]:
    """Return texts in one spelling, as `to_text` writes them."""
    return _bare(pa.array(texts, type=_TEXT)).to_pylist()


def _bare(text: pa.Array) -> pa.Array:
    """Return text in one spelling, without spaces around it."""
    return _one_spelling(pc.utf8_trim_whitespace(text))


def _match_numbers(text: pa.Array, decimal: str) -> pa.Array:
    """Read text as numbers, all else as null."""
    text = pc.utf8_trim_whitespace(text)
    numbers = pc.if_else(pc.match_substring_regex(text, _NUMBER[decimal]), text, None)
    if decimal == COMMA:
        numbers = pc.replace_substring_regex(numbers, _GROUP_MARKS, "")
        numbers = pc.replace_substring(numbers, COMMA, POINT)
    return numbers.cast(pa.float64())


def _parse_numbers(text: pa.Array, decimal: str) -> pa.Array:
    """Read text as numbers, "true" and "false" as 1 and 0, all else as null."""
    numbers = _match_numbers(text, decimal)
    if numbers.null_count == text.null_count:
        return numbers
    truth = pa.array(["false", "true"], type=_TEXT)
    lower = pc.utf8_lower(pc.utf8_trim_whitespace(text))
    return pc.coalesce(numbers, pc.index_in(lower, value_set=truth).cast(pa.float64()))


def _put_year_first(text: pa.Array, first: str) -> pa.Array:
    """Write dates with the day or the month first as ISO does, 3/31/2025 8:05 too."""
    if first == YEAR_FIRST:
        return text
    text = pc.utf8_trim_whitespace(text)
    text = pc.replace_substring_regex(text, _YEAR_LAST, _TO_YEAR_FIRST[first])
    for pattern, spelling in _ONE_DIGIT:
        text = pc.replace_substring_regex(text, pattern, spelling)
    return text


def _parse_dates(text: pa.Array) -> pa.Array:
    """Read ISO text as points in time, those with a zone in UTC."""
    text = pc.utf8_trim_whitespace(text)
    text = pc.replace_substring_regex(text, r"(\.\d{6})\d+", r"\1")
    zoned = pc.match_substring_regex(text, _ZONE)
    in_utc = pc.if_else(zoned, text, None).cast(pa.timestamp("us", "UTC"))
    local = pc.if_else(zoned, None, text).cast(pa.timestamp("us"))
    return pc.coalesce(local, in_utc.cast(pa.timestamp("us")))


def _spell(array: pa.Array) -> pa.Array:
    """Write plain values as text, in one spelling."""
    if is_text(array.type):
        encoded = array.dictionary_encode()
        return _one_spelling(encoded.dictionary).take(encoded.indices)
    if pa.types.is_floating(array.type):
        whole = pc.and_(pc.equal(array, pc.floor(array)), pc.less(pc.abs(array), _EXACT))
        as_int = pc.if_else(whole, array, None).cast(pa.int64(), safe=False)
        return pc.if_else(whole, as_int.cast(_TEXT), array.cast(_TEXT))
    return array.cast(_TEXT)


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
