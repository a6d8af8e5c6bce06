"""Trees of a graph: forests whose trees may be lone leaves, and bisections of knots."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest

from exported import ROWS, model, run
from mismatch import N_FEATURES
from spadework.core.trees import FlatForest
from spadework.export import export_onnx
from spadework.export.trees import bisection_trees


def test_trees_of_a_single_leaf_are_exported(tmp_path):
    path = tmp_path / "model.onnx"
    trees = FlatForest(
        n_features=N_FEATURES,
        roots=np.array([0, 1, 4]),
        feature=np.array([0, 2, 0, 0, 0]),
        threshold=np.array([np.inf, 0.5, np.inf, np.inf, np.inf], dtype=np.float32),
        left=np.array([0, 2, 2, 3, 4]),
        value=np.array([0.25, 0.0, 0.125, 0.75, 1.0]),
    )
    detector = deepcopy(model())
    reading = replace(detector.model_.readings[0], scorer=trees)
    detector.model_ = replace(detector.model_, readings=(reading,))
    on_the_split = np.full((1, N_FEATURES), 0.5)
    rows = np.vstack([ROWS, on_the_split])
    export_onnx(detector, path, sample=rows)
    assert len(np.unique(run(path, rows)["score"])) == 2


def leaf(trees, column, value):
    """Walk down the tree of a column; return the place of the leaf that is reached."""
    node, is_end = trees.roots[column], False
    while not is_end:
        assert trees.feature[node] == column
        lower = value < trees.split[node]
        ends = trees.low_ends if lower else trees.high_ends
        node, is_end = (trees.low if lower else trees.high)[node], ends[node]
    assert trees.column[node] == column
    return trees.value[node]


@pytest.mark.parametrize("sizes", [(1,), (2, 1), (5, 8, 3)])
def test_bisections_count_the_knots_up_to_a_value(sizes):
    knots = [np.sort(np.random.default_rng(n).normal(size=n)) for n in sizes]
    trees = bisection_trees(knots)
    first = 0
    for column, each in enumerate(knots):
        values = np.concatenate([each, each - 1e-9, [-9.0, 9.0]])
        found = [leaf(trees, column, value) - first for value in values]
        assert found == [(each <= value).sum() for value in values]
        first += len(each) + 1
