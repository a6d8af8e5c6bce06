"""Fitted scorers of rows by one direction, scaled or not, or by one column."""

from dataclasses import dataclass

import numpy as np

from spadework.arrays import Floats, Numbers
from spadework.errors import InputError
from spadework.learners.contract import Scaler


@dataclass(frozen=True)
class LinearScorer:
    """A direction in which rows grow more anomalous: a weight a column, (n_features,)."""

    weights: Floats
    intercept: float

    def __post_init__(self) -> None:
        if self.weights.ndim != 1 or not np.isfinite(self.weights).all():
            raise InputError("a linear scorer needs one finite weight a column")

    def score(self, X: Numbers) -> Floats:
        """Log-odds of anomaly by the linear model, (n_samples,)."""
        return X @ self.weights + self.intercept


@dataclass(frozen=True)
class ScaledScorer:
    """A direction among scaled rows."""

    scaler: Scaler
    direction: LinearScorer

    def __post_init__(self) -> None:
        if len(self.direction.weights) != self.scaler.n_features:
            raise InputError("a direction needs a weight for each column that is scaled")

    def score(self, X: Numbers) -> Floats:
        """Log-odds of anomaly by the linear model, (n_samples,)."""
        return self.score_scaled(self.scaler.transform(X))

    def score_scaled(self, scaled: Numbers) -> Floats:
        """Score rows that are scaled already, (n_samples,)."""
        # Not by BLAS, where a score would depend on the rows scored beside it.
        weights, intercept = self.direction.weights, self.direction.intercept
        return np.einsum("ij,j->i", scaled, weights) + intercept


@dataclass(frozen=True)
class ColumnScorer:
    """One column that is a score already."""

    column: int

    def score(self, X: Numbers) -> Floats:
        """Return the column, (n_samples,)."""
        return X[:, self.column].astype(np.float64)
