"""A detector for tables as they are: encoding, labels and detector in one model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from spadework.arrays import Labels
from spadework.errors import InputError
from spadework.lost_columns import ColumnWatch, LostColumn, warn_of_lost
from spadework.reference import Reference
from spadework.tables.batches import Types
from spadework.tables.encoding import TableEncoder
from spadework.tables.label_column import read_label_column
from spadework.tables.reading import read_table
from spadework.tables.values import simple

if TYPE_CHECKING:
    from spadework.detector import SPADE

SCORE, PROBABILITY, ANOMALY = "anomaly_score", "probability", "anomaly"
RESULTS = (SCORE, PROBABILITY, ANOMALY)
"""Columns that scoring adds."""


@dataclass(frozen=True)
class TableModel:
    """What scores a table: its columns' encoding and a fitted detector.

    ``label`` names the label column and ``label_map`` says what its values mean; ``keys``
    are columns that name a row, kept beside its score. It was fitted on ``n_rows``.
    """

    detector: "SPADE"
    encoder: TableEncoder
    label: str
    label_map: dict[str | None, int] | None
    keys: tuple[str, ...]
    n_rows: int
    reference: Reference

    def __repr__(self) -> str:
        columns = (f"{len(names)} {role}" for role, names in self.encoder.roles.items())
        return (
            f"TableModel(fitted on {self.n_rows:,} rows, label {self.label!r}, "
            f"columns: {', '.join(columns)}, {len(self.encoder.ignored)} left out)"
        )

    def __post_init__(self) -> None:
        names = (self.label, *self.keys)
        if not all(isinstance(name, str) for name in names) or self.n_rows < 1:
            raise InputError("a model needs rows, and text as names of its columns")
        widths = {len(self.encoder.features), self.reference.X.shape[1]}
        widths.add(self.detector.n_features_in_)
        if len(widths) > 1:
            raise InputError(f"encoder, detector and reference differ in width: {widths}")
        if self.reference.categories.shape[1] != len(self.encoder.categories):
            raise InputError("a reference needs marks of all columns of categories")

    @property
    def types(self) -> Types:
        """Types to read the columns of a text file as, so that none is guessed."""
        kept = dict.fromkeys(self.keys, pa.string())
        return {**{c.name: c.arrow_type for c in self.encoder.columns}, **kept}

    @property
    def columns(self) -> list[str]:
        """Columns that scoring needs; a table may have others."""
        return list(self.types)

    def score(self, table: Any) -> pa.Table:
        """Score a frame or a file; keys and results in the order of its rows."""
        read = read_table(table, types=self.types, columns=self.columns)
        scored = pa.Table.from_batches([self.score_batch(b) for b in _batches(read)])
        warn_of_lost(self.find_lost(read))
        return scored

    def find_lost(self, table: pa.Table) -> list[LostColumn]:
        """Find the columns that say nothing of the rows of a table."""
        watch = self.watch_columns()
        watch.look(table)
        return watch.found()

    def watch_columns(self) -> ColumnWatch:
        """Return what looks at batches for columns that say nothing of any row."""
        return ColumnWatch(self.encoder, self.reference, self.n_rows)

    def score_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Score the rows of a batch: its keys, then score, probability and call."""
        self.refuse_without_keys(batch.schema.names)
        scores = np.empty(0)
        if batch.num_rows:
            scores = self.detector.anomaly_score(self.encoder.encode(batch))
        results = {
            SCORE: scores,
            PROBABILITY: self.detector.to_probability(scores),
            ANOMALY: (scores > self.detector.threshold_).astype(np.int8),
        }
        kept = {key: simple(batch.column(key)) for key in self.keys}
        return pa.RecordBatch.from_pydict({**kept, **results})

    def refuse_without_keys(self, columns: Sequence[str]) -> None:
        """Refuse a table that lacks columns which name its rows."""
        missing = [key for key in self.keys if key not in columns]
        if missing:
            raise InputError(
                f"the table lacks the key columns {', '.join(missing)}, which name its "
                f"rows; add them, or fit without them"
            )

    def name_rows(self, table: pa.Table) -> list[str] | None:
        """Name rows by the key columns, None where the model or the table has none."""
        if not self.keys or not set(self.keys) <= set(table.column_names):
            return None
        return name_rows(table, self.keys)

    def read_labels(self, table: pa.Table) -> Labels:
        """Read the label column of a table, (n_rows,); 0 is what it was in training."""
        stated = self.detector.census_.n_normals > 0
        return read_label_column(table, self.label, self.label_map, stated=stated)


def name_rows(table: pa.Table, keys: Sequence[str]) -> list[str]:
    """Say what the key columns of each row hold: "id 7, day 2025-01-31".

    A whole number is that in a column of floats, too, as frames have beside a gap.
    Without keys nothing is said.
    """
    if not keys:
        return [""] * table.num_rows
    columns = [map(_whole, table.column(key).to_pylist()) for key in keys]
    return [
        ", ".join(f"{key} {value}" for key, value in zip(keys, row, strict=True))
        for row in zip(*columns, strict=True)
    ]


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _batches(table: pa.Table) -> list[pa.RecordBatch]:
    """Return the batches of a table, one that is empty if it has no rows."""
    return table.to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]
