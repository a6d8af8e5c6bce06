"""Fitted readings, as trees, networks or one-class models, blended by rank."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from scipy.special import expit, logit

from spadework.arrays import Flags, Floats, Labels, Numbers, Rows
from spadework.core.copies import CopiedByFields
from spadework.core.masking import choose_masked, mask_leaves
from spadework.core.masks import LeafMasks
from spadework.core.scaling import PrincipalScaler, same_scaling
from spadework.core.symmetric import as_symmetric
from spadework.core.trees import FlatForest
from spadework.core.trust import Trust
from spadework.core.weighing import oddest, weigh_readings
from spadework.errors import InputError
from spadework.labels import UNLABELED
from spadework.learners.contract import GrownReading, Scaler, Scorer
from spadework.learners.directions import ScaledScorer
from spadework.learners.oddness import Oddness

N_KNOTS = 257
MAX_LOG_ODDS = 9.0
"""Where ranks are cut: beyond one row in 8,000, scores themselves decide."""

BLOCK_ROWS = 1 << 17
"""Rows that are scaled together: scaled rows take as much memory as the rows."""

ROUNDING = 1e-9
"""Share of the range of scores up to which two are one, but for errors of rounding."""


@dataclass(frozen=True)
class ReadingModel:
    """What scores rows by a reading, and a map from scores to ranks.

    At knots, which are scores, (n_knots,), it knows the log-odds of their rank among
    unlabeled training rows, lifted or not. Scores of trees are mean leaf shares of
    anomalies.
    """

    weight: float
    scorer: Scorer
    knots: Floats
    log_odds: Floats

    def __post_init__(self) -> None:
        if not _rise_together(self.knots, self.log_odds):
            raise InputError("a reading needs knots that rise, with as many log-odds")
        if not 0 < self.weight <= 1:
            raise InputError(f"the weight of a reading is {self.weight!r}, not 0 to 1")

    def rank(self, scores: Floats) -> Floats:
        """Log-odds of the rank of scores, (n_samples,)."""
        return np.interp(scores, self.knots, self.log_odds)


@dataclass(frozen=True)
class Levels:
    """A map from scores, at knots, to the levels that they are brought to, (n_knots,)."""

    knots: Floats
    levels: Floats

    def __post_init__(self) -> None:
        if not _rise_together(self.knots, self.levels):
            raise InputError("levels need knots that rise, as many as there are levels")

    def of(self, scores: Floats) -> Floats:
        """Levels of scores, (n_samples,)."""
        return np.interp(scores, self.knots, self.levels)


def _rise_together(knots: Floats, values: Floats) -> bool:
    """Tell whether there are knots, and both rise from each to the next."""
    rising = all((np.diff(each) > 0).all() for each in (knots, values))
    return knots.shape == values.shape and len(knots) > 0 and rising


@dataclass(frozen=True)
class BlendedModel(CopiedByFields):
    """Readings blended: scores are weighted means of log-odds of ranks.

    The scaler is for the pseudo-labeler, and for scorers that read scaled rows; levels
    are where the means are brought to, if they are (see `lifting`).
    """

    readings: tuple[ReadingModel, ...]
    scaler: Scaler | PrincipalScaler
    levels: Levels | None = None

    def __post_init__(self) -> None:
        for scorer in (reading.scorer for reading in self.readings):
            if isinstance(scorer, Oddness | ScaledScorer) and not same_scaling(
                scorer.scaler, self.scaler
            ):
                raise InputError("readings of scaled rows need the scaler of their blend")

    def score(self, X: Numbers) -> Floats:
        """Weighted mean over the readings, (n_samples,)."""
        starts = range(0, len(X), BLOCK_ROWS)
        blocks = (self._score_block(X[start : start + BLOCK_ROWS]) for start in starts)
        return np.concatenate([np.empty(0), *blocks])

    def _score_block(self, X: Numbers) -> Floats:
        """Score rows; those that read scaled rows share one scaling."""
        masked, masks = self._masked
        by_masks = iter(masks.score(X)) if masks else iter(())
        scaled = None
        scores = []
        for scorer in self._scorers:
            if any(scorer is forest for forest in masked):
                scores.append(next(by_masks))
            elif isinstance(scorer, Oddness | ScaledScorer):
                scaled = self.scaler.transform(X) if scaled is None else scaled
                scores.append(scorer.score_scaled(scaled))
            else:
                scores.append(scorer.score(X))
        return self.blend(scores)

    @cached_property
    def _scorers(self) -> list[Scorer]:
        """What scores rows by each reading; symmetric trees ask all rows alike."""
        scorers = [reading.scorer for reading in self.readings]
        return [
            (as_symmetric(scorer) or scorer) if isinstance(scorer, FlatForest) else scorer
            for scorer in scorers
        ]

    @cached_property
    def _masked(self) -> tuple[list[FlatForest], LeafMasks | None]:
        """Forests that are faster as masks of their leaves, and these masks."""
        masked = choose_masked([s for s in self._scorers if isinstance(s, FlatForest)])
        return masked, mask_leaves(masked) if masked else None

    def blend(self, scores: list[Floats]) -> Floats:
        """Blend the scores of all readings, each of shape (n_samples,)."""
        ranks = [
            reading.weight * reading.rank(each)
            for reading, each in zip(self.readings, scores, strict=True)
        ]
        # One after the other, so that a row scores the same alone and among others.
        mean = reduce(np.add, ranks) / sum(reading.weight for reading in self.readings)
        return mean if self.levels is None else self.levels.of(mean)

    def represent(self, X: Numbers) -> Rows:
        """Scaled features."""
        return self.scaler.transform(X)


def fit_reading(grown: GrownReading, weight: float, labels: Labels) -> ReadingModel:
    """Map a reading's scores to ranks among unlabeled rows, or all if none is.

    Knots lie evenly in log-odds, so that ranks are finest at both ends, where
    anomalies are. Rows that score the same get the middle of their ranks. Beyond the
    outermost rows the score itself goes on rising.
    """
    unlabeled = labels == UNLABELED
    reference = grown.held_out[unlabeled] if unlabeled.any() else grown.held_out
    limit = min(MAX_LOG_ODDS, np.log(2 * len(reference)))
    odds = np.linspace(-limit, limit, N_KNOTS)
    values = np.quantile(reference, expit(odds))
    grain = ROUNDING * (np.ptp(values) or 1.0)
    values = np.round(values / grain) * grain
    reach = 1 + np.ptp(values)
    values = np.r_[values[0] - reach, values, values[-1] + reach]
    levels = expit(np.r_[-limit - 1, odds, limit + 1])
    knots, first, counts = np.unique(values, return_index=True, return_counts=True)
    log_odds = logit((levels[first] + levels[first + counts - 1]) / 2)
    return ReadingModel(weight, grown.scorer, knots, log_odds)


def judge_readings(
    grown: Mapping[str, GrownReading], labels: Labels, oddness: Floats | None
) -> Trust:
    """Weigh readings by their held-out scores.

    Of the judged rows are labels, and oddness, one-class scores, if there are any.
    """
    odd = np.zeros(len(labels), dtype=bool)
    if oddness is not None:
        odd = oddest(oddness, labels)
    return weigh_readings(
        {name: each.held_out for name, each in grown.items()}, labels, odd
    )


def blend_readings(
    grown: Collection[GrownReading],
    weights: Collection[float],
    labels: Labels,
    scaler: Scaler | PrincipalScaler,
) -> BlendedModel:
    """Blend readings by rank."""
    models = tuple(
        fit_reading(each, weight, labels)
        for each, weight in zip(grown, weights, strict=True)
    )
    return BlendedModel(models, scaler)


def blend_held_out(model: BlendedModel, grown: Collection[GrownReading]) -> Floats:
    """Blend the held-out scores of readings, (n_judged,).

    Where a reading knows a row, the others speak for it; all do where all know it.
    """
    pairs = list(zip(model.readings, grown, strict=True))
    ranks = np.stack([reading.rank(each.held_out) for reading, each in pairs])
    weights = np.stack([reading.weight * ~each.is_known for reading, each in pairs])
    known_to_all = ~weights.any(axis=0)
    weights[:, known_to_all] = [[reading.weight] for reading, _ in pairs]
    return np.average(ranks, axis=0, weights=weights)


def mean_of_unseen(values: Floats, in_bag: Flags) -> Floats:
    """Mean over the members that have not drawn a row, or over all if every one has.

    Both are of shape (n_members, n_samples).
    """
    unseen = ~in_bag
    unseen[:, ~unseen.any(axis=0)] = True
    return (values * unseen).sum(axis=0) / unseen.sum(axis=0)
