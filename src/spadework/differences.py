"""How two sets of rows differ: column by column, and as a whole.

Used twice: labeled rows against unlabeled ones, and new rows against training rows.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from spadework.arrays import Flags
from spadework.column_differences import (
    LEVEL,
    ColumnDifference,
    Side,
    compare_columns,
    pair_columns,
)
from spadework.errors import InputError
from spadework.labels import NORMAL, UNLABELED
from spadework.reference import Reference
from spadework.table_model import TableModel
from spadework.tables.encoding import TableEncoder
from spadework.two_samples import tell_apart

CHANCE = 0.6
"""AUC up to which a classifier hardly tells two sets of rows apart."""

GIVEAWAY = 0.9
"""Distance from which a column by itself tells labeled rows from unlabeled ones."""

MIN_ROWS = 10
"""Rows on either side that comparing needs."""

Advice = Literal["keep", "refit", "relabel"]


@dataclass(frozen=True)
class Difference:
    """How two sets of rows differ, by columns with the largest distance first.

    The AUC is that with which held-out rows of the sets are told apart; 0.5 is chance.
    The p-value is the chance of such an AUC where sets do not differ.
    """

    auc: float
    p_value: float
    columns: list[ColumnDifference]

    @property
    def certain(self) -> list[ColumnDifference]:
        """Columns that differ beyond chance."""
        return [each for each in self.columns if each.certain]

    @property
    def tells_apart(self) -> bool:
        """Whether rows are told apart beyond chance, and more than hardly."""
        return self.p_value <= LEVEL and self.auc > CHANCE

    @property
    def matters(self) -> bool:
        """Whether rows are told apart so, by all columns or by one alone."""
        return self.tells_apart or any(
            each.distance > 2 * CHANCE - 1 for each in self.certain
        )

    def __str__(self) -> str:
        how = "can be told apart" if self.tells_apart else "can hardly be told apart"
        named = ", ".join(each.name for each in self.certain[:5])
        most = f"; most by {named}" if named else ""
        return f"the rows {how} (AUC {self.auc:.2f}, p {self.p_value:.2g}){most}"


@dataclass(frozen=True)
class Drift:
    """How new rows, so many, differ from training rows, and what to do about it.

    Of unlabeled training rows and of new rows, a share is called anomalous. So many
    further rows were left out, as the model has learnt from their labels.
    """

    difference: Difference
    called_before: float
    called_now: float
    n_rows: int
    n_left_out: int
    advice: Advice

    def __str__(self) -> str:
        said = {
            "keep": "keep the model: nothing has changed that matters",
            "refit": "refit with the new rows as unlabeled ones and the labels you have: "
            "values have moved more than calls",
            "relabel": "label some of the new rows and refit: the model calls another "
            "share of them anomalous than before",
        }
        left_out = (
            f"left out: {self.n_left_out:,} rows whose labels the model has learnt from\n"
        ) * bool(self.n_left_out)
        return (
            f"{self.n_rows:,} new rows: {self.difference}\n{left_out}"
            f"called anomalous: {self.called_before:.2%} in training, "
            f"{self.called_now:.2%} now\n"
            f"advice: {said[self.advice]}"
        )


def compare_rows(
    encoder: TableEncoder, first: Side, second: Side, *, later: bool = False
) -> Difference:
    """Compare two sets of rows.

    Large sets are sampled. Where the second one is of a later time, what differs for that
    reason alone is left out.
    """
    if min(len(first), len(second)) < MIN_ROWS:
        raise InputError(
            f"comparing needs {MIN_ROWS} rows on each side; got {len(first)} and "
            f"{len(second)}"
        )
    rng = np.random.default_rng(0)
    first, second = first.sample(rng), second.sample(rng)
    pairs = pair_columns(encoder, first, second, later=later)
    encoded = np.hstack([each.encode() for each in pairs])
    told = tell_apart(encoded[: len(first)], encoded[len(first) :])
    return Difference(told.auc, told.p_value, compare_columns(pairs))


def find_giveaways(model: TableModel) -> list[ColumnDifference]:
    """Find columns that by themselves tell labeled normals from unlabeled rows.

    Most unlabeled rows are normal, too, so such a column hardly tells what a row is. It
    may tell when or how rows were labeled, and mislead.
    """
    labels = model.reference.labels
    normals, unlabeled = (
        remembered(model.reference, labels == label) for label in (NORMAL, UNLABELED)
    )
    if min(len(normals), len(unlabeled)) < MIN_ROWS:
        return []
    columns = compare_columns(pair_columns(model.encoder, normals, unlabeled))
    return [each for each in columns if each.certain and each.distance >= GIVEAWAY]


def remembered(reference: Reference, rows: Flags) -> Side:
    """Return training rows that a model remembers."""
    return Side(reference.X[rows], reference.categories[rows])


def compare_table(model: TableModel, table: pa.Table) -> Drift:
    """Compare new rows with the unlabeled ones that the model was fitted on.

    What is known of labeled rows says nothing of new ones, so rows whose labels the model
    has learnt from are left out on both sides. Without unlabeled rows, or with too few
    others, all rows count.
    """
    reference, new = model.reference, Side.of(model.encoder, table)
    usual, counts = _leave_learnt_out(model, new, model.name_rows(table))
    before, now = remembered(reference, usual), new.take(counts)
    difference = compare_rows(model.encoder, before, now, later=True)
    threshold = model.detector.threshold_
    called_before = float((reference.scores[usual] > threshold).mean())
    called_now = float((model.detector.anomaly_score(now.X) > threshold).mean())
    advice = advise(difference.matters, called_before, called_now, len(before), len(now))
    n_left_out = len(new) - len(now)
    return Drift(difference, called_before, called_now, len(now), n_left_out, advice)


def _leave_learnt_out(
    model: TableModel, new: Side, names: list[str] | None
) -> tuple[Flags, Flags]:
    """Tell which remembered rows and which new rows, (n_rows,) each, are compared.

    Rows that equal one that was learnt from are left out on either side, so that what is
    left is comparable where rows have no names.
    """
    reference = model.reference
    usual, all_new = reference.usual, np.ones(len(new), dtype=bool)
    if (reference.labels[usual] != UNLABELED).any():
        return usual, all_new
    own_names = None
    if names is not None and reference.names is not None:
        own_names = [str(name) for name in reference.names]
    kept = usual & ~reference.has_learnt(reference.X, own_names)
    unseen = ~reference.has_learnt(new.X, names)
    return (
        (kept, unseen) if min(kept.sum(), unseen.sum()) >= MIN_ROWS else (usual, all_new)
    )


def advise(
    values_moved: bool,
    called_before: float,
    called_now: float,
    n_before: int,
    n_rows: int,
) -> Advice:
    """Say what to do: relabel if calls have moved, refit if only values have.

    Calls have moved when their share has halved or doubled, by more than three
    standard errors of the difference of two shares, those before and those now.
    """
    n_called = n_before * called_before + n_rows * called_now
    share = max(1.0, n_called) / (n_before + n_rows)
    error = np.sqrt(share * (1 / n_before + 1 / n_rows))
    moved = not called_before / 2 <= called_now <= 2 * called_before
    if moved and abs(called_now - called_before) > 3 * error:
        return "relabel"
    return "refit" if values_moved else "keep"
