"""Readings learnt by linear models, cross-fitted, for few rows of many columns.

The row of a photo has some thousand columns, and there are few photos: trees find too
many columns to split on, a penalised linear model does not.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from spadework.core.trust import AS_NORMAL, AS_SUSPECT
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework.learners.blend import GrownReading
from spadework.learners.directions import LinearScorer
from spadework.learners.readings import Draws, Reading

Floats = NDArray[np.float64]
Rows = NDArray[np.float32]

N_FOLDS = 5

PURE_PENALTY, MIXED_PENALTY = 0.005, 1.0
"""Ridge on standardised columns, where the mean loss of both classes weighs 1. A class
that is a mixture must not be learnt by heart."""

_MAX_STEPS = 200
_SMALLEST = 1e-6


def deal_folds(labels: NDArray[np.int8], rng: np.random.Generator) -> NDArray[np.intp]:
    """Deal each kind of rows to the folds evenly, (n_samples,).

    A row that is the only one of its kind belongs to no fold, -1: all learn from it.
    """
    folds = np.full(len(labels), -1)
    for kind in (ANOMALY, NORMAL, UNLABELED):
        rows = np.flatnonzero(labels == kind)
        if len(rows) > 1:
            folds[rows] = rng.permutation(len(rows)) % N_FOLDS
    return folds


def fit_linear(
    X: Rows, reading: Reading, penalty: float, folds: NDArray[np.intp]
) -> GrownReading:
    """Fit one model without each fold; the scorer is their mean.

    Every row is scored by the model that has not seen it, a row of no fold by all.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Any scale; columns are standardised by all rows.
    folds : ndarray of shape (n_samples,)
    """
    mean, spread = X.mean(axis=0), X.std(axis=0) + _SMALLEST
    Z = (X - mean) / spread
    models = [_fit_without(Z, reading, penalty, folds == fold) for fold in range(N_FOLDS)]
    weights = np.stack([model.weights for model in models])
    intercepts = np.array([model.intercept for model in models])
    scores = Z @ weights.T + intercepts
    own = np.where(folds >= 0, folds, 0)
    held_out = np.take_along_axis(scores, own[:, None], axis=1)[:, 0]
    held_out = np.where(folds >= 0, held_out, scores.mean(axis=1))
    direction = weights.mean(axis=0) / spread
    intercept = float(intercepts.mean() - direction @ mean)
    return GrownReading(LinearScorer(direction, intercept), held_out)


def penalty_of(name: str) -> float:
    """Return the ridge of a reading."""
    return MIXED_PENALTY if name in (AS_NORMAL, AS_SUSPECT) else PURE_PENALTY


def _fit_without(
    Z: Rows, reading: Reading, penalty: float, left_out: NDArray[np.bool_]
) -> LinearScorer:
    """Fit a logistic regression on both sides of a reading, which weigh the same."""
    normal, normal_weights = _side(reading.normal, left_out)
    anomalous, anomalous_weights = _side(reading.anomalous, left_out)
    rows = np.concatenate([normal, anomalous])
    classes = np.repeat([0, 1], [len(normal), len(anomalous)])
    weights = np.concatenate([normal_weights, anomalous_weights])
    # scikit-learn declares no types.
    model: Any = LogisticRegression(C=1 / penalty, max_iter=_MAX_STEPS)
    model.fit(Z[rows], classes, sample_weight=weights)
    return LinearScorer(model.coef_[0].astype(np.float64), float(model.intercept_[0]))


def _side(draws: Draws, left_out: NDArray[np.bool_]) -> tuple[NDArray[np.intp], Floats]:
    """Rows of one class that are not left out, and weights that sum to a half.

    Where all are, none is: a class must not vanish.
    """
    weights = np.ones(len(draws.rows)) if draws.weights is None else draws.weights
    kept = ~left_out[draws.rows]
    if not kept.any():
        kept[:] = True
    weights = weights[kept]
    return draws.rows[kept], 0.5 * weights / weights.sum()
