"""Columns that say nothing of new rows, though they did in training.

A join that found no partner leaves a column empty, a new spelling makes every category a
new one. Scores go on as if nothing had happened, so somebody must be told.
"""

import logging
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from spadework.arrays import Flags
from spadework.reference import Reference
from spadework.tables.columns import CategoryColumn, Column, find_missing
from spadework.tables.encoding import TableEncoder
from spadework.tables.values import Values
from spadework.tables.words import in_rows

logger = logging.getLogger("spadework")

MIN_ROWS = 10
"""New rows from which a column can be called lost."""

LEVEL = 0.001
"""Chance, over all columns together, of so many rows without a value."""

_FIRST_ROWS = 64
_LONE = 1.5


class LostColumn(NamedTuple):
    """A column without a single value that training knows."""

    name: str
    why: str

    def __str__(self) -> str:
        return f"column {self.name} {self.why}"


class ColumnWatch:
    """Looks at new rows, batch after batch, for columns that say nothing of any."""

    def __init__(self, encoder: TableEncoder, reference: Reference, n_rows: int) -> None:
        self._encoder, self._reference, self._n_trained = encoder, reference, n_rows
        self._suspects = list(encoder.columns)
        self._examples: dict[str, str] = {}
        self._n_rows = 0

    def look(self, batch: pa.RecordBatch | pa.Table) -> None:
        """Clear the columns that say something of a row; most do of the first."""
        if not batch.num_rows:
            return
        self._n_rows += batch.num_rows
        self._suspects = [
            column
            for column in self._suspects
            if self._says_nothing(column, batch.column(column.name))
        ]

    def found(self) -> list[LostColumn]:
        """Return what is lost, as far as chance does not explain it."""
        if self._n_rows < MIN_ROWS:
            return []
        level = LEVEL / len(self._encoder.columns)
        return [
            LostColumn(column.name, self._why(column))
            for column in self._suspects
            if self._chance_unknown(column) ** self._n_rows < level
        ]

    def _says_nothing(self, column: Column, array: Values) -> bool:
        parts = array[:_FIRST_ROWS], array[_FIRST_ROWS:]
        return not any(self._is_known(column, part).any() for part in parts)

    def _is_known(self, column: Column, array: Values) -> Flags:
        """Tell values that are there and, of categories, were in training; (n_rows,)."""
        if not isinstance(column, CategoryColumn):
            return ~find_missing(column, array)
        there = np.asarray(column.read(array).is_valid())
        new = there & (column.shares(array) == 0)
        if new.any():
            first = array[int(new.argmax())]
            self._examples.setdefault(column.name, str(first)[:60])
        return there & ~new

    def _why(self, column: Column) -> str:
        rows = f"all {self._n_rows:,} rows"
        example = self._examples.get(column.name)
        if example is not None:
            return f"has values that training had not in {rows}, such as {example!r}"
        missed = in_rows(self._share_missing(column), "training")
        return f"is missing in {rows}, and was in {missed}"

    def _share_missing(self, column: Column) -> float:
        """Share of training rows, as a rule of usual ones, that lack a value."""
        if isinstance(column, CategoryColumn):
            shares = dict(zip(column.values, column.log_shares, strict=False))
            return float(np.exp(shares.get(None, -np.inf)))
        if not column.tells_missing:
            return 0.0
        last = self._encoder.features.index(column.features[-1])
        return float(self._reference.X[self._reference.usual, last].mean())

    def _chance_unknown(self, column: Column) -> float:
        """Chance that a row says nothing by a column, from training rows.

        Of categories, rows alone with their value tell how often a value is new (Good and
        Turing).
        """
        if not isinstance(column, CategoryColumn):
            return self._share_missing(column)
        shares = np.exp(column.log_shares[:-1].astype(np.float64))
        named = np.array([value is not None for value in column.values])
        known_again = named & (shares * self._n_trained > _LONE)
        return float(np.clip(1 - shares[known_again].sum(), 0, 1))


def warn_of_lost(lost: Sequence[LostColumn]) -> None:
    """Log what is lost, if anything is, and what to do about it."""
    for each in lost:
        logger.warning(
            "%s: scores rest on that, look at where the rows come from before you trust "
            "them",
            each,
        )
