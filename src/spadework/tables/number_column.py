"""A column of numbers, and how it is encoded."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from spadework.errors import InputError
from spadework.tables.features import MISSING, Features, check_column
from spadework.tables.numerals import (
    COMMA,
    GROUPED,
    POINT,
    Notation,
    blank_numbers,
    find_other_decimal,
    find_words,
    to_numbers,
)
from spadework.tables.values import Values, is_text, plain, value_type


@dataclass(frozen=True)
class NumberColumn:
    """A number; missing and infinite values take a middle value and are told apart.

    Attributes
    ----------
    name : str
    offset : float
        Subtracted, so that large numbers keep their differences in float32.
    fill : float
        Stands for a missing value.
    tells_missing : bool
        Whether values were missing in training: then a feature says where.
    as_text : bool
        Whether the cells of a text file are read here and not by its reader, which
        knows neither "true" among numbers nor what else means missing.
    decimal, unit : str
        How numbers are written in text, as of `Notation`.
    missing : tuple of str
        Further values that mean missing.
    """

    role: ClassVar[str] = "number"

    name: str
    offset: float
    fill: float
    tells_missing: bool
    as_text: bool
    decimal: str = POINT
    unit: str = ""
    missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not np.isfinite([self.offset, self.fill]).all():
            raise InputError(f"column {self.name} is not encoded by finite numbers")
        if self.decimal not in (POINT, COMMA, GROUPED):
            raise InputError(f"column {self.name} has decimals after {self.decimal!r}")
        if not isinstance(self.unit, str):
            raise InputError(f"column {self.name} needs a sign in text")
        check_column(self.name, self.missing, self.tells_missing, self.as_text)

    @property
    def features(self) -> list[str]:
        """Names of the features."""
        return [self.name, *([f"{self.name} is missing"] * self.tells_missing)]

    @property
    def notation(self) -> Notation:
        """How numbers are written in text."""
        return Notation(self.decimal, self.unit)

    @property
    def arrow_type(self) -> pa.DataType:
        """Type to read the column as."""
        return pa.string() if self.as_text else pa.float64()

    def encode(self, array: Values) -> Features:
        """Encode values, (n_rows,), as (n_rows, n_features)."""
        values = self.read(array)
        missing = ~np.isfinite(values)
        if missing.any():
            values = np.where(missing, self.fill, values)
        if self.offset:
            values = values - self.offset
        limit = np.finfo(np.float32).max
        number = np.clip(values, -limit, limit).astype(np.float32)
        if not self.tells_missing:
            return number[:, None]
        return np.stack([number, missing.astype(np.float32)], axis=1)

    def is_missing(self, array: Values) -> NDArray[np.bool_]:
        """Tell values that count as missing, (n_rows,)."""
        return ~np.isfinite(self.read(array))

    def read(self, array: Values) -> NDArray[np.float64]:
        """Return values as numbers, NaN where they are missing; (n_rows,)."""
        values = to_numbers(array, self.notation, self.missing)
        words = find_words(array, values, self.missing)
        if words.any():
            self._refuse(plain(array).filter(pa.array(words)))
        if self.notation.needs_unit and not is_text(value_type(array.type)):
            self._refuse_without_unit(values)
        return blank_numbers(values, self.notation, self.missing)

    def _refuse(self, words: pa.Array) -> None:
        """Refuse text that is no number."""
        other = find_other_decimal(words, self.notation)
        if other is None:
            sign = f" with {self.unit}" if self.unit else ""
            raise pa.ArrowInvalid(f"{str(words[0])[:60]!r} is not a number{sign}")
        if self.decimal == POINT:
            raise pa.ArrowInvalid(
                f"{other!r} has a mark that no number in training told the meaning of: "
                f"it may part thousands or decimals"
            )
        raise pa.ArrowInvalid(
            f"{other!r} is not written as in training, where decimals came after "
            f"{self.decimal[-1]!r}"
        )

    def _refuse_without_unit(self, values: NDArray[np.float64]) -> None:
        """Refuse numbers that may mean others where all had a unit: shares, or bytes."""
        if not np.isnan(values).all():
            raise pa.ArrowInvalid(
                f"values had {self.unit} behind or before them in training; numbers "
                f"without it may mean others"
            )

    def show(self, array: Values) -> list[str]:
        """Put values into words, text as it was given."""
        given = plain(array).to_pylist()
        return [_show(*each) for each in zip(given, self.read(array), strict=True)]


def _show(given: Any, value: float) -> str:
    """Show text and truth values as they were given, and numbers with a few digits."""
    if given is None or np.isnan(value):
        return MISSING
    if isinstance(given, bool):
        return str(given).lower()
    return given.strip() if isinstance(given, str) else _show_number(value)


def _show_number(value: float) -> str:
    """Write a number with the digits that matter."""
    if not np.isfinite(value):
        return str(value)
    whole = value == round(value) and abs(value) < 1e15
    return f"{value:,.0f}" if whole or 1e6 <= abs(value) < 1e15 else f"{value:,.6g}"
