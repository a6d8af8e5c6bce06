"""Readings learnt by boosted symmetric trees, cross-fitted, for few rows."""

from typing import NamedTuple

import numpy as np

from spadework.arrays import Floats, Positions, Rows
from spadework.core.boosting import boost
from spadework.core.trees import FlatForest
from spadework.learners.contract import GrownReading
from spadework.learners.linear import N_FOLDS, pick_held_out
from spadework.learners.readings import Reading

MAX_ROWS = 2_000
"""Rows of a class that a model learns from at most."""


class Sample(NamedTuple):
    """Rows of one class for every fold, and their weights, (n_folds, n_rows) each."""

    rows: Positions
    weights: Floats


def fit_boosted(
    X: Rows, reading: Reading, folds: Positions, rng: np.random.Generator
) -> GrownReading:
    """Boost a model without each fold; score rows by those that have not seen them.

    Of a class that is a mixture, each model sees a wide draw. The reading is one of these
    rows, by their positions; folds, (n_judged,), are -1 for rows that all may see.
    """
    wide = reading.wide or reading.normal
    normal = _choose(reading.normal.rows, wide.n_draws, folds, rng)
    anomalous = _choose(reading.anomalous.rows, reading.anomalous.n_draws, folds, rng)
    rows = np.concatenate([normal.rows, anomalous.rows], axis=1)
    weights = np.concatenate([normal.weights, anomalous.weights], axis=1)
    weights *= (weights > 0).sum(axis=1, keepdims=True) / 2
    targets = np.repeat([False, True], [normal.rows.shape[1], anomalous.rows.shape[1]])
    forest = boost(X[rows], targets, weights, rng)
    return GrownReading(forest, pick_held_out(_score_by_fold(forest, X), folds))


def _choose(
    rows: Positions, n_draws: int, folds: Positions, rng: np.random.Generator
) -> Sample:
    """Draw rows of a class outside each fold, or of all where all are inside.

    The rows of a fold weigh 1 together; those that fill it up weigh nothing.
    """
    chosen: list[Positions] = []
    for fold in range(N_FOLDS):
        outside = rows[folds[rows] != fold]
        kept = outside if len(outside) else rows
        chosen.append(rng.permutation(kept)[: min(n_draws, MAX_ROWS)])
    most = max(map(len, chosen))
    filled = np.stack([np.resize(each, most) for each in chosen])
    counts = np.array([len(each) for each in chosen])[:, None]
    return Sample(filled, np.where(np.arange(most) < counts, 1 / counts, 0.0))


def _score_by_fold(forest: FlatForest, X: Rows) -> Floats:
    """Score rows by the model of each fold, (n_judged, n_folds)."""

    def mean(values: Floats, _: slice) -> Floats:
        return values.reshape(N_FOLDS, -1, values.shape[1]).mean(axis=1).T

    return np.concatenate(list(forest.map_blocks(X, mean)))
