"""Trees as ONNX's operator has them: symmetric ones written out, and forests."""

from typing import NamedTuple

import numpy as np

from spadework.arrays import Flags, Floats, Positions
from spadework.core.trees import FlatForest
from spadework.export.graph import Graph
from spadework.predictor.trees import SymmetricTrees

_BRANCH_LEQ = 0
_AVERAGE, _SUM = 0, 1
_NODE_BYTES = 40  # what a node of a tree and a leaf take together, at most


class Trees(NamedTuple):
    """Trees, (n_trees,), whose inner nodes and leaves are numbered apart.

    Values up to the split lead to the node or leaf low, and larger ones to high, all
    (n_nodes,); ends are leaves. Values are those of the leaves, (n_leaves,).
    """

    roots: Positions
    feature: Positions
    split: Floats
    low: Positions
    low_ends: Flags
    high: Positions
    high_ends: Flags
    value: Floats


def add_symmetric_trees(graph: Graph, trees: SymmetricTrees, cells: str) -> str:
    """Intercept and sum of the leaf values of each row, (batch, 1)."""
    sums = _add_trees(graph, _write_out(trees), cells, _SUM) if len(trees.values) else 0.0
    return graph.add("Add", sums, trees.intercept)


def add_forest(graph: Graph, forest: FlatForest, cells: str) -> str:
    """Mean leaf value of each row, (batch, 1)."""
    return _add_trees(graph, _split_forest(forest), cells, _AVERAGE)


def _add_trees(graph: Graph, trees: Trees, cells: str, aggregate: int) -> str:
    from onnx import numpy_helper

    modes = np.full(len(trees.split), _BRANCH_LEQ, dtype=np.uint8)
    graph.n_bytes += _NODE_BYTES * len(trees.split)
    return graph.add(
        "TreeEnsemble",
        cells,
        domain="ai.onnx.ml",
        aggregate_function=aggregate,
        n_targets=1,
        tree_roots=trees.roots.tolist(),
        nodes_modes=numpy_helper.from_array(modes),
        nodes_featureids=trees.feature.tolist(),
        nodes_splits=numpy_helper.from_array(trees.split),
        nodes_truenodeids=trees.low.tolist(),
        nodes_trueleafs=trees.low_ends.astype(int).tolist(),
        nodes_falsenodeids=trees.high.tolist(),
        nodes_falseleafs=trees.high_ends.astype(int).tolist(),
        leaf_targetids=[0] * len(trees.value),
        leaf_weights=numpy_helper.from_array(trees.value),
    )


def _write_out(trees: SymmetricTrees) -> Trees:
    """Ask every question of a level at each of its nodes."""
    n_trees, depth = trees.columns.shape
    n_leaves = 2**depth
    n_nodes = n_leaves - 1
    node, tree = np.arange(n_nodes), np.arange(n_trees)[:, None]
    level = np.log2(node + 1).astype(np.intp)
    # The children of node i are 2 i + 1 and 2 i + 2, and leaves follow the last node.
    low, ends = 2 * node + 1, 2 * node + 1 >= n_nodes
    low = np.where(ends, low - n_nodes + n_leaves * tree, low + n_nodes * tree).ravel()
    all_ends = np.tile(ends, n_trees)
    return Trees(
        roots=n_nodes * tree.ravel(),
        feature=trees.columns[:, level].ravel(),
        split=trees.borders[:, level].ravel().astype(np.float64),
        low=low,
        low_ends=all_ends,
        high=low + 1,
        high_ends=all_ends,
        value=trees.values.ravel(),
    )


def _split_forest(forest: FlatForest) -> Trees:
    """Give the inner nodes and the leaves of a forest numbers of their own.

    A tree must begin with a node: a lone leaf gets one that leads to it either way.
    """
    is_leaf = forest.left == np.arange(len(forest.left))
    number = np.where(is_leaf, np.cumsum(is_leaf), np.cumsum(~is_leaf)) - 1
    inner = np.flatnonzero(~is_leaf)
    lone = is_leaf[forest.roots]
    lone_leaves = forest.roots[lone]
    roots = number[forest.roots]
    roots[lone] = len(inner) + np.arange(len(lone_leaves))
    low = np.append(forest.left[inner], lone_leaves)
    high = np.append(forest.left[inner] + 1, lone_leaves)
    nothing = np.zeros(len(lone_leaves), dtype=np.intp)
    return Trees(
        roots=roots,
        feature=np.append(forest.feature[inner], nothing),
        split=np.append(forest.threshold[inner], nothing).astype(np.float64),
        low=number[low],
        low_ends=is_leaf[low],
        high=number[high],
        high_ends=is_leaf[high],
        value=forest.value[is_leaf],
    )
