"""Fit a model on a table as it is: read it, say what will be learnt, and learn."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from spadework.arrays import Labels, Positions, Rows
from spadework.errors import InputError, list_some, suggest
from spadework.labels import STATED, UNLABELED, count_labels
from spadework.lazy import LazyModule
from spadework.reference import Reference, mark_rows
from spadework.table_model import RESULTS, TableModel, name_rows
from spadework.tables.columns import Column
from spadework.tables.encoding import TableEncoder, fit_encoder
from spadework.tables.label_column import by_text, read_label_column
from spadework.tables.recognition import ONE_VALUE
from spadework.tables.training_rows import read_training_rows
from spadework.tables.values import Values, plain

if TYPE_CHECKING:
    from spadework import detector as detectors
else:
    # Loaded when a table has been read, so that one with faults is refused at once.
    detectors = LazyModule("spadework.detector")

logger = logging.getLogger("spadework")

MAX_FEATURES = 2_000
"""Features of a table, at most: contexts of more take minutes to read, and one-class
classifiers take memory that grows with their square."""

REFERENCE_ROWS = 5_000
"""Rows of each kind of label, at most, that a model remembers."""


def fit_table(
    source: Any,
    *,
    label: str,
    label_map: Mapping[Any, int] | None = None,
    keys: Sequence[str] = (),
    ignore: Sequence[str] = (),
    categories: Sequence[str] = (),
    missing: Sequence[Any] = (),
    query: str | None = None,
    unlabeled: Any = None,
    detector: "detectors.SPADE | None" = None,
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
    missing : sequence
        Values that mean missing, besides empty cells, NaN, "NA", "n/a" and "null". A
        number is meant as one, however written.
    query : str, optional
        What to ask a database.
    unlabeled : source, optional
        Further rows, taken as unlabeled whatever their label column says.
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
        missing=missing,
        query=query,
        unlabeled=unlabeled,
    )
    plan.warn_of_ignored()
    return plan.fit(detector or detectors.SPADE(random_state=0))


@dataclass(frozen=True)
class FitPlan:
    """A table that was read, without its empty rows, and what will be learnt from it."""

    table: pa.Table
    encoder: TableEncoder
    labels: Labels
    label: str
    label_map: dict[str | None, int] | None
    keys: tuple[str, ...]
    n_empty: int = 0

    def lines(self) -> list[str]:
        """Say what will be done: rows, labels, columns by role, and what is left out."""
        commas, units = self.encoder.with_commas, self.encoder.with_units
        return [
            f"rows:   {self.table.num_rows:,}"
            + f" ({self.n_empty:,} empty ones at the end left out)" * bool(self.n_empty),
            f"labels: {count_labels(self.labels)}",
            *(
                f"{role}:".ljust(10) + f"{len(names):,} ({list_some(names)})"
                for role, names in self.encoder.roles.items()
            ),
            *([f"decimal commas: {list_some(commas)}"] if commas else []),
            *([f"units:    {list_some(units)}"] if units else []),
            *self._stated_lines(),
            *(
                f"left out: {each.name or '(no name)'}: {each.why}"
                for each in self.encoder.ignored
            ),
        ]

    @property
    def stated(self) -> dict[str, int]:
        """How many values are missing because that was said, by column if there are."""
        found = {
            column.name: _count_stated(column, self.table.column(column.name))
            for column in self.encoder.columns
            if column.missing
        }
        return {name: count for name, count in found.items() if count}

    def _stated_lines(self) -> list[str]:
        """Say how many values were said to mean missing, if any were."""
        if not any(column.missing for column in self.encoder.columns):
            return []
        found = self.stated
        by_column = list_some([f"{name} {count:,}" for name, count in found.items()])
        line = f"said to be missing: {sum(found.values()):,} values"
        return [line + f" ({by_column})" * bool(found)]

    def warn_of_ignored(self) -> None:
        """Log which columns are left out and why, unless they have one value only."""
        said = [f"{c.name}: {c.why}" for c in self.encoder.ignored if c.why != ONE_VALUE]
        if said:
            logger.warning("left out: %s", "; ".join(said))

    def fit(self, detector: "detectors.SPADE") -> TableModel:
        """Encode the table and fit a new detector with the same parameters on it."""
        from sklearn.base import clone

        if detector.label_map is not None:
            raise InputError("give label_map to fit_table, and not to the detector")
        X = self.encoder.encode(self.table)
        fitted: Any = clone(detector)
        fitted.set_params(label_map=STATED).fit(X, self.labels)
        return TableModel(
            fitted,
            self.encoder,
            self.label,
            self.label_map,
            self.keys,
            self.table.num_rows,
            self._remember(fitted, X),
        )

    def _remember(self, detector: "detectors.SPADE", X: Rows) -> Reference:
        """Draw the rows that a model remembers, of each label the same number at most."""
        rng, labels = np.random.default_rng(0), self.labels
        kinds = [np.flatnonzero(labels == value) for value in (1, 0, UNLABELED)]
        for at, rows in enumerate(kinds):
            if len(rows) > REFERENCE_ROWS:
                kinds[at] = rng.choice(rows, REFERENCE_ROWS, replace=False)
        places = np.sort(np.concatenate(kinds))
        labeled = np.flatnonzero(labels != UNLABELED)
        names, own_names = self._name(places), self._name(labeled)
        return Reference(
            X[places],
            labels[places],
            detector.anomaly_score(X[places]),
            places,
            None if names is None else np.array(names, dtype=object),
            self.encoder.mark(self.table.take(pa.array(places))),
            mark_rows(X[labeled], own_names),
        )

    def _name(self, rows: Positions) -> list[str] | None:
        """Say what the key columns of rows hold, if there are any."""
        if not self.keys:
            return None
        taken = self.table.select(self.keys).take(pa.array(rows))
        return name_rows(taken, list(self.keys))


def plan_table(
    source: Any,
    *,
    label: str,
    label_map: Mapping[Any, int] | None = None,
    keys: Sequence[str] = (),
    ignore: Sequence[str] = (),
    categories: Sequence[str] = (),
    missing: Sequence[Any] = (),
    query: str | None = None,
    unlabeled: Any = None,
) -> FitPlan:
    """Read a table and decide what each column is; parameters as of `fit_table`."""
    keys, ignore, categories, missing = map(_listed, (keys, ignore, categories, missing))
    keys = list(dict.fromkeys(keys))
    if taken := [key for key in keys if key in RESULTS]:
        raise InputError(
            f"scores are written as {', '.join(RESULTS)}; give the key column "
            f"{taken[0]} another name"
        )
    stay_text = dict.fromkeys([*categories, *keys], pa.string())
    if not isinstance(label, str):
        raise InputError(
            f"label must be the name of a column; got {type(label).__name__}. Put the "
            f"labels into the table as a column, and give its name"
        )
    rows = read_training_rows(source, query, stay_text, unlabeled, label)
    table = rows.table
    _refuse_unknown(table, [label, *keys, *ignore, *categories])
    mapping = None if label_map is None else by_text(label_map)
    labels = read_label_column(table, label, mapping)
    encoder = fit_encoder(
        table,
        leave_out=[label, *keys, *ignore],
        categories=categories,
        missing=[str(value) for value in missing],
    )
    if len(encoder.features) > MAX_FEATURES:
        raise InputError(
            f"the {len(encoder.columns):,} columns to learn from come to "
            f"{len(encoder.features):,} features; at most {MAX_FEATURES:,} can be used. "
            f"Leave columns out, or give a table with fewer"
        )
    return FitPlan(table, encoder, labels, label, mapping, tuple(keys), rows.n_empty)


def _count_stated(column: Column, array: Values) -> int:
    """Count values that are missing only because a user said that they mean that."""
    read = column.read(array)
    lost = np.isnan(read) if isinstance(read, np.ndarray) else np.asarray(read.is_null())
    return int((lost & np.asarray(plain(array).is_valid())).sum())


def _listed(values: Any) -> Sequence[Any]:
    """Take a name, or a number, alone for a list of one."""
    alone = isinstance(values, (str, int, float, np.generic))
    return [values] if alone else list(values)


def _refuse_unknown(table: pa.Table, names: Sequence[str]) -> None:
    """Refuse names of columns that are not there."""
    unknown = [name for name in names if name not in table.column_names]
    if unknown:
        raise InputError(
            f"there is no column {', '.join(map(repr, unknown))}; the table has "
            f"{list_some(table.column_names)}{suggest(unknown[0], table.column_names)}"
        )
