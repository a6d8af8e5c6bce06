"""Numbers, in text however they are written there."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from spadework.tables.values import TEXT, Values, is_text, pc, plain, simple, value_type

POINT, COMMA = ".", ","
"""What parts the decimals of a number in text; a comma may have groups before it."""

_NUMBER = {
    POINT: r"^[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i:inf(inity)?))$",
    COMMA: r"^[+-]?((\d{1,3}([. \x{a0}\x{202f}]\d{3})+|\d+)(,\d*)?|,\d+)([eE][+-]?\d+)?$",
}
_GROUP_MARKS = r"[. \x{a0}\x{202f}]"


def to_numbers(
    array: Values, decimal: str = POINT, missing: Sequence[str] = ()
) -> NDArray[np.float64]:
    """Return values as float64, NaN where there is no number; (n_rows,).

    Of what means ``missing``, only text is looked for; `blank_numbers` does the rest.
    """
    array = simple(array)
    if pa.types.is_boolean(array.type):
        array = array.cast(TEXT if missing else pa.int8())
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
    return _match_numbers(pa.array(texts, type=TEXT), decimal).drop_null().to_pylist()


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
    truth = pa.array(["false", "true"], type=TEXT)
    lower = pc.utf8_lower(pc.utf8_trim_whitespace(text))
    return pc.coalesce(numbers, pc.index_in(lower, value_set=truth).cast(pa.float64()))
