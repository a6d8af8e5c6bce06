"""The released form of SPADE: a random forest on labels and pseudo-labels.

Pseudo-labels come once, by consensus of one-class classifiers on the columns as they
are, and a plain forest learns from them and from the labels.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import RandomForestClassifier

from spadework.arrays import Floats, Labels, Numbers, Rows
from spadework.core.cores import usable_cores
from spadework.core.pseudo_labels import PseudoLabeler, learning_targets
from spadework.core.trees import FlatForest, TreeNodes, flatten_trees
from spadework.errors import LabelError
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework.learners.contract import Learnt, Scaler
from spadework.parameters import check_positive_integer, check_weight


@dataclass(eq=False, repr=False, kw_only=True)
class ForestLearner(BaseEstimator):
    """A random forest on labels and on the pseudo-labels of one-class classifiers.

    This is the form that the authors' employer released, with ``thresholds`` of
    `spadework.SPADE` as percentiles.

    Parameters
    ----------
    n_trees : int
    alpha : float
        Weight of a pseudo-labeled row, where a labeled one has 1.
    """

    n_trees: int = 300
    alpha: float = 1.0

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
        """Pseudo-label the scaled rows, then grow trees on the raw ones."""
        check_positive_integer("n_trees", self.n_trees)
        check_weight("alpha", self.alpha)
        fitted, pseudo = None, None
        known, weights = labels.copy(), np.ones(len(labels))
        unlabeled = labels == UNLABELED
        if unlabeled.any():
            fitted, pseudo = labeler.fit(scaler.transform(X), labels, rng)
            known[unlabeled] = learning_targets(
                labels, pseudo.labels, stand_in=labeler.stand_in
            )
            weights[unlabeled] = self.alpha
        learnt = (known != UNLABELED) & (weights > 0)
        _refuse_one_class(known[learnt])
        forest = RandomForestClassifier(
            self.n_trees,
            oob_score=True,
            n_jobs=usable_cores(),
            random_state=int(rng.integers(2**31)),
        )
        with warnings.catch_warnings():  # of rows that no tree has left out
            warnings.simplefilter("ignore", UserWarning)
            forest.fit(X[learnt], known[learnt], sample_weight=weights[learnt])
        model = ForestModel(_flatten(forest, X.shape[1]), scaler)
        scores = model.score(X)
        scores[learnt] = _held_out(forest, scores[learnt])
        counts: dict[str, float] = {
            "pseudo_anomalies": pseudo.n_anomalies if pseudo else 0,
            "pseudo_normals": pseudo.n_normals if pseudo else 0,
            "n_trees": self.n_trees,
        }
        return Learnt(model, fitted, pseudo, scores, [counts])


@dataclass(frozen=True)
class ForestModel:
    """Trees that score raw rows by the share of anomalies in a leaf, and a scaler."""

    forest: FlatForest
    scaler: Scaler

    @property
    def gives_log_odds(self) -> bool:
        """Whether a score of zero means a chance of one half."""
        return False

    def score(self, X: Numbers) -> Floats:
        """Mean share of anomalies in the leaves of a row, (n_samples,)."""
        return self.forest.score(X)

    def represent(self, X: Numbers) -> Rows:
        """Scaled columns, as one-class classifiers see them, (n_samples, n_features)."""
        return self.scaler.transform(X)


def _refuse_one_class(known: Labels) -> None:
    """Refuse to learn from rows of one class."""
    for kind, name in ((ANOMALY, "anomaly"), (NORMAL, "normal row")):
        if not (known == kind).any():
            raise LabelError(
                f"a forest needs rows of both classes, and no {name} was labeled or "
                f"pseudo-labeled. Label some, set stand_in=True, or give wider "
                f"thresholds"
            )


def _held_out(forest: RandomForestClassifier, scores: Floats) -> Floats:
    """Score rows that were learnt by the trees that have not drawn them, if any."""
    votes = forest.oob_decision_function_
    return np.where(votes.any(axis=1), votes[:, ANOMALY], scores)


def _flatten(forest: RandomForestClassifier, n_features: int) -> FlatForest:
    """Copy the trees of a fitted forest; a leaf's value is its share of anomalies."""
    trees = []
    for grown in forest.estimators_:
        share = grown.tree_.value[:, 0, :]
        trees.append(TreeNodes.of(grown.tree_, share[:, 1] / share.sum(axis=1)))
    return flatten_trees(trees, n_features)
