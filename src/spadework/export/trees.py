"""Trees as ONNX's operator has them: forests, and bisections of knots."""

from functools import cache
from typing import NamedTuple

import numpy as np

from spadework.arrays import Flags, Floats, Positions
from spadework.core.trees import FlatForest
from spadework.export.graph import Graph

BRANCH_LEQ, BRANCH_LT = 0, 1
AVERAGE, SUM = 0, 1
_NODE_BYTES = 40  # what a node of a tree and a leaf take together, at most


class Trees(NamedTuple):
    """Trees, (n_trees,), whose inner nodes and leaves are numbered apart.

    Smaller values than the split lead to the node or leaf low, and larger ones to high,
    all (n_nodes,); ends are leaves. A leaf adds its value to a column of the output, both
    (n_leaves,).
    """

    roots: Positions
    feature: Positions
    split: Floats
    low: Positions
    low_ends: Flags
    high: Positions
    high_ends: Flags
    value: Floats
    column: Positions


def add_forest(graph: Graph, forest: FlatForest, cells: str) -> str:
    """Mean leaf value of each row, (batch, 1)."""
    trees = _split_forest(forest)
    return add_trees(graph, trees, cells, mode=BRANCH_LEQ, aggregate=AVERAGE)


def add_trees(
    graph: Graph, trees: Trees, cells: str, *, mode: int, aggregate: int
) -> str:
    """Add trees; low branches are taken where ``mode`` holds of value and split."""
    from onnx import numpy_helper

    modes = np.full(len(trees.split), mode, dtype=np.uint8)
    graph.n_bytes += _NODE_BYTES * len(trees.split)
    return graph.add(
        "TreeEnsemble",
        cells,
        domain="ai.onnx.ml",
        aggregate_function=aggregate,
        n_targets=int(trees.column.max()) + 1,
        tree_roots=trees.roots.tolist(),
        nodes_modes=numpy_helper.from_array(modes),
        nodes_featureids=trees.feature.tolist(),
        nodes_splits=numpy_helper.from_array(trees.split),
        nodes_truenodeids=trees.low.tolist(),
        nodes_trueleafs=trees.low_ends.astype(int).tolist(),
        nodes_falsenodeids=trees.high.tolist(),
        nodes_falseleafs=trees.high_ends.astype(int).tolist(),
        leaf_targetids=trees.column.tolist(),
        leaf_weights=numpy_helper.from_array(trees.value),
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
        column=np.zeros(is_leaf.sum(), dtype=np.intp),
    )


def bisection_trees(knots: list[Floats]) -> Trees:
    """One tree a column, which counts the knots up to a value.

    Leaves hold the places of segments in a table of all columns, one behind the
    other, of which each has one segment more than it has knots.
    """
    n_knots = np.array([len(each) for each in knots])
    first_node = np.cumsum(n_knots) - n_knots
    first_leaf = np.cumsum(n_knots + 1) - (n_knots + 1)
    low, low_ends, high, high_ends = np.hstack([_bisection(n) for n in n_knots])
    node_shift = np.repeat(first_node, n_knots)
    leaf_shift = np.repeat(first_leaf, n_knots)
    columns = np.arange(len(knots))
    return Trees(
        roots=first_node + n_knots // 2,
        feature=np.repeat(columns, n_knots),
        split=np.concatenate(knots),
        low=low + np.where(low_ends, leaf_shift, node_shift),
        low_ends=low_ends.astype(bool),
        high=high + np.where(high_ends, leaf_shift, node_shift),
        high_ends=high_ends.astype(bool),
        value=np.arange((n_knots + 1).sum(), dtype=np.float64),
        column=np.repeat(columns, n_knots + 1),
    )


@cache
def _bisection(n_knots: int) -> Positions:
    """Rows ``low``, ``low_ends``, ``high`` and ``high_ends`` of one tree, (4, n_knots).

    Node i splits at knot i; leaf i lies below it, and the last leaf above all.
    """
    tree = np.empty((4, n_knots), dtype=np.intp)
    spans = [(0, n_knots)]
    while spans:
        first, last = spans.pop()  # leaves, of which there are at least two
        node = (first + last) // 2
        for row, (start, end) in ((0, (first, node)), (2, (node + 1, last))):
            tree[row : row + 2, node] = (start + end) // 2, start == end
            if start < end:
                spans.append((start, end))
    return tree
