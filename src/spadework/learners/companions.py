"""Models beside those of a reading: linear, boosted, trees to the last row, neighbours.

Trees that draw a dozen rows can split on little. A penalised linear model of scaled
columns needs fewer rows to be of use, and stops being of use when there are many: types
of anomaly that nobody labeled lie in no direction that labels point to. So the fewer
rows a tree draws, the more a linear model counts beside it. Boosted symmetric trees need
few rows, too, and are of use with some more.

Trees with large leaves see a type of anomaly as one region. Where anomalies lie among
normal rows, in many small places, trees that grow to the last row see more; elsewhere
they know each labeled anomaly by heart and no other. Held-out labels tell which it is.
Of few labels alone, though, large leaves leave a tree only two or three: the fewer there
are, the more trees to the last row count. And where unlabeled rows are taken for normal,
such trees see all of them at once, and count as far as they tell them apart.

Beside one-class scores, which are those of Gaussians by default, stand distances to the
nearest of a few rows, and of a few labeled normals: these see that normal rows come in
several clusters.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from spadework.arrays import Floats, Labels
from spadework.core.scaling import PrincipalScaler
from spadework.core.trust import AS_NORMAL, LABELS, LEARNT, Trust, as_shares
from spadework.core.weighing import auc
from spadework.labels import ANOMALY, UNLABELED
from spadework.learners.blend import BlendedModel, blend_held_out, blend_readings
from spadework.learners.boosted import fit_boosted
from spadework.learners.contract import GrownReading, Scaler, Task
from spadework.learners.directions import ScaledScorer
from spadework.learners.lifting import lift_anomalies
from spadework.learners.linear import deal_folds, fit_linear
from spadework.learners.readings import Draws, Reading

OWN = "own"
LINEAR, BOOSTED, WHOLE, NEIGHBOURS = "linear", "boosted", "whole", "neighbours"
SMALL, SPOTS = "small networks", "spots"
"""Models of a reading: its own, and those that can stand beside it."""

_IN_TURN = (BOOSTED, LINEAR, WHOLE, SMALL, NEIGHBOURS, SPOTS)
"""Each takes its share of what those before it leave of the reading."""

MOST = 0.5
"""Share of a model in its reading where trees draw next to nothing."""

FEW_DRAWS, SOME_DRAWS = 100, 500
"""Draws of a tree at which a share has halved: that of a linear model; that of boosted
trees, and of trees to the last row beside labels alone."""

LEAST, LEAST_SLOW = 0.02, 0.1
"""Share below which there is no such model, and none that takes longer: boosted trees, or
trees to the last row beside labels alone."""

NEGLIGIBLE = 0.03
"""Weight up to which a model is left out of a blend: it would take time and change
nothing."""

NEIGHBOURS_SHARE = 0.5
"""Share of the distance to the nearest of a few rows in one-class scores."""

MANY_PUT_RIGHT = 0.2
"""Share of wrong orders that trees to the last row must put right to count: less may be
chance, and such trees take time."""


class Companion(NamedTuple):
    """A model beside that of a reading, and its share in the reading."""

    share: float
    grown: GrownReading


Beside = Mapping[str, Mapping[str, Companion]]
"""Models beside those of readings, by the names of the readings and their own."""


class Part(NamedTuple):
    """A model of a reading."""

    reading: str
    model: str


def companion_share(reading: Reading) -> float:
    """Return the share of a linear model in a reading; 0 where trees draw many rows.

    Examples
    --------
    >>> few, many = Draws(np.arange(5), None, 50), Draws(np.arange(5), None, 9_950)
    >>> companion_share(Reading(few, few, 1)), companion_share(Reading(few, many, 1))
    (0.25, 0.0)
    """
    return share_of_few(reading.n_draws, FEW_DRAWS, LEAST)


def boosted_share(reading: Reading) -> float:
    """Return the share of boosted trees in a reading; 0 where trees draw many rows."""
    return share_of_few(reading.n_draws, SOME_DRAWS, LEAST_SLOW)


def least_share_of_whole(reading: Reading) -> float:
    """Return the share, at least, of trees to the last row in reading labels alone."""
    return share_of_few(reading.n_draws, SOME_DRAWS, LEAST_SLOW, most=1.0)


def share_of_whole(
    name: str,
    reading: Reading,
    plain: GrownReading,
    whole: GrownReading,
    labels: Labels,
    riskiness: float,
) -> float:
    """Return the share of trees to the last row in the reading of that name.

    Labels are those of the judged rows, and riskiness tells how far labeled normals look
    riskier than unlabeled rows.
    """
    if name == AS_NORMAL:
        return share_told_apart(whole, labels)
    share = share_put_right(plain, whole, labels)
    if name == LABELS:
        share = max(share, least_share_of_whole(reading) * (1 - riskiness))
    return share


def share_told_apart(whole: GrownReading, labels: Labels) -> float:
    """Return the share of trees to the last row in taking unlabeled rows for normal.

    It is a half where they score every unlabeled row differently, and none where they
    score all the same, as where all lie far from any labeled anomaly.

    Examples
    --------
    >>> labels = np.array([1, -1, -1, -1, -1], dtype=np.int8)
    >>> whole = GrownReading(None, np.array([1.0, 0, 0, 0, 0.5]))
    >>> round(share_told_apart(whole, labels), 3)
    0.273
    """
    unlabeled = whole.held_out[labels == UNLABELED]
    _, counts = np.unique(unlabeled, return_counts=True)
    apart = 1 - float(((counts / len(unlabeled)) ** 2).sum())
    return apart / (1 + apart)


def share_of_few(number: int, few: int, least: float, most: float = MOST) -> float:
    """Map a number, from the most at none to half of it at few; less than least is 0."""
    share = most / (1 + number / few)
    return share if share >= least else 0.0


def fit_companions(task: Task, readings: dict[str, Reading]) -> dict[str, Companion]:
    """Fit a linear model for each reading whose trees draw few rows."""
    shares = {name: companion_share(reading) for name, reading in readings.items()}
    if not any(shares.values()):
        return {}
    scaled = task.scaler.transform(task.X[task.judged])[None]
    folds = deal_folds(task.judged_labels, task.rng)
    companions = {}
    for name, share in shares.items():
        if share:
            among = _among(readings[name], task)
            direction, held_out = fit_linear(scaled, among, folds, task.rng)
            grown = GrownReading(ScaledScorer(task.scaler, direction), held_out)
            companions[name] = Companion(share, grown)
    return companions


def boost_companion(task: Task, reading: Reading) -> Companion | None:
    """Boost trees for a reading whose trees draw few rows; None where they draw many."""
    share = boosted_share(reading)
    if not share:
        return None
    folds = deal_folds(task.judged_labels, task.rng)
    X, among = task.X[task.judged], _among(reading, task)
    return Companion(share, fit_boosted(X, among, folds, task.rng))


def share_put_right(plain: GrownReading, deep: GrownReading, labels: Labels) -> float:
    """Share of the pairs that plain trees order wrongly and deep ones do not.

    A pair is a labeled anomaly and an unlabeled row, by scores of trees that have drawn
    neither; 0 where deep trees put few right.

    Examples
    --------
    >>> labels = np.array([1, -1, -1, -1, -1], dtype=np.int8)
    >>> held_out = np.array([[2.0, 1, 1, 3, 3], [2.0, 1, 1, 1, 3]])
    >>> plain, deep = (GrownReading(None, each) for each in held_out)
    >>> share_put_right(plain, deep, labels), share_put_right(deep, plain, labels)
    (0.5, 0.0)
    """
    wrong = _wrong_orders(plain, labels)
    share = 1 - _wrong_orders(deep, labels) / wrong if wrong else 0.0
    return share if share >= MANY_PUT_RIGHT else 0.0


def _wrong_orders(grown: GrownReading, labels: Labels) -> float:
    """Share of the pairs of a labeled anomaly and an unlabeled row in wrong order."""
    anomalies, others = (grown.held_out[labels == kind] for kind in (ANOMALY, UNLABELED))
    return 1 - (auc(anomalies, others) or 0.0)


def join_all(
    grown: Mapping[str, GrownReading],
    beside: Beside,
    labels: Labels,
    scaler: Scaler | PrincipalScaler,
) -> dict[str, GrownReading]:
    """Let every reading and the models beside it, if any, speak as one."""
    joined = dict(grown)
    for name, companions in beside.items():
        if companions:
            of_reading = {name: grown[name]}, {name: companions}, {name: 1.0}
            every, weights = side_by_side(*of_reading)
            model = blend_readings(every, weights.values(), labels, scaler)
            held_out = model.blend([each.held_out for each in every])
            joined[name] = GrownReading(model, held_out)
    return joined


def blend_by_trust(
    grown: Mapping[str, GrownReading],
    beside: Beside,
    trust: Trust,
    labels: Labels,
    scaler: Scaler | PrincipalScaler,
    *,
    lift: bool,
) -> tuple[BlendedModel, Floats, Trust]:
    """Blend readings and the models beside them, and their held-out scores.

    If a lift is wanted, the model lifts what scores like labeled anomalies, by one-class
    scores the less the riskier labeled normals look: then rows were chosen for labeling
    because they are odd. Scores of these very labels are not lifted.

    The trust that is returned has the weights with which readings are in the blend: what
    models too slight to count would weigh has gone to the others.
    """
    every, weights = side_by_side(grown, beside, trust.weights)
    model = blend_readings(every, weights.values(), labels, scaler)
    scores = blend_held_out(model, every)
    if lift:
        odd = 1 - trust.riskiness
        lifts = [1.0 if part.reading in LEARNT else odd for part in weights]
        model = lift_anomalies(model, every, lifts, labels)
    blended = dict.fromkeys(trust.weights, 0.0)
    for part, weight in weights.items():
        blended[part.reading] += weight
    used = replace(trust, weights=as_shares(blended))
    return model, scores, used


def side_by_side(
    grown: Mapping[str, GrownReading], beside: Beside, weights: Mapping[str, float]
) -> tuple[list[GrownReading], dict[Part, float]]:
    """Set readings and the models beside them in one row, with the weight of each.

    Of the models beside a reading, one takes its share of the reading, the next one its
    share of what that leaves. What weighs next to nothing is left out.
    """
    every = {Part(name, OWN): each for name, each in grown.items()}
    shares = {Part(name, OWN): weights[name] for name in grown}
    for name, companions in beside.items():
        # Of unlabeled rows taken for normal, whole trees share with all other models.
        in_turn = (WHOLE, *_IN_TURN) if name == AS_NORMAL else _IN_TURN
        for model in sorted(companions, key=in_turn.index):
            share, every[Part(name, model)] = companions[model]
            shares[Part(name, model)] = share * shares[Part(name, OWN)]
            shares[Part(name, OWN)] *= 1 - share
    counted = {part: share for part, share in shares.items() if share > NEGLIGIBLE}
    return [every[part] for part in counted], counted


def _among(reading: Reading, task: Task) -> Reading:
    """Return a reading of the judged rows alone, by their places among these."""
    place = task.places

    def keep(side: Draws) -> Draws:
        kept = side.among(place[side.rows] >= 0)
        return kept._replace(rows=place[kept.rows])

    return reading._replace(
        normal=keep(reading.normal), anomalous=keep(reading.anomalous)
    )
