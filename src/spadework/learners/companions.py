"""Models beside the trees of a reading: a linear one, and trees to the last row.

Trees that draw a dozen rows can split on little. A penalised linear model of scaled
columns needs fewer rows to be of use, and stops being of use when there are many: types
of anomaly that nobody labeled lie in no direction that labels point to. So the fewer
rows a tree draws, the more a linear model counts beside it.

Trees with large leaves see a type of anomaly as one region. Where anomalies lie among
normal rows, in many small places, trees that grow to the last row see more; elsewhere
they know each labeled anomaly by heart and no other. Held-out labels tell which it is.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spadework.core.scaling import PrincipalScaler
from spadework.core.trust import auc
from spadework.labels import ANOMALY, UNLABELED
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

MANY_PUT_RIGHT = 0.2
"""Share of wrong orders that trees to the last row must put right to count: less may be
chance, and such trees take time."""


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


def share_put_right(
    plain: GrownReading, deep: GrownReading, labels: NDArray[np.int8]
) -> float:
    """Share of the pairs that plain trees order wrongly and deep ones do not.

    A pair is a labeled anomaly and an unlabeled row, by scores of trees that have drawn
    neither; 0 where deep trees put few right.

    Parameters
    ----------
    labels : ndarray of shape (n_judged,)

    Examples
    --------
    >>> labels = np.array([1, -1, -1, -1, -1], dtype=np.int8)
    >>> held_out = np.array([[2.0, 1, 1, 3, 3], [2.0, 1, 1, 1, 3]])
    >>> plain, deep = (GrownReading(None, each) for each in held_out)
    >>> share_put_right(plain, deep, labels), share_put_right(deep, plain, labels)
    (0.5, 0.0)
    """
    wrong = []
    for each in (plain, deep):
        anomalies, others = (
            each.held_out[labels == kind] for kind in (ANOMALY, UNLABELED)
        )
        wrong.append(1 - (auc(anomalies, others) or 0.0))
    share = 1 - wrong[1] / wrong[0] if wrong[0] else 0.0
    return share if share >= MANY_PUT_RIGHT else 0.0


def join(
    reading: GrownReading,
    beside: Sequence[Companion],
    labels: NDArray[np.int8],
    scaler: Scaler | PrincipalScaler,
) -> GrownReading:
    """Let a reading and the models beside it speak as one.

    Parameters
    ----------
    labels : ndarray of shape (n_judged,)
    """
    both = side_by_side({"": reading}, {"": beside}, {"": 1.0})
    return GrownReading(*blend_readings(*both, labels, scaler))


def side_by_side(
    grown: Mapping[str, GrownReading],
    beside: Mapping[str, Sequence[Companion]],
    weights: Mapping[str, float],
) -> tuple[dict[str, GrownReading], dict[str, float]]:
    """Set readings and the models beside them in one row, with the weight of each.

    The first model beside a reading takes its share of the reading, the next one its
    share of what that leaves.
    """
    every, each = dict(grown), dict(weights)
    for name, companions in beside.items():
        for place, (share, companion) in enumerate(companions):
            every[f"{name}, beside {place}"] = companion
            each[f"{name}, beside {place}"] = share * each[name]
            each[name] *= 1 - share
    return every, each


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
