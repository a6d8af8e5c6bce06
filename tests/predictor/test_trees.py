"""Symmetric trees against a walk row by row, and what a forged file could hold."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spadework.errors import InputError
from spadework.predictor.trees import SymmetricTrees

seeds = st.integers(0, 2**32 - 1)


def draw(seed, n_trees=3, depth=4):
    """Trees on three columns that ask about small whole numbers."""
    rng = np.random.default_rng(seed)
    return SymmetricTrees(
        3,
        rng.integers(3, size=(n_trees, depth)),
        rng.integers(-2, 3, size=(n_trees, depth)).astype(np.float32),
        rng.normal(size=(n_trees, 2**depth)),
        rng.normal(),
    )


def rows(seed, n_rows=20):
    """Rows that often lie on a border."""
    rng = np.random.default_rng(seed)
    return rng.integers(-3, 4, size=(n_rows, 3)).astype(np.float32)


def walk(trees, row):
    """Leaf of one row in every tree, question by question."""
    answers = [
        "".join("1" if row[c] > b else "0" for c, b in zip(*tree, strict=True))
        for tree in zip(trees.columns, trees.borders, strict=True)
    ]
    return [int(each, base=2) for each in answers]


@given(st.integers(0, 4), st.integers(1, 8), seeds)
def test_a_row_scores_the_intercept_and_its_leaves_as_a_walk_finds_them(
    n_trees, depth, seed
):
    trees, X = draw(seed, n_trees, depth), rows(seed)
    leaves = np.array([walk(trees, row) for row in X], dtype=np.intp)
    np.testing.assert_array_equal(trees.leaves(X), leaves.T)
    sums = [trees.values[np.arange(n_trees), each].sum() for each in leaves]
    np.testing.assert_allclose(trees.score(X), trees.intercept + np.array(sums))


@given(seeds)
def test_a_missing_value_answers_no(seed):
    trees, X = draw(seed), rows(seed)
    missing = np.random.default_rng(seed).random(X.shape) < 0.3
    low, unknown = (np.where(missing, each, X) for each in (-np.inf, np.nan))
    np.testing.assert_array_equal(trees.score(unknown), trees.score(low))


def test_scores_do_not_depend_on_company():
    trees, X = draw(0, n_trees=20), rows(0, 10_000)
    scores = trees.score(X)
    np.testing.assert_array_equal(scores[-7:], trees.score(X[-7:]))
    alone = np.concatenate([trees.score(X[[at]]) for at in range(4_090, 4_110)])
    np.testing.assert_array_equal(scores[4_090:4_110], alone)
    assert trees.score(X[:0]).shape == (0,)


def test_rows_score_by_their_nearest_float32():
    trees = replace(draw(0), borders=np.full((3, 4), 0.1, dtype=np.float32))
    X = np.full((1, 3), 0.1)  # below the float32 next to it
    np.testing.assert_array_equal(trees.score(X), trees.score(X.astype(np.float32)))


def test_rows_of_another_width_are_refused():
    for ask in (draw(0).score, draw(0).leaves):
        with pytest.raises(InputError, match="expected rows of 3 features"):
            ask(np.zeros((2, 4)))


@pytest.mark.parametrize(
    ("forged", "message"),
    [
        ({"columns": np.zeros((3, 4))}, "columns must be integers"),
        ({"columns": np.full((3, 4), 3)}, "columns must be 0 to 2"),
        ({"columns": np.full((3, 4), -1)}, "columns must be 0 to 2"),
        ({"n_features": 0}, "columns must be 0 to -1"),
        ({"columns": np.zeros(12, dtype=np.intp)}, "a column and a border a question"),
        ({"borders": np.zeros((3, 3), np.float32)}, "a column and a border a question"),
        ({"borders": np.zeros((3, 4))}, "borders must be float32"),
        ({"borders": np.full((3, 4), np.nan, np.float32)}, "not numbers"),
        ({"values": np.zeros((3, 16), np.float32)}, "values float64"),
        ({"values": np.zeros((3, 15))}, "16 leaf values a tree"),
        ({"values": np.zeros((2, 16))}, "16 leaf values a tree"),
        ({"values": np.full((3, 16), np.inf)}, "not numbers"),
        ({"intercept": np.nan}, "not numbers"),
    ],
)
def test_what_a_forged_file_could_hold_is_refused(forged, message):
    with pytest.raises(InputError, match=message):
        replace(draw(0), **forged)


@pytest.mark.parametrize("depth", [0, 9])
def test_trees_of_another_depth_are_refused(depth):
    with pytest.raises(InputError, match=f"1 to 8 questions deep; got {depth}"):
        draw(0, depth=depth)
