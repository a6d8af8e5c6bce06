"""Training rows that a model remembers, and marks of those it has learnt from."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from spadework.arrays import Flags, Floats, Labels, Marks, Rows
from spadework.errors import InputError
from spadework.labels import UNLABELED


@dataclass(frozen=True)
class Reference:
    """Training rows that a model remembers, to explain and to compare with.

    Of each, encoded, it is known which training row it is, counted from 0, and by name
    what the key columns say, None where there are none. ``categories``, (n_rows,
    n_categories), marks their values in category columns, as of `TableEncoder.mark`;
    ``learnt``, (n_labeled, 2), marks all rows whose labels were learnt from, as of
    `mark_rows`.
    """

    X: Rows
    labels: Labels
    scores: Floats
    places: NDArray[np.int64]
    names: NDArray[np.object_] | None
    categories: Marks
    learnt: Marks

    def __post_init__(self) -> None:
        n_rows = len(self.X)
        others = [self.labels, self.scores, self.places]
        others += [] if self.names is None else [self.names]
        if self.X.ndim != 2 or any(each.shape != (n_rows,) for each in others):
            raise InputError("a reference needs label, score, place and name per row")
        if self.categories.ndim != 2 or len(self.categories) != n_rows:
            raise InputError("a reference needs marks of the categories of each row")
        if self.learnt.shape[1:] != (2,):
            raise InputError("a reference needs two marks for each row learnt from")

    @property
    def usual(self) -> Flags:
        """Which rows stand for what comes in: unlabeled ones, or all if none is."""
        unlabeled = self.labels == UNLABELED
        return unlabeled if unlabeled.any() else ~unlabeled

    def has_learnt(self, X: Rows, names: Sequence[str] | None) -> Flags:
        """Tell which encoded rows were learnt from with their labels, (n_rows,).

        They are known by their names too, where they have any.
        """
        named = int(names is not None)
        return np.isin(mark_rows(X, names)[:, named], self.learnt[:, named])


def mark_rows(X: Rows, names: Sequence[str] | None) -> Marks:
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
