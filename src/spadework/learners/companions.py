"""Linear models beside the trees of a reading, where these have few rows to draw.

Trees that draw a dozen rows can split on little. A penalised linear model of scaled
columns needs fewer rows to be of use, and stops being of use when there are many: types
of anomaly that nobody labeled lie in no direction that labels point to. So the fewer
rows a tree draws, the more a linear model counts beside it.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spadework.core.scaling import PrincipalScaler
from spadework.learners.blend import GrownReading, blend_readings
from spadework.learners.contract import Scaler
from spadework.learners.directions import ScaledScorer
from spadework.learners.linear import deal_folds, fit_linear
from spadework.learners.readings import Draws, Reading

MOST = 0.5
"""Share of a linear model in its reading where trees draw next to nothing."""

FEW_DRAWS = 100
"""Draws of a tree at which that share has halved."""

LEAST = 0.02
"""Share below which there is no linear model."""


class Companion(NamedTuple):
    """A model beside that of a reading, and its share in the reading."""

    share: float
    grown: GrownReading


def companion_share(reading: Reading) -> float:
    """Return the share of a linear model in a reading; 0 where trees draw many rows.

    Examples
    --------
    >>> few, many = Draws(np.arange(5), None, 50), Draws(np.arange(5), None, 9_950)
    >>> companion_share(Reading(few, few, 1)), companion_share(Reading(few, many, 1))
    (0.25, 0.0)
    """
    n_draws = reading.normal.n_draws + reading.anomalous.n_draws
    share = MOST / (1 + n_draws / FEW_DRAWS)
    return share if share >= LEAST else 0.0


def fit_companions(
    X: NDArray[np.float32],
    labels: NDArray[np.int8],
    readings: dict[str, Reading],
    scaler: Scaler,
    judged: NDArray[np.intp],
    rng: np.random.Generator,
) -> dict[str, Companion]:
    """Fit a linear model for each reading whose trees draw few rows.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    labels : ndarray of shape (n_samples,)
    judged : ndarray of shape (n_judged,)
        Positions of the rows to learn from, of many unlabeled ones a sample.
    """
    shares = {name: companion_share(reading) for name, reading in readings.items()}
    if not any(shares.values()):
        return {}
    scaled = scaler.transform(X[judged])[None]
    folds = deal_folds(labels[judged], rng)
    companions = {}
    for name, share in shares.items():
        if share:
            among = _among(readings[name], judged, len(X))
            direction, held_out = fit_linear(scaled, among, folds, rng)
            grown = GrownReading(ScaledScorer(scaler, direction), held_out)
            companions[name] = Companion(share, grown)
    return companions


def join(
    reading: GrownReading,
    beside: Companion,
    labels: NDArray[np.int8],
    scaler: Scaler | PrincipalScaler,
) -> GrownReading:
    """Let a reading and the model beside it speak as one.

    Parameters
    ----------
    labels : ndarray of shape (n_judged,)
    """
    both = side_by_side({"": reading}, {"": beside}, {"": 1.0})
    return GrownReading(*blend_readings(*both, labels, scaler))


def side_by_side(
    grown: Mapping[str, GrownReading],
    beside: Mapping[str, Companion],
    weights: Mapping[str, float],
) -> tuple[dict[str, GrownReading], dict[str, float]]:
    """Set readings and the models beside them in one row, with the weight of each."""
    both, each = dict(grown), dict(weights)
    for name, (share, companion) in beside.items():
        both[f"{name}, beside"] = companion
        each[f"{name}, beside"] = share * weights[name]
        each[name] = (1 - share) * weights[name]
    return both, each


def _among(reading: Reading, judged: NDArray[np.intp], n_rows: int) -> Reading:
    """Return a reading of the judged rows alone, by their places among these."""
    place = np.full(n_rows, -1)
    place[judged] = np.arange(len(judged))

    def keep(side: Draws) -> Draws:
        kept = place[side.rows] >= 0
        weights = None if side.weights is None else side.weights[kept]
        return Draws(place[side.rows[kept]], weights, side.n_draws)

    return reading._replace(
        normal=keep(reading.normal), anomalous=keep(reading.anomalous)
    )
