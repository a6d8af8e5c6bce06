"""Find out what each column is, and encode the table as a float matrix."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from spadework.errors import InputError
from spadework.tables.columns import (
    COMMA,
    POINT,
    CategoryColumn,
    Column,
    DateColumn,
    Features,
    NumberColumn,
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
_SHOWN = 8


class Ignored(NamedTuple):
    """A column that is not learnt from, and why."""

    name: str
    why: str


@dataclass(frozen=True)
class TableEncoder:
    """Columns by name, each with its encoding.

    Attributes
    ----------
    columns : tuple of Column
        In the order of their features.
    ignored : tuple of Ignored
    """

    columns: tuple[Column, ...]
    ignored: tuple[Ignored, ...]

    def __post_init__(self) -> None:
        if not self.columns:
            raise InputError("an encoder needs at least one column")

    @cached_property
    def features(self) -> list[str]:
        """Names of all features."""
        return [name for column in self.columns for name in column.features]

    @property
    def roles(self) -> dict[str, list[str]]:
        """Names of the columns by what they are."""
        roles: dict[str, list[str]] = {}
        for column in self.columns:
            roles.setdefault(column.role, []).append(column.name)
        return roles

    @property
    def with_commas(self) -> list[str]:
        """Names of the columns of text whose decimals come after a comma."""
        numbers = [c for c in self.columns if isinstance(c, NumberColumn)]
        return [column.name for column in numbers if column.decimal == COMMA]

    @cached_property
    def owners(self) -> NDArray[np.intp]:
        """Position of the column that each feature comes from, (n_features,)."""
        widths = [len(column.features) for column in self.columns]
        return np.repeat(np.arange(len(self.columns)), widths)

    def encode(self, table: pa.Table | pa.RecordBatch) -> Features:
        """Encode rows, whatever order their columns come in; (n_rows, n_features).

        Columns that were not there in training are left out. All others must be there.
        """
        self._refuse_missing(table.schema.names)
        encoded = np.empty((table.num_rows, len(self.features)), dtype=np.float32)
        start = 0
        for column in self.columns:
            try:
                part = column.encode(table.column(column.name))
            except pa.ArrowException as error:
                raise InputError(
                    f"column {column.name} was a {column.role} in training and cannot be "
                    f"read as one now: {str(error).splitlines()[0][:200]}"
                ) from error
            encoded[:, start : start + part.shape[1]] = part
            start += part.shape[1]
        return encoded

    def _refuse_missing(self, names: Collection[str]) -> None:
        missing = [c.name for c in self.columns if c.name not in names]
        if missing:
            more = len(missing) - _SHOWN
            shown = ", ".join(missing[:_SHOWN]) + (f" and {more} more" * (more > 0))
            raise InputError(
                f"the table lacks columns that the model was fitted with: {shown}. Add "
                f"them; values that are not known may be left empty"
            )


def fit_encoder(
    table: pa.Table, *, leave_out: Sequence[str] = (), categories: Sequence[str] = ()
) -> TableEncoder:
    """Decide what every column is, and fit its encoding.

    Parameters
    ----------
    table : pyarrow.Table
    leave_out : sequence of str
        Columns not to learn from, such as the label and keys.
    categories : sequence of str
        Columns that are categories though they look like numbers.
    """
    columns: list[Column] = []
    ignored: list[Ignored] = []
    for name in table.column_names:
        if name in leave_out:
            continue
        column = table.column(name)
        fitted = _fit_column(name, column, as_category=name in categories)
        if isinstance(fitted, Ignored):
            ignored.append(fitted)
        else:
            columns.append(fitted)
    if not columns:
        why = "; ".join(f"{each.name}: {each.why}" for each in ignored[:_SHOWN])
        raise InputError(f"no column is left to learn from ({why or 'there is none'})")
    return TableEncoder(tuple(columns), tuple(ignored))


def _fit_column(name: str, column: Values, *, as_category: bool) -> Column | Ignored:
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
    shares = {
        decimal: np.isfinite(to_numbers(known, decimal)).mean()
        for decimal in (POINT, COMMA)
    }
    decimal = max(shares, key=lambda each: shares[each])
    _refuse_groups(name, known, shares[POINT])
    if shares[decimal] < NUMBER_SHARE:
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
