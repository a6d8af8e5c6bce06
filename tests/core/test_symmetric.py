"""Symmetric trees against naive ones, and against ordinary trees that ask the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesRegressor

from spadework.core.scaling import MinMaxScaler
from spadework.core.symmetric import SymmetricTrees, as_forest, as_symmetric
from spadework.core.trees import TreeNodes, flatten_trees
from spadework.errors import InputError
from spadework.learners.blend import BlendedModel, ReadingModel

seeds = st.integers(0, 2**32 - 1)


def draw(seed, n_trees=3, depth=4):
    """Trees on three columns that ask about small whole numbers."""
    rng = np.random.default_rng(seed)
    return SymmetricTrees(
        3,
        rng.integers(3, size=(n_trees, depth)),
        rng.integers(-2, 3, size=(n_trees, depth)).astype(np.float32),
        rng.normal(size=(n_trees, 2**depth)),
    )


def rows(seed, n_rows=20):
    """Rows that often lie on a border."""
    rng = np.random.default_rng(seed)
    return rng.integers(-3, 4, size=(n_rows, 3)).astype(np.float32)


@given(st.integers(1, 4), st.integers(1, 8), seeds)
def test_the_answers_are_the_place_of_the_leaf(n_trees, depth, seed):
    trees, X = draw(seed, n_trees, depth), rows(seed)
    for row, score in zip(X, trees.score(X), strict=True):
        answers = [
            "".join(str(int(row[c] > b)) for c, b in zip(*tree, strict=True))
            for tree in zip(trees.columns, trees.borders, strict=True)
        ]
        leaves = [int(each, base=2) for each in answers]
        assert score == pytest.approx(trees.values[np.arange(n_trees), leaves].mean())


@given(st.integers(1, 4), st.integers(1, 8), seeds)
def test_questions_score_to_the_last_bit_like_walking(n_trees, depth, seed):
    trees, X = draw(seed, n_trees, depth), rows(seed)
    np.testing.assert_array_equal(trees.score(X), as_forest(trees).score(X))


@given(st.integers(1, 4), st.integers(1, 8), seeds)
def test_trees_written_out_are_read_again(n_trees, depth, seed):
    trees = draw(seed, n_trees, depth)
    read = as_symmetric(as_forest(trees))
    assert read is not None
    for name in ("columns", "borders", "values"):
        np.testing.assert_array_equal(getattr(read, name), getattr(trees, name))


def test_rows_of_several_blocks_score_as_they_do_alone():
    trees, X = draw(0), rows(0, 40_000)
    np.testing.assert_array_equal(trees.score(X)[-7:], trees.score(X[-7:]))
    assert trees.score(X[:0]).shape == (0,)


@pytest.mark.parametrize("changed", ["feature", "threshold"])
def test_one_node_that_asks_something_else_makes_trees_ordinary(changed):
    forest = as_forest(draw(0))
    getattr(forest, changed)[4] += 1 if forest.feature[4] < 2 else -1
    assert as_symmetric(forest) is None


def test_grown_trees_are_ordinary():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    model = ExtraTreesRegressor(4, max_depth=3, random_state=0).fit(X, X[:, 0])
    nodes = [
        TreeNodes(
            tree.children_left,
            tree.children_right,
            tree.feature,
            tree.threshold,
            tree.value[:, 0, 0],
        )
        for tree in (each.tree_ for each in model.estimators_)
    ]
    assert as_symmetric(flatten_trees(nodes, 3)) is None


def test_trees_of_one_leaf_are_ordinary():
    leaf = TreeNodes(*np.array([[-1], [-1], [-2]]), *np.array([[-2.0], [0.5]]))
    assert as_symmetric(flatten_trees([leaf], 3)) is None


def test_rows_of_another_width_are_refused():
    with pytest.raises(InputError, match="expected rows of 3 features"):
        draw(0).score(np.zeros((2, 4)))


def test_a_blend_asks_symmetric_trees_and_scores_the_same(monkeypatch):
    forest, line = as_forest(draw(0)), np.array([-1.0, 1.0])
    reading = ReadingModel(1.0, forest, line, line)
    model = BlendedModel((reading,), MinMaxScaler(np.zeros(3), np.ones(3)))
    X = rows(1)
    expected = reading.rank(forest.score(X))
    asked = []
    ask = SymmetricTrees.score
    monkeypatch.setattr(
        SymmetricTrees, "score", lambda trees, X: asked.append(len(X)) or ask(trees, X)
    )
    np.testing.assert_array_equal(model.score(X), expected)
    assert asked == [len(X)]
