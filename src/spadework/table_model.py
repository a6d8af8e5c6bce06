"""A detector for tables as they are: encoding, labels and detector in one model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from spadework.detector import SPADE
from spadework.errors import InputError, LabelError
from spadework.labels import UNLABELED, count_labels, normalize_labels
from spadework.tables.columns import to_text
from spadework.tables.encoding import TableEncoder, fit_encoder
from spadework.tables.reading import Types, read_table

SCORE, PROBABILITY, ANOMALY = "anomaly_score", "probability", "anomaly"
RESULTS = (SCORE, PROBABILITY, ANOMALY)
"""Columns that scoring adds."""

_STATED = {1: 1, 0: 0, -1: -1}
"""Labels were read before; a detector need not ask what 0 means."""

_SHOWN_NAMES = 12

REFERENCE_ROWS = 5_000
"""Rows of each kind of label, at most, that a model remembers."""


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
    """

    X: NDArray[np.float32]
    labels: NDArray[np.int8]
    scores: NDArray[np.float64]
    places: NDArray[np.int64]

    def __post_init__(self) -> None:
        n_rows = len(self.X)
        others = (self.labels, self.scores, self.places)
        if self.X.ndim != 2 or any(each.shape != (n_rows,) for each in others):
            raise InputError("a reference needs a label, a score and a place per row")


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

    detector: SPADE
    encoder: TableEncoder
    label: str
    label_map: dict[str, int] | None
    keys: tuple[str, ...]
    n_rows: int
    reference: Reference

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

    def score(self, table: Any) -> pa.Table:
        """Score a frame or a file; keys and results in the order of its rows."""
        read = read_table(table, types=self.types)
        return pa.Table.from_batches([self.score_batch(b) for b in _batches(read)])

    def score_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Score the rows of a batch: its keys, then score, probability and call."""
        missing = [key for key in self.keys if key not in batch.schema.names]
        if missing:
            raise InputError(f"the table lacks the key columns {', '.join(missing)}")
        scores = self.detector.anomaly_score(self.encoder.encode(batch))
        results = {
            SCORE: scores,
            PROBABILITY: self.detector.to_probability(scores),
            ANOMALY: (scores > self.detector.threshold_).astype(np.int8),
        }
        kept = {key: batch.column(key) for key in self.keys}
        return pa.RecordBatch.from_pydict({**kept, **results})

    def read_labels(self, table: pa.Table) -> NDArray[np.int8]:
        """Read the label column of a table, (n_rows,)."""
        return read_label_column(table, self.label, self.label_map)


def fit_table(
    source: Any,
    *,
    label: str,
    label_map: Mapping[Any, int] | None = None,
    keys: Sequence[str] = (),
    ignore: Sequence[str] = (),
    categories: Sequence[str] = (),
    query: str | None = None,
    detector: SPADE | None = None,
) -> TableModel:
    """Fit a detector on a table as it is.

    Parameters
    ----------
    source : path, glob, list of paths, "-", database URL, or a frame
    label : str
        Column with the labels: 1 anomaly, 0 normal, -1 or empty unlabeled, or what
        ``label_map`` says.
    label_map : mapping of label value to 1, 0 or -1, optional
    keys : sequence of str
        Columns that name a row; they are not learnt from.
    ignore : sequence of str
        Further columns not to learn from.
    categories : sequence of str
        Columns that are categories though they look like numbers.
    query : str, optional
        What to ask a database.
    detector : SPADE, optional
        By default ``SPADE(random_state=0)``.
    """
    plan = plan_table(
        source,
        label=label,
        label_map=label_map,
        keys=keys,
        ignore=ignore,
        categories=categories,
        query=query,
    )
    return plan.fit(detector or SPADE(random_state=0))


@dataclass(frozen=True)
class FitPlan:
    """A table that was read, and what will be learnt from it.

    Attributes
    ----------
    table : pyarrow.Table
    encoder : TableEncoder
    labels : ndarray of shape (n_rows,)
    label : str
    label_map : dict of int, optional
    keys : tuple of str
    """

    table: pa.Table
    encoder: TableEncoder
    labels: NDArray[np.int8]
    label: str
    label_map: dict[str, int] | None
    keys: tuple[str, ...]

    def lines(self) -> list[str]:
        """Say what will be done: rows, labels, columns by role, and what is left out."""
        roles: dict[str, list[str]] = {}
        for column in self.encoder.columns:
            roles.setdefault(column.role, []).append(column.name)
        return [
            f"rows:   {self.table.num_rows:,}",
            f"labels: {count_labels(self.labels)}",
            *(
                f"{role}:".ljust(8) + f"{len(names):,} ({_shorten(names)})"
                for role, names in roles.items()
            ),
            *(f"left out: {each.name}: {each.why}" for each in self.encoder.ignored),
        ]

    def fit(self, detector: SPADE) -> TableModel:
        """Encode the table and fit a detector on it."""
        X = self.encoder.encode(self.table)
        detector.set_params(label_map=_STATED).fit(X, self.labels)
        return TableModel(
            detector,
            self.encoder,
            self.label,
            self.label_map,
            self.keys,
            self.table.num_rows,
            _remember(detector, X, self.labels),
        )


def plan_table(
    source: Any,
    *,
    label: str,
    label_map: Mapping[Any, int] | None = None,
    keys: Sequence[str] = (),
    ignore: Sequence[str] = (),
    categories: Sequence[str] = (),
    query: str | None = None,
) -> FitPlan:
    """Read a table and decide what each column is; parameters as of `fit_table`."""
    table = read_table(source, query=query)
    _refuse_unknown(table, [label, *keys, *ignore, *categories])
    mapping = None if label_map is None else {str(k): v for k, v in label_map.items()}
    labels = read_label_column(table, label, mapping)
    encoder = fit_encoder(table, leave_out=[label, *keys, *ignore], categories=categories)
    return FitPlan(table, encoder, labels, label, mapping, tuple(keys))


def read_label_column(
    table: pa.Table, label: str, mapping: Mapping[str, int] | None
) -> NDArray[np.int8]:
    """Read labels as 1, 0 and -1, (n_rows,); a mapping is by the text of the values."""
    if label not in table.column_names:
        raise LabelError(
            f"there is no label column {label!r}; the table has "
            f"{', '.join(table.column_names[:20])}"
        )
    column = table.column(label).combine_chunks()
    if mapping is None:
        return normalize_labels(column.to_numpy(zero_copy_only=False))
    return normalize_labels(np.array(to_text(column).to_pylist(), dtype=object), mapping)


def _remember(
    detector: SPADE, X: NDArray[np.float32], labels: NDArray[np.int8]
) -> Reference:
    """Draw the rows that a model remembers, of each label the same number at most."""
    rng = np.random.default_rng(0)
    chosen = []
    for value in (1, 0, UNLABELED):
        rows = np.flatnonzero(labels == value)
        if len(rows) > REFERENCE_ROWS:
            rows = rng.choice(rows, REFERENCE_ROWS, replace=False)
        chosen.append(rows)
    places = np.sort(np.concatenate(chosen))
    return Reference(X[places], labels[places], detector.anomaly_score(X[places]), places)


def _shorten(names: list[str]) -> str:
    """List a few names."""
    more = len(names) - _SHOWN_NAMES
    return ", ".join(names[:_SHOWN_NAMES]) + (f" and {more} more" if more > 0 else "")


def _refuse_unknown(table: pa.Table, names: Sequence[str]) -> None:
    """Refuse names of columns that are not there."""
    unknown = [name for name in names if name not in table.column_names]
    if unknown:
        raise InputError(
            f"there is no column {', '.join(map(repr, unknown))}; the table has "
            f"{', '.join(table.column_names[:20])}"
        )


def _batches(table: pa.Table) -> list[pa.RecordBatch]:
    """Return the batches of a table, one that is empty if it has no rows."""
    return table.to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]
