"""Pseudo-labels by consensus of one-class classifiers (section 4.3, eq. 1 to 4).

K one-class models are fitted on disjoint parts of the unlabeled rows, each with
the labeled normals added. Every model gets two thresholds. A row is pseudo-labeled
only where the models agree.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from spadework.arrays import Flags, Floats, Labels, Numbers, Positions
from spadework.core.gaussian import LEFT_OUT, SHARED
from spadework.core.matching import Tail, otsu_threshold, tail_size, tail_threshold
from spadework.labels import ANOMALY, NORMAL, UNLABELED

Voting = Literal["unanimous", "majority"]
ScoreScale = Literal["log", "raw"]
ThresholdRule = Literal["bounded", "matching", "otsu"] | Sequence[float]

BOUND = 0.1
"""Share of the unlabeled rows that "bounded" thresholds leave on either side, at most."""

BOTH = 2
"""Vote of a member whose thresholds cross, on rows between them."""

_SMALLEST_UNIT = 1e-200
_LABEL_NAMES = {ANOMALY: "pseudo-anomaly", NORMAL: "pseudo-normal", UNLABELED: "unknown"}


class Members(Protocol):
    """K fitted one-class models."""

    def score(self, X: Numbers, /) -> Floats:
        """Score rows by every member, (n_samples, n_members), higher is odder."""
        ...


class OneClassModel(Protocol):
    """What can be fitted as the members of a pseudo-labeler."""

    def fit_members(
        self,
        X: Numbers,
        groups: Positions,
        rng: np.random.Generator,
        /,
    ) -> Members:
        """Fit one model per group; see `spadework.core.gaussian.fit_gaussians`."""
        ...


class Thresholds(NamedTuple):
    """The members' thresholds: eta^n and eta^p, each of shape (n_members,)."""

    normal: Floats
    anomaly: Floats


@dataclass(frozen=True)
class PseudoLabels:
    """The pseudo-labels of unlabeled rows, and the votes they rest on.

    Attributes
    ----------
    labels : ndarray of shape (n_unlabeled,), int8
        1 pseudo-anomaly, 0 pseudo-normal, -1 no consensus.
    votes : ndarray of shape (n_unlabeled, n_members), int8
        Each member's own verdict: 1, 0, -1 where it has none, and 2 (``BOTH``)
        where its thresholds cross and both of its conditions hold.
    thresholds : Thresholds
        The scores below which (``normal``) and above which (``anomaly``) each
        member votes.
    """

    labels: Labels
    votes: Labels
    thresholds: Thresholds

    @property
    def n_anomalies(self) -> int:
        """Rows pseudo-labeled as anomalies."""
        return int((self.labels == ANOMALY).sum())

    @property
    def n_normals(self) -> int:
        """Rows pseudo-labeled as normal."""
        return int((self.labels == NORMAL).sum())

    def explain(self, row: int) -> str:
        """Say in words how the pseudo-label of one unlabeled row came about."""
        n_members = self.votes.shape[1]
        codes = (ANOMALY, NORMAL, BOTH, UNLABELED)
        counts = [int((self.votes[row] == code).sum()) for code in codes]
        both = f", {counts[2]} both" if counts[2] else ""
        return (
            f"{_LABEL_NAMES[int(self.labels[row])]}: {counts[0]} of {n_members} members "
            f"vote anomaly, {counts[1]} vote normal{both}, {counts[3]} abstain"
        )


@dataclass(frozen=True)
class FittedPseudoLabeler:
    """v(x): fitted members with their thresholds; labels any rows."""

    members: Members
    thresholds: Thresholds
    voting: Voting
    abstain: bool

    def label(self, X: Numbers) -> PseudoLabels:
        """Pseudo-label rows, X of shape (n_samples, n_features)."""
        return self.vote(self.members.score(X))

    def vote(self, scores: Floats) -> PseudoLabels:
        """Pseudo-label rows by the members' scores, (n_samples, n_members)."""
        return vote(scores, self.thresholds, self.voting, abstain=self.abstain)


@dataclass(frozen=True)
class PseudoLabeler:
    """How to pseudo-label: the function PSEUDO-LABELER of Algorithm 1.

    Parameters are those of `spadework.SPADE`. Thresholds are "bounded" as what partial
    matching calls normal beyond a tenth of the unlabeled rows is no purer than the whole.
    """

    one_class: OneClassModel
    n_members: int
    thresholds: ThresholdRule
    voting: Voting
    abstain: bool
    use_labeled_normals: bool
    score_scale: ScoreScale
    stand_in: bool

    def fit(
        self, X: Numbers, labels: Labels, rng: np.random.Generator
    ) -> tuple[FittedPseudoLabeler, PseudoLabels]:
        """Fit the members, find their thresholds, label the unlabeled rows.

        X are features or, in the network learner, latent codes, (n_samples, n_features).
        """
        groups = split_unlabeled(labels, self.n_members, rng)
        if not self.use_labeled_normals:
            groups[groups == SHARED] = LEFT_OUT
        members = self.one_class.fit_members(X, groups, rng)
        scores = members.score(X)
        thresholds = find_thresholds(scores, labels, self.thresholds, self.score_scale)
        fitted = FittedPseudoLabeler(members, thresholds, self.voting, self.abstain)
        return fitted, fitted.vote(scores[labels == UNLABELED])


def split_unlabeled(
    labels: Labels, n_members: int, rng: np.random.Generator
) -> Positions:
    """Deal the unlabeled rows into K disjoint parts (Algorithm 1, line 2).

    Returns the group codes of `spadework.core.gaussian.fit_gaussians`: a member for
    each unlabeled row, ``SHARED`` for labeled normals, ``LEFT_OUT`` for anomalies.
    """
    groups = np.full(len(labels), LEFT_OUT, dtype=np.intp)
    groups[labels == NORMAL] = SHARED
    unlabeled = rng.permutation(np.flatnonzero(labels == UNLABELED))
    groups[unlabeled] = np.arange(len(unlabeled)) % n_members
    return groups


def find_thresholds(
    scores: Floats, labels: Labels, rule: ThresholdRule, scale: ScoreScale
) -> Thresholds:
    """Both thresholds of every member (eq. 3, 4; Otsu where labels are missing).

    Scores are of shape (n_samples, n_members).
    """
    members = np.ascontiguousarray(scores.T)
    pairs = [_member_thresholds(member, labels, rule, scale) for member in members]
    normal, anomaly = np.array(pairs).T
    return Thresholds(normal, anomaly)


def vote(
    scores: Floats, thresholds: Thresholds, voting: Voting, *, abstain: bool = False
) -> PseudoLabels:
    """Consensus of the members (eq. 1 and 2) on their scores, (n_unlabeled, n_members).

    A member votes anomaly above its eta^p and normal below its eta^n. Where its
    two thresholds cross it votes both ways between them, or abstains. Rows that all
    members call both are left unlabeled; the paper does not say what they are.
    """
    above, below = scores > thresholds.anomaly, scores < thresholds.normal
    votes = np.full(scores.shape, UNLABELED, dtype=np.int8)
    votes[above & ~below] = ANOMALY
    votes[below & ~above] = NORMAL
    if not abstain:
        votes[below & above] = BOTH
    anomalous = _agreed((votes == ANOMALY) | (votes == BOTH), voting)  # eq. 1
    normal = _agreed((votes == NORMAL) | (votes == BOTH), voting)  # eq. 2
    labels = np.full(len(scores), UNLABELED, dtype=np.int8)
    labels[anomalous & ~normal] = ANOMALY
    labels[normal & ~anomalous] = NORMAL
    return PseudoLabels(labels, votes, thresholds)


def learning_targets(
    labels: Labels, pseudo_labels: Labels | None, *, stand_in: bool
) -> Labels:
    """Return what the unlabeled rows are taken for in training, (n_unlabeled,).

    These are the pseudo-labels, and before there are any, -1. In PU and NU one
    class has no labels, and its pseudo-labels can be few or none; with
    ``stand_in``, rows without consensus are then taken for that class. Most of
    them are normal in PU; in NU they are at least where anomalies must be.
    """
    targets = np.full((labels == UNLABELED).sum(), UNLABELED, dtype=np.int8)
    if pseudo_labels is not None:
        targets[:] = pseudo_labels
    for label in (ANOMALY, NORMAL):
        if stand_in and not (labels == label).any():
            targets[targets == UNLABELED] = label
    return targets


def steady(scores: Floats, reference: Floats) -> Floats:
    """Scores on a log scale above the lowest reference score, in median units.

    Negative log-likelihoods are heavy-tailed: on the raw scale a handful of far
    outliers decides both Wasserstein distances and Otsu's variances. The map is
    monotone, so thresholds found on it cut the same rows. Origin and unit are fixed by
    the reference, the unlabeled scores.
    """
    return log_scale(scores, *scale_of(reference))


def scale_of(reference: Floats) -> tuple[Floats, Floats]:
    """Origin and unit of the log scale of scores: the lowest, and the median above it.

    Of a reference of shape (n_unlabeled, ...), both (...).
    """
    origin = reference.min(axis=0)
    return origin, np.median(reference, axis=0) - origin


def log_scale(scores: Floats, origin: ArrayLike, unit: ArrayLike) -> Floats:
    """Logarithm of one plus the scores above the origin, in units."""
    return np.log1p(np.maximum(scores - np.asarray(origin), 0) / whole_unit(unit))


def whole_unit(unit: ArrayLike) -> Floats:
    """Return units to divide by: 1 in place of none, and of one too small for that."""
    return np.where(np.asarray(unit) > _SMALLEST_UNIT, unit, 1.0)


def _member_thresholds(
    scores: Floats, labels: Labels, rule: ThresholdRule, scale: ScoreScale
) -> tuple[float, float]:
    """One member's eta^n and eta^p, scores of shape (n_samples,)."""
    unlabeled = np.sort(scores[labels == UNLABELED])  # once, for all that follows
    if not isinstance(rule, str):
        low, high = np.percentile(unlabeled, rule)
        return float(low), float(high)
    scaled = steady(unlabeled, unlabeled) if scale == "log" else unlabeled
    found: list[float] = []
    sides: tuple[tuple[int, Tail], ...] = ((NORMAL, "lower"), (ANOMALY, "upper"))
    for label, tail in sides:
        labeled = scores[labels == label]
        if rule != "otsu" and len(labeled):
            labeled = steady(labeled, unlabeled) if scale == "log" else labeled
            size = tail_size(labeled, scaled, tail=tail)
        else:
            size = _otsu_tail(scaled, tail)
        if rule == "bounded":
            size = min(size, max(1, round(BOUND * len(unlabeled))))
        found.append(tail_threshold(unlabeled, size, tail=tail))
    return found[0], found[1]


def _otsu_tail(scores: Floats, tail: Tail) -> int:
    """Scores on one side of Otsu's threshold, and at least one."""
    split = otsu_threshold(scores)
    inside = scores > split if tail == "upper" else scores <= split
    return max(1, int(inside.sum()))


def _agreed(votes: Flags, voting: Voting) -> Flags:
    """Rows on which the members agree, votes of shape (n_rows, n_members)."""
    n_members = votes.shape[1]
    n_votes: Positions = votes.sum(axis=1)
    return n_votes == n_members if voting == "unanimous" else 2 * n_votes > n_members
