"""How masks are made of forests: leaves get bits, and the bins of columns get masks."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from spadework.arrays import Flags, Positions, Singles
from spadework.core.masks import CHUNK_BITS, CHUNK_BYTES, Chunk, LeafMasks, Words
from spadework.core.trees import FlatForest, join_forests

_MAX_BYTES = 1 << 26
"""Memory for masks, at most."""

_COUNT_COST, _JOIN_COST, _FIND_COST, _WALK_COST = 35, 9, 10, 6
"""Nanoseconds, about, to find a value among cuts, to join one more mask, to find the
leaf of a tree among the bits, and to walk a level of a tree."""


def choose_masked(forests: Sequence[FlatForest]) -> list[FlatForest]:
    """Choose the forests that are faster as masks, if any.

    Masks are for many small trees on few columns: their cost grows with leaves times
    columns, that of walking with the depth of the trees. Values are found among cuts
    once for all forests.
    """
    chosen, columns = [], set()
    n_chunks, n_cuts, gain = 0, 0, 0
    for forest in forests:
        tested = forest.feature[forest.left != np.arange(len(forest.left))]
        own = set(tested.tolist())
        chunks = _place_leaves(forest, [len(forest.roots)]).bounds[-1]
        by_masks = _JOIN_COST * chunks * len(own) + _FIND_COST * len(forest.roots)
        gained = _WALK_COST * forest.n_levels - by_masks
        n_bytes = CHUNK_BYTES * (n_chunks + chunks) * (n_cuts + len(tested))
        if gained > 0 and n_bytes <= _MAX_BYTES:
            chosen.append(forest)
            columns |= own
            n_chunks += chunks
            n_cuts += len(tested)
            gain += gained
    return chosen if gain > _COUNT_COST * len(columns) else []


def mask_leaves(forests: Sequence[FlatForest]) -> LeafMasks:
    """Lay the leaves of forests out as masks."""
    joined = join_forests(list(forests))
    n_trees = [len(forest.roots) for forest in forests]
    leaves = _place_leaves(joined, n_trees)
    bins = _bin_columns(joined)
    paths = _climb(joined, leaves, bins)
    chunks = [
        [_make_chunk(number, joined, leaves, paths, bins) for number in range(*ends)]
        for ends in pairwise(leaves.bounds)
    ]
    return LeafMasks(joined.n_features, bins.columns, bins.cuts, n_trees, chunks)


class _Leaves(NamedTuple):
    """Leaves that have a bit: their nodes, chunks, and bits there, (n_leaves,) each.

    ``bounds`` holds the first chunk of each forest, and behind the last.
    """

    node: Positions
    chunk: Positions
    slot: Positions
    bounds: list[int]


class _Bins(NamedTuple):
    """Columns that are tested, their cuts, and what every node makes of these.

    Of a node, (n_nodes,): ``column`` is the position of its column among these, and
    ``first_right`` the lowest bin that it sends to the right.
    """

    columns: list[int]
    cuts: list[Singles]
    column: Positions
    first_right: Positions


class _Paths(NamedTuple):
    """The nodes above all leaves, one entry a leaf and a node above it, (n_entries,).

    That is the chunk of the leaf and its bit there, what the node tests, and whether the
    leaf lies on its right.
    """

    chunk: Positions
    slot: Positions
    column: Positions
    first_right: Positions
    is_right: Flags

    def pick(self, chosen: Flags) -> "_Paths":
        """Return some of the entries."""
        parts: Any = (each[chosen] for each in self)
        return _Paths(*parts)


def _place_leaves(forest: FlatForest, n_trees: list[int]) -> _Leaves:
    """Give bits to the leaves that add something, and to trees bytes of their own."""
    is_leaf = forest.left == np.arange(len(forest.left))
    node = np.flatnonzero(is_leaf & (forest.value != 0))
    tree = np.searchsorted(forest.roots, node, side="right") - 1
    n_leaves = np.bincount(tree, minlength=len(forest.roots))
    n_bytes = -(-n_leaves // 8)
    first_byte, bounds = np.zeros(len(n_bytes), dtype=np.intp), [0]
    for start, stop in pairwise(np.cumsum([0, *n_trees])):
        ends = np.cumsum(n_bytes[start:stop])
        first_byte[start:stop] = bounds[-1] * CHUNK_BYTES + ends - n_bytes[start:stop]
        bounds.append(bounds[-1] + max(1, -(-int(ends[-1]) // CHUNK_BYTES)))
    first_leaf = np.cumsum(n_leaves) - n_leaves
    bit = np.arange(len(node)) + (8 * first_byte - first_leaf)[tree]
    return _Leaves(node, *np.divmod(bit, CHUNK_BITS), bounds)


def _bin_columns(forest: FlatForest) -> _Bins:
    """Collect the thresholds of every column that is tested."""
    inner = forest.left != np.arange(len(forest.left))
    columns = np.unique(forest.feature[inner])
    cuts: list[Singles] = []
    first_right = np.zeros(len(inner), dtype=np.intp)
    for column in columns:
        nodes = inner & (forest.feature == column)
        numbers, place = np.unique(forest.threshold[nodes], return_inverse=True)
        cuts.append(numbers)
        first_right[nodes] = 1 + place
    places = np.searchsorted(columns, forest.feature)
    return _Bins(columns.tolist(), cuts, places, first_right)


def _climb(forest: FlatForest, leaves: _Leaves, bins: _Bins) -> _Paths:
    """Climb from all leaves to their roots."""
    inner = np.flatnonzero(forest.left != np.arange(len(forest.left)))
    parent = np.full(len(forest.left), -1)
    for side in (0, 1):
        parent[forest.left[inner] + side] = inner
    node, chunk, slot, _ = leaves
    paths = [_Paths(chunk[:0], slot[:0], node[:0], node[:0], np.empty(0, dtype=bool))]
    while len(node):
        above = parent[node]
        goes_on = above >= 0
        chunk, slot, node, above = (a[goes_on] for a in (chunk, slot, node, above))
        is_right = node != forest.left[above]
        paths.append(
            _Paths(chunk, slot, bins.column[above], bins.first_right[above], is_right)
        )
        node = above
    parts: Any = (np.concatenate(part) for part in zip(*paths, strict=True))
    return _Paths(*parts)


def _make_chunk(
    number: int, forest: FlatForest, leaves: _Leaves, paths: _Paths, bins: _Bins
) -> Chunk:
    """Make the masks of a chunk, of the columns that its leaves depend on."""
    of_chunk = leaves.chunk == number
    slot, node = leaves.slot[of_chunk], leaves.node[of_chunk]
    taken, value = np.zeros(CHUNK_BITS, dtype=bool), np.zeros(CHUNK_BYTES * 256)
    taken[slot] = True
    value[256 * (slot >> 3) + (1 << (slot & 7))] = forest.value[node]
    here = paths.pick(paths.chunk == number)
    columns = np.unique(here.column).tolist()
    masks = [
        _make_masks(len(bins.cuts[column]) + 1, here.pick(here.column == column))
        for column in columns
    ]
    return Chunk(columns, masks, _pack(taken), value)


def _make_masks(n_bins: int, paths: _Paths) -> Words:
    """Set a leaf's bit where no node above sends the bin elsewhere, (n_bins, words)."""
    low, high = np.zeros(CHUNK_BITS, dtype=np.intp), np.full(CHUNK_BITS, n_bins)
    right, left = paths.is_right, ~paths.is_right
    np.maximum.at(low, paths.slot[right], paths.first_right[right])
    np.minimum.at(high, paths.slot[left], paths.first_right[left])
    each_bin = np.arange(n_bins)[:, None]
    return _pack((low <= each_bin) & (each_bin < high))


def _pack(bits: Flags) -> Words:
    """Put bits, (..., CHUNK_BITS), into words, (..., CHUNK_WORDS)."""
    return np.packbits(bits, axis=-1, bitorder="little").view(np.uint64)
