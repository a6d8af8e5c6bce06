"""Boosted symmetric trees, for few rows.

A symmetric tree asks every row the same questions, whatever the row has answered before
(Prokhorenkova et al. 2018), so that few rows cannot bend it to themselves. Each question
is the best of some random ones (Geurts et al. 2006): one column that happens to tell a
dozen rows apart is then not asked about in every tree. Several models, of other rows
each, are boosted side by side.
"""

from typing import Any

import numpy as np
from scipy.special import expit

from spadework.arrays import Flags, Floats, Positions, Rows
from spadework.core.symmetric import SymmetricTrees, as_forest
from spadework.core.trees import FlatForest

N_TREES = 50
"""Trees of each model."""

DEPTH = 6
"""Questions of a tree."""

RATE = 0.1
"""Share of a tree's answer that is added."""

N_TRIED = 32
"""Random questions of which the best is asked."""

PENALTY = 1.0
"""Weight that draws the answer of a leaf to zero, where a row weighs 1."""


def boost(
    X: Rows, targets: Flags, weights: Floats, rng: np.random.Generator
) -> FlatForest:
    """Fit models of the log-odds of a target; return their trees, model after model.

    X holds what each model learns from, (n_models, n_rows, n_features), two rows at
    least; targets, (n_rows,), are the same for every model. Weights, (n_models, n_rows),
    are 1 on average, and zero for rows that do not count.
    """
    n_models, n_rows, n_features = X.shape
    columns = np.empty((n_models, N_TREES, DEPTH), dtype=np.intp)
    borders = np.empty((n_models, N_TREES, DEPTH), dtype=np.float32)
    values = np.empty((n_models, N_TREES, 2**DEPTH))
    by_column = np.ascontiguousarray(X.transpose(0, 2, 1))
    ordered = np.sort(by_column, axis=2)
    model = np.arange(n_models)
    log_odds = np.zeros((n_models, n_rows))
    for tree in range(N_TREES):
        chance = expit(log_odds)
        drawn = weights * rng.exponential(size=weights.shape)
        slopes, bends = drawn * (targets - chance), drawn * chance * (1 - chance)
        leaves = np.zeros((n_models, n_rows), dtype=np.intp)
        for level in range(DEPTH):
            tried = model[:, None], rng.integers(n_features, size=(n_models, N_TRIED))
            place = rng.integers(n_rows - 1, size=tried[1].shape)
            border = ordered[*tried, place] / 2 + ordered[*tried, place + 1] / 2
            above = by_column[tried] > border[:, :, None]
            best = model, _gains(above, leaves, slopes, bends, 2**level).argmax(axis=1)
            columns[:, tree, level], borders[:, tree, level] = (
                tried[1][best],
                border[best],
            )
            leaves = 2 * leaves + above[best]
        answers = _answers(leaves, slopes, bends)
        values[:, tree] = RATE * answers
        log_odds += RATE * np.take_along_axis(answers, leaves, axis=1)
    questions = columns.reshape(-1, DEPTH), borders.reshape(-1, DEPTH)
    leaves = values.reshape(-1, 2**DEPTH)
    return as_forest(SymmetricTrees(n_features, *questions, leaves))


def _gains(
    above: Flags, leaves: Positions, slopes: Floats, bends: Floats, n_leaves: int
) -> Floats:
    """How far each way to split every leaf lowers the loss, (n_models, n_tried).

    Rows lie above the border of a question or not, (n_models, n_tried, n_rows). Slopes
    and bends, (n_models, n_rows) as the leaves, are derivatives of the loss, first and
    second, the first with its sign turned.
    """
    n_models, n_rows = leaves.shape
    by_leaf = np.zeros((n_models, n_rows, 2, n_leaves))
    model, row = np.ogrid[:n_models, :n_rows]
    by_leaf[model, row, 0, leaves] = slopes
    by_leaf[model, row, 1, leaves] = bends
    by_leaf = by_leaf.reshape(n_models, n_rows, 2 * n_leaves)
    high = above.astype(np.float64) @ by_leaf
    low = by_leaf.sum(axis=1, keepdims=True) - high
    gains = np.zeros(above.shape[:2])
    for side in (high, low):
        slope, bend = side[..., :n_leaves], side[..., n_leaves:]
        gains += (slope**2 / (bend + PENALTY)).sum(axis=2)
    # Questions that split alike are level, whatever the errors of rounding.
    return gains.round(9)


def _answers(leaves: Positions, slopes: Floats, bends: Floats) -> Floats:
    """Newton's step in every leaf, (n_models, 2 ** depth)."""
    shape = len(leaves), 2**DEPTH
    places = np.ravel_multi_index((np.arange(shape[0])[:, None], leaves), shape).ravel()
    # As numpy declares it, bincount counts even where there are weights.
    sums: list[Any] = [
        np.bincount(places, each.ravel(), shape[0] * shape[1]) for each in (slopes, bends)
    ]
    slope, bend = (each.reshape(shape) for each in sums)
    return slope / (bend + PENALTY)
