"""Masks of leaves give the scores of walking the trees, to the last bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from properties import examples
from spadework.core import masking, masks
from spadework.core.masking import choose_masked, mask_leaves
from spadework.core.scaling import MinMaxScaler
from spadework.core.trees import FlatForest, TreeNodes, flatten_trees
from spadework.errors import InputError
from spadework.learners import blend
from spadework.learners.blend import BlendedModel, ReadingModel

seeds = st.integers(0, 2**31)
INF = np.float32(np.inf)


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
    return np.stack([forest.score(X) for forest in forests])


def single_leaf(value):
    """A tree of one leaf, on two columns."""
    zero = np.zeros(1, dtype=np.intp)
    return FlatForest(2, zero, zero, np.array([INF]), zero, np.array([value]))


@given(
    seed=seeds,
    n_trees=st.lists(st.integers(1, 12), min_size=1, max_size=3),
    depth=st.sampled_from([1, 2, 5, None]),
)
@examples(30)
def test_masks_score_as_walking_does(seed, n_trees, depth):
    forests = [grown(seed + i, n, depth=depth) for i, n in enumerate(n_trees)]
    X = np.vstack([rows(seed, 120, 4), rows(seed + 1, 80, 4)])
    np.testing.assert_array_equal(mask_leaves(forests).score(X), walked(forests, X))


@pytest.mark.parametrize("value", [[0.0], [1.0], [-2.5, 0.0, 1e-9], [0.1, 0.7]])
def test_leaves_may_have_any_value(value):
    forests = [grown(0, 9, value=value), grown(1, 3, value=value)]
    X = rows(2, 500, 4)
    np.testing.assert_array_equal(mask_leaves(forests).score(X), walked(forests, X))


def test_values_at_a_threshold_go_left():
    forest = grown(3, 5)
    inner = forest.left != np.arange(len(forest.left))
    at = forest.threshold[inner]
    X = np.stack([np.nextafter(at, -INF), at, np.nextafter(at, INF)]).reshape(-1, 1)
    X = np.repeat(X, 4, axis=1)
    np.testing.assert_array_equal(mask_leaves([forest]).score(X)[0], forest.score(X))


@pytest.mark.parametrize("value", [0.0, 3.0])
def test_a_tree_of_one_leaf_has_its_value_everywhere(value):
    X = rows(0, 7, 2)
    forests = [single_leaf(value), grown(0, 1, n_features=2), single_leaf(1.0)]
    scores = mask_leaves(forests).score(X)
    np.testing.assert_array_equal(scores[[0, 2]], [[value] * 7, [1.0] * 7])


def test_trees_of_more_leaves_than_a_chunk_holds_are_scored():
    forest = grown(5, 40, depth=None)
    chunks = mask_leaves([forest]).chunks[0]
    assert len(chunks) > 2
    X = rows(6, 300, 4)
    np.testing.assert_array_equal(mask_leaves([forest]).score(X)[0], forest.score(X))


@pytest.mark.parametrize("block", [1, 7, 64])
def test_the_size_of_blocks_does_not_matter(block, monkeypatch):
    forest, X = grown(7, 6), rows(8, 65, 4)
    monkeypatch.setattr(masks, "_BLOCK_ROWS", block)
    np.testing.assert_array_equal(mask_leaves([forest]).score(X)[0], forest.score(X))


def test_rows_of_float64_are_scored_as_float32_rows():
    forest, wide = grown(3, 5), np.random.default_rng(4).normal(size=(60, 4))
    np.testing.assert_array_equal(
        mask_leaves([forest]).score(wide)[0], forest.score(wide.astype(np.float32))
    )


@pytest.mark.parametrize("shape", [(4, 3), (4, 5), (4,)])
def test_rows_of_another_width_are_refused(shape):
    with pytest.raises(InputError, match="expected rows of 4 features"):
        mask_leaves([grown(0, 3)]).score(np.zeros(shape))


def test_no_rows_have_no_scores():
    assert mask_leaves([grown(0, 2)]).score(np.empty((0, 4), np.float32)).shape == (1, 0)


def test_columns_that_no_tree_tests_are_not_looked_at():
    forest = grown(9, 3, depth=1, n_features=30)
    made = mask_leaves([forest])
    assert len(made.columns) < 4
    X = rows(10, 50, 30)
    expected = forest.score(X)
    X[:, [c for c in range(30) if c not in made.columns]] = np.nan
    np.testing.assert_array_equal(made.score(X)[0], expected)


def test_masks_are_for_many_small_trees_and_not_for_one():
    forest = grown(0, 100, depth=4)
    (chosen,) = choose_masked([forest])
    assert chosen is forest
    assert choose_masked([grown(0, 1)]) == []


def test_masks_beyond_the_memory_for_them_are_not_made(monkeypatch):
    monkeypatch.setattr(masking, "_MAX_BYTES", 1_000)
    assert choose_masked([grown(0, 100, depth=4)]) == []


@pytest.mark.parametrize("masked", [[], [1], [0, 2], [0, 1, 2]])
def test_a_blend_scores_the_same_whichever_forests_are_masked(masked, monkeypatch):
    forests = [grown(seed, 5, depth=4) for seed in range(3)]
    scaler = MinMaxScaler(np.zeros(4), np.ones(4))
    line = np.array([0.0, 1.0])
    readings = [
        ReadingModel(weight, forest, line, line)
        for weight, forest in zip((0.5, 0.3, 0.2), forests, strict=True)
    ]
    monkeypatch.setattr(blend, "choose_masked", lambda all_: [all_[i] for i in masked])
    scores = BlendedModel(tuple(readings), scaler).score(X := rows(1, 50, 4))
    expected = np.average(walked(forests, X), axis=0, weights=(0.5, 0.3, 0.2))
    np.testing.assert_allclose(scores, expected, rtol=1e-12)
