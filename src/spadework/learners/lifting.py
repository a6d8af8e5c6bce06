"""Lift rows that score like labeled anomalies.

Ranks do not tell how far the first rows lie in front of the others: where labels tell
anomalies apart for certain, those have the first ranks and some normal rows the next. In
a mean of ranks over readings, normal rows that are merely odd would then overtake them.
So the log-odds of a reading are lifted where held-out labeled anomalies score more often
than unlabeled rows do, by the log of how much. Afterwards scores are brought back to the
levels that they had: as many unlabeled rows as before lie above each.
"""

from collections.abc import Collection
from dataclasses import replace
from operator import is_

import numpy as np
from scipy.special import expit

from spadework.arrays import Floats, Labels
from spadework.core.likelihood import likelihood_ratio
from spadework.labels import ANOMALY, UNLABELED
from spadework.learners.blend import (
    MAX_LOG_ODDS,
    N_KNOTS,
    ROUNDING,
    BlendedModel,
    Levels,
    ReadingModel,
)
from spadework.learners.contract import GrownReading

MIN_ANOMALIES = 2
"""Labeled anomalies that it takes: a single one is not held out of what has learnt it."""

GRAIN = 1e-6
"""Scores nearer to each other than this are one, and levels rise by at least this share
of what scores do."""


def lift_anomalies(
    model: BlendedModel,
    grown: Collection[GrownReading],
    lifts: Collection[float],
    labels: Labels,
) -> BlendedModel:
    """Lift what scores like labeled anomalies, each reading by so many times the log."""
    unlabeled = labels == UNLABELED
    if not unlabeled.any():
        return model
    readings = tuple(
        lift_reading(reading, each, lift, labels)
        for reading, each, lift in zip(model.readings, grown, lifts, strict=True)
    )
    if all(map(is_, readings, model.readings)):
        return model
    lifted = replace(model, readings=readings)
    scores = [each.held_out[unlabeled] for each in grown]
    ends = [lifted.blend([each.knots[[end]] for each in readings]) for end in (0, -1)]
    levels = match_levels(lifted.blend(scores), model.blend(scores), np.concatenate(ends))
    return replace(lifted, levels=levels)


def lift_reading(
    reading: ReadingModel, grown: GrownReading, lift: float, labels: Labels
) -> ReadingModel:
    """Lift log-odds by how much likelier scores are for anomalies than for other rows."""
    anomalies = grown.held_out[(labels == ANOMALY) & ~grown.is_known]
    if len(anomalies) < MIN_ANOMALIES:
        return reading
    others = grown.held_out[labels == UNLABELED]
    grain = 2 * ROUNDING * (np.ptp(reading.knots[1:-1]) or 1.0)
    anomalies, others = (snap(each, reading.knots, grain) for each in (anomalies, others))
    knots = np.union1d(reading.knots, _further_knots(anomalies, others, grain))
    ratio = likelihood_ratio(anomalies, others, knots)
    log_odds = reading.rank(knots) + lift * np.maximum(ratio, 0)
    rises = np.diff(log_odds, prepend=-np.inf) > 0
    return replace(reading, knots=knots[rises], log_odds=log_odds[rises])


def snap(scores: Floats, knots: Floats, grain: float) -> Floats:
    """Take scores for the knot that they lie on, but for errors of rounding.

    Examples
    --------
    >>> snap(np.array([0.1, 0.2, 0.7]), np.array([0.0, 0.2 + 1e-12, 1.0]), 1e-9)
    array([0.1, 0.2, 0.7])
    >>> bool(_[1] == 0.2 + 1e-12)
    True
    """
    at = np.minimum(np.searchsorted(knots, scores - grain), len(knots) - 1)
    return np.where(np.abs(knots[at] - scores) <= grain, knots[at], scores)


def _further_knots(anomalies: Floats, others: Floats, grain: float) -> Floats:
    """Scores of anomalies, and the highest of the others.

    Unlabeled rows alone have no knots where only anomalies score.
    """
    places = np.linspace(0, 1, N_KNOTS)
    spread = np.quantile(anomalies, places, method="nearest")
    knots = np.unique(np.append(spread, others.max()))
    return knots[np.diff(knots, prepend=-np.inf) > grain]


def match_levels(lifted: Floats, plain: Floats, ends: Floats) -> Levels:
    """Map lifted scores to those that as many rows lie above without a lift.

    Knots lie evenly in log-odds of ranks. Beyond the outermost rows, up to both ends, the
    lowest and the highest score that there can be, the score itself goes on.
    """
    limit = min(MAX_LOG_ODDS, np.log(2 * len(lifted)))
    ranks = expit(np.linspace(-limit, limit, N_KNOTS))
    scores = np.round(np.quantile(lifted, ranks) / GRAIN) * GRAIN
    knots, first, counts = np.unique(scores, return_index=True, return_counts=True)
    levels = np.quantile(plain, ranks)
    levels = (levels[first] + levels[first + counts - 1]) / 2
    below, above = knots[0] - ends[0], ends[1] - knots[-1]
    if below > 0:
        knots, levels = np.r_[ends[0], knots], np.r_[levels[0] - below, levels]
    if above > 0:
        knots, levels = np.r_[knots, ends[1]], np.r_[levels, levels[-1] + above]
    return Levels(knots, levels + GRAIN * (knots - knots[0]))
