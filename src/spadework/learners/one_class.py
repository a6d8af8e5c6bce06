"""The exchangeable one-class classifier: Gaussian, neighbours, forest, SVM, yours.

Fitted members are plain arrays wherever the model is one of ours, so that a
pseudo-labeler can be saved and can label new rows after loading.
"""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import OneClassSVM

from spadework.arrays import Floats, Numbers, Positions
from spadework.core.gaussian import SHARED, fit_gaussians
from spadework.core.neighbours import draw_neighbours
from spadework.core.pseudo_labels import Members, OneClassModel
from spadework.core.trees import FlatForest, TreeNodes, flatten_trees
from spadework.errors import InputError

SVM_MAX_ROWS = 5_000
"""Rows a one-class SVM member is fitted on, at most: its cost is quadratic."""

_CHUNK_ROWS = 4_096


Fit = Callable[[Numbers, Positions, np.random.Generator], Members]
"""Fits one model per group; see `spadework.core.gaussian.fit_gaussians`."""


@dataclass(frozen=True)
class OneClass:
    """A one-class model whose members, one for each group, a function fits."""

    fit_members: Fit


def _fit_forests(
    X: Numbers, groups: Positions, rng: np.random.Generator
) -> "IsolationForestMembers":
    """Fit isolation forests of 100 trees on 256 rows each, scikit-learn's defaults."""
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


def _fit_svms(X: Numbers, groups: Positions, rng: np.random.Generator) -> "SVMMembers":
    """Fit one-class SVMs with an RBF kernel, on at most ``SVM_MAX_ROWS`` rows each."""
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


def _fit_copies(
    one_class: Any, X: Numbers, groups: Positions, rng: np.random.Generator
) -> "CustomMembers":
    """Fit a copy of a user's model per group; the model itself is left untouched.

    A copy's ``random_state``, and those of the estimators in it, are set from ours.
    """
    models = []
    for rows in _member_rows(X, groups):
        model = deepcopy(one_class)
        _seed(model, rng)
        try:
            model.fit(rows)
        except ValueError as error:
            raise InputError(
                f"one_class={one_class!r} could not be fitted to {len(rows)} rows: "
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
    """Fitted copies of a user's one-class model.

    ``score_samples`` follows scikit-learn, higher is more normal; ``score`` must
    give one value per row, higher is more anomalous.
    """

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


_BY_NAME: dict[str, Fit] = {
    "gaussian": lambda X, groups, _: fit_gaussians(X, groups),  # the paper's choice
    "neighbours": lambda X, groups, rng: draw_neighbours(_member_rows(X, groups), rng),
    "isolation_forest": _fit_forests,
    "svm": _fit_svms,
}


def make_one_class(one_class: Any) -> OneClassModel:
    """Return the one-class model of that name, or one of copies of the object.

    An object has ``fit(X)`` and either ``score_samples(X)`` or ``score(X)``.
    """
    if isinstance(one_class, str) and one_class in _BY_NAME:
        return OneClass(_BY_NAME[one_class])
    scores = hasattr(one_class, "score_samples") or hasattr(one_class, "score")
    if isinstance(one_class, type) or not (hasattr(one_class, "fit") and scores):
        raise InputError(
            f"one_class must be 'gaussian', 'neighbours', 'isolation_forest', 'svm' "
            f"or an object with fit(X) and score(X); got {one_class!r}"
        )
    return OneClass(partial(_fit_copies, one_class))


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
