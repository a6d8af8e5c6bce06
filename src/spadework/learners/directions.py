"""Fitted scorers of rows by one direction, or by one column."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spadework.errors import InputError

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LinearScorer:
    """A direction in which rows grow more anomalous.

    Attributes
    ----------
    weights : ndarray of shape (n_features,)
    intercept : float
    """

    weights: Floats
    intercept: float

    def __post_init__(self) -> None:
        if self.weights.ndim != 1 or not np.isfinite(self.weights).all():
            raise InputError("a linear scorer needs one finite weight a column")

    def score(self, X: NDArray[np.floating]) -> Floats:
        """Log-odds of anomaly by the linear model, (n_samples,)."""
        return X @ self.weights + self.intercept


@dataclass(frozen=True)
class ColumnScorer:
    """One column that is a score already.

    Attributes
    ----------
    column : int
    """

    column: int

    def score(self, X: NDArray[np.floating]) -> Floats:
        """Return the column, (n_samples,)."""
        return X[:, self.column].astype(np.float64)
