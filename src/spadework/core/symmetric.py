"""Symmetric trees: every row is asked the same questions, whatever it has answered.

A tree then needs no nodes to score rows: the answers, read as a binary number, are the
place of the leaf (Prokhorenkova et al. 2018), and every question is one comparison of a
column of many rows at once.
"""

from dataclasses import dataclass

import numpy as np

from spadework.arrays import Floats, Numbers, Positions, Singles
from spadework.core.rows import refuse_other_width
from spadework.core.trees import FlatForest

_MAX_DEPTH = 8
"""Questions whose answers fit into a byte."""

_BLOCK_ROWS = 16_384
"""Rows that are asked at once: enough to outweigh the calls, few enough for the cache."""


@dataclass(frozen=True)
class SymmetricTrees:
    """Trees as questions; the score is the mean of their leaf values.

    A question of every level is whether a column lies above a border, (n_trees, depth).
    Values go by the answers, read as a binary number that the first one leads, (n_trees,
    2 ** depth).
    """

    n_features: int
    columns: Positions
    borders: Singles
    values: Floats

    def score(self, X: Numbers) -> Floats:
        """Mean leaf value of each finite row, X of shape (n_samples, n_features)."""
        refuse_other_width(X, self.n_features)
        # One core is as fast as many: between short calls they would wait for Python.
        starts = range(0, len(X), _BLOCK_ROWS)
        blocks = (self._score_block(X[start : start + _BLOCK_ROWS]) for start in starts)
        return np.concatenate([np.empty(0), *blocks])

    def _score_block(self, X: Numbers) -> Floats:
        """Score rows, in the order of the trees: the sum is that of walking."""
        by_column = np.ascontiguousarray(X.T, dtype=np.float32)
        sums, found = np.zeros(len(X)), np.empty(len(X))
        place, leaf = np.empty(len(X), dtype=np.intp), np.empty(len(X), dtype=np.uint8)
        above = np.empty(len(X), dtype=bool)
        for columns, borders, values in zip(
            self.columns.tolist(), self.borders, self.values, strict=True
        ):
            leaf[:] = 0
            for column, border in zip(columns, borders, strict=True):
                np.greater(by_column[column], border, out=above)
                np.add(leaf, leaf, out=leaf)
                np.bitwise_or(leaf, above.view(np.uint8), out=leaf)
            place[:] = leaf
            np.take(values, place, out=found, mode="wrap")  # skips a check
            sums += found
        return sums / len(self.values)


def as_forest(trees: SymmetricTrees) -> FlatForest:
    """Write symmetric trees out as ordinary ones."""
    n_trees, depth = trees.columns.shape
    n_inner = 2**depth - 1
    n_nodes = n_inner + 2**depth
    # The children of node i are 2 i + 1 and 2 i + 2, which keeps levels in order.
    level = np.log2(np.arange(n_inner) + 1).astype(np.intp)
    roots = n_nodes * np.arange(n_trees)
    node = roots[:, None] + np.arange(n_nodes)
    feature = np.zeros((n_trees, n_nodes), dtype=np.intp)
    threshold = np.full((n_trees, n_nodes), np.inf, dtype=np.float32)
    value = np.zeros((n_trees, n_nodes))
    left = node.copy()
    feature[:, :n_inner] = trees.columns[:, level]
    threshold[:, :n_inner] = trees.borders[:, level]
    left[:, :n_inner] = node[:, 1::2]
    value[:, n_inner:] = trees.values
    return FlatForest(
        n_features=trees.n_features,
        roots=roots,
        feature=feature.ravel(),
        threshold=threshold.ravel(),
        left=left.ravel(),
        value=value.ravel(),
    )


def as_symmetric(forest: FlatForest) -> SymmetricTrees | None:
    """Read trees as symmetric ones, if they could have been written out of such."""
    n_trees, depth = len(forest.roots), forest.depth
    n_inner = 2**depth - 1
    n_nodes = n_inner + 2**depth
    if not 1 <= depth <= _MAX_DEPTH or len(forest.left) != n_trees * n_nodes:
        return None
    first = 2 ** np.arange(depth) - 1  # node of each level
    trees = SymmetricTrees(
        forest.n_features,
        forest.feature.reshape(n_trees, n_nodes)[:, first],
        forest.threshold.reshape(n_trees, n_nodes)[:, first],
        forest.value.reshape(n_trees, n_nodes)[:, n_inner:],
    )
    written = as_forest(trees)
    is_same = all(
        np.array_equal(getattr(written, name), getattr(forest, name))
        for name in ("feature", "threshold", "left")
    )
    return trees if is_same else None
