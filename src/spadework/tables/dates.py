"""Points in time, in text however they are written there."""

from collections.abc import Sequence
from contextlib import suppress

import numpy as np
import pyarrow as pa

from spadework.arrays import Flags, Floats
from spadework.tables.values import TEXT, Values, is_text, once_each, pc, plain, tidy

YEAR_FIRST, DAY_FIRST, MONTH_FIRST, MONTH_NAMED = "year", "day", "month", "name"
"""What comes first in a date in text; the last stands for dates that are clear in any
order, as where the month has a name."""

_DATE = (
    r"^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])"
    r"([T ]([01]\d|2[0-3])(:[0-5]\d(:[0-5]\d(\.\d+)?)?)?"
    r"(Z|[+-]([01]\d|2[0-3])(:?[0-5]\d)?)?)?$"
)
_YEAR_LAST = r"^(\d{1,2})[-./](\d{1,2})[-./](\d{4})"
_TO_YEAR_FIRST = {DAY_FIRST: r"\3-\2-\1", MONTH_FIRST: r"\3-\1-\2"}
_AS_IN_ISO = (
    (r"^(\d{4})/(\d{1,2})/(\d{1,2})\b", r"\1-\2-\3"),
    (r"^(\d{4})-(\d)-", r"\1-0\2-"),
    (r"^(\d{4}-\d\d)-(\d)(\D|$)", r"\1-0\2\3"),
    (r"^([-\d]+),? +", r"\1 "),
    (r"^(\S+) (\d):", r"\1 0\2:"),
    (r"(:\d\d),(\d+)", r"\1.\2"),
    (r" ([+-]\d\d:?\d\d)$", r"\1"),
    (r" ?(UTC|GMT)$", "Z"),
)
_NAMED = (
    r"^(?P<day>\d{1,2})[-./ ]+(?P<month>\pL{3,9})[-./, ]+(?P<year>\d{4})(?P<rest>|\D.*)$",
    r"^(?P<month>\pL{3,9})[-./ ]+(?P<day>\d{1,2})[-./, ]+(?P<year>\d{4})(?P<rest>|\D.*)$",
)
_MONTHS = (
    "january february march april may june "
    "july august september october november december"
).split()
_MONTH_NAMES = [*_MONTHS, *(month[:3] for month in _MONTHS), "sept"]
_MONTH_NUMBERS = [*(2 * [f"{number:02}" for number in range(1, 13)]), "09"]
_BY_HALF_DAYS = (
    r"^(?P<before>|.* )(?P<hour>0?[1-9]|1[0-2])(?P<rest>(?::[0-5]\d){1,2}(?:\.\d+)?)"
    r" ?(?P<half>[AaPp])\.?[Mm]\.?$"
)
_HALF_DAY = r":[0-5]\d(\.\d+)? ?[AaPp]\.?[Mm]\.?$"
_ZONE = r"[T ]\d.*(Z|[+-]\d\d(:?\d\d)?)$"
_TIME = r"^([01]?\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d+)?)?$"
_LENGTH = r"^-?\d+:[0-5]\d(:[0-5]\d(\.\d+)?)?$"
_FIRST_DAY = "1970-01-01 "
_DAY, _HOUR, _DAY_LETTERS = 86_400, 3_600, len("2024-03-01")


def to_days(
    array: Values, missing: Sequence[str] = (), first: str = YEAR_FIRST
) -> Floats:
    """Return points in time as days since 1970, NaN where missing; (n_rows,)."""
    array = plain(array, missing)
    kind = array.type
    if array.null_count == len(array):
        return np.full(len(array), np.nan)
    if is_text(kind):
        days = once_each(array, lambda text: _in_days(_parse_dates(text, first)))
    elif is_date(kind):
        if pa.types.is_timestamp(kind) and kind.tz:
            array = array.cast(pa.timestamp(kind.unit))
        days = _in_days(array)
    else:
        raise pa.ArrowInvalid(f"expected points in time; got values of type {kind}")
    if not missing:
        return days
    return np.where(np.isin(days, days_among(missing, first)), np.nan, days)


def _in_days(stamps: pa.Array) -> Floats:
    """Return points in time of any type as days since 1970, NaN where missing."""
    ticks = stamps.cast(pa.timestamp("us"), safe=False).cast(pa.int64())
    ticks = ticks.cast(pa.float64(), safe=False)
    return np.asarray(ticks, dtype=np.float64) / (1e6 * _DAY)


def is_date(kind: pa.DataType) -> bool:
    """Tell the Arrow types of points in time."""
    return pa.types.is_date(kind) or pa.types.is_timestamp(kind)


def days_among(texts: Sequence[str], first: str) -> list[float]:
    """Return those texts that are points in time as days since 1970."""
    days: list[float] = []
    for text in texts:
        with suppress(pa.ArrowException):
            days.extend(to_days(pa.array([text], type=TEXT), first=first))
    return days


def show_day(day: float, *, with_time: bool) -> str:
    """Write a point in time, given as days since 1970."""
    second = np.datetime64(round(day * _DAY), "s")
    shown = second if with_time else second.astype("datetime64[D]")
    return str(shown).replace("T", " ")


def to_hours(array: Values, missing: Sequence[str] = ()) -> Floats:
    """Return times of day as hours since midnight, NaN where missing; (n_rows,)."""
    array = plain(array, missing)
    if is_text(array.type):
        text = _write_24_hours(tidy(array))
        text = pc.replace_substring_regex(text, r"^(\d):", r"0\1:")
        days = to_days(_join("", pa.scalar(_FIRST_DAY, TEXT), text))
        ticks = np.round(days * (1e6 * _DAY))
    elif pa.types.is_time(array.type):
        ticks = array.cast(pa.time64("us"), safe=False).cast(pa.int64())
        ticks = np.asarray(ticks.cast(pa.float64()), dtype=np.float64)
    elif array.null_count == len(array):
        return np.full(len(array), np.nan)
    else:
        raise pa.ArrowInvalid(f"expected times of day; got values of type {array.type}")
    hours = ticks / (1e6 * _HOUR)
    if not missing:
        return hours
    return np.where(np.isin(hours, hours_among(missing)), np.nan, hours)


def hours_among(texts: Sequence[str]) -> list[float]:
    """Return those texts that are times of day as hours since midnight."""
    text = pa.array(texts, type=TEXT)
    return to_hours(text.filter(pa.array(~find_no_times(text)))).tolist()


def show_hour(hour: float) -> str:
    """Write a time of day, given as hours since midnight."""
    second = min(round(hour * _HOUR), _DAY - 1)
    return show_day(second / _DAY, with_time=True).removeprefix(_FIRST_DAY)


def find_no_times(text: pa.Array) -> Flags:
    """Tell text that is no time of day, (n_rows,); what is missing is none to tell of."""
    times = _write_24_hours(tidy(text))
    found = pc.fill_null(pc.match_substring_regex(times, _TIME), True)
    return ~found.to_numpy(zero_copy_only=False)


def are_lengths(text: pa.Array) -> bool:
    """Tell whether all text is like lengths of time, such as 36:15:00."""
    return pc.all(pc.match_substring_regex(tidy(text), _LENGTH)).as_py()


def find_no_dates(text: pa.Array, first: str = YEAR_FIRST) -> Flags:
    """Tell text that is no point in time, (n_rows,)."""
    text = _write_as_iso(text, first)
    wrong = ~pc.match_substring_regex(text, _DATE).to_numpy(zero_copy_only=False)
    days = pc.utf8_slice_codeunits(text.filter(pa.array(~wrong)), 0, _DAY_LETTERS)
    encoded = days.dictionary_encode()  # there are fewer days than points in time
    no_days = _find_unreadable(encoded.dictionary)
    wrong[~wrong] = no_days[encoded.indices.to_numpy(zero_copy_only=False)]
    wrong[~wrong] = _find_unreadable(text.filter(pa.array(~wrong)))
    return wrong


def _find_unreadable(text: pa.Array) -> Flags:
    """Tell what looks like a date and is none, such as February 30; (n_rows,)."""
    try:
        to_days(text)
    except pa.ArrowException:
        half = len(text) // 2
        if not half:
            return np.ones(1, dtype=bool)
        return np.append(_find_unreadable(text[:half]), _find_unreadable(text[half:]))
    return np.zeros(len(text), dtype=bool)


def _write_as_iso(text: pa.Array, first: str) -> pa.Array:
    """Write dates as ISO does: 3/31/2025 8:05 PM and Mar 31, 2025 too."""
    text = _write_24_hours(tidy(text))
    if first == YEAR_FIRST:
        return text
    if first == MONTH_NAMED:
        text = _write_month_numbers(text)
    else:
        text = pc.replace_substring_regex(text, _YEAR_LAST, _TO_YEAR_FIRST[first])
    for pattern, spelling in _AS_IN_ISO:
        text = pc.replace_substring_regex(text, pattern, spelling)
    return text


def _write_24_hours(text: pa.Array) -> pa.Array:
    """Write 12:05 AM as 00:05 and 1:05 PM as 13:05, all else as it is."""
    if not pc.any(pc.match_substring_regex(text, _HALF_DAY)).as_py():
        return text
    before, hour, rest, half = pc.extract_regex(text, _BY_HALF_DAYS).flatten()
    first_half = pc.equal(pc.utf8_lower(half), "a")
    twelfth = pc.if_else(pc.equal(hour, "12"), 0, hour.cast(pa.int8()))
    hours = pc.add(twelfth, pc.if_else(first_half, 0, 12)).cast(TEXT)
    return pc.coalesce(_join("", before, pc.utf8_lpad(hours, 2, "0"), rest), text)


def _write_month_numbers(text: pa.Array) -> pa.Array:
    """Write 31-Mar-2025 and March 31, 2025 as 2025-03-31, all else as it is."""
    names, numbers = pa.array(_MONTH_NAMES, TEXT), pa.array(_MONTH_NUMBERS, TEXT)
    for pattern in _NAMED:
        found = pc.extract_regex(text, pattern)
        parts = ("day", "month", "year", "rest")
        day, name, year, rest = (pc.struct_field(found, part) for part in parts)
        month = numbers.take(pc.index_in(pc.utf8_lower(name), value_set=names))
        text = pc.coalesce(_join("", _join("-", year, month, day), rest), text)
    return text


def _join(mark: str, *parts: pa.Array) -> pa.Array:
    """Join parts of text, null where one is."""
    return pc.binary_join_element_wise(*parts, pa.scalar(mark, TEXT))


def _parse_dates(text: pa.Array, first: str) -> pa.Array:
    """Read text as points in time, those with a zone in UTC."""
    text = _write_as_iso(text, first)
    text = pc.replace_substring_regex(text, r"(\.\d{6})\d+", r"\1")
    zoned = pc.match_substring_regex(text, _ZONE)
    in_utc = pc.if_else(zoned, text, None).cast(pa.timestamp("us", "UTC"))
    local = pc.if_else(zoned, None, text).cast(pa.timestamp("us"))
    return pc.coalesce(local, in_utc.cast(pa.timestamp("us")))
