"""Symmetric trees: every row is asked the same questions, whatever it has answered.

A tree then needs no nodes to score rows: the answers, read as a binary number, are the
place of the leaf (Prokhorenkova et al. 2018), and every question is one comparison of a
column of many rows at once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spadework.arrays import Floats, Numbers, Pixels, Positions, Singles
from spadework.core.rows import refuse_other_width
from spadework.errors import InputError

MAX_DEPTH = 8
"""Questions whose answers fit into a byte."""

_BLOCK_ROWS = 4_096
"""Rows that are asked at once: enough to outweigh the calls, few enough for the cache."""

_TURNED_ROWS = 512
"""Rows that are turned into columns at once: wide ones stay in the cache meanwhile."""


@dataclass(frozen=True)
class SymmetricTrees:
    """Trees as questions; the score is the intercept and the sum of their leaf values.

    Attributes
    ----------
    n_features : int
    columns : ndarray of shape (n_trees, depth), intp
        Column that each question is about.
    borders : ndarray of shape (n_trees, depth), float32
        The question is whether the column lies above; where it is NaN, it does not.
    values : ndarray of shape (n_trees, 2 ** depth), float64
        Leaf values by the answers, read as a binary number that the first one leads.
    intercept : float
        Score of a row where there are no trees.
    """

    n_features: int
    columns: Positions
    borders: Singles
    values: Floats
    intercept: float

    def __post_init__(self) -> None:
        """Check that the arrays are sound trees, for they can come from a file."""
        if not np.issubdtype(self.columns.dtype, np.signedinteger):
            raise InputError("not symmetric trees: columns must be integers")
        if self.borders.dtype != np.float32 or self.values.dtype != np.float64:
            raise InputError(
                "not symmetric trees: borders must be float32, values float64"
            )
        if self.columns.ndim != 2 or self.borders.shape != self.columns.shape:
            raise InputError("not symmetric trees: a column and a border a question")
        n_trees, depth = self.columns.shape
        if not 1 <= depth <= MAX_DEPTH:
            raise InputError(f"trees are 1 to {MAX_DEPTH} questions deep; got {depth}")
        if self.values.shape != (n_trees, 2**depth):
            raise InputError(f"not symmetric trees: {2**depth} leaf values a tree")
        if not ((self.columns >= 0) & (self.columns < self.n_features)).all():
            raise InputError(
                f"not symmetric trees: columns must be 0 to {self.n_features - 1}"
            )
        finite = np.isfinite(self.values).all() and np.isfinite(self.intercept)
        if not finite or np.isnan(self.borders).any():
            raise InputError("not symmetric trees: borders or values are not numbers")

    def score(self, X: Numbers) -> Floats:
        """Score rows, X of shape (n_rows, n_features); each is as it is alone."""
        scores = np.full(len(X), float(self.intercept))
        for rows, places in self._answer(X):
            sums, found = scores[rows], np.empty(places.shape[1])
            for values, leaves in zip(self.values, places, strict=True):
                np.take(values, leaves, out=found, mode="clip")  # skips a check
                sums += found
        return scores

    def leaves(self, X: Numbers) -> Pixels:
        """Place of the leaf of every row in every tree, (n_trees, n_rows)."""
        found = np.empty((len(self.columns), len(X)), dtype=np.uint8)
        for rows, places in self._answer(X):
            found[:, rows] = places
        return found

    def _answer(self, X: Numbers) -> Iterator[tuple[slice, Pixels]]:
        """Yield blocks of rows and the leaves they are in, (n_trees, n_block_rows)."""
        refuse_other_width(X, self.n_features)
        questions = _sort_questions(self.columns, self.borders)
        for start in range(0, len(X), _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            yield rows, _ask(questions, X[rows])


class _Questions(NamedTuple):
    """The questions of all trees, those about one column side by side.

    ``columns`` are those that are asked about, and ``parts`` the questions about each.
    ``borders`` are of shape (n_questions, 1). ``places`` say which of them is asked at a
    level of a tree, (depth, n_trees).
    """

    columns: Positions
    parts: list[slice]
    borders: Singles
    places: Positions


def _sort_questions(columns: Positions, borders: Singles) -> _Questions:
    """Put questions, (n_trees, depth), side by side that are about the same column."""
    order = np.argsort(columns.T.ravel(), kind="stable")
    asked, starts = np.unique(columns.T.ravel()[order], return_index=True)
    ends = np.append(starts, len(order))[1:]
    return _Questions(
        asked,
        list(map(slice, starts.tolist(), ends.tolist())),
        borders.T.ravel()[order, None],
        np.argsort(order).reshape(columns.T.shape),
    )


def _ask(questions: _Questions, X: Numbers) -> Pixels:
    """Leaf that every row is in, (n_trees, n_rows)."""
    above = np.empty((len(questions.borders), len(X)), dtype=np.bool_)
    columns = _take_columns(X, questions.columns)
    for column, part in zip(columns, questions.parts, strict=True):
        np.greater(column, questions.borders[part], out=above[part])
    answers = above.view(np.uint8)
    leaves = answers[questions.places[0]]
    for places in questions.places[1:]:
        leaves += leaves
        leaves |= answers[places]
    return leaves


def _take_columns(X: Numbers, asked: Positions) -> Singles:
    """Take columns, each in one piece of memory, (n_asked, n_rows)."""
    columns = np.empty((len(asked), len(X)), dtype=np.float32)
    for start in range(0, len(X), _TURNED_ROWS):
        rows = slice(start, start + _TURNED_ROWS)
        columns[:, rows] = X[rows][:, asked].T
    return columns
