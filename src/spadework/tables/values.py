"""Values of a column as plain values or as text, whatever type they come in.

Values that mean the same come out the same, whatever type a file or a frame gives them.
That holds for what a user says means missing, too: -999 is also the number -999.0.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
from numpy.typing import NDArray

from spadework.arrays import Flags, Floats

pc: Any = pyarrow.compute  # its functions are made when it is imported

Values = Any
"""Values of one column, (n_rows,): an Arrow array, chunked or not, of any type."""

MISSING_WORDS: list[str] = pyarrow.csv.ConvertOptions().null_values
"""Text that means a missing value, in a text file as in a frame."""

TEXT = pa.large_string()
"""The one type of text."""

_EXACT = 2.0**53


def to_text(array: Values, missing: Sequence[str] = ()) -> pa.Array:
    """Return values as text: 1.0 as "1" and True as "true", of whatever type they are."""
    return _blank_text(_spell(plain(array, missing)), missing)


def plain(array: Values, missing: Sequence[str] = ()) -> pa.Array:
    """Return values in one array of a plain type; NaN and words for missing are null."""
    array = simple(array)
    kind = array.type
    if is_text(kind):
        bare = pc.utf8_trim_whitespace(array)
        known = pc.is_in(bare, value_set=pa.array(MISSING_WORDS, type=TEXT))
        return _blank_text(pc.if_else(known, None, array), missing)
    if pa.types.is_float16(kind):
        array = array.cast(pa.float32())
    elif pa.types.is_decimal(kind):
        array = array.cast(pa.float64())
    if pa.types.is_floating(array.type):
        return pc.if_else(pc.is_nan(array), None, array)
    return array


class Distinct(NamedTuple):
    """The distinct values of a column, and how many rows have each."""

    values: pa.Array
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, known: pa.Array) -> "Distinct":
        """Count values."""
        counted = pc.value_counts(known)
        return cls(counted.field("values"), np.asarray(counted.field("counts")))

    def share(self, found: Flags) -> float:
        """Share of the rows whose values were found, (n_values,)."""
        return float(self.counts[found].sum() / self.counts.sum())

    def mean(self, measured: pa.Array) -> float:
        """Mean over the rows of what was measured of the values, (n_values,)."""
        return float(np.average(np.asarray(measured), weights=self.counts))


def once_each(text: pa.Array, measure: Callable[[pa.Array], Floats]) -> Floats:
    """Measure every distinct text once, and return that by row; NaN where missing.

    Text of a column repeats itself as a rule, and patterns take long.
    """
    encoded = text.dictionary_encode()
    measured = np.append(measure(encoded.dictionary), np.nan)
    return measured[np.asarray(pc.fill_null(encoded.indices, len(measured) - 1))]


def find_filled(table: pa.Table | pa.RecordBatch) -> Flags:
    """Tell rows that hold any value at all, (n_rows,); spreadsheets write others, too."""
    valid = [np.asarray(plain(column).is_valid()) for column in table.columns]
    return np.any(valid, axis=0)


def count_empty_end(table: pa.Table | pa.RecordBatch) -> int:
    """Count the rows without any value at the end."""
    if not table.num_rows or find_filled(table[-1:]).any():
        return 0
    return table.num_rows - int(np.flatnonzero(find_filled(table)).max(initial=-1)) - 1


def tidy(text: pa.Array) -> pa.Array:
    """Return text without spaces around it, with plain spaces between."""
    for space in ("\u00a0", "\u202f"):
        text = pc.replace_substring(text, space, " ")
    return pc.utf8_trim_whitespace(text)


def simple(array: Values) -> pa.Array:
    """Return values in one array: no dictionary or extension, and one type of text."""
    kind = value_type(array.type)
    if kind != array.type:
        array = array.cast(kind)
    if is_text(kind):
        array = array.cast(TEXT)
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    if getattr(kind, "extension_name", "") == "arrow.uuid":
        return pa.array([None if v is None else str(v) for v in array.to_pylist()], TEXT)
    return array


def value_type(kind: pa.DataType) -> pa.DataType:
    """Return the type of the values themselves, of dictionaries and of named text."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    is_named = isinstance(kind, pa.BaseExtensionType) and is_text(kind.storage_type)
    return kind.storage_type if is_named else kind


def is_text(kind: pa.DataType) -> bool:
    """Tell the Arrow types of text."""
    is_usual = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return is_usual or pa.types.is_string_view(kind)


def _blank_text(text: pa.Array, missing: Sequence[str]) -> pa.Array:
    """Return text with null where it means missing, spaces around it or not."""
    if not missing:
        return text
    bare, stated = map(_bare, (text, pa.array(missing, type=TEXT)))
    return pc.if_else(pc.is_in(bare, value_set=stated), None, text)


def words_among(texts: Sequence[str]) -> list[str]:
    """Return texts in one spelling, as `to_text` writes them."""
    return _bare(pa.array(texts, type=TEXT)).to_pylist()


def _bare(text: pa.Array) -> pa.Array:
    """Return text in one spelling, without spaces around it."""
    return _one_spelling(pc.utf8_trim_whitespace(text))


def _spell(array: pa.Array) -> pa.Array:
    """Write plain values as text, in one spelling."""
    if is_text(array.type):
        encoded = array.dictionary_encode()
        return _one_spelling(encoded.dictionary).take(encoded.indices)
    if pa.types.is_floating(array.type):
        whole = pc.and_(pc.equal(array, pc.floor(array)), pc.less(pc.abs(array), _EXACT))
        as_int = pc.if_else(whole, array, None).cast(pa.int64(), safe=False)
        return pc.if_else(whole, as_int.cast(TEXT), array.cast(TEXT))
    return array.cast(TEXT)


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
