"""Training of boosted symmetric trees, on targets that may be chances.

Trees are fitted one after the other to the log-odds of a target, each by a step of Newton
(Friedman 2001). A symmetric tree asks every row the same questions (Prokhorenkova et al.
2018); the next is the best of all borders of some random columns (Geurts et al. 2006),
for each tree with random weights of the rows (the Bayesian bootstrap; Rubin 1981).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from spadework.arrays import Floats, Positions, Rows, Singles
from spadework.predictor.trees import SymmetricTrees

N_TREES = 100
"""Trees: at the rate below, the last ones no longer add much."""

DEPTH = 6
"""Questions of a tree, so that it can tell what up to six columns say together."""

RATE = 0.15
"""Share of a tree's answer that is added, so that many trees have a say."""

PENALTY = 1.0
"""Weight that draws the answer of a leaf to zero, where a row weighs 1."""

MIN_BINS, MAX_BINS = 32, 128
"""Groups of rows that the borders of a column tell apart, fewer where rows are few. With
32 groups of many rows the highest scores are learnt less well."""

ROWS_A_BIN = 4
"""Rows in such a group, between these limits."""

TRIED = 3
"""Columns tried for a question, in roots of their number: all would repeat themselves."""

SUREST = 1e-6
"""Distance of the first chance from 0 and 1 at least, where log-odds are infinite."""

_SAMPLE_ROWS = 20_000
"""Rows that borders are found on: enough for so many quantiles."""

_BITS = 25
"""Bits of a sum of slopes or of bends: both, their signs and rounding fit a float64."""

_UNIT = 2.0 ** (_BITS + 2)
"""What a bend of one adds to a number that holds a slope, too."""

_Bins = NDArray[np.uint16]


class _Columns(NamedTuple):
    """What can be asked about: columns that have borders.

    ``borders`` rise and are infinite after the last, (n_columns, n_bins). ``bins``
    are how many of them each row lies above, (n_columns, n_rows).
    """

    columns: Positions
    borders: Singles
    bins: _Bins


class _Packed(NamedTuple):
    """Slopes and bends of rows in one number each, and the penalty in units of these."""

    values: Floats
    penalty: float


class _Tree(NamedTuple):
    """Questions of a tree, as places of columns and borders, and the leaf of each row."""

    columns: Positions
    borders: Positions
    leaves: _Bins


def boost(
    X: Rows,
    targets: Floats,
    weights: Floats,
    rng: np.random.Generator,
    *,
    n_trees: int = N_TREES,
    depth: int = DEPTH,
    rate: float = RATE,
) -> SymmetricTrees:
    """Fit the log-odds of a target; return trees that score rows by them.

    X is of shape (n_rows, n_features). Targets, (n_rows,), are chances from 0 to 1: one
    of 0.3 teaches what a 1 of weight 0.3 and a 0 of weight 0.7 do. Weights, (n_rows,),
    are about 1, and zero for rows that do not count. A column of one value is never asked
    about; where all are, there are no trees.
    """
    asked = _borders_and_bins(X, rng)
    n_trees = n_trees if len(asked.columns) else 0
    columns = np.empty((n_trees, depth), dtype=np.intp)
    borders = np.empty((n_trees, depth), dtype=np.float32)
    values = np.empty((n_trees, 2**depth))
    start = _start(targets, weights)
    log_odds = np.full(len(X), start)
    for tree in range(n_trees):
        chances = expit(log_odds)
        drawn = weights * rng.exponential(size=len(X))
        slopes, bends = drawn * (targets - chances), drawn * chances * (1 - chances)
        grown = _grow(asked, slopes, bends, depth, rng)
        columns[tree] = asked.columns[grown.columns]
        borders[tree] = asked.borders[grown.columns, grown.borders]
        values[tree] = rate * _answers(grown.leaves, slopes, bends, 2**depth)
        log_odds += values[tree].take(grown.leaves)
    return SymmetricTrees(X.shape[1], columns, borders, values, start)


def _start(targets: Floats, weights: Floats) -> float:
    """Log-odds of the mean target; of one half where no row has weight."""
    total = weights.sum()
    mean = (weights * targets).sum() / total if total else 0.5
    return float(logit(np.clip(mean, SUREST, 1 - SUREST)))


def _borders_and_bins(X: Rows, rng: np.random.Generator) -> _Columns:
    """Find the borders of every column, and where the rows lie between them."""
    some = slice(None)
    if len(X) > _SAMPLE_ROWS:
        some = rng.choice(len(X), _SAMPLE_ROWS, replace=False)
    n_bins = int(np.clip(len(X) // ROWS_A_BIN, MIN_BINS, MAX_BINS))
    found = [_find_borders(np.sort(column), n_bins) for column in X[some].T]
    columns = np.flatnonzero([len(each) for each in found])
    borders = np.full((len(columns), n_bins), np.inf, dtype=np.float32)
    bins = np.zeros((len(columns), len(X)), dtype=np.uint16)
    for place, column in enumerate(columns):
        borders[place, : len(found[column])] = found[column]
        # What is not a number answers no, as when rows are scored.
        values = np.nan_to_num(X[:, column], nan=-np.inf, posinf=np.inf, neginf=-np.inf)
        bins[place] = np.searchsorted(found[column], values)
    return _Columns(columns, borders, bins)


def _find_borders(values: Singles, n_bins: int) -> Singles:
    """Places between neighbouring values, which are sorted, at quantiles if many.

    They lie halfway, or at the lower value where no number does.
    """
    rises = np.flatnonzero(values[1:] > values[:-1])
    if len(rises) >= n_bins:
        quantiles = np.arange(1, n_bins) * (len(values) - 1) // n_bins
        behind = np.searchsorted(rises, quantiles)
        rises = rises[np.unique(np.minimum(behind, len(rises) - 1))]
    low, high = values[rises], values[rises + 1]
    middle = low / 2 + high / 2
    return np.where((low < middle) & (middle < high), middle, low)


def _grow(
    asked: _Columns, slopes: Floats, bends: Floats, depth: int, rng: np.random.Generator
) -> _Tree:
    """Ask the best question of some random columns, level by level.

    Slopes and bends, (n_rows,), are derivatives of the loss, first and second, the first
    with its sign turned.
    """
    packed = _pack(slopes, bends)
    n_columns, n_rows = asked.bins.shape
    n_tried = min(n_columns, round(TRIED * n_columns**0.5))
    columns, borders = np.empty((2, depth), dtype=np.intp)
    leaves = np.zeros(n_rows, dtype=np.uint16)
    for level in range(depth):
        tried = rng.choice(n_columns, n_tried, replace=False)
        shape = 2**level, asked.borders.shape[1]
        sums = _sum_by_bin(asked.bins, tried, leaves, packed.values, shape)
        gains = _gains(sums, packed.penalty)
        gains[asked.borders[tried] == np.inf] = -1
        best, borders[level] = np.unravel_index(gains.argmax(), gains.shape)
        columns[level] = tried[best]
        leaves = 2 * leaves + (asked.bins[columns[level]] > borders[level])
    return _Tree(columns, borders, leaves)


def _pack(slopes: Floats, bends: Floats) -> _Packed:
    """Write slopes and bends into one number a row.

    Rounded to whole numbers of which all sums are exact, they are summed at once, and in
    whatever order: questions that split alike are level to the last bit.
    """
    (slopes, _), (bends, shift) = _round(slopes), _round(bends)
    return _Packed(bends * _UNIT + slopes, float(np.ldexp(PENALTY, shift)))


def _round(values: Floats) -> tuple[Floats, int]:
    """Multiply by a power of two and round, to sizes of about 2 ** _BITS in all."""
    shift = _BITS - int(np.frexp(np.abs(values).sum())[1])
    return np.rint(np.ldexp(values, shift)), shift


def _sum_by_bin(
    bins: _Bins, tried: Positions, leaves: _Bins, values: Floats, shape: tuple[int, int]
) -> Floats:
    """Sum the rows of every bin in every leaf, (n_tried, n_leaves, n_bins)."""
    n_leaves, n_bins = shape
    sums = np.empty((len(tried), n_leaves * n_bins))
    first = leaves * np.uint16(n_bins)
    for place, column in enumerate(tried):
        sums[place] = np.bincount(first + bins[column], values, n_leaves * n_bins)
    return sums.reshape(-1, n_leaves, n_bins)


def _gains(sums: Floats, penalty: float) -> Floats:
    """How far each border lowers the loss, splitting all leaves, (n_tried, n_bins)."""
    low = sums.cumsum(axis=2)
    gains = _parts(low[..., -1:] - low, penalty)
    gains += _parts(low, penalty)
    return gains.sum(axis=1)


def _parts(sums: Floats, penalty: float) -> Floats:
    """Work out what rows lower the loss by that get an answer of their own.

    Sums are packed, of any shape. Arrays are used again: they outweigh the cache.
    """
    bends = sums * (1 / _UNIT)
    np.rint(bends, out=bends)
    slopes = bends * -_UNIT
    slopes += sums
    bends += penalty
    slopes *= slopes
    slopes /= bends
    return slopes


def _answers(leaves: _Bins, slopes: Floats, bends: Floats, n_leaves: int) -> Floats:
    """Newton's step in every leaf, (n_leaves,)."""
    slope = np.bincount(leaves, slopes, n_leaves)
    return slope / (np.bincount(leaves, bends, n_leaves) + PENALTY)
