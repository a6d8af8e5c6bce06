"""Forests grown on a few made rows, for tests of the ways to score them."""

import numpy as np
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from spadework.core.trees import TreeNodes, flatten_trees


def rows(seed, n_rows, n_features):
    """Rows of float32, with many equal values in the first column."""
    X = np.random.default_rng(seed).normal(size=(n_rows, n_features))
    X[:, 0] = np.round(X[:, 0])
    return X.astype(np.float32)


def grown(seed, n_trees, *, depth=None, n_features=4, value=None):
    """Return a forest, with leaf values of its own or the share of class 1."""
    rng = np.random.default_rng(seed)
    X = rows(seed, 120, n_features)
    trees = []
    for tree in range(n_trees):
        kind = ExtraTreeClassifier if tree % 2 else DecisionTreeClassifier
        y = np.append([0, 1], rng.integers(0, 2, size=len(X) - 2))
        model = kind(max_depth=depth, min_samples_leaf=1 + tree % 4, random_state=tree)
        nodes = model.fit(X, y).tree_
        share = nodes.value[:, 0, 1]
        trees.append(
            TreeNodes(
                nodes.children_left,
                nodes.children_right,
                nodes.feature,
                nodes.threshold,
                share if value is None else rng.choice(value, size=len(share)),
            )
        )
    return flatten_trees(trees, n_features)


def walked(forests, X):
    """Scores by walking down the trees of each forest, (n_forests, n_rows)."""
    return np.stack([forest.score(X) for forest in forests])
