"""Masks are made of the forests they are worth it for, and of leaves of any value."""

import numpy as np
import pytest

from grown_forests import grown, rows, walked
from spadework.core import masking
from spadework.core.masking import choose_masked, mask_leaves
from spadework.core.trees import FlatForest


def single_leaf(value):
    """A tree of one leaf, on two columns."""
    zero = np.zeros(1, dtype=np.intp)
    return FlatForest(
        2, zero, zero, np.array([np.inf], dtype=np.float32), zero, np.array([value])
    )


def test_masks_are_for_many_small_trees_and_not_for_one():
    forest = grown(0, 100, depth=4)
    (chosen,) = choose_masked([forest])
    assert chosen is forest
    assert choose_masked([grown(0, 1)]) == []


def test_masks_beyond_the_memory_for_them_are_not_made(monkeypatch):
    monkeypatch.setattr(masking, "_MAX_BYTES", 1_000)
    assert choose_masked([grown(0, 100, depth=4)]) == []


def test_columns_that_no_tree_tests_are_not_looked_at():
    forest = grown(9, 3, depth=1, n_features=30)
    made = mask_leaves([forest])
    assert len(made.columns) < 4
    X = rows(10, 50, 30)
    expected = forest.score(X)
    X[:, [c for c in range(30) if c not in made.columns]] = np.nan
    np.testing.assert_array_equal(made.score(X)[0], expected)


def test_trees_of_more_leaves_than_a_chunk_holds_are_scored():
    forest = grown(5, 40, depth=None)
    chunks = mask_leaves([forest]).chunks[0]
    assert len(chunks) > 2
    X = rows(6, 300, 4)
    np.testing.assert_array_equal(mask_leaves([forest]).score(X)[0], forest.score(X))


@pytest.mark.parametrize("value", [[0.0], [1.0], [-2.5, 0.0, 1e-9], [0.1, 0.7]])
def test_leaves_may_have_any_value(value):
    forests = [grown(0, 9, value=value), grown(1, 3, value=value)]
    X = rows(2, 200, 4)
    np.testing.assert_array_equal(mask_leaves(forests).score(X), walked(forests, X))


@pytest.mark.parametrize("value", [0.0, 3.0])
def test_a_tree_of_one_leaf_has_its_value_everywhere(value):
    X = rows(0, 7, 2)
    forests = [single_leaf(value), grown(0, 1, n_features=2), single_leaf(1.0)]
    scores = mask_leaves(forests).score(X)
    np.testing.assert_array_equal(scores[[0, 2]], [[value] * 7, [1.0] * 7])
