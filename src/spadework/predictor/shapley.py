"""Exact shares of the original columns in the scores of symmetric trees.

The score of a row, less the mean score of background rows, is shared among the columns by
Shapley's rule: each gets what it changes when it takes the row's value in place of the
background's, on average over the orders in which columns do so and over the background
(interventional; Lundberg et al. 2020). Of a row, a symmetric tree knows no more than its
leaf: with some columns taken, the row is in the leaf that has its own answers about these
and those of the background about the others. So the shares of every leaf are worked out
once, and those of a row are looked up.
"""

from dataclasses import dataclass
from functools import cache
from itertools import product
from math import comb

import numpy as np

from spadework.arrays import Flags, Floats, Numbers, Positions
from spadework.errors import InputError
from spadework.predictor.trees import SymmetricTrees

_BLOCK_ROWS = 4_096
"""Rows whose shares are looked up at once: their sums stay in the cache meanwhile."""


@dataclass(frozen=True)
class ShapleyTables:
    """What every owner of columns adds to a score, leaf by leaf.

    Attributes
    ----------
    trees : SymmetricTrees
    n_owners : int
    owners : ndarray of shape (n_trees, depth), intp
        Owner of the column that each question is about.
    tables : ndarray of shape (n_trees, depth, 2 ** depth), float64
        Share of the owner in every leaf, where it is asked first; zero where again.
    baseline : float
        Mean score of the background.
    """

    trees: SymmetricTrees
    n_owners: int
    owners: Positions
    tables: Floats
    baseline: float

    @classmethod
    def of(
        cls, trees: SymmetricTrees, background: Numbers, owners: Positions
    ) -> "ShapleyTables":
        """Work out the shares of all leaves, against a sample of rows.

        The background is of shape (n_rows, n_features). Owners, (n_features,), are the
        original columns that features were made from, as places from 0.
        """
        if not len(background) or len(owners) != trees.n_features:
            raise InputError(
                f"expected background rows and an owner for each of {trees.n_features} "
                f"features; got {len(background)} rows and {len(owners)} owners"
            )
        n_leaves = trees.values.shape[1]
        found = trees.leaves(background)
        counts = [np.bincount(leaves, minlength=n_leaves) for leaves in found]
        seen = np.reshape(counts, trees.values.shape) / len(background)
        asked = owners[trees.columns]
        tables = np.zeros((*asked.shape, n_leaves))
        for tree, values in enumerate(trees.values):
            firsts, shares = _share_leaves(values, seen[tree], asked[tree])
            tables[tree, firsts] = shares
        baseline = trees.intercept + float((trees.values * seen).sum())
        return cls(trees, int(owners.max()) + 1, asked, tables, baseline)

    def shares(self, X: Numbers) -> Floats:
        """Shares of the owners in the score of every row, (n_rows, n_owners).

        Those of a row add up to its score less the baseline.
        """
        shares = np.empty((len(X), self.n_owners))
        for start in range(0, len(X), _BLOCK_ROWS):
            rows = slice(start, start + _BLOCK_ROWS)
            shares[rows] = self._look_up(X[rows]).T
        return shares

    def _look_up(self, X: Numbers) -> Floats:
        """Add up shares, tree by tree, (n_owners, n_rows)."""
        sums = np.zeros((self.n_owners, len(X)))
        found = self.trees.leaves(X)
        for leaves, *tree in zip(found, self.owners, self.tables, strict=True):
            for owner, table in zip(*tree, strict=True):
                sums[owner] += table.take(leaves, mode="clip")  # skips a check
        return sums


def _share_leaves(
    values: Floats, seen: Floats, owners: Positions
) -> tuple[Positions, Floats]:
    """Share the leaf values of a tree, (n_leaves,), among the owners of its questions.

    Of the background, a part ``seen`` is in each leaf, (n_leaves,). Returns the first
    question of each owner, (n_asked,), and its shares, (n_asked, n_leaves).
    """
    _, firsts, asked = np.unique(owners, return_index=True, return_inverse=True)
    taken = _subsets(len(firsts))[:, asked]
    means = [_mean_values(values, seen, levels) for levels in taken]
    return firsts, _signed_weights(len(firsts)) @ np.array(means)


def _mean_values(values: Floats, seen: Floats, taken: Flags) -> Floats:
    """Mean value for rows of each leaf, (n_leaves,), if they keep some answers only.

    These are ``taken`` from the row, (depth,), and the others from the background.
    """
    leaves = (2,) * len(taken)  # an axis is a level
    own, others = (tuple(np.flatnonzero(each)) for each in (taken, ~taken))
    chances = seen.reshape(leaves).sum(axis=own, keepdims=True)
    means = (values.reshape(leaves) * chances).sum(axis=others, keepdims=True)
    return np.broadcast_to(means, leaves).ravel()


def _subsets(n_owners: int) -> Flags:
    """Whether an owner is in each set of owners, (2 ** n_owners, n_owners)."""
    return np.array(list(product((False, True), repeat=n_owners)))


@cache
def _signed_weights(n_owners: int) -> Floats:
    """Weights of means over sets of owners in each one's share, (n_owners, n_subsets).

    Of the orders of all owners, one in n comb(n - 1, k) begins with k given others.
    """
    members = _subsets(n_owners)
    sizes = members.sum(axis=1)
    begun = [1 / (n_owners * comb(n_owners - 1, k)) for k in range(n_owners)]
    weights = np.array([*begun, 0.0])
    return np.where(members.T, weights[sizes - 1], -weights[sizes])
