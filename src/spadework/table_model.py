"""A detector for tables as they are: encoding, labels and detector in one model."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from spadework.errors import InputError
from spadework.labels import UNLABELED
from spadework.lost_columns import find_lost, warn_of_lost
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
class Reference:
    """Training rows that a model remembers, to explain and to compare with.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        Encoded.
    labels : ndarray of shape (n_rows,)
    scores : ndarray of shape (n_rows,)
    places : ndarray of shape (n_rows,)
        Which training row each is, counted from 0.
    names : ndarray of shape (n_rows,), optional
        What the key columns say of each, where the model has any.
    learnt : ndarray of shape (n_labeled, 2), optional
        Marks of all rows whose labels were learnt from, as of `mark_rows`; models of
        earlier versions have none.
    """

    X: NDArray[np.float32]
    labels: NDArray[np.int8]
    scores: NDArray[np.float64]
    places: NDArray[np.int64]
    names: NDArray[np.object_] | None = None
    learnt: NDArray[np.uint64] | None = None

    def __post_init__(self) -> None:
        n_rows = len(self.X)
        others = [self.labels, self.scores, self.places]
        others += [] if self.names is None else [self.names]
        if self.X.ndim != 2 or any(each.shape != (n_rows,) for each in others):
            raise InputError("a reference needs label, score, place and name per row")
        if self.learnt is not None and self.learnt.shape[1:] != (2,):
            raise InputError("a reference needs two marks for each row learnt from")

    @property
    def marks(self) -> NDArray[np.uint64]:
        """Marks of the rows known to have been learnt from with their labels."""
        if self.learnt is not None:
            return self.learnt
        labeled = self.labels != UNLABELED
        names = None if self.names is None else self.names[labeled].tolist()
        return mark_rows(self.X[labeled], names)

    @property
    def usual(self) -> NDArray[np.bool_]:
        """Which rows stand for what comes in: unlabeled ones, or all if none is."""
        unlabeled = self.labels == UNLABELED
        return unlabeled if unlabeled.any() else ~unlabeled


@dataclass(frozen=True)
class TableModel:
    """What scores a table: its columns' encoding and a fitted detector.

    Attributes
    ----------
    detector : SPADE
    encoder : TableEncoder
    label : str
        Name of the label column.
    label_map : dict of int, optional
        What its values mean.
    keys : tuple of str
        Columns that name a row; they are kept beside its score.
    n_rows : int
        Rows that it was fitted on.
    reference : Reference
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
        widths = {
            len(self.encoder.features),
            self.detector.n_features_in_,
            self.reference.X.shape[1],
        }
        if len(widths) > 1:
            raise InputError(f"encoder, detector and reference differ in width: {widths}")

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
        warn_of_lost(find_lost(self, read))
        return scored

    def score_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Score the rows of a batch: its keys, then score, probability and call."""
        self.refuse_without_keys(batch.schema.names)
        if not batch.num_rows:
            return self._no_rows(batch)
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

    def _no_rows(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return what scoring no rows comes to."""
        kept = {key: simple(batch.column(key)) for key in self.keys}
        types = {SCORE: pa.float64(), PROBABILITY: pa.float64(), ANOMALY: pa.int8()}
        empty = {name: pa.array([], type=kind) for name, kind in types.items()}
        return pa.RecordBatch.from_pydict({**kept, **empty})

    def read_labels(self, table: pa.Table) -> NDArray[np.int8]:
        """Read the label column of a table, (n_rows,); 0 is what it was in training."""
        stated = self.detector.census_.n_normals > 0
        return read_label_column(table, self.label, self.label_map, stated=stated)


def mark_rows(X: NDArray[np.float32], names: Sequence[str] | None) -> NDArray[np.uint64]:
    """Mark encoded rows, (n_rows, 2): each alone, and each with its name if it has one.

    Rows that differ hardly ever have the same mark.
    """
    marks = np.zeros((len(X), 2), dtype=np.uint64)
    for place, row in enumerate(X):
        mark = blake2b(row.tobytes(), digest_size=8)
        marks[place, 0] = int.from_bytes(mark.digest(), "little")
        if names is not None:
            mark.update(names[place].encode())
            marks[place, 1] = int.from_bytes(mark.digest(), "little")
    return marks


def name_rows(table: pa.Table, keys: Sequence[str]) -> list[str]:
    """Say what the key columns of each row hold: "id 7, day 2025-01-31"."""
    columns = [table.column(key).to_pylist() for key in keys]
    return [
        ", ".join(f"{key} {each[row]}" for key, each in zip(keys, columns, strict=True))
        for row in range(table.num_rows)
    ]


def _batches(table: pa.Table) -> list[pa.RecordBatch]:
    """Return the batches of a table, one that is empty if it has no rows."""
    return table.to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]
