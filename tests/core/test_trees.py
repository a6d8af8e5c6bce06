"""Flat trees score as the trees they were made of; broken ones are refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

from properties import examples
from spadework.core import trees
from spadework.core.trees import FlatForest, TreeNodes, flatten_trees
from spadework.errors import InputError

seeds = st.integers(0, 2**31)
kinds = st.sampled_from([DecisionTreeClassifier, ExtraTreeClassifier])
INF = np.inf


def grown(kind, seed, *, depth=None, n_rows=80, n_features=3):
    """Return a fitted classifier and float32 rows, the training ones among them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    X[:, 0] = np.round(X[:, 0])
    y = np.append([0, 1], rng.integers(0, 2, size=n_rows - 2))
    tree = kind(max_depth=depth, random_state=seed).fit(X, y)
    return tree, np.vstack([X, rng.normal(size=(40, n_features)).astype(np.float32)])


def flat(tree):
    """Lay out a scikit-learn classifier with the share of class 1 in its leaves."""
    return flatten_trees([nodes_of(tree)], tree.n_features_in_)


def nodes_of(tree):
    nodes = tree.tree_
    return TreeNodes(
        nodes.children_left,
        nodes.children_right,
        nodes.feature,
        nodes.threshold,
        nodes.value[:, 0, 1],
    )


def two_trees(**changes):
    """Two small trees as arrays, the first of two levels, with some arrays changed."""
    arrays = {
        "n_features": 2,
        "roots": np.array([0, 5]),
        "feature": np.array([0, 1, 0, 0, 0, 1, 0, 0]),
        "threshold": np.array([0, 1, INF, INF, INF, 2, INF, INF], dtype=np.float32),
        "left": np.array([1, 3, 2, 3, 4, 6, 6, 7]),
        "value": np.array([0.0, 0.0, 1.0, 2.0, 3.0, 0.0, 10.0, 20.0]),
    }
    return FlatForest(**(arrays | changes))


def changed(name, position, value):
    """Return one of the arrays of `two_trees` with one entry changed."""
    array = getattr(two_trees(), name).copy()
    array[position] = value
    return {name: array}


@given(kind=kinds, seed=seeds, depth=st.sampled_from([1, 2, 3, 6, None]))
@examples(60)
def test_a_flat_tree_scores_exactly_as_the_tree_it_was_made_of(kind, seed, depth):
    tree, X = grown(kind, seed, depth=depth)
    np.testing.assert_array_equal(flat(tree).score(X), tree.predict_proba(X)[:, 1])
    assert flat(tree).depth == tree.get_depth()


def walk(forest, row):
    """Score a row node by node, as the layout says."""
    ends = []
    for root in forest.roots:
        node = root
        while forest.left[node] != node:
            right = row[forest.feature[node]] > forest.threshold[node]
            node = forest.left[node] + right
        ends.append(forest.value[node])
    return np.mean(ends)


@given(seed=seeds, n_trees=st.integers(1, 4), depth=st.sampled_from([1, 3, None]))
@examples(30)
def test_rows_are_scored_as_if_they_walked_node_by_node(seed, n_trees, depth):
    several = [grown(ExtraTreeClassifier, seed + i, depth=depth) for i in range(n_trees)]
    forest = flatten_trees([nodes_of(tree) for tree, _ in several], 3)
    X = several[0][1]
    expected = [walk(forest, row) for row in X]
    np.testing.assert_allclose(forest.score(X), expected, rtol=1e-12, atol=1e-15)


@given(seed=seeds)
@examples(20)
def test_rows_of_float64_are_scored_as_float32_rows(seed):
    tree, X = grown(DecisionTreeClassifier, seed)
    wide = np.random.default_rng(seed).normal(size=(50, 3))
    expected = flat(tree).score(wide.astype(np.float32))
    np.testing.assert_array_equal(flat(tree).score(wide), expected)
    np.testing.assert_array_equal(
        flat(tree).score(np.asfortranarray(X)), flat(tree).score(X)
    )


@given(seed=seeds, n_trees=st.integers(1, 6))
@examples(20)
def test_forests_score_the_mean_of_their_trees(seed, n_trees):
    several = [grown(ExtraTreeClassifier, seed + i)[0] for i in range(n_trees)]
    _, X = grown(ExtraTreeClassifier, seed)
    joined = flatten_trees([nodes_of(tree) for tree in several], 3)
    expected = np.mean([tree.predict_proba(X)[:, 1] for tree in several], axis=0)
    np.testing.assert_allclose(joined.score(X), expected, rtol=1e-12, atol=1e-15)


def test_a_tree_of_one_leaf_scores_its_value_everywhere():
    X = np.ones((5, 2), dtype=np.float32)
    tree = DecisionTreeClassifier().fit(X, [0, 1, 1, 1, 1])
    forest = flat(tree)
    assert forest.depth == 0
    assert forest.score(X).tolist() == [0.8] * 5


def test_single_leaves_can_be_joined_with_deep_trees():
    deep, X = grown(DecisionTreeClassifier, 3)
    leaf = DecisionTreeClassifier().fit(np.ones((4, 3)), [0, 1, 1, 1])
    scores = flatten_trees([nodes_of(leaf), nodes_of(deep)], 3).score(X)
    expected = (0.75 + deep.predict_proba(X)[:, 1]) / 2
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


def test_two_hand_made_trees_score_the_mean_of_their_leaves():
    X = np.array([[0, 1], [0, 2], [1, 1], [1, 3]])
    assert two_trees().score(X).tolist() == [6.0, 6.5, 5.5, 10.5]


def test_no_rows_give_no_scores():
    scores = two_trees().score(np.empty((0, 2)))
    assert scores.shape == (0,)
    assert scores.dtype == np.float64


@given(seed=seeds, n_rows=st.integers(1, 60), block=st.integers(1, 20))
@examples(20)
def test_rows_in_many_blocks_score_as_in_one(seed, n_rows, block):
    X = np.random.default_rng(seed).normal(1.0, 1.0, size=(n_rows, 2))
    whole = two_trees().score(X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trees, "_BLOCK_VALUES", 2 * block)
        parts = two_trees().score(X)
    np.testing.assert_array_equal(parts, whole)


def test_blocks_are_handed_over_in_order_with_the_rows_they_belong_to(monkeypatch):
    monkeypatch.setattr(trees, "_BLOCK_VALUES", 100_000)
    tree, X = grown(DecisionTreeClassifier, 5, n_rows=400)
    forest = flatten_trees([nodes_of(tree)] * 1_000, 3)
    expected = flat(tree).score(X)

    def check_values(values, rows):
        np.testing.assert_array_equal(values, np.tile(expected[rows], (1_000, 1)))
        return X[rows, 0]

    blocks = list(forest.map_blocks(X, check_values))
    assert len(blocks) > 1
    np.testing.assert_array_equal(np.concatenate(blocks), X[:, 0])


@given(threshold=st.floats(-1e30, 1e30))
@examples(200)
def test_thresholds_between_float32_numbers_keep_rows_on_their_side(threshold):
    tree = TreeNodes(
        left=np.array([1, -1, -1]),
        right=np.array([2, -1, -1]),
        feature=np.array([0, -2, -2]),
        threshold=np.array([threshold, -2.0, -2.0]),
        value=np.array([0.5, 0.0, 1.0]),
    )
    forest = flatten_trees([tree], 1)
    nearest = np.float32(threshold)
    below, above = (np.nextafter(nearest, np.float32(to)) for to in (-INF, INF))
    rows = np.array([below, nearest, above], dtype=np.float32)[:, None]
    expected = rows[:, 0].astype(np.float64) > threshold
    np.testing.assert_array_equal(forest.score(rows), expected)


@pytest.mark.parametrize("shape", [(4, 1), (4, 3), (2,)])
def test_rows_of_another_width_are_refused(shape):
    with pytest.raises(InputError, match="expected rows of 2 features; got an array"):
        two_trees().score(np.zeros(shape))


HIGHEST = np.iinfo(np.intp).max
CHILDREN = "children must lie behind their one parent"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed("left", 0, 8), CHILDREN),
        (changed("left", 0, 0) | changed("threshold", 0, INF), CHILDREN),
        ({"left": two_trees().left.astype(np.uint32)}, "must be integers"),
        ({"roots": np.array([0, 5], dtype=np.uint8)}, "must be integers"),
        ({"feature": np.zeros(8)}, "must be integers"),
        ({"value": np.zeros(8, dtype=np.float32)}, "values float64"),
        ({"threshold": two_trees().threshold.astype(float)}, "must be float32"),
        (changed("left", 5, 7), CHILDREN),
        (changed("left", 0, HIGHEST), CHILDREN),
        (changed("left", 0, -1), CHILDREN),
        (changed("left", 1, 5), CHILDREN),
        (changed("left", 1, 4), CHILDREN),
        (changed("left", 1, 0), CHILDREN),
        (changed("left", 5, 5), CHILDREN),
        (changed("left", 4, 1), CHILDREN),
        (changed("left", 1, 2), CHILDREN),
        (changed("left", 0, 3), CHILDREN),
        (changed("threshold", 2, 0.5), CHILDREN),
        (changed("threshold", 0, np.nan), "thresholds or leaf values are not numbers"),
        (changed("value", 3, np.nan), "thresholds or leaf values are not numbers"),
        (changed("value", 3, INF), "thresholds or leaf values are not numbers"),
        (changed("feature", 0, 2), "features must be 0 to 1"),
        (changed("feature", 0, -1), "features must be 0 to 1"),
        (changed("roots", 0, 1), "roots must rise from 0"),
        (changed("roots", 1, 0), "roots must rise from 0"),
        (changed("roots", 1, -5), "roots must rise from 0"),
        (changed("roots", 1, 8), "roots must rise from 0"),
        ({"roots": np.array([0, 5, 5])}, "roots must rise from 0"),
        ({"roots": np.array([], dtype=np.intp)}, "roots must rise from 0"),
        (changed("roots", 1, 4), CHILDREN),
        ({"value": np.zeros(7)}, "node arrays must have the same length"),
        ({"feature": np.zeros(9, dtype=np.intp)}, "must have the same length"),
        ({"threshold": np.full((8, 1), INF, np.float32)}, "must have the same length"),
        ({"left": np.arange(7)}, "must have the same length"),
    ],
)
def test_arrays_that_are_no_trees_are_refused(change, message):
    with pytest.raises(InputError, match=message):
        two_trees(**change)


@given(left=st.tuples(*(st.integers(i - 1, i + 3) for i in range(5))).map(np.array))
@examples(300)
def test_trees_are_accepted_exactly_where_every_node_has_one_parent_before_it(left):
    threshold = np.where(left == np.arange(5), np.float32(INF), np.float32(0))
    zeros = np.zeros(5, dtype=np.intp)
    try:
        FlatForest(1, zeros[:1], zeros, threshold, left, np.ones(5))
        accepted = True
    except InputError:
        accepted = False
    parents = [(child, node) for node in range(5) if (child := left[node]) != node]
    claimed = [child + side for child, _ in parents for side in (0, 1)]
    behind = all(node < child and child + 1 < 5 for child, node in parents)
    assert accepted == (behind and sorted(claimed) == [1, 2, 3, 4])
