"""Bring columns of any scale to order one, fitted once and kept as plain arrays."""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from spadework.core.curves import Curve
from spadework.errors import InputError

Scaling = Literal["minmax", "quantile"]

QUANTILE_KNOTS = 257
"""Points of the empirical distribution kept for each column."""

NORMAL_LIMIT = 4.0
"""Normal scores are cut here, so that no single value dominates a covariance."""

LEAST_SPREAD = 0.1
"""Of the median deviation: what columns are divided by at least."""

_SMALLEST_SPREAD = 1e-6
_SAMPLE_ROWS = 100_000
_CHUNK_ROWS, _CHUNK_COLUMNS = 8_192, 32


@dataclass(frozen=True)
class MinMaxScaler:
    """Map each column's training range to [0, 1]; constant columns to 0.

    Attributes
    ----------
    low, span : ndarray of shape (n_features,)
    """

    low: NDArray[np.float64]
    span: NDArray[np.float64]

    def __post_init__(self) -> None:
        fits = self.low.ndim == 1 and self.low.shape == self.span.shape
        if not fits or not (self.span > 0).all():
            raise InputError("a min-max scaler needs one positive span per column")

    @property
    def n_features(self) -> int:
        """Columns it scales."""
        return len(self.low)

    def transform(self, X: NDArray[np.floating]) -> NDArray[np.float32]:
        """Scale rows, shape (n_samples, n_features)."""
        scaled = np.empty(X.shape, dtype=np.float32)
        for start in range(0, len(X), _CHUNK_ROWS):
            rows = slice(start, start + _CHUNK_ROWS)
            scaled[rows] = (X[rows] - self.low) / self.span
        return scaled


@dataclass(frozen=True)
class PrincipalScaler:
    """Map rows to their principal axes, each of variance one.

    For rows of more columns than a covariance can be fitted on.

    Attributes
    ----------
    mean : ndarray of shape (n_features,)
    axes : ndarray of shape (n_features, n_axes)
        Divided by the spread of the columns, and of the rows along each axis.
    """

    mean: NDArray[np.float32]
    axes: NDArray[np.float32]

    def __post_init__(self) -> None:
        if self.axes.ndim != 2 or self.mean.shape != self.axes.shape[:1]:
            raise InputError("principal axes need one mean per column")

    @property
    def n_features(self) -> int:
        """Columns it scales."""
        return len(self.mean)

    def transform(self, X: NDArray[np.floating]) -> NDArray[np.float32]:
        """Rotate rows, (n_samples, n_features) to (n_samples, n_axes)."""
        return ((X - self.mean) @ self.axes).astype(np.float32, copy=False)


def column_spread(X: NDArray[np.floating]) -> NDArray[np.floating]:
    """Deviation of the columns of X, (..., n_features), a tenth of the median at least.

    A column that hardly moves in training may move much in new rows. Divided by its
    own deviation alone it would then outweigh all others.
    """
    spread = X.std(axis=tuple(range(X.ndim - 1)))
    return np.maximum(spread, LEAST_SPREAD * np.median(spread)) + _SMALLEST_SPREAD


def fit_principal_scaler(X: NDArray[np.floating], n_axes: int) -> PrincipalScaler:
    """Find the axes along which standardised rows, (n_samples, n_features), differ most.

    There are at most as many axes as rows, less one.
    """
    mean, spread = X.mean(axis=0), column_spread(X)
    standard = ((X - mean) / spread).astype(np.float64)
    values, vectors = np.linalg.eigh(standard @ standard.T)
    kept = values[::-1][: min(n_axes, len(X) - 1)]
    kept = kept[kept > _SMALLEST_SPREAD * kept[0]]
    along = vectors[:, ::-1][:, : len(kept)]
    axes = standard.T @ along / kept * np.sqrt(len(X)) / spread[:, None]
    return PrincipalScaler(mean.astype(np.float32), axes.astype(np.float32))


@dataclass(frozen=True)
class QuantileScaler:
    """Map each column to normal scores: its rank in training, made Gaussian.

    Heavy tails and columns squeezed into a corner of their range come out with
    the same shape as all others.

    Attributes
    ----------
    knots : ndarray of shape (QUANTILE_KNOTS, n_features)
        Training quantiles of each column, from its minimum to its maximum.
    """

    knots: NDArray[np.float64]

    def __post_init__(self) -> None:
        if self.knots.ndim != 2 or not (np.diff(self.knots, axis=0) >= 0).all():
            raise InputError("quantile knots must rise along each column")

    @property
    def n_features(self) -> int:
        """Columns it scales."""
        return self.knots.shape[1]

    def transform(self, X: NDArray[np.floating]) -> NDArray[np.float32]:
        """Scale rows, shape (n_samples, n_features)."""
        if X.ndim != 2 or X.shape[1] != self.knots.shape[1]:
            raise InputError(
                f"expected rows of {self.knots.shape[1]} features; got shape {X.shape}"
            )
        scaled = np.empty(X.shape, dtype=np.float32)
        for start in range(0, len(X), _CHUNK_ROWS):
            rows = slice(start, start + _CHUNK_ROWS)
            for first in range(0, X.shape[1], _CHUNK_COLUMNS):
                columns = slice(first, first + _CHUNK_COLUMNS)
                by_column = X[rows, columns].T.astype(np.float64, order="C")
                for values, curve in zip(by_column, self.curves[columns], strict=True):
                    values[:] = curve(values)
                scaled[rows, columns] = by_column.T
        return scaled

    @cached_property
    def curves(self) -> list[Curve]:
        """From the distinct knots of each column to their normal scores."""
        return [_normal_scores(column) for column in self.knots.T]


def same_scaling(
    one: MinMaxScaler | QuantileScaler | PrincipalScaler,
    other: MinMaxScaler | QuantileScaler | PrincipalScaler,
) -> bool:
    """Tell whether two scalers are of one kind and hold the same arrays."""
    if one is other:
        return True
    return type(one) is type(other) and all(
        np.array_equal(getattr(one, field.name), getattr(other, field.name))
        for field in fields(one)
    )


def fit_scaler(
    X: NDArray[np.floating], scaling: Scaling, rng: np.random.Generator
) -> MinMaxScaler | QuantileScaler:
    """Fit the named scaling on the rows of X, shape (n_samples, n_features).

    Quantiles come from at most 100,000 rows, drawn with ``rng``.
    """
    if scaling == "minmax":
        low = X.min(axis=0).astype(np.float64)
        span = X.max(axis=0) - low
        return MinMaxScaler(low, np.where(span > 0, span, 1.0))
    if scaling == "quantile":
        if len(X) > _SAMPLE_ROWS:
            X = X[rng.choice(len(X), _SAMPLE_ROWS, replace=False)]
        levels = np.linspace(0, 1, QUANTILE_KNOTS)
        return QuantileScaler(np.quantile(X.astype(np.float64), levels, axis=0))
    raise InputError(f"scaling must be 'minmax' or 'quantile'; got {scaling!r}")


def _normal_scores(knots: NDArray[np.float64]) -> Curve:
    """Map the distinct knots of a column, (n_knots,), to normal scores.

    A value that fills several knots gets the middle of its ranks, so that a
    binary column is centred like any other.
    """
    values, first, counts = np.unique(knots, return_index=True, return_counts=True)
    ranks = (first + (counts - 1) / 2) / (len(knots) - 1)
    return Curve(values, np.clip(ndtri(ranks), -NORMAL_LIMIT, NORMAL_LIMIT))
