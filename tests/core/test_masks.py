"""Masks of leaves give the scores of walking the trees, to the last bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grown_forests import grown, rows, walked
from properties import examples
from spadework.core import masks
from spadework.core.masking import mask_leaves
from spadework.errors import InputError

seeds = st.integers(0, 2**31)
INF = np.float32(np.inf)


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


def test_values_at_a_threshold_go_left():
    forest = grown(3, 5)
    inner = forest.left != np.arange(len(forest.left))
    at = forest.threshold[inner]
    X = np.stack([np.nextafter(at, -INF), at, np.nextafter(at, INF)]).reshape(-1, 1)
    X = np.repeat(X, 4, axis=1)
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
