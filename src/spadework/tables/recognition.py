"""Find out what a column is, and fit its encoding."""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from spadework.arrays import Flags
from spadework.tables import columns, dates, numerals
from spadework.tables.columns import Column
from spadework.tables.dates import find_no_dates, find_no_times, is_date
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

_YEAR_FIRST = "write them with the year first, as in 2025-03-31, or make it a category"

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
        known = dates.to_hours(array, missing)
    elif is_date(array.type):
        known = dates.to_days(array, missing)
    else:
        known = numerals.to_numbers(array, missing=missing)
        known = numerals.blank_numbers(known, numerals.PLAIN, missing)
    lost = ~np.isfinite(known)
    return pc.if_else(pa.array(lost), None, array) if lost.any() else array


def _is_plain(kind: pa.DataType) -> bool:
    """Tell single values that can be encoded."""
    is_moment = pa.types.is_temporal(kind) and not pa.types.is_interval(kind)
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    is_number = is_number or pa.types.is_decimal(kind) or pa.types.is_boolean(kind)
    return is_moment or is_number or is_text(kind)


def _is_id(
    name: str, array: pa.Array, n_distinct: int, notation: numerals.Notation
) -> bool:
    """Tell whole numbers that count the rows, or whose name says what they are."""
    if n_distinct < len(array) or len(array) < FEW_ROWS:
        return False
    if pa.types.is_integer(array.type):
        values = array.to_numpy(zero_copy_only=False)
    else:
        values = numerals.to_numbers(array, notation)
    if not (values == np.floor(values)).all():
        return False
    return bool(_ID_NAME.search(name)) or not name or bool((np.diff(values) == 1).all())


def _fit_number(
    name: str,
    array: pa.Array,
    n_distinct: int,
    missing: tuple[str, ...],
    notation: numerals.Notation = numerals.PLAIN,
) -> Column | Ignored | Empty | Mixed:
    if _is_id(name, array, n_distinct, notation):
        return Ignored(name, "every row has a number of its own, like an id")
    values = numerals.to_numbers(array, notation)
    words = numerals.find_words(array, values)
    if words.any():
        return _mixed(name, "number", array, words)
    values = numerals.blank_numbers(values, notation, missing)
    known = values[np.isfinite(values)]
    if not len(known):
        return _empty(name)
    low, high = known.min(), known.max()
    is_truth = bool(((known == 0) | (known == 1)).all())
    return columns.NumberColumn(
        name,
        offset=float(low) if abs(low) > 1e4 * (high - low) else 0.0,
        fill=float(np.median(known)),
        tells_missing=len(known) < len(values),
        as_text=is_text(array.type) or is_truth or bool(missing),
        decimal=notation.decimal,
        unit=notation.unit,
        missing=missing,
    )


def _fit_date(
    name: str, array: pa.Array, missing: tuple[str, ...], first: str = dates.YEAR_FIRST
) -> columns.DateColumn | Ignored | Empty:
    days = dates.to_days(array, missing, first)
    known = days[~np.isnan(days)]
    if not len(known):
        return _empty(name)
    origin = float(np.floor(known.min()))
    return columns.DateColumn(
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
) -> columns.TimeColumn | Ignored | Empty:
    hours = dates.to_hours(array, missing)
    known = hours[~np.isnan(hours)]
    if not len(known):
        return _empty(name)
    fill, tells_missing = float(np.median(known)), len(known) < len(hours)
    return columns.TimeColumn(name, fill, tells_missing, missing)


def _fit_category(
    name: str, array: pa.Array, missing: tuple[str, ...]
) -> columns.CategoryColumn:
    counted = Distinct.of(to_text(array, missing))
    values, counts = counted.values.to_pylist(), counted.counts
    order = sorted(range(len(values)), key=lambda i: (-counts[i], values[i] or ""))
    order = order[:MAX_VALUES]
    shares = counts[order] / counts.sum()
    n_common = len(order)
    if n_common > MAX_COMMON:
        n_common = min(MAX_COMMON, int((shares >= COMMON_SHARE).sum()))
    # New to the model is as rare as what was there once: of many values, most rows are.
    log_shares = np.log(np.append(shares, 1 / len(array))).astype(np.float32)
    texts = tuple(values[i] for i in order)
    return columns.CategoryColumn(name, texts, log_shares, n_common, missing)


def _fit_text(
    name: str, array: pa.Array, missing: tuple[str, ...]
) -> Column | Ignored | Empty | Mixed:
    """Text is numbers, dates, times of day, free text, an id, or a category."""
    known = Distinct.of(array.drop_null())
    texts, n_known = known.values, int(known.counts.sum())
    n_distinct = len(texts)
    like_codes = n_distinct <= min(MAX_COMMON, ID_SHARE * n_known)
    share = CODE_SHARE if like_codes else NUMBER_SHARE
    notation = numerals.find_notation(name, known, share)
    if notation is not None:
        return _fit_number(name, array, n_distinct, missing, notation)
    if not find_no_dates(texts).any():
        return _fit_date(name, array, missing)
    no_dates = find_no_dates(texts, dates.MONTH_NAMED)
    if not no_dates.any():
        return _fit_date(name, array, missing, dates.MONTH_NAMED)
    if known.share(~no_dates) >= share:
        return _mixed_text(name, "date", array, texts, no_dates)
    no_times = find_no_times(texts)
    if not no_times.any():
        return _fit_time(name, array, missing)
    if dates.are_lengths(texts):
        why = "it is like lengths of time; write them as numbers, such as seconds"
        return Ignored(name, why)
    if known.share(~no_times) >= share:
        return _mixed_text(name, "time of day", array, texts, no_times)
    if known.mean(pc.match_substring_regex(texts, _DAY_IN_FRONT)) >= share:
        return _fit_year_last(name, array, known, share, missing)
    if n_distinct > ID_SHARE * n_known and n_known >= FEW_ROWS:
        return Ignored(name, _why_distinct(known))
    return _fit_category(name, array, missing)


def _why_distinct(known: Distinct) -> str:
    """Say what makes nearly all texts differ."""
    texts = known.values
    n_words = known.mean(pc.count_substring(texts, " ")) + 1
    if n_words > _FREE_TEXT_WORDS or known.mean(pc.utf8_length(texts)) > _LONG_TEXT:
        return "it is free text"
    units = numerals.find_unit_words(known)
    if len(units) > 1:
        return (
            f"its numbers have several units, such as {units[0]} and {units[1]}; put "
            f"numbers and units into columns of their own"
        )
    return "nearly every row has a text of its own, like an id"


def _fit_year_last(
    name: str, array: pa.Array, known: Distinct, share: float, missing: tuple[str, ...]
) -> columns.DateColumn | Ignored | Empty | Mixed:
    """Dates begin with what the thirteenth and later days of a month allow, if any."""
    orders = dates.DAY_FIRST, dates.MONTH_FIRST
    found = {first: ~find_no_dates(known.values, first) for first in orders}
    first, other = sorted(orders, key=lambda each: -known.share(found[each]))
    why = ""
    if known.share(found[first]) < share:
        why = "it is like dates"
    elif (found[other] & ~found[first]).any():
        why = "the day comes first in some of its dates, the month in others"
    elif found[other].sum() == found[first].sum():
        why = "the day or the month may come first in its dates"
    if why:
        return Ignored(name, f"{why}; {_YEAR_FIRST}")
    if not found[first].all():
        return _mixed_text(name, "date", array, known.values, ~found[first])
    return _fit_date(name, array, missing, first)


def _mixed_text(
    name: str, kind: str, array: pa.Array, texts: pa.Array, no_such: Flags
) -> Mixed:
    """Say which values are not of a kind, told of each distinct text."""
    wrong = pc.is_in(array, value_set=texts.filter(pa.array(no_such)))
    return _mixed(name, kind, array, np.asarray(wrong))


def _mixed(name: str, kind: str, text: pa.Array, wrong: Flags) -> Mixed:
    """Say which values of a column are not of its kind."""
    others = tuple(pc.unique(text.filter(pa.array(wrong))).to_pylist())
    return Mixed(name, kind, int(wrong.sum()), int(wrong.argmax()), others)
