"""A detector for tables as they are: encoding, labels and detector in one model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from spadework.detector import SPADE
from spadework.errors import DataError, InputError, LabelError
from spadework.labels import UNLABELED, count_labels, normalize_labels
from spadework.tables.batches import Types
from spadework.tables.columns import is_text, simple, to_text
from spadework.tables.encoding import TableEncoder, fit_encoder
from spadework.tables.reading import read_table

SCORE, PROBABILITY, ANOMALY = "anomaly_score", "probability", "anomaly"
RESULTS = (SCORE, PROBABILITY, ANOMALY)
"""Columns that scoring adds."""

_STATED = {1: 1, 0: 0, -1: -1}
"""Labels were read before; a detector need not ask what 0 means."""

_SHOWN_NAMES = 12

MAX_FEATURES = 2_000
"""Features of a table, at most: memory and model files grow with their square."""

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

    detector: SPADE
    encoder: TableEncoder
    label: str
    label_map: dict[str | None, int] | None
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

    @property
    def columns(self) -> list[str]:
        """Columns that scoring needs; a table may have others."""
        return list(self.types)

    def score(self, table: Any) -> pa.Table:
        """Score a frame or a file; keys and results in the order of its rows."""
        read = read_table(table, types=self.types, columns=self.columns)
        return pa.Table.from_batches([self.score_batch(b) for b in _batches(read)])

    def score_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Score the rows of a batch: its keys, then score, probability and call."""
        missing = [key for key in self.keys if key not in batch.schema.names]
        if missing:
            raise InputError(
                f"the table lacks the key columns {', '.join(missing)}, which name its "
                f"rows; add them, or fit without them"
            )
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

    def _no_rows(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return what scoring no rows comes to."""
        kept = {key: simple(batch.column(key)) for key in self.keys}
        types = {SCORE: pa.float64(), PROBABILITY: pa.float64(), ANOMALY: pa.int8()}
        empty = {name: pa.array([], type=kind) for name, kind in types.items()}
        return pa.RecordBatch.from_pydict({**kept, **empty})

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
    unlabeled: Any = None,
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
    unlabeled : source, optional
        Further rows, taken as unlabeled whatever their label column says: old labels
        and new rows make a new model.
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
        unlabeled=unlabeled,
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
    label_map: dict[str | None, int] | None
    keys: tuple[str, ...]

    def lines(self) -> list[str]:
        """Say what will be done: rows, labels, columns by role, and what is left out."""
        commas = self.encoder.with_commas
        return [
            f"rows:   {self.table.num_rows:,}",
            f"labels: {count_labels(self.labels)}",
            *(
                f"{role}:".ljust(10) + f"{len(names):,} ({_shorten(names)})"
                for role, names in self.encoder.roles.items()
            ),
            *([f"decimal commas: {_shorten(commas)}"] if commas else []),
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
    unlabeled: Any = None,
) -> FitPlan:
    """Read a table and decide what each column is; parameters as of `fit_table`."""
    _refuse_result_names(keys)
    stay_text = dict.fromkeys([*categories, *keys], pa.string())
    table = read_table(source, query=query, types=stay_text)
    if not table.num_rows:
        raise DataError("the table has column names and no rows: nothing to learn from")
    _refuse_unknown(table, [label, *keys, *ignore, *categories])
    if unlabeled is not None:
        table = _with_unlabeled(table, read_table(unlabeled, types=stay_text), label)
    mapping = None if label_map is None else _by_text(label_map)
    labels = read_label_column(table, label, mapping)
    encoder = fit_encoder(table, leave_out=[label, *keys, *ignore], categories=categories)
    _refuse_too_wide(encoder)
    return FitPlan(table, encoder, labels, label, mapping, tuple(keys))


def _with_unlabeled(table: pa.Table, new: pa.Table, label: str) -> pa.Table:
    """Put rows without labels behind those of a table."""
    names = [name for name in table.column_names if name != label]
    missing = [name for name in names if name not in new.column_names]
    if missing:
        raise DataError(
            f"the unlabeled rows lack columns of the table: {_shorten(missing)}"
        )
    nothing = pa.nulls(new.num_rows, table.schema.field(label).type)
    rows = new.select(names).append_column(label, nothing)
    try:
        return pa.concat_tables(
            [table, rows.select(table.column_names)], promote_options="permissive"
        )
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise DataError(
            f"the unlabeled rows have columns of other types than the table: "
            f"{str(error).splitlines()[0][:200]}"
        ) from error


def read_label_column(
    table: pa.Table, label: str, mapping: Mapping[str | None, int] | None
) -> NDArray[np.int8]:
    """Read labels as 1, 0 and -1, (n_rows,); a mapping is by the text of the values."""
    if label not in table.column_names:
        raise LabelError(
            f"there is no label column {label!r}; the table has "
            f"{', '.join(table.column_names[:20])}"
        )
    column = simple(table.column(label))
    if mapping is not None or is_text(column.type):
        return normalize_labels(np.array(to_text(column).to_pylist(), object), mapping)
    return normalize_labels(column.to_numpy(zero_copy_only=False))


def _by_text(label_map: Mapping[Any, int]) -> dict[str | None, int]:
    """Return what labels mean by their text, None for missing ones."""
    texts = to_text(pa.array([None if k is None else str(k) for k in label_map]))
    return dict(zip(texts.to_pylist(), label_map.values(), strict=True))


def _refuse_too_wide(encoder: TableEncoder) -> None:
    """Refuse more features than a model has memory for."""
    if len(encoder.features) > MAX_FEATURES:
        raise InputError(
            f"the {len(encoder.columns):,} columns to learn from come to "
            f"{len(encoder.features):,} features; at most {MAX_FEATURES:,} can be used. "
            f"Leave columns out, or give a table with fewer"
        )


def _refuse_result_names(keys: Sequence[str]) -> None:
    """Refuse keys that scoring would write over."""
    taken = [key for key in keys if key in RESULTS]
    if taken:
        raise InputError(
            f"scores are written as {', '.join(RESULTS)}; give the key column "
            f"{taken[0]} another name"
        )


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
