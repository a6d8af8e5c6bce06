"""Numbers, in text however they are written there."""

import re
from collections.abc import Sequence
from typing import NamedTuple
from unicodedata import category

import numpy as np
import pyarrow as pa

from spadework.arrays import Flags, Floats
from spadework.errors import InputError
from spadework.tables.values import (
    TEXT,
    Distinct,
    Values,
    is_text,
    pc,
    plain,
    simple,
    tidy,
    value_type,
)

POINT, COMMA, GROUPED = ".", ",", ",."
"""What parts the decimals of a number in text: a point; a comma, maybe with groups before
it; a point for sure, so that commas before it part groups."""

PERCENT = "%"

_NUMBER = {
    POINT: r"^[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i:inf(inity)?)"
    r"|[1-9]\d{0,2}(,\d{3})+\.\d+|[1-9]\d{0,2}(,\d{3}){2,})$",
    COMMA: r"^[+-]?(([1-9]\d{0,2}([. ]\d{3})+|\d+)(,\d*)?|,\d+)([eE][+-]?\d+)?$",
    GROUPED: r"^[+-]?((([1-9]\d{0,2}(,\d{3})+|\d+)\.?\d*|\.\d+)([eE][+-]?\d+)?"
    r"|(?i:inf(inity)?))$",
}
_GROUP_MARKS = r"[. ]"
_GROUPS = {
    COMMA: r"^[+-]?[1-9]\d{0,2}(,\d{3})+(\.\d*)?$",
    POINT: r"^[+-]?[1-9]\d{0,2}(\.\d{3})+$",
}
_SURELY_POINT = r"\.(\d{1,2}|\d{4,})$|,\d{3}\.\d|\d,\d{3},\d{3}"
_IN_BRACKETS = r"^\((.*)\)$"
_MINUS_BEHIND = r"^([\d.,]+)-$"
_SIGN = (
    r"^[-+(]*\s*(?P<front>[A-Z]{0,3}\p{Sc})\s*[-+(]?[\d.,]",
    r"[\d.,]\s*(?P<behind>\p{Sc}|%)\)?$",
)
_WORD = r"(?P<behind>[°\pL][\pL°²³/]{0,7})\)?$"
_UNIT_WORD = (
    r"^[-+(]*\s*(?P<front>[A-Z]{3})\s*[-+(]?\d[\d.,'\x{2019}]*[.,]\d\d\)?$",
    rf"^[-+(]?\d[\d.,'\x{2019}]*\s+{_WORD}",
    rf"^[-+(]?\d[\d,'\x{2019}]*\.\d+{_WORD}",
)
"""A word is a unit only apart from its number, or behind decimals: 12A may be a seat."""

_WORD_SHARE = 0.9
_SWISS_GROUPS = r"(\d)['\x{2019}](\d{3})"


class Notation(NamedTuple):
    """How the numbers of a column are written in text.

    ``decimal`` is `POINT`, `COMMA` or `GROUPED`; ``unit`` stands in front or behind, such
    as $, % or kg.
    """

    decimal: str = POINT
    unit: str = ""

    @property
    def needs_unit(self) -> bool:
        """Whether a number without the unit may mean another: 0.5 for 50 %."""
        return bool(self.unit) and not _ends_in_sign(self.unit)


PLAIN = Notation()


def to_numbers(
    array: Values, notation: Notation = PLAIN, missing: Sequence[str] = ()
) -> Floats:
    """Return values as float64, NaN where there is no number; (n_rows,).

    Lengths of time are numbers of seconds. Of what means ``missing``, only text is looked
    for; `blank_numbers` does the rest.
    """
    array = simple(array)
    if pa.types.is_boolean(array.type):
        array = array.cast(TEXT if missing else pa.int8())
    if is_text(array.type):
        array = _parse_numbers(plain(array, missing), notation)
    if pa.types.is_duration(array.type):
        ticks = array.cast(pa.duration("us"), safe=False).cast(pa.int64())
        array = pc.divide(ticks.cast(pa.float64()), 1e6)
    values = array.cast(pa.float64(), safe=False)
    return np.asarray(values.to_numpy(zero_copy_only=False), dtype=np.float64)


def blank_numbers(values: Floats, notation: Notation, missing: Sequence[str]) -> Floats:
    """Return numbers, (n_rows,), with NaN for those that mean missing."""
    if not missing:
        return values
    return np.where(np.isin(values, numbers_among(missing, notation)), np.nan, values)


def numbers_among(texts: Sequence[str], notation: Notation) -> list[float]:
    """Return those texts that are numbers, as numbers."""
    return _match_numbers(pa.array(texts, type=TEXT), notation).drop_null().to_pylist()


def find_words(array: Values, values: Floats, missing: Sequence[str] = ()) -> Flags:
    """Tell text that is not missing and was read as no number, (n_rows,)."""
    if not is_text(value_type(array.type)) or not np.isnan(values).any():
        return np.zeros(len(values), dtype=bool)
    return np.isnan(values) & np.asarray(plain(array, missing).is_valid())


def find_notation(name: str, known: Distinct, least_share: float) -> Notation | None:
    """Return how numbers in text are written, None if it is not numbers."""
    known = known._replace(values=tidy(known.values))
    texts = known.values
    losses = pc.or_(pc.starts_with(texts, "("), pc.ends_with(texts, "-"))
    if pc.all(losses).as_py():
        return None  # losses stand among gains
    unit = _find_unit(known, least_share)
    bare = known._replace(values=_without_unit(texts, unit))
    # A point that surely parts decimals cannot part groups.
    has_points = pc.any(pc.match_substring_regex(bare.values, _SURELY_POINT)).as_py()
    by_point = GROUPED if has_points else POINT
    marks = by_point, COMMA
    numbers = {mark: to_numbers(bare.values, Notation(mark)) for mark in marks}
    are_numbers = {mark: np.isfinite(values) for mark, values in numbers.items()}
    decimal = max(marks, key=lambda each: known.share(are_numbers[each]))
    if by_point == POINT:
        for mark in (COMMA, POINT) if _is_currency(unit) else (COMMA,):
            without = known.share(are_numbers[POINT])
            _refuse_groups(name, bare, mark, without, least_share)
    if known.share(are_numbers[by_point] | are_numbers[COMMA]) < least_share:
        return None
    words = texts.filter(pa.array(np.isnan(numbers[decimal])))
    notation = Notation(decimal, unit)
    other = find_other_decimal(words, notation)
    if other is not None:
        raise InputError(
            f"column {name} has numbers with decimals after {decimal[-1]!r} and others, "
            f"such as {other!r}; write all of them in one way, or leave the column out"
        )
    return notation


def find_other_decimal(words: pa.Array, notation: Notation) -> str | None:
    """Return the first text that is a number only with the other decimal mark."""
    other = POINT if notation.decimal == COMMA else COMMA
    found = pc.match_substring_regex(_without_unit(words, notation.unit), _NUMBER[other])
    numbers = words.filter(pc.fill_null(found, False))
    return str(numbers[0])[:60] if len(numbers) else None


def find_unit_words(known: Distinct) -> list[str]:
    """Return the words for units that numbers in text have, the most common first."""
    shares = _share_by_sign(known, _UNIT_WORD)
    return sorted(shares, key=lambda word: -shares[word])


def _find_unit(known: Distinct, least_share: float) -> str:
    """Return the sign, or else the one word, that values have.

    A percent sign must come often enough, and a word nearly always.
    """
    shares = _share_by_sign(known, _SIGN)
    if shares:
        unit = max(shares, key=lambda each: shares[each])
        return "" if unit == PERCENT and shares[unit] < least_share else unit
    words = _share_by_sign(known, _UNIT_WORD)
    if len(words) != 1:
        return ""
    ((unit, share),) = words.items()
    return unit if share >= _WORD_SHARE else ""


def _is_currency(unit: str) -> bool:
    """Tell signs and codes of currencies, such as $ and USD."""
    return bool(re.fullmatch("[A-Z]{3}", unit)) or _ends_in_sign(unit)


def _ends_in_sign(unit: str) -> bool:
    """Tell signs of currencies, maybe behind letters as in US$."""
    return category((unit or " ")[-1]) == "Sc"


def _share_by_sign(known: Distinct, patterns: Sequence[str]) -> dict[str, float]:
    """Return the share of values with each sign, or word, that patterns find."""
    shares: dict[str, float] = {}
    for pattern in patterns:
        signs = pc.extract_regex(known.values, pattern).flatten()[0]
        for sign in pc.unique(signs.drop_null()).to_pylist():
            found = pc.fill_null(pc.equal(signs, sign), False)
            shares[sign] = shares.get(sign, 0) + known.share(np.asarray(found))
    return shares


def _without_unit(text: pa.Array, unit: str) -> pa.Array:
    """Return numbers in text as they are without a unit, (12) as -12.

    A number without one becomes null where it may mean another.
    """
    text = _without_brackets(tidy(text))
    if pc.any(pc.match_substring_regex(text, _SWISS_GROUPS)).as_py():
        text = pc.replace_substring_regex(text, _SWISS_GROUPS, r"\1\2")
    if not unit:
        return text
    if Notation(unit=unit).needs_unit:
        text = pc.if_else(pc.match_substring(text, unit), text, None)
    sign = re.escape(unit)
    text = pc.replace_substring_regex(text, rf"^([-+]?)\s*{sign}\s*", r"\1")
    return _without_brackets(pc.replace_substring_regex(text, rf"\s*{sign}$", ""))


def _refuse_groups(
    name: str, known: Distinct, mark: str, share_without: float, least_share: float
) -> None:
    """Refuse numbers whose commas, or points, may part thousands."""
    has_mark = pc.fill_null(pc.match_substring(known.values, mark), False)
    with_mark, share = known.values.filter(has_mark), known.share(np.asarray(has_mark))
    if not share or share + share_without < least_share:
        return
    if pc.all(pc.match_substring_regex(with_mark, _GROUPS[mark])).as_py():
        shown, marks = str(with_mark[0])[:60], {COMMA: "commas", POINT: "points"}[mark]
        raise InputError(
            f"column {name} holds numbers such as {shown!r}, whose {marks} may part "
            f"thousands or decimals; write them with a decimal point, such as 1234.00, "
            f"and no separators, or leave the column out"
        )


def _without_brackets(text: pa.Array) -> pa.Array:
    """Write losses, in brackets or with a minus behind, with a minus in front."""
    if pc.any(pc.starts_with(text, "(")).as_py():
        text = pc.replace_substring_regex(text, _IN_BRACKETS, r"-\1")
    if pc.any(pc.ends_with(text, "-")).as_py():
        text = pc.replace_substring_regex(text, _MINUS_BEHIND, r"-\1")
    return text


def _match_numbers(text: pa.Array, notation: Notation) -> pa.Array:
    """Read text as numbers, all else as null."""
    text, decimal = _without_unit(text, notation.unit), notation.decimal
    numbers = pc.if_else(pc.match_substring_regex(text, _NUMBER[decimal]), text, None)
    if decimal == COMMA:
        numbers = pc.replace_substring_regex(numbers, _GROUP_MARKS, "")
    numbers = pc.replace_substring(numbers, ",", POINT if decimal == COMMA else "")
    return numbers.cast(pa.float64())


def _parse_numbers(text: pa.Array, notation: Notation) -> pa.Array:
    """Read text as numbers, "true" and "false" as 1 and 0, all else as null."""
    numbers = _match_numbers(text, notation)
    if numbers.null_count == text.null_count or notation.unit:
        return numbers
    truth = pa.array(["false", "true"], type=TEXT)
    lower = pc.utf8_lower(pc.utf8_trim_whitespace(text))
    return pc.coalesce(numbers, pc.index_in(lower, value_set=truth).cast(pa.float64()))
