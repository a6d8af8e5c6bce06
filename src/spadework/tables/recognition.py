"""Find out what a column is, and fit its encoding."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from spadework.tables.columns import (
    CategoryColumn,
    Column,
    DateColumn,
    NumberColumn,
    TimeColumn,
)
from spadework.tables.dates import (
    DAY_FIRST,
    MONTH_FIRST,
    MONTH_NAMED,
    YEAR_FIRST,
    are_lengths,
    find_no_dates,
    find_no_times,
    is_date,
    to_days,
    to_hours,
)
from spadework.tables.numerals import (
    PLAIN,
    Notation,
    blank_numbers,
    find_notation,
    find_unit_words,
    find_words,
    to_numbers,
)
from spadework.tables.unusable import Empty, Mixed
from spadework.tables.values import (
    Distinct,
    Values,
    is_text,
    pc,
    plain,
    to_text,
    value_type,
)

MAX_COMMON = 16
"""Values of a category, at most, that get a feature of their own."""

COMMON_SHARE = 0.01
"""Share of rows that such a value has, where a category has more values than that."""

MAX_VALUES = 10_000
"""Values of a category that are remembered; all others count as new."""

ID_SHARE = 0.5
"""Share of distinct values above which text tells rows apart and not kinds of rows."""

NUMBER_SHARE = 0.5
"""Share of numbers, or of dates, from which text is taken for such."""

CODE_SHARE = 0.9
"""The same for a few values that come again and again, as codes do."""

FEW_ROWS = 20
"""Below this many rows, nothing is taken for an id."""

_DAY = r"(0?[1-9]|[12]\d|3[01])"
_DAY_IN_FRONT = (
    rf"^\s*({_DAY}[-./ ]({_DAY}|\pL{{3,9}})\.?[-./ ]\d{{4}}"
    rf"|{_DAY}([-/]{_DAY}|[-./ ]\pL{{3}})[-./ ]\d\d|\d\d\.(0\d|1[0-2])\.\d\d)\b"
)
"""Dates with the day, or the month, in front, and years of four digits or two."""

_YEAR_FIRST_PLEASE = (
    "write them with the year first, as in 2025-03-31, or make it a category"
)

_LONG_TEXT, _FREE_TEXT_WORDS = 40, 5
_ID_NAME = re.compile(
    r"(?i:(^|[_\s.-])(id|uuid|guid|key|index|nr|no|phone|imei|iban|serial)$"
    r"|(number|nummer)$|^unnamed|^__index_level_\d+__$)|[a-z](Id|ID|No|Nr)$"
)


ONE_VALUE = "it has one value only"


class Ignored(NamedTuple):
    """A column that is not learnt from, and why."""

    name: str
    why: str


def fit_column(
    name: str, column: Values, *, as_category: bool, missing: Sequence[str] = ()
) -> Column | Ignored | Empty | Mixed:
    """Fit the encoding of one column, or say why there is none."""
    if column.null_count == len(column):
        return _empty(name)
    kind = value_type(column.type)
    is_declared = kind != column.type and pa.types.is_integer(kind)
    as_category = as_category or is_declared
    if not _is_plain(kind):
        return Ignored(name, f"values of type {column.type} are not understood")
    missing = tuple(missing)
    array = to_text(column, missing) if as_category else _blank(column, missing)
    kind = array.type
    n_valid = len(array) - array.null_count
    if n_valid == 0:
        return _empty(name)
    n_distinct = pc.count_distinct(array, mode="only_valid").as_py()
    if n_distinct == 1 and n_valid == len(array):
        return Ignored(name, ONE_VALUE)
    if as_category:
        return _fit_category(name, array, missing)
    if pa.types.is_time(kind):
        return _fit_time(name, array, missing)
    if is_date(kind):
        return _fit_date(name, array, missing)
    if is_text(kind):
        return _fit_text(name, array, missing)
    return _fit_number(name, array, n_distinct, missing)


def _empty(name: str) -> Empty | Ignored:
    """Return a column without values; one without a name is no column to speak of."""
    if name:
        return Empty(name)
    return Ignored(name, "it has neither a name nor values: lines end in a delimiter")


def _blank(column: Values, missing: Sequence[str]) -> pa.Array:
    """Return plain values with null where they are missing or not finite."""
    array = plain(column, missing)
    if is_text(array.type):
        return array
    if pa.types.is_time(array.type):
        lost = np.isnan(to_hours(array, missing))
    elif is_date(array.type):
        lost = np.isnan(to_days(array, missing))
    else:
        values = to_numbers(array, missing=missing)
        lost = ~np.isfinite(blank_numbers(values, PLAIN, missing))
    return pc.if_else(pa.array(lost), None, array) if lost.any() else array


def _is_plain(kind: pa.DataType) -> bool:
    """Tell single values that can be encoded."""
    return (
        pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or is_date(kind)
        or pa.types.is_time(kind)
        or pa.types.is_duration(kind)
        or is_text(kind)
    )


def _is_id(name: str, array: pa.Array, n_distinct: int, notation: Notation) -> bool:
    """Tell whole numbers that count the rows, or whose name says what they are."""
    if n_distinct < len(array) or len(array) < FEW_ROWS:
        return False
    exact = pa.types.is_integer(array.type)
    values = (
        array.to_numpy(zero_copy_only=False) if exact else to_numbers(array, notation)
    )
    if not (values == np.floor(values)).all():
        return False
    return bool(_ID_NAME.search(name)) or not name or bool((np.diff(values) == 1).all())


def _fit_number(
    name: str,
    array: pa.Array,
    n_distinct: int,
    missing: tuple[str, ...],
    notation: Notation = PLAIN,
) -> Column | Ignored | Empty | Mixed:
    if _is_id(name, array, n_distinct, notation):
        return Ignored(name, "every row has a number of its own, like an id")
    values = to_numbers(array, notation)
    words = find_words(array, values)
    if words.any():
        return _mixed(name, "number", array, words)
    values = blank_numbers(values, notation, missing)
    known = values[np.isfinite(values)]
    if not len(known):
        return _empty(name)
    low, high = known.min(), known.max()
    offset = float(low) if abs(low) > 1e4 * (high - low) else 0.0
    is_truth = bool(((known == 0) | (known == 1)).all())
    return NumberColumn(
        name,
        offset=offset,
        fill=float(np.median(known)),
        tells_missing=len(known) < len(values),
        as_text=is_text(array.type) or is_truth or bool(missing),
        decimal=notation.decimal,
        unit=notation.unit,
        missing=missing,
    )


def _fit_date(
    name: str, array: pa.Array, missing: tuple[str, ...], first: str = YEAR_FIRST
) -> DateColumn | Ignored | Empty:
    days = to_days(array, missing, first)
    known = days[~np.isnan(days)]
    if not len(known):
        return _empty(name)
    origin = float(np.floor(known.min()))
    return DateColumn(
        name,
        origin=origin,
        fill=float(np.median(known) - origin),
        tells_missing=len(known) < len(days),
        tells_hour=bool((known % 1 != 0).any()),
        missing=missing,
        first=first,
    )


def _fit_time(
    name: str, array: pa.Array, missing: tuple[str, ...]
) -> TimeColumn | Ignored | Empty:
    hours = to_hours(array, missing)
    known = hours[~np.isnan(hours)]
    if not len(known):
        return _empty(name)
    fill, tells_missing = float(np.median(known)), len(known) < len(hours)
    return TimeColumn(name, fill, tells_missing, missing)


def _fit_category(name: str, array: pa.Array, missing: tuple[str, ...]) -> CategoryColumn:
    counted = pc.value_counts(to_text(array, missing))
    values, counts = counted.field("values").to_pylist(), counted.field("counts")
    counts = np.asarray(counts, dtype=np.int64)
    order = sorted(range(len(values)), key=lambda i: (-counts[i], values[i] or ""))
    order = order[:MAX_VALUES]
    shares = counts[order] / counts.sum()
    n_common = len(order)
    if n_common > MAX_COMMON:
        n_common = min(MAX_COMMON, int((shares >= COMMON_SHARE).sum()))
    # New to the model is as rare as what was there once: of many values, most rows are.
    log_shares = np.log(np.append(shares, 1 / len(array))).astype(np.float32)
    texts = tuple(values[i] for i in order)
    return CategoryColumn(name, texts, log_shares, n_common, missing)


def _fit_text(
    name: str, array: pa.Array, missing: tuple[str, ...]
) -> Column | Ignored | Empty | Mixed:
    """Text is numbers, dates, times of day, free text, an id, or a category."""
    known = Distinct.of(array.drop_null())
    texts, n_known = known.values, int(known.counts.sum())
    n_distinct = len(texts)
    like_codes = n_distinct <= min(MAX_COMMON, ID_SHARE * n_known)
    share = CODE_SHARE if like_codes else NUMBER_SHARE
    notation = find_notation(name, known, share)
    if notation is not None:
        return _fit_number(name, array, n_distinct, missing, notation)
    no_dates = find_no_dates(texts)
    if not no_dates.any():
        return _fit_date(name, array, missing)
    no_dates = find_no_dates(texts, MONTH_NAMED)
    if not no_dates.any():
        return _fit_date(name, array, missing, MONTH_NAMED)
    if known.share(~no_dates) >= share:
        return _mixed_text(name, "date", array, texts, no_dates)
    no_times = find_no_times(texts)
    if not no_times.any():
        return _fit_time(name, array, missing)
    if are_lengths(texts):
        why = "it is like lengths of time; write them as numbers, such as seconds"
        return Ignored(name, why)
    if known.share(~no_times) >= share:
        return _mixed_text(name, "time of day", array, texts, no_times)
    if known.mean(pc.match_substring_regex(texts, _DAY_IN_FRONT)) >= share:
        return _fit_year_last(name, array, known, share, missing)
    if n_distinct > ID_SHARE * n_known and n_known >= FEW_ROWS:
        n_words = known.mean(pc.count_substring(texts, " ")) + 1
        if n_words > _FREE_TEXT_WORDS or known.mean(pc.utf8_length(texts)) > _LONG_TEXT:
            return Ignored(name, "it is free text")
        units = find_unit_words(known)
        if len(units) > 1:
            return Ignored(
                name,
                f"its numbers have several units, such as {units[0]} and {units[1]}; put "
                f"numbers and units into columns of their own",
            )
        return Ignored(name, "nearly every row has a text of its own, like an id")
    return _fit_category(name, array, missing)


def _fit_year_last(
    name: str,
    array: pa.Array,
    known: Distinct,
    least_share: float,
    missing: tuple[str, ...],
) -> DateColumn | Ignored | Empty | Mixed:
    """Dates begin with what the thirteenth and later days of a month allow, if any."""
    texts = known.values
    by_day, by_month = (~find_no_dates(texts, f) for f in (DAY_FIRST, MONTH_FIRST))
    first, dates, others = DAY_FIRST, by_day, by_month
    if known.share(by_month) > known.share(by_day):
        first, dates, others = MONTH_FIRST, by_month, by_day
    if known.share(dates) < least_share:
        return Ignored(name, f"it is like dates; {_YEAR_FIRST_PLEASE}")
    if (others & ~dates).any():
        return Ignored(
            name,
            f"the day comes first in some of its dates, the month in others; "
            f"{_YEAR_FIRST_PLEASE}",
        )
    if others.sum() == dates.sum():
        return Ignored(
            name,
            f"the day or the month may come first in its dates; {_YEAR_FIRST_PLEASE}",
        )
    if not dates.all():
        return _mixed_text(name, "date", array, texts, ~dates)
    return _fit_date(name, array, missing, first)


def _mixed_text(
    name: str, kind: str, array: pa.Array, texts: pa.Array, no_such: NDArray[np.bool_]
) -> Mixed:
    """Say which values are not of a kind, told of each distinct text."""
    wrong = pc.is_in(array, value_set=texts.filter(pa.array(no_such)))
    return _mixed(name, kind, array, np.asarray(wrong))


def _mixed(name: str, kind: str, text: pa.Array, wrong: NDArray[np.bool_]) -> Mixed:
    """Say which values of a column are not of its kind."""
    others = tuple(pc.unique(text.filter(pa.array(wrong))).to_pylist())
    return Mixed(name, kind, int(wrong.sum()), int(wrong.argmax()), others)
