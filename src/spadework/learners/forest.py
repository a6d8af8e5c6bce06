"""The forest learner: pseudo-labels once, then trees on labels and pseudo-labels.

The form that Google released, with partial matching put back. Each tree sees
a random part of the rows of each class and draws from it, by weight, as many
anomalies as normals. Half of the trees look for the best split, half take random
ones. The number of draws per tree is capped, so time grows with the rows only as
far as reading them.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.base import BaseEstimator
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from spadework.core.pseudo_labels import PseudoLabeler, learning_targets
from spadework.core.trees import FlatForest, flatten_tree, join_forests, usable_cores
from spadework.errors import InputError
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework.learners.contract import Floats, Learnt, Scaler
from spadework.progress import progress

MAX_DRAWS = 32_768
"""Rows that a tree draws at most."""

DRAW_BUDGET = 1 << 20
"""Draws of all trees together, which sets how many trees there are by default."""

MIN_TREES, MAX_TREES = 32, 300

IN_BAG = 0.632
"""Share of each class that a tree may draw from, as in a bootstrap sample. The
rest is out of its bag, and scores it without having seen it."""


class ForestLearner(BaseEstimator):
    """Trees on labels and weighted pseudo-labels.

    Parameters
    ----------
    anomaly_weight, normal_weight : float
        The alpha of eq. 5 for pseudo-anomalies and for pseudo-normals; 0 leaves
        them out. Trees draw as many anomalies as normals, so a weight acts within
        its class, between labels and pseudo-labels.
    n_trees : int, optional
        By default as many as a fixed number of draws allows, 32 to 300: small
        tables get many trees, large ones few but large trees.
    max_depth : int
    min_samples_leaf : int
    """

    def __init__(
        self,
        *,
        anomaly_weight: float = 1.0,
        normal_weight: float = 1.0,
        n_trees: int | None = None,
        max_depth: int = 12,
        min_samples_leaf: int = 5,
    ) -> None:
        self.anomaly_weight = anomaly_weight
        self.normal_weight = normal_weight
        self.n_trees = n_trees
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf

    def learn(
        self,
        X: NDArray[np.float32],
        labels: NDArray[np.int8],
        scaler: Scaler,
        labeler: PseudoLabeler,
        rng: np.random.Generator,
        *,
        verbose: bool,
    ) -> Learnt:
        """Pseudo-label the scaled rows, then grow trees on the raw ones."""
        self._check_parameters()
        fitted, pseudo = None, None
        if (labels == UNLABELED).any():
            fitted, pseudo = labeler.fit(scaler.transform(X), labels, rng)
        weights = {ANOMALY: self.anomaly_weight, NORMAL: self.normal_weight}
        used = _used(pseudo.labels, weights) if pseudo else None
        targets = learning_targets(labels, used, stand_in=labeler.stand_in)
        training = training_set(labels, targets, weights)
        _refuse_single_class(training)
        forest, in_bag = self._grow(X, training, rng, verbose=verbose)
        model = ForestModel(forest, scaler)
        scores = out_of_bag_scores(forest, X, in_bag)
        counts: dict[str, float] = {
            "pseudo_anomalies": pseudo.n_anomalies if pseudo else 0,
            "pseudo_normals": pseudo.n_normals if pseudo else 0,
            "n_trees": len(forest.roots),
        }
        return Learnt(model, fitted, pseudo, scores, [counts])

    def _check_parameters(self) -> None:
        """Refuse parameters that have no meaning."""
        for name in ("anomaly_weight", "normal_weight"):
            value = getattr(self, name)
            if not 0 <= value < np.inf:
                raise InputError(f"{name} must be 0 or a positive number; got {value!r}")
        if self.n_trees is not None and not self.n_trees >= 1:
            raise InputError(f"n_trees must be a positive integer; got {self.n_trees!r}")

    def _grow(
        self,
        X: NDArray[np.float32],
        training: "TrainingSet",
        rng: np.random.Generator,
        *,
        verbose: bool,
    ) -> tuple[FlatForest, NDArray[np.bool_]]:
        """Grow all trees; also return which rows each has seen, (n_trees, n)."""
        n_draws = min(len(training.rows), MAX_DRAWS)
        n_trees = self.n_trees or int(
            np.clip(DRAW_BUDGET // n_draws, MIN_TREES, MAX_TREES)
        )
        in_bag = np.zeros((n_trees, len(X)), dtype=bool)
        tree_rngs = rng.spawn(n_trees)

        def grow(tree: int) -> FlatForest:
            kind = ExtraTreeClassifier if tree % 2 else DecisionTreeClassifier
            chosen = _draw(training, n_draws, tree_rngs[tree])
            in_bag[tree, training.rows[chosen]] = True
            model = kind(
                max_depth=self.max_depth,
                min_samples_leaf=self.min_samples_leaf,
                max_features="sqrt",
                random_state=int(tree_rngs[tree].integers(2**31)),
            ).fit(X[training.rows[chosen]], training.targets[chosen])
            nodes = model.tree_
            return flatten_tree(
                nodes.children_left,
                nodes.children_right,
                nodes.feature,
                nodes.threshold,
                nodes.value[:, 0, 1],
                X.shape[1],
            )

        forests: list[FlatForest] = []
        with (
            ThreadPoolExecutor(usable_cores()) as pool,
            progress("growing trees", n_trees, verbose=verbose) as advance,
        ):
            for forest in pool.map(grow, range(n_trees)):
                forests.append(forest)
                advance("")
        return join_forests(forests), in_bag


@dataclass(frozen=True)
class ForestModel:
    """A grown forest: scores are mean leaf shares of anomalies, 0 to 1.

    Attributes
    ----------
    forest : FlatForest
    scaler : MinMaxScaler or QuantileScaler
        For the pseudo-labeler; the trees take rows as they are.
    """

    forest: FlatForest
    scaler: Scaler

    def score(self, X: NDArray[np.floating]) -> Floats:
        """Mean share of anomalies in the leaves of a row, (n_samples,)."""
        return self.forest.score(X)

    def probability(self, scores: Floats, threshold: float) -> Floats:
        """Shift the log-odds of the leaf shares by the threshold's, (n_samples,)."""
        tiny = np.finfo(np.float64).eps
        log_odds = logit(np.clip(scores, tiny, 1 - tiny))
        return expit(log_odds - logit(np.clip(threshold, tiny, 1 - tiny)))

    def represent(self, X: NDArray[np.floating]) -> NDArray[np.float32]:
        """Scaled features."""
        return self.scaler.transform(X)


class TrainingSet(NamedTuple):
    """Rows to learn from: positions, 1 / 0 targets and weights, each (n,)."""

    rows: NDArray[np.intp]
    targets: NDArray[np.int8]
    weights: Floats


def training_set(
    labels: NDArray[np.int8], targets: NDArray[np.int8], weights: dict[int, float]
) -> TrainingSet:
    """Join labels and pseudo-labels, weighted as eq. 5 weighs them.

    The losses of eq. 5 are means, one over the labeled and one over the unlabeled
    rows. A label counts 1 here, so a pseudo-label counts alpha * n_labeled /
    n_unlabeled. A class without labels has nothing to be weighed against, and its
    alpha is 1.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)
    targets : ndarray of shape (n_unlabeled,)
        What unlabeled rows are taken for: 1, 0, or -1 to leave them out.
    weights : dict
        The alpha of each class.
    """
    unlabeled = labels == UNLABELED
    unit = (~unlabeled).sum() / max(1, unlabeled.sum())
    joined, row_weights = labels.copy(), np.ones(len(labels))
    joined[unlabeled] = targets
    for label, alpha in weights.items():
        alpha = alpha if (labels == label).any() else 1.0
        row_weights[unlabeled & (joined == label)] = alpha * unit
    rows = np.flatnonzero(joined != UNLABELED)
    return TrainingSet(rows, joined[rows], row_weights[rows])


def out_of_bag_scores(
    forest: FlatForest, X: NDArray[np.floating], in_bag: NDArray[np.bool_]
) -> Floats:
    """Score each row by the trees that have not seen it, (n_samples,).

    A row that every tree has seen is scored by all of them.
    """

    def mean_of_unseen(values: Floats, rows: slice) -> Floats:
        unseen = ~in_bag[:, rows]
        unseen[:, ~unseen.any(axis=0)] = True
        return (values * unseen).sum(axis=0) / unseen.sum(axis=0)

    return np.concatenate(list(forest.map_blocks(X, mean_of_unseen)))


def _used(pseudo_labels: NDArray[np.int8], weights: dict[int, float]) -> NDArray[np.int8]:
    """Pseudo-labels of the classes whose alpha is not 0; the others become -1."""
    without = [label for label, alpha in weights.items() if alpha == 0]
    return np.where(np.isin(pseudo_labels, without), np.int8(UNLABELED), pseudo_labels)


def _refuse_single_class(training: TrainingSet) -> None:
    """Raise when one class has nothing to learn from."""
    for target, name in ((ANOMALY, "anomaly"), (NORMAL, "normal")):
        if not (training.targets == target).any():
            raise InputError(
                f"no row is labeled or pseudo-labeled {name}. Label a few such rows, or "
                f"set stand_in=True"
            )


def _draw(
    training: TrainingSet, n_draws: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Positions that one tree draws: half of each class, by weight, from its bag."""
    halves = []
    for target in (NORMAL, ANOMALY):
        members = np.flatnonzero(training.targets == target)
        n_bag = max(1, round(IN_BAG * len(members)))
        bag = rng.permutation(members)[:n_bag]
        cumulated = np.cumsum(training.weights[bag])
        points = rng.random(max(1, n_draws // 2)) * cumulated[-1]
        halves.append(bag[np.searchsorted(cumulated, points, side="right")])
    return np.concatenate(halves)
