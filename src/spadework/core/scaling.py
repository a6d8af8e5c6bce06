"""Bring columns of any scale to order one, fitted once and kept as plain arrays."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from spadework.arrays import Floats, Numbers, Rows, Singles
from spadework.errors import InputError

Scaling = Literal["minmax", "clipped", "asinh"]

MOST_ROWS = 0.9
"""Share of the rows whose distance from the median is kept nearly as it is."""

SPREAD = 1.645 / float(np.arcsinh(1))
"""What brings nine rows of ten to where a standard normal has them: networks learn best
from columns of about that size."""

LIMIT = 3.0
"""Scaled values are cut here: a single value says no more than that it lies far out."""

FARTHEST = 1e6
"""Times the range of a column at which min-max scaling ends: likelihoods of what lies
beyond would leave the range of numbers."""

REACH = 3.0
"""Interquartile ranges from the median at which columns are cut that are clipped."""

LEAST_SPREAD = 0.1
"""Of the median deviation: what columns are divided by at least."""

_SMALLEST_SPREAD = 1e-6
_SAMPLE_ROWS = 100_000
_CHUNK_ROWS = 8_192


@dataclass(frozen=True)
class MinMaxScaler:
    """Map each column's training range to [0, 1]; constant columns to 0."""

    low: Floats
    span: Floats

    def __post_init__(self) -> None:
        fits = self.low.ndim == 1 and self.low.shape == self.span.shape
        if not fits or not (self.span > 0).all():
            raise InputError("a min-max scaler needs one positive span per column")

    @property
    def n_features(self) -> int:
        """Columns it scales."""
        return len(self.low)

    @property
    def limits(self) -> tuple[Floats | float, Floats | float]:
        """Where scaled values end."""
        return -FARTHEST, FARTHEST

    def transform(self, X: Numbers) -> Rows:
        """Scale rows, shape (n_samples, n_features)."""
        scaled = np.empty(X.shape, dtype=np.float32)
        for start in range(0, len(X), _CHUNK_ROWS):
            rows = slice(start, start + _CHUNK_ROWS)
            scaled[rows] = np.clip((X[rows] - self.low) / self.span, *self.limits)
        return scaled


@dataclass(frozen=True)
class ClippedScaler(MinMaxScaler):
    """Min-max scaling of columns that are cut first, from ``least`` to ``most`` after it.

    Otherwise one far value squeezes all others of its column together.
    """

    least: Floats
    most: Floats

    def __post_init__(self) -> None:
        super().__post_init__()
        fits = self.low.shape == self.least.shape == self.most.shape
        if not fits or not (self.least <= self.most).all():
            raise InputError("a clipped scaler needs two limits in order per column")

    @property
    def limits(self) -> tuple[Floats | float, Floats | float]:
        """Where scaled values end."""
        return self.least, self.most


@dataclass(frozen=True)
class AsinhScaler:
    """Map each column by the inverse hyperbolic sine of its distance from the median.

    Near the median this is the distance itself, so that columns keep what ties them to
    each other; further out it is its logarithm, and then no more than that the value
    lies far out, so that no heavy tail outweighs the rest. Nine rows of ten come to lie
    where a standard normal has them.

    The unit of a column is the distance from the median, its centre, that nine rows of
    ten keep within; where these have no distance, the standard deviation.
    """

    centre: Floats
    unit: Floats

    def __post_init__(self) -> None:
        fits = self.centre.ndim == 1 and self.centre.shape == self.unit.shape
        if not fits or not (self.unit > 0).all():
            raise InputError("an asinh scaler needs one positive unit per column")

    @property
    def n_features(self) -> int:
        """Columns it scales."""
        return len(self.centre)

    def transform(self, X: Numbers) -> Rows:
        """Scale rows, shape (n_samples, n_features)."""
        scaled = np.empty(X.shape, dtype=np.float32)
        for start in range(0, len(X), _CHUNK_ROWS):
            rows = slice(start, start + _CHUNK_ROWS)
            far = SPREAD * np.arcsinh((X[rows] - self.centre) / self.unit)
            scaled[rows] = np.clip(far, -LIMIT, LIMIT)
        return scaled


@dataclass(frozen=True)
class PrincipalScaler:
    """Map rows to their principal axes, each of variance one.

    For rows of more columns than a covariance can be fitted on. Axes, (n_features,
    n_axes), are divided by the spread of the columns, and of the rows along each axis.
    """

    mean: Singles
    axes: Singles

    def __post_init__(self) -> None:
        if self.axes.ndim != 2 or self.mean.shape != self.axes.shape[:1]:
            raise InputError("principal axes need one mean per column")

    @property
    def n_features(self) -> int:
        """Columns it scales."""
        return len(self.mean)

    def transform(self, X: Numbers) -> Rows:
        """Rotate rows, (n_samples, n_features) to (n_samples, n_axes)."""
        return ((X - self.mean) @ self.axes).astype(np.float32, copy=False)


def column_spread(X: Numbers) -> Numbers:
    """Deviation of the columns of X, (..., n_features), a tenth of the median at least.

    A column that hardly moves in training may move much in new rows. Divided by its
    own deviation alone it would then outweigh all others.
    """
    spread = X.std(axis=tuple(range(X.ndim - 1)))
    return np.maximum(spread, LEAST_SPREAD * np.median(spread)) + _SMALLEST_SPREAD


def fit_principal_scaler(X: Numbers, n_axes: int) -> PrincipalScaler:
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


def fit_scaler(
    X: Numbers, scaling: Scaling, rng: np.random.Generator
) -> MinMaxScaler | AsinhScaler:
    """Fit the named scaling on the rows of X, shape (n_samples, n_features).

    Quantiles come from at most 100,000 rows, drawn with ``rng``.
    """
    if scaling == "minmax":
        low = X.min(axis=0).astype(np.float64)
        span = X.max(axis=0) - low
        return MinMaxScaler(low, np.where(span > 0, span, 1.0))
    if scaling == "clipped":
        first, median, third = np.quantile(_sample(X, rng), (0.25, 0.5, 0.75), axis=0)
        reach = np.where(third > first, REACH * (third - first), np.inf)
        least, most = median - reach, median + reach
        low = np.maximum(X.min(axis=0), least)
        span = np.minimum(X.max(axis=0), most) - low
        span = np.where(span > 0, span, 1.0)
        ends = ((limit - low) / span for limit in (least, most))
        return ClippedScaler(low, span, *(np.clip(e, -FARTHEST, FARTHEST) for e in ends))
    if scaling == "asinh":
        X = _sample(X, rng)
        centre = np.median(X, axis=0)
        unit = np.quantile(np.abs(X - centre), MOST_ROWS, axis=0)
        unit = np.where(unit > 0, unit, X.std(axis=0))
        return AsinhScaler(centre, np.where(unit > 0, unit, 1.0))
    raise InputError(f"scaling must be one of {get_args(Scaling)}; got {scaling!r}")


def _sample(X: Numbers, rng: np.random.Generator) -> Floats:
    """At most so many rows as quantiles need, in float64."""
    if len(X) > _SAMPLE_ROWS:
        X = X[rng.choice(len(X), _SAMPLE_ROWS, replace=False)]
    return X.astype(np.float64)
