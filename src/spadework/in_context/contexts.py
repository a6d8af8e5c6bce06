"""Contexts: which rows and columns of a table the in-context model reads.

What does not fit is sampled, by one rule: as many labeled rows of each class as a
context holds, an own part of the unlabeled rows for each member, and, of a wide table,
other columns for each member.
"""

from typing import NamedTuple

import numpy as np

from spadework.arrays import Labels, Positions
from spadework.labels import ANOMALY, NORMAL, UNLABELED

MAX_LABELED = 1000
"""Rows of a class in a context."""

MAX_UNLABELED = 3000
"""Unlabeled rows in a context: with the labeled ones, what the model was trained for."""

MAX_COLUMNS = 96
"""Columns in a context: as many as the widest made tables have."""

IN_ALL = -1
"""Fold of a labeled row that no context leaves out."""


class Context(NamedTuple):
    """What one member reads: positions of rows, and of columns, of the table.

    Columns are in the order in which they get their identities.
    """

    rows: Positions
    columns: Positions


def draw_contexts(
    labels: Labels,
    column_order: Positions,
    n_members: int,
    rng: np.random.Generator,
    *,
    max_unlabeled: int = MAX_UNLABELED,
    folds: Positions | None = None,
) -> list[Context]:
    """Draw a context for each member.

    The order of columns, (n_features,), does not depend on how the table was laid out.
    With folds, (n_samples,), the context of each member leaves out the labeled rows of
    its own fold, so that it can be judged by them.
    """
    unlabeled = rng.permutation(np.flatnonzero(labels == UNLABELED))
    contexts = []
    for member in range(n_members):
        shown = labels if folds is None else np.where(folds == member, UNLABELED, labels)
        labeled = [
            _sample(np.flatnonzero(shown == label), MAX_LABELED, rng)
            for label in (ANOMALY, NORMAL)
        ]
        # Parts follow one another round the table: disjoint while there are enough.
        start = member * max_unlabeled
        part = np.arange(start, start + min(max_unlabeled, len(unlabeled)))
        own = unlabeled[part % max(1, len(unlabeled))]
        columns = np.sort(_sample(np.arange(len(column_order)), MAX_COLUMNS, rng))
        rows = np.concatenate([*labeled, own])
        contexts.append(Context(rows, column_order[columns]))
    return contexts


def deal_folds(labels: Labels, n_folds: int, rng: np.random.Generator) -> Positions:
    """Deal the labeled rows of each class into folds, (n_samples,).

    `IN_ALL` is the fold of unlabeled rows, of a class of fewer rows than folds, and of
    every row where there is one fold: a context without any labels would tell nothing.
    """
    folds = np.full(len(labels), IN_ALL)
    for label in (ANOMALY, NORMAL):
        rows = rng.permutation(np.flatnonzero(labels == label))
        if len(rows) >= n_folds > 1:
            folds[rows] = np.arange(len(rows)) % n_folds
    return folds


def _sample(rows: Positions, most: int, rng: np.random.Generator) -> Positions:
    """At most so many of rows, at random."""
    return rows if len(rows) <= most else rng.choice(rows, most, replace=False)
