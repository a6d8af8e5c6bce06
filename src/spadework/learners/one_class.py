"""The exchangeable one-class classifier: Gaussian, neighbours, forest, SVM, yours.

Fitted members are plain arrays wherever the model is one of ours, so that a
pseudo-labeler can be saved and can label new rows after loading.
"""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import OneClassSVM

from spadework.arrays import Floats, Numbers, Positions
from spadework.core.gaussian import SHARED, GaussianEnsemble, fit_gaussians
from spadework.core.neighbours import NearestNeighbours, draw_neighbours
from spadework.core.pseudo_labels import OneClassModel
from spadework.core.trees import FlatForest, TreeNodes, flatten_trees
from spadework.errors import InputError

SVM_MAX_ROWS = 5_000
"""Rows a one-class SVM member is fitted on, at most: its cost is quadratic."""

_CHUNK_ROWS = 4_096


class GaussianOneClass:
    """Gaussian density estimators (GDE), the paper's choice."""

    def fit_members(
        self, X: Numbers, groups: Positions, rng: np.random.Generator
    ) -> GaussianEnsemble:
        """Fit all Gaussians at once."""
        return fit_gaussians(X, groups)


class NeighboursOneClass:
    """Distances to the nearest of a few rows, averaged over many draws."""

    def fit_members(
        self, X: Numbers, groups: Positions, rng: np.random.Generator
    ) -> NearestNeighbours:
        """Draw the rows that each member measures distances to."""
        return draw_neighbours(_member_rows(X, groups), rng)


class IsolationForestOneClass:
    """Isolation forests of 100 trees on 256 rows each, scikit-learn's defaults."""

    def fit_members(
        self, X: Numbers, groups: Positions, rng: np.random.Generator
    ) -> "IsolationForestMembers":
        """Fit one isolation forest per group."""
        forests, norms = [], []
        for rows in _member_rows(X, groups):
            seed = int(rng.integers(2**31))
            model = IsolationForest(random_state=seed).fit(rows)
            trees = [_path_lengths(tree) for tree in model.estimators_]
            forests.append(flatten_trees(trees, X.shape[1]))
            norms.append(float(_mean_path_length(np.array([model.max_samples_]))[0]))
        return IsolationForestMembers(tuple(forests), np.array(norms))


@dataclass(frozen=True)
class IsolationForestMembers:
    """Isolation forests as flat trees whose leaf values are path lengths."""

    forests: tuple[FlatForest, ...]
    norms: Floats

    def score(self, X: Numbers) -> Floats:
        """Return 2^(-mean path length / c), (n_samples, n_members)."""
        lengths = np.stack([forest.score(X) for forest in self.forests], axis=1)
        # A forest on a single row has no path to measure; its scores are 1/2.
        whole = np.ones_like(lengths)
        return 2.0 ** -np.divide(lengths, self.norms, out=whole, where=self.norms > 0)


class SVMOneClass:
    """One-class SVMs with an RBF kernel."""

    def fit_members(
        self, X: Numbers, groups: Positions, rng: np.random.Generator
    ) -> "SVMMembers":
        """Fit one SVM per group, on at most ``SVM_MAX_ROWS`` of its rows."""
        models, gammas = [], []
        for rows in _member_rows(X, groups):
            if len(rows) > SVM_MAX_ROWS:
                rows = rows[rng.choice(len(rows), SVM_MAX_ROWS, replace=False)]
            variance = float(rows.var(dtype=np.float64))
            gammas.append(1 / (X.shape[1] * variance) if variance > 0 else 1.0)
            model = OneClassSVM(gamma=gammas[-1], nu=0.1)
            model.random_state = 0  # unused, but else drawn from numpy's global state
            models.append(model.fit(rows))
        return SVMMembers(
            tuple(model.support_vectors_ for model in models),
            tuple(model.dual_coef_[0] for model in models),
            np.array(gammas),
        )


@dataclass(frozen=True)
class SVMMembers:
    """One-class SVMs as support vectors, weights and kernel widths."""

    vectors: tuple[Floats, ...]
    weights: tuple[Floats, ...]
    gammas: Floats

    def score(self, X: Numbers) -> Floats:
        """Negative weighted kernel sum, (n_samples, n_members)."""
        scores = np.empty((len(X), len(self.gammas)))
        members = list(zip(self.vectors, self.weights, self.gammas, strict=True))
        for start in range(0, len(X), _CHUNK_ROWS):
            rows = slice(start, start + _CHUNK_ROWS)
            for member, (vectors, weights, gamma) in enumerate(members):
                kernel = rbf_kernel(X[rows].astype(np.float64), vectors, gamma=gamma)
                scores[rows, member] = -(kernel @ weights)
        return scores


class CustomOneClass:
    """Any object with ``fit(X)`` and either ``score_samples(X)`` or ``score(X)``.

    ``score_samples`` follows scikit-learn, higher is more normal; ``score`` must
    give one value per row, higher is more anomalous. The object is copied for
    every member and left untouched; a copy's ``random_state``, and those of the
    estimators in it, are set from ours.
    """

    def __init__(self, model: Any) -> None:
        scores = hasattr(model, "score_samples") or hasattr(model, "score")
        if isinstance(model, type) or not (hasattr(model, "fit") and scores):
            raise InputError(
                f"one_class must be 'gaussian', 'neighbours', 'isolation_forest', 'svm' "
                f"or an object with fit(X) and score(X); got {model!r}"
            )
        self.model = model

    def fit_members(
        self, X: Numbers, groups: Positions, rng: np.random.Generator
    ) -> "CustomMembers":
        """Fit one copy per group."""
        models = []
        for rows in _member_rows(X, groups):
            model = deepcopy(self.model)
            _seed(model, rng)
            try:
                model.fit(rows)
            except ValueError as error:
                raise InputError(
                    f"one_class={self.model!r} could not be fitted to {len(rows)} rows: "
                    f"{error}. Members share the unlabeled rows, and labeled normals get "
                    f"models of their own: set a smaller n_members, label more normals, "
                    f"or take a model that needs fewer rows"
                ) from error
            models.append(model)
        return CustomMembers(tuple(models))


def _seed(model: Any, rng: np.random.Generator) -> None:
    """Let a copy, and the estimators in it, draw for themselves."""
    if hasattr(model, "get_params"):
        names = [n for n in sorted(model.get_params()) if n.endswith("random_state")]
        model.set_params(**{name: int(rng.integers(2**31)) for name in names})
    elif hasattr(model, "random_state"):
        model.random_state = int(rng.integers(2**31))


@dataclass(frozen=True)
class CustomMembers:
    """Fitted copies of a user's one-class model."""

    models: tuple[Any, ...]

    def score(self, X: Numbers) -> Floats:
        """Score by every copy, (n_samples, n_members)."""
        columns = [self._score_one(model, X) for model in self.models]
        return np.stack(columns, axis=1)

    @staticmethod
    def _score_one(model: Any, X: Numbers) -> Floats:
        by_samples = hasattr(model, "score_samples")
        scores = model.score_samples(X) if by_samples else model.score(X)
        scores = np.asarray(scores, dtype=np.float64) * (-1 if by_samples else 1)
        if scores.shape != (len(X),) or not np.isfinite(scores).all():
            raise InputError(
                f"{type(model).__name__} must score every row with one finite value, "
                f"shape {(len(X),)}; got shape {scores.shape}"
            )
        return scores


_BY_NAME = {
    "gaussian": GaussianOneClass,
    "neighbours": NeighboursOneClass,
    "isolation_forest": IsolationForestOneClass,
    "svm": SVMOneClass,
}


def make_one_class(one_class: Any) -> OneClassModel:
    """Return the one-class model of that name, or a wrapper around the object."""
    if isinstance(one_class, str) and one_class in _BY_NAME:
        return _BY_NAME[one_class]()
    return CustomOneClass(one_class)


def _member_rows(X: Numbers, groups: Positions) -> list[Numbers]:
    """Rows of each member, shared ones included."""
    members = range(int(groups.max()) + 1)
    return [X[(groups == member) | (groups == SHARED)] for member in members]


def _path_lengths(tree: Any) -> TreeNodes:
    """Return the nodes of an isolation tree, each with its path length as its value."""
    nodes = tree.tree_
    depth = nodes.compute_node_depths() - 1.0  # scikit-learn counts the root
    return TreeNodes.of(nodes, depth + _mean_path_length(nodes.n_node_samples))


def _mean_path_length(n_rows: NDArray[np.integer]) -> Floats:
    """c(n): mean path of an unsuccessful search in a binary tree of n rows."""
    n = np.maximum(n_rows, 2).astype(np.float64)
    harmonic = np.log(np.maximum(n - 1, 1)) + np.euler_gamma
    lengths = 2 * harmonic - 2 * (n - 1) / n
    return np.select([n_rows <= 1, n_rows == 2], [0.0, 1.0], lengths)
