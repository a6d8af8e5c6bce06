"""The default learner: in-context pseudo-labels, and one model that learns from them.

Disjoint parts of the unlabeled rows each make a context with the labels, but for an own
part of these. The in-context model scores the unlabeled rows in each, and its mean
log-odds are their pseudo-labels: soft ones to learn from, hard ones, where members agree,
to look at. The labels that a context left out tell how far labels are to be trusted.
Where a context without labeled anomalies finds these all the same, its scores count, too:
it sees types that nobody has labeled. Boosted trees learn labels and pseudo-labels
together. As many rows are called as there
should be anomalies among the unlabeled ones.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.base import BaseEstimator

from spadework.arrays import Floats, Labels, Numbers, Positions, Rows
from spadework.calls import LEVEL
from spadework.core.pseudo_labels import (
    PseudoLabeler,
    PseudoLabels,
    Thresholds,
    Voting,
    vote,
)
from spadework.core.ranks import blend_by_rank, share_below
from spadework.in_context.contexts import deal_folds
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework.lazy import LazyModule
from spadework.learners.contract import Learnt, Scaler
from spadework.learners.label_trust import LabelTrust
from spadework.parameters import check_positive_integer
from spadework.predictor.boosting import N_TREES, SUREST, boost
from spadework.predictor.trees import SymmetricTrees
from spadework.progress import Advance, progress

if TYPE_CHECKING:
    from spadework.in_context import members
else:  # it loads torch
    members = LazyModule("spadework.in_context.members")

MAX_IN_CONTEXT = 1000
"""Unlabeled rows of a context: three contexts of so many tell as much as one of 3,000, in
less time."""

MAX_PSEUDO_LABELED = 8000
"""Unlabeled rows that get a pseudo-label; more would teach the trees little."""

MAX_JUDGES = 1000
"""Labeled rows of a class that are held out, at most: they tell their mean to 0.01."""

MAX_LABELED = 50_000
"""Labeled rows of a class to learn from, at most."""


class InContextScores(NamedTuple):
    """What the in-context model says.

    Attributes
    ----------
    rows : ndarray of shape (n_scored,)
        Positions of the unlabeled rows that were scored, in order.
    log_odds : ndarray of shape (n_scored, n_members)
        Their log-odds of being an anomaly, by member.
    below : ndarray of shape (n_samples,)
        Share of these rows that score below a labeled row, by the member that has not
        seen its label; NaN for all other rows.
    likely_shares : tuple of float
        Ends of an interval for the share of anomalies among unlabeled rows.
    """

    rows: Positions
    log_odds: Floats
    below: Floats
    likely_shares: tuple[float, float]


@dataclass(eq=False, repr=False, kw_only=True)
class TreeLearner(BaseEstimator):
    """Boosted trees that learn labels and in-context pseudo-labels together.

    Parameters
    ----------
    n_trees : int
        Trees of the model, each of which asks six questions.
    pseudo_labels : bool
        Learn pseudo-labels. Otherwise trees learn from labels alone and, where a class
        has none, take unlabeled rows for it: what to compare with.
    """

    n_trees: int = N_TREES
    pseudo_labels: bool = True

    def learn(
        self,
        X: Rows,
        labels: Labels,
        scaler: Scaler,
        labeler: PseudoLabeler,
        rng: np.random.Generator,
        *,
        verbose: bool,
    ) -> Learnt:
        """Pseudo-label unlabeled rows in the context of labels, and learn from both."""
        check_positive_integer("n_trees", self.n_trees)
        if not self.pseudo_labels or not (labels == UNLABELED).any():
            return self._learn_labels(X, labels, scaler, rng)
        n_members = labeler.n_members
        with progress("reading contexts", n_members + 1, verbose=verbose) as advance:
            found = score_in_context(X, labels, n_members, rng, advance)
            soft, trust = self._soft_labels(X, labels, found, rng)
            advance("")
        chances = expit(soft)
        trees = self._boost_all(X, labels, found.rows, chances, trust, rng)
        share = float(chances.mean().clip(SUREST, 1 - SUREST))
        trees = shift_to_share(trees, X[found.rows], share)
        pseudo = hard_labels(labels, found, share, labeler.voting)
        counts = {"n_trees": float(len(trees.values))}
        counts |= {
            "pseudo_anomalies": pseudo.n_anomalies,
            "pseudo_normals": pseudo.n_normals,
        }
        model = TreeModel(trees, scaler)
        scores = trees.score(X)
        return Learnt(
            model, None, pseudo, scores, [counts], trust, share, found.likely_shares
        )

    def _soft_labels(
        self, X: Rows, labels: Labels, found: InContextScores, rng: np.random.Generator
    ) -> tuple[Floats, LabelTrust]:
        """Log-odds of the scored rows, (n_scored,), and how far labels are trusted."""
        trust = judge_labels(labels, found.below)
        soft = found.log_odds.mean(axis=1)
        if trust.of_labels_alone:
            alone = self._boost_labels(X, labels, rng).score(X[found.rows])
            soft = blend_by_rank(soft, alone, trust.of_labels_alone)
        if (labels == ANOMALY).any():
            one_class = read_without_anomalies(X, labels, rng)
            trust = judge_one_class(one_class, trust, X, labels, found.rows, rng)
            if trust.of_one_class:
                unlike = one_class.log_odds(X[found.rows])
                soft = blend_by_rank(soft, unlike, trust.of_one_class)
        return soft, trust

    def _boost_all(
        self,
        X: Rows,
        labels: Labels,
        scored: Positions,
        chances: Floats,
        trust: LabelTrust,
        rng: np.random.Generator,
    ) -> SymmetricTrees:
        """Learn labels, as far as they are trusted, and the chances of scored rows."""
        anomalies, normals = sample_classes(labels, MAX_LABELED, rng)
        rows = np.concatenate([anomalies, normals, scored])
        known = labels[rows[: -len(scored)]].astype(np.float64)
        targets = np.concatenate([known, chances])
        weights = np.ones(len(rows))
        weights[labels[rows] == NORMAL] = trust.of_normals
        return boost(X[rows], targets, weights, rng, n_trees=self.n_trees)

    def _boost_labels(
        self, X: Rows, labels: Labels, rng: np.random.Generator
    ) -> SymmetricTrees:
        """Learn from labels alone; unlabeled rows stand in for a class that has none."""
        known = labels
        for kind, other in ((ANOMALY, NORMAL), (NORMAL, ANOMALY)):
            if not (labels == kind).any():
                known = np.where(labels == other, labels, kind)
        rows = np.concatenate(sample_classes(known, MAX_LABELED, rng))
        targets = known[rows].astype(np.float64)
        return boost(X[rows], targets, np.ones(len(rows)), rng, n_trees=self.n_trees)

    def _learn_labels(
        self, X: Rows, labels: Labels, scaler: Scaler, rng: np.random.Generator
    ) -> Learnt:
        """Do without pseudo-labels."""
        trees = self._boost_labels(X, labels, rng)
        counts = {"n_trees": float(len(trees.values))}
        model = TreeModel(trees, scaler)
        return Learnt(model, None, None, trees.score(X), [counts], None, None)


@dataclass(frozen=True)
class TreeModel:
    """Trees that score raw rows by log-odds, and a scaler to compare rows by."""

    trees: SymmetricTrees
    scaler: Scaler

    @property
    def gives_log_odds(self) -> bool:
        """Whether a score of zero means a chance of one half."""
        return True

    def score(self, X: Numbers) -> Floats:
        """Log-odds of being an anomaly, (n_samples,)."""
        return self.trees.score(X)

    def represent(self, X: Numbers) -> Rows:
        """Scaled columns, (n_samples, n_features)."""
        return self.scaler.transform(X)


def score_in_context(
    X: Rows, labels: Labels, n_members: int, rng: np.random.Generator, advance: Advance
) -> InContextScores:
    """Score unlabeled rows, and labeled ones that are held out, by every member.

    Members read disjoint parts of the unlabeled rows, and each leaves out an own part of
    the labels.
    """
    unlabeled = rng.permutation(np.flatnonzero(labels == UNLABELED))
    folds = deal_folds(labels, n_members, rng)
    size = min(MAX_IN_CONTEXT, max(1, len(unlabeled) // n_members))
    ensemble = members.InContextEnsemble.draw(
        X, labels, n_members, rng, max_unlabeled=size, folds=folds
    )
    rows = np.sort(unlabeled[:MAX_PSEUDO_LABELED])
    judges = np.concatenate(sample_classes(labels, MAX_JUDGES, rng))
    log_odds = np.empty((len(rows), n_members))
    below = np.full(len(X), np.nan)
    for place, member in enumerate(ensemble.members):
        log_odds[:, place] = member.log_odds(X[rows])
        held_out = judges[folds[judges] == place]
        if len(held_out):
            scores = member.log_odds(X[held_out])
            below[held_out] = share_below(scores, log_odds[:, place])
        advance("")
    return InContextScores(rows, log_odds, below, ensemble.likely_shares(LEVEL))


def read_without_anomalies(
    X: Rows, labels: Labels, rng: np.random.Generator
) -> "members.InContextEnsemble":
    """Read a context of unlabeled rows and labeled normals alone."""
    shown = labels != ANOMALY
    return members.InContextEnsemble.draw(
        X[shown], labels[shown], 1, rng, max_unlabeled=MAX_IN_CONTEXT
    )


def judge_one_class(
    one_class: "members.InContextEnsemble",
    trust: LabelTrust,
    X: Rows,
    labels: Labels,
    scored: Positions,
    rng: np.random.Generator,
) -> LabelTrust:
    """Add how high a context that holds no labeled anomaly ranks these."""
    anomalies, _ = sample_classes(labels, MAX_JUDGES, rng)
    some = rng.permutation(scored)[:MAX_JUDGES]
    scores = one_class.log_odds(X[np.append(anomalies, some)])
    below = share_below(scores[: len(anomalies)], scores[len(anomalies) :])
    return replace(trust, one_class_recall=float(below.mean()))


def judge_labels(labels: Labels, below: Floats) -> LabelTrust:
    """Judge by the labeled rows that were held out; see `InContextScores`."""
    held_out = ~np.isnan(below)
    anomalies, normals = (below[held_out & (labels == k)] for k in (ANOMALY, NORMAL))
    return LabelTrust.of(anomalies, normals, int((labels == NORMAL).sum()))


def shift_to_share(trees: SymmetricTrees, X: Rows, share: float) -> SymmetricTrees:
    """Shift all scores until their chances are, on average, the share of anomalies.

    It lies between 0 and 1, and so does the shift between those that would bring the
    lowest and the highest score to it; a bit is added for scores that are all the same.
    """
    scores = trees.score(X)
    ends = logit(share) - scores.max() - 1, logit(share) - scores.min() + 1

    def excess(shift: float) -> float:
        return float(expit(scores + shift).mean()) - share

    shift: Any = brentq(excess, *ends)
    return replace(trees, intercept=trees.intercept + shift)


def hard_labels(
    labels: Labels, found: InContextScores, share: float, voting: Voting
) -> PseudoLabels:
    """Label rows that members agree on: each calls as many as there should be anomalies.

    Unlabeled rows that were not scored get neither votes nor a label.
    """
    split = np.quantile(found.log_odds, 1 - share, axis=0)
    among = vote(found.log_odds, Thresholds(split, split), voting)
    places = np.searchsorted(np.flatnonzero(labels == UNLABELED), found.rows)
    n_unlabeled = int((labels == UNLABELED).sum())
    hard = np.full(n_unlabeled, UNLABELED, dtype=np.int8)
    votes = np.full((n_unlabeled, found.log_odds.shape[1]), UNLABELED, dtype=np.int8)
    hard[places], votes[places] = among.labels, among.votes
    return PseudoLabels(hard, votes, among.thresholds)


def sample_classes(
    labels: Labels, most: int, rng: np.random.Generator
) -> tuple[Positions, Positions]:
    """Positions of labeled anomalies and normals, so many of each at most."""
    anomalies, normals = (
        rng.permutation(np.flatnonzero(labels == kind))[:most]
        for kind in (ANOMALY, NORMAL)
    )
    return anomalies, normals
