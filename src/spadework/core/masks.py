"""Score many small trees at once, by masks of leaves and not node by node.

A leaf is a box: an interval of every column. The cuts of a column, all thresholds that
any tree compares it with, part its values into bins, and for every bin a mask has one
bit a leaf: whether the leaf's interval holds the bin. The masks of a row's bins, one a
column, are joined by "and"; what is left are the leaves that the row ends in.

Leaves of value 0 add nothing and have no bit. The bits of a tree lie in bytes of their
own, at most one of which is then not 0 (after QuickScorer, Lucchese et al. 2015).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spadework.arrays import Floats, Numbers, Positions, Singles
from spadework.core.cores import map_blocks
from spadework.core.rows import refuse_other_width

Words = NDArray[np.uint64]

CHUNK_BYTES = 32
"""Bytes of a mask that are looked up at once; numpy copies no more than that quickly."""

CHUNK_WORDS, CHUNK_BITS = CHUNK_BYTES // 8, CHUNK_BYTES * 8
_CHUNK_SHIFT = CHUNK_BYTES.bit_length() - 1
_BLOCK_ROWS = 8_192


class Chunk(NamedTuple):
    """Masks of some leaves of a forest, as many as fill a chunk.

    There is one of each of the columns with cuts that these leaves depend on, (n_bins,
    CHUNK_WORDS), and one of all bits that are taken, (CHUNK_WORDS,). Values are those of
    the leaf whose bit a byte holds, for every byte and what it can hold, (CHUNK_BYTES *
    256,).
    """

    columns: list[int]
    masks: list[Words]
    all_leaves: Words
    value: Floats


@dataclass(frozen=True)
class LeafMasks:
    """Several forests as masks of their leaves.

    ``columns`` are those of X that are tested, ``cuts`` the thresholds of each, rising,
    (n_cuts,); there are trees and chunks of each forest.
    """

    n_features: int
    columns: list[int]
    cuts: list[Singles]
    n_trees: list[int]
    chunks: list[list[Chunk]]

    def score(self, X: Numbers) -> Floats:
        """Mean leaf value of each row in each forest, (n_forests, n_samples).

        Rows, (n_samples, n_features), are finite and taken as float32.
        """
        refuse_other_width(X, self.n_features)
        none = np.empty((len(self.n_trees), 0))
        blocks = map_blocks(lambda rows: self._score_block(X[rows]), len(X), _BLOCK_ROWS)
        return np.concatenate([none, *blocks], axis=1)

    def _score_block(self, X: Numbers) -> Floats:
        """Score rows that the processor's cache has room for, (n_forests, n_rows)."""
        bins = [
            np.searchsorted(cuts, X[:, column].astype(np.float32))
            for column, cuts in zip(self.columns, self.cuts, strict=True)
        ]
        work = np.empty((2, len(X), CHUNK_WORDS), dtype=np.uint64)
        scores = np.empty((len(self.n_trees), len(X)))
        for forest, chunks in enumerate(self.chunks):
            found = [_find_leaves(chunk, bins, *work) for chunk in chunks]
            rows, values = (np.concatenate(part) for part in zip(*found, strict=True))
            # A row's leaves come in the order of the trees: the sum is that of walking.
            sums = np.bincount(rows, values, minlength=len(X))
            np.divide(sums, self.n_trees[forest], out=scores[forest])
        return scores


def _find_leaves(
    chunk: Chunk, bins: list[Positions], joined: Words, other: Words
) -> tuple[Positions, Floats]:
    """Find the leaves of a chunk that rows end in: their rows and values, (n_found,).

    The words, (n_rows, CHUNK_WORDS), are room to work in.
    """
    joined[:] = chunk.all_leaves
    for column, masks in zip(chunk.columns, chunk.masks, strict=True):
        masks.take(bins[column], axis=0, out=other, mode="wrap")  # skips a check
        np.bitwise_and(joined, other, out=joined)
    word = np.flatnonzero(joined != 0)
    held = joined.reshape(-1)[word].view(np.uint8)
    byte = np.flatnonzero(held != 0)
    held = held[byte]
    byte = (np.take(word, byte >> 3) << 3) + (byte & 7)  # among those of all rows
    slot = ((byte & (CHUNK_BYTES - 1)) << 8) + held
    return byte >> _CHUNK_SHIFT, np.take(chunk.value, slot)
