"""Trees of a graph score as they do by themselves, whatever they look like."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest

from exported import ROWS, assert_same, model, run
from mismatch import N_FEATURES
from spadework.core.trees import FlatForest
from spadework.export import export_onnx
from spadework.predictor.trees import SymmetricTrees


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.onnx"


@pytest.mark.parametrize(("n_trees", "depth"), [(1, 1), (3, 2), (2, 8), (0, 6)])
def test_symmetric_trees_of_any_depth_answer_alike_on_the_border_too(
    path, n_trees, depth
):
    """Every answer to every question leads to a value of its own."""
    rng = np.random.default_rng(depth)
    trees = SymmetricTrees(
        N_FEATURES,
        rng.integers(N_FEATURES, size=(n_trees, depth)),
        rng.integers(-2, 3, size=(n_trees, depth)).astype(np.float32) / 2,
        rng.normal(size=(n_trees, 2**depth)),
        intercept=-0.75,
    )
    detector = deepcopy(model())
    detector.model_ = replace(detector.model_, trees=trees)
    rows = np.vstack([ROWS, rng.integers(-2, 3, size=(200, N_FEATURES)) / 2])
    assert export_onnx(detector, path, sample=rows) < 1e-12
    assert_same(run(path, rows), detector, rows)


def test_trees_of_a_forest_may_be_a_single_leaf(path):
    trees = FlatForest(
        n_features=N_FEATURES,
        roots=np.array([0, 1, 4]),
        feature=np.array([0, 2, 0, 0, 0]),
        threshold=np.array([np.inf, 0.5, np.inf, np.inf, np.inf], dtype=np.float32),
        left=np.array([0, 2, 2, 3, 4]),
        value=np.array([0.25, 0.0, 0.125, 0.75, 1.0]),
    )
    detector = deepcopy(model("forest"))
    detector.model_ = replace(detector.model_, forest=trees)
    rows = np.vstack([ROWS, np.full((1, N_FEATURES), 0.5)])  # on the split
    export_onnx(detector, path, sample=rows)
    assert len(np.unique(run(path, rows)["score"])) == 2
