"""Encode a table as a float matrix, column by column."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from spadework.arrays import Marks, Positions
from spadework.errors import InputError, list_some
from spadework.tables.columns import CategoryColumn, Column, Features, NumberColumn
from spadework.tables.numerals import COMMA
from spadework.tables.recognition import Ignored, fit_column
from spadework.tables.unusable import ColumnsError, Empty, Mixed

_SHOWN = 8


@dataclass(frozen=True)
class TableEncoder:
    """Columns in the order of their features, and those that are left out."""

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
    def categories(self) -> list[CategoryColumn]:
        """The columns of categories."""
        return [each for each in self.columns if isinstance(each, CategoryColumn)]

    @property
    def with_commas(self) -> list[str]:
        """Names of the columns of text whose decimals come after a comma."""
        return [column.name for column in self._numbers if column.decimal == COMMA]

    @property
    def with_units(self) -> list[str]:
        """Names of the columns of text whose numbers have a unit, with that unit."""
        return [f"{column.name} {column.unit}" for column in self._numbers if column.unit]

    @property
    def _numbers(self) -> list[NumberColumn]:
        return [column for column in self.columns if isinstance(column, NumberColumn)]

    @cached_property
    def owners(self) -> Positions:
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
                    f"read as one now: {str(error).splitlines()[0][:200]}. Correct the "
                    f"value or leave it empty; what means missing is said when fitting"
                ) from error
            encoded[:, start : start + part.shape[1]] = part
            start += part.shape[1]
        return encoded

    def mark(self, table: pa.Table | pa.RecordBatch) -> Marks:
        """Mark the values of categories, alike where they are; (n_rows, n_categories)."""
        self._refuse_missing(table.schema.names)
        marks = [column.mark(table.column(column.name)) for column in self.categories]
        return np.array(marks, np.uint64).reshape(-1, table.num_rows).T

    def _refuse_missing(self, names: Collection[str]) -> None:
        missing = [c.name for c in self.columns if c.name not in names]
        if missing:
            raise InputError(
                f"the table lacks columns that the model was fitted with: "
                f"{list_some(missing)}. Add them; values that are not known may be left "
                f"empty"
            )


def fit_encoder(
    table: pa.Table,
    *,
    leave_out: Sequence[str] = (),
    categories: Sequence[str] = (),
    missing: Sequence[str] = (),
) -> TableEncoder:
    """Decide what every column is, and fit its encoding.

    Columns to leave out are those not to learn from, such as the label and keys;
    ``categories`` are such though they look like numbers; ``missing`` are further values
    that mean missing.

    Raises
    ------
    ColumnsError
        If columns have no value, or hold numbers or dates and other values.
    """
    fitted = [
        fit_column(name, values, as_category=name in categories, missing=missing)
        for name, values in zip(table.column_names, table.columns, strict=True)
        if name not in leave_out
    ]
    empty = [each for each in fitted if isinstance(each, Empty)]
    mixed = [each for each in fitted if isinstance(each, Mixed)]
    if empty or mixed:
        raise ColumnsError(empty, mixed, table.num_rows)
    columns = tuple(each for each in fitted if isinstance(each, Column))
    ignored = tuple(each for each in fitted if isinstance(each, Ignored))
    if not columns:
        why = "; ".join(f"{each.name}: {each.why}" for each in ignored[:_SHOWN])
        raise InputError(f"no column is left to learn from ({why or 'there is none'})")
    return TableEncoder(columns, ignored)
