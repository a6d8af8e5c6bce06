"""Find out what a column is, and fit its encoding."""

import re
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from spadework.errors import InputError
from spadework.tables.columns import CategoryColumn, Column, DateColumn, NumberColumn
from spadework.tables.values import (
    COMMA,
    POINT,
    Values,
    find_other_decimal,
    is_text,
    pc,
    plain,
    to_days,
    to_numbers,
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

NUMBER_SHARE = 0.9
"""Share of numbers above which text is taken for numbers."""

FEW_ROWS = 20
"""Below this many rows, nothing is taken for an id."""

_LONG_TEXT, _FREE_TEXT_WORDS = 40, 5
_ID_NAME = re.compile(
    r"(?i:(^|[_\s.-])(id|uuid|guid|key|index|nr|no)$|^unnamed)|[a-z](Id|ID)$"
)
_GROUPED = r"^\s*[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?\s*$"


class Ignored(NamedTuple):
    """A column that is not learnt from, and why."""

    name: str
    why: str


def fit_column(name: str, column: Values, *, as_category: bool) -> Column | Ignored:
    """Fit the encoding of one column, or say why there is none."""
    if column.null_count == len(column):
        return Ignored(name, "it has no values")
    if not _is_plain(value_type(column.type)):
        return Ignored(name, f"values of type {column.type} are not understood")
    array = plain(column)
    kind = array.type
    if pa.types.is_floating(kind):
        array = pc.if_else(pc.is_finite(array), array, None)
    n_valid = len(array) - array.null_count
    if n_valid == 0:
        return Ignored(name, "it has no values")
    n_distinct = pc.count_distinct(array, mode="only_valid").as_py()
    if n_distinct == 1 and n_valid == len(array):
        return Ignored(name, "it has one value only")
    if as_category:
        return _fit_category(name, array)
    if pa.types.is_temporal(kind):
        return _fit_date(name, array)
    if is_text(kind):
        return _fit_text(name, array, n_distinct)
    return _fit_number(name, array, n_distinct)


def _is_plain(kind: pa.DataType) -> bool:
    """Tell single values that can be encoded."""
    return (
        pa.types.is_boolean(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_date(kind)
        or pa.types.is_timestamp(kind)
        or is_text(kind)
    )


def _is_id(name: str, array: pa.Array, n_distinct: int, decimal: str) -> bool:
    """Tell whole numbers that count the rows, or whose name says what they are."""
    if n_distinct < len(array) or len(array) < FEW_ROWS:
        return False
    exact = pa.types.is_integer(array.type)
    values = array.to_numpy(zero_copy_only=False) if exact else to_numbers(array, decimal)
    if not (values == np.floor(values)).all():
        return False
    return bool(_ID_NAME.search(name)) or not name or bool((np.diff(values) == 1).all())


def _fit_number(
    name: str, array: pa.Array, n_distinct: int, decimal: str = POINT
) -> Column | Ignored:
    if _is_id(name, array, n_distinct, decimal):
        return Ignored(name, "every row has a number of its own, like an id")
    values = to_numbers(array, decimal)
    known = values[np.isfinite(values)]
    low, high = known.min(), known.max()
    offset = float(low) if abs(low) > 1e4 * (high - low) else 0.0
    is_truth = bool(((known == 0) | (known == 1)).all())
    return NumberColumn(
        name,
        offset=offset,
        fill=float(np.median(known)),
        tells_missing=len(known) < len(values),
        as_text=is_text(array.type) or is_truth,
        decimal=decimal,
    )


def _fit_date(name: str, array: pa.Array) -> DateColumn:
    days = to_days(array)
    known = days[~np.isnan(days)]
    origin = float(np.floor(known.min()))
    return DateColumn(
        name,
        origin=origin,
        fill=float(np.median(known) - origin),
        tells_missing=len(known) < len(days),
        tells_hour=bool((known % 1 != 0).any()),
    )


def _fit_category(name: str, array: pa.Array) -> CategoryColumn:
    counted = pc.value_counts(to_text(array))
    values, counts = counted.field("values").to_pylist(), counted.field("counts")
    counts = np.asarray(counts, dtype=np.int64)
    names = np.array(["" if value is None else value for value in values])
    order = np.lexsort((names, -counts))[:MAX_VALUES]
    shares = counts[order] / counts.sum()
    n_common = len(order)
    if n_common > MAX_COMMON:
        n_common = min(MAX_COMMON, int((shares >= COMMON_SHARE).sum()))
    log_shares = np.log(np.append(shares, 0.5 / len(array))).astype(np.float32)
    return CategoryColumn(name, tuple(values[i] for i in order), log_shares, n_common)


def _fit_text(name: str, array: pa.Array, n_distinct: int) -> Column | Ignored:
    """Text is numbers, dates, free text, an id, or a category."""
    known = array.drop_null()
    decimal = _find_decimal(name, known)
    if decimal is not None:
        return _fit_number(name, array, n_distinct, decimal)
    if _are_dates(known):
        return _fit_date(name, array)
    if n_distinct > ID_SHARE * len(known) and len(known) >= FEW_ROWS:
        n_words = pc.mean(pc.count_substring(known, " ")).as_py() + 1
        if n_words > _FREE_TEXT_WORDS or pc.mean(pc.utf8_length(known)).as_py() > (
            _LONG_TEXT
        ):
            return Ignored(name, "it is free text")
        return Ignored(name, "nearly every row has a text of its own, like an id")
    return _fit_category(name, array)


def _find_decimal(name: str, known: pa.Array) -> str | None:
    """Return what parts the decimals of numbers in text, None if it is not numbers."""
    are_numbers = {
        decimal: np.isfinite(to_numbers(known, decimal)) for decimal in (POINT, COMMA)
    }
    decimal = max(are_numbers, key=lambda each: are_numbers[each].mean())
    _refuse_groups(name, known, are_numbers[POINT].mean())
    if (are_numbers[POINT] | are_numbers[COMMA]).mean() < NUMBER_SHARE:
        return None
    other = find_other_decimal(known, to_numbers(known, decimal), decimal)
    if other is not None:
        raise InputError(
            f"column {name} has numbers with decimals after {decimal!r} and others, such "
            f"as {other!r}; write all of them in one way, or leave the column out"
        )
    return decimal


def _refuse_groups(name: str, known: pa.Array, share_without: float) -> None:
    """Refuse numbers whose commas may part thousands."""
    with_comma = known.filter(pc.match_substring(known, COMMA))
    share = len(with_comma) / len(known)
    if not share or share + share_without < NUMBER_SHARE:
        return
    if pc.all(pc.match_substring_regex(with_comma, _GROUPED)).as_py():
        shown = str(with_comma[0])[:60]
        raise InputError(
            f"column {name} holds numbers such as {shown!r}, whose commas "
            f"may part thousands or decimals; write them with a decimal point and no "
            f"separators, or leave the column out"
        )


def _are_dates(known: pa.Array) -> bool:
    try:
        to_days(known)
    except pa.ArrowException:
        return False
    return True
