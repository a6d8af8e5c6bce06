"""Trees as flat arrays: one layout to save, load, explain and export any tree ensemble.

All trees lie one behind the other. A node's two children are neighbours, so the
next node is ``left[node] + (x[feature[node]] > threshold[node])``. A leaf is its
own left child behind an infinite threshold, so that walks of one length end in leaves.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spadework.arrays import Flags, Floats, Numbers, Positions, Rows, Singles
from spadework.core.copies import CopiedByFields
from spadework.core.cores import map_blocks
from spadework.core.rows import refuse_other_width
from spadework.errors import InputError

_BLOCK_VALUES = 1 << 20
"""Leaf values of a block of rows, which set how many rows it has."""

_WALKS = 1 << 14
"""Walks at a time, about: enough to outweigh the calls, few enough for the cache."""

_STEPS = 4
"""Steps after which walks that have ended are looked for."""

MAX_DEPTH = 256
"""Levels of a tree at most."""


@dataclass(frozen=True)
class FlatForest(CopiedByFields):
    """A tree ensemble whose score is the mean of its trees' leaf values.

    Attributes
    ----------
    n_features : int
    roots : ndarray of shape (n_trees,), intp
        Index of each tree's root; a tree ends where the next begins.
    feature : ndarray of shape (n_nodes,), intp
        Column that an inner node tests; 0 in leaves.
    threshold : ndarray of shape (n_nodes,), float32
        Rows with a larger value go right; infinite in leaves.
    left : ndarray of shape (n_nodes,), intp
        Left child; the right one is its neighbour. A leaf's is the leaf itself.
    value : ndarray of shape (n_nodes,), float64
    """

    n_features: int
    roots: Positions
    feature: Positions
    threshold: Singles
    left: Positions
    value: Floats

    def __post_init__(self) -> None:
        """Check that the arrays are sound trees: every walk stays inside and ends.

        A forest can come from a file, so nothing is taken on trust.
        """
        n_nodes = len(self.left)
        places = (self.roots, self.feature, self.left)
        if not all(np.issubdtype(each.dtype, np.signedinteger) for each in places):
            raise InputError(
                "not a forest: roots, features and children must be integers"
            )
        if self.threshold.dtype != np.float32 or self.value.dtype != np.float64:
            raise InputError("not a forest: thresholds must be float32, values float64")
        arrays = (self.feature, self.threshold, self.left, self.value)
        if not all(array.shape == (n_nodes,) for array in arrays):
            raise InputError("not a forest: node arrays must have the same length")
        bounds = np.append(self.roots, n_nodes)
        if len(bounds) < 2 or bounds[0] != 0 or (np.diff(bounds) < 1).any():
            raise InputError("not a forest: roots must rise from 0 within the nodes")
        if not ((self.feature >= 0) & (self.feature < self.n_features)).all():
            raise InputError(f"not a forest: features must be 0 to {self.n_features - 1}")
        if np.isnan(self.threshold).any() or not np.isfinite(self.value).all():
            raise InputError("not a forest: thresholds or leaf values are not numbers")
        own = np.arange(n_nodes)
        is_leaf = (self.left == own) & (self.threshold == np.inf)
        end = np.repeat(bounds[1:], np.diff(bounds))
        is_inner = (self.left > own) & (self.left < end - 1)
        children = self.left[is_inner]
        n_parents = np.bincount(np.append(children, children + 1), minlength=n_nodes)
        n_parents[self.roots] += 1
        if not (is_leaf | is_inner).all() or (n_parents != 1).any():
            raise InputError("not a forest: children must lie behind their one parent")
        if self.depth > MAX_DEPTH:
            raise InputError(
                f"a tree is {self.depth} levels deep; {MAX_DEPTH} are allowed"
            )

    @property
    def depth(self) -> int:
        """Levels of the deepest tree."""
        return int(self._depths.max())

    def score(self, X: Numbers) -> Floats:
        """Mean leaf value of each finite row, X of shape (n_samples, n_features)."""
        # In the order of the trees, so that a row scores the same alone and among others.
        means = self.map_blocks(X, lambda values, _: reduce(np.add, values) / len(values))
        return np.concatenate([np.empty(0), *means])

    def map_blocks(
        self, X: Numbers, function: Callable[[Floats, slice], Floats]
    ) -> Iterator[Floats]:
        """Call a function with the leaf values of blocks of rows, on all cores.

        The function gets the values, of shape (n_trees, n_rows), and the slice of
        rows they belong to. Results come in row order.
        """
        refuse_other_width(X, self.n_features)

        def call(rows: slice) -> Floats:
            return function(self._leaf_values(X[rows]), rows)

        yield from map_blocks(call, len(X), max(1, _BLOCK_VALUES // len(self.roots)))

    def _leaf_values(self, X: Numbers) -> Floats:
        """Value of the leaf that each row ends in, (n_trees, n_samples)."""
        cells = np.ascontiguousarray(X, dtype=np.float32).ravel()
        rows = np.arange(len(X)) * self.n_features
        values = np.empty((len(self.roots), len(X)))
        n_together = max(1, _WALKS // max(1, len(X)))
        for first in range(0, len(self.roots), n_together):
            trees = slice(first, first + n_together)
            starts = np.repeat(self.roots[trees], len(X))
            own = np.tile(rows, len(values[trees]))
            leaves = self._walk(cells, own, starts, int(self._depths[trees].max()))
            self.value.take(leaves, out=values[trees].reshape(-1), mode="wrap")
        return values

    def _walk(
        self, cells: Rows, rows: Positions, nodes: Positions, depth: int
    ) -> Positions:
        """Walk down from nodes, by so many steps at most; return the leaves, (n_walks,).

        ``rows`` are the places among the cells of all rows where those of each walk
        begin. `__post_init__` has seen that all lie inside: "wrap" skips a check.
        """
        for step in range(depth):
            if step and not step % _STEPS:
                going = np.flatnonzero(self._is_inner.take(nodes, mode="wrap"))
                if 2 * len(going) < len(nodes):
                    rest = rows[going], nodes[going]
                    nodes[going] = self._walk(cells, *rest, depth - step)
                    return nodes
            places = rows + self.feature.take(nodes, mode="wrap")
            threshold = self.threshold.take(nodes, mode="wrap")
            above = cells.take(places, mode="wrap") > threshold
            nodes = self.left.take(nodes, mode="wrap")
            nodes += above
        return nodes

    @cached_property
    def _depths(self) -> Positions:
        """Levels of every tree, (n_trees,)."""
        depths = np.zeros(len(self.roots), dtype=np.intp)
        nodes, trees, level = self.roots, np.arange(len(self.roots)), 0
        while len(nodes):
            inner = self.left[nodes] != nodes
            level += 1
            depths[trees[inner]] = level
            children = self.left[nodes[inner]]
            nodes = np.concatenate([children, children + 1])
            trees = np.tile(trees[inner], 2)
        return depths

    @cached_property
    def _is_inner(self) -> Flags:
        """Whether a node is no leaf, (n_nodes,)."""
        return self.left != np.arange(len(self.left))


class TreeNodes(NamedTuple):
    """One tree as scikit-learn keeps it: arrays of shape (n_nodes,), the root first.

    ``left`` and ``right`` are positions of children, negative in leaves.
    """

    left: NDArray[np.integer]
    right: NDArray[np.integer]
    feature: NDArray[np.integer]
    threshold: Numbers
    value: Numbers

    @classmethod
    def of(cls, tree: Any, value: Numbers) -> "TreeNodes":
        """Read the nodes of a fitted ``tree_``, each with a value of its own."""
        children = tree.children_left, tree.children_right
        return cls(*children, tree.feature, tree.threshold, value)


def flatten_trees(trees: Sequence[TreeNodes], n_features: int) -> FlatForest:
    """Lay out trees one behind the other, the nodes of each level by level."""
    sizes = np.array([len(tree.left) for tree in trees])
    roots = np.cumsum(sizes) - sizes
    shift = np.repeat(roots, sizes)
    left, right, feature, threshold, value = map(np.concatenate, zip(*trees, strict=True))
    is_inner = left >= 0
    levels = [roots]
    while len(levels[-1]):
        parents = levels[-1][is_inner[levels[-1]]]
        pairs = np.stack([left[parents], right[parents]], axis=1)
        levels.append((pairs + shift[parents, None]).ravel())
    nodes = np.concatenate(levels)
    nodes = nodes[np.argsort(shift[nodes], kind="stable")]
    place = np.empty(len(nodes), dtype=np.intp)
    place[nodes] = np.arange(len(nodes))
    inner = is_inner[nodes]
    return FlatForest(
        n_features=n_features,
        roots=roots,
        feature=np.where(inner, feature[nodes], 0).astype(np.intp),
        threshold=np.where(inner, _round_down(threshold[nodes]), np.float32(np.inf)),
        left=place[np.where(inner, (left + shift)[nodes], nodes)],
        value=value[nodes].astype(np.float64),
    )


def _round_down(threshold: Numbers) -> Singles:
    """Nearest float32 not above: float32 values compare with it as with the original."""
    rounded = threshold.astype(np.float32)
    lower = np.nextafter(rounded, np.float32(-np.inf))
    return np.where(rounded > threshold, lower, rounded)
