"""Boosted symmetric trees against naive ones, and what they can learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit

from spadework.predictor import boosting
from spadework.predictor.boosting import (
    DEPTH,
    MAX_BINS,
    N_TREES,
    PENALTY,
    _borders_and_bins,
    _find_borders,
    _gains,
    _grow,
    _pack,
    _sum_by_bin,
    boost,
)

seeds = st.integers(0, 2**32 - 1)


class Even(np.random.Generator):
    """A generator that draws columns, but gives all rows the same weight."""

    def exponential(self, scale=1.0, size=None):
        return np.full(size, scale)


def even(seed=0):
    return Even(np.random.PCG64(seed))


def draw(seed, n_rows=60, n_columns=3, n_values=7):
    """Rows of few values, soft targets and weights, and derivatives of a loss."""
    rng = np.random.default_rng(seed)
    X = rng.integers(n_values, size=(n_rows, n_columns)).astype(np.float32)
    targets, weights = rng.random((2, n_rows))
    return X, targets, weights, rng.normal(size=n_rows), rng.random(n_rows)


def naive_gain(leaves, slopes, bends):
    """How far Newton's step in each leaf lowers the loss, doubled."""
    own = [leaves == leaf for leaf in np.unique(leaves)]
    return sum(slopes[each].sum() ** 2 / (bends[each].sum() + PENALTY) for each in own)


# Borders


@given(st.integers(1, 200), st.integers(1, 60), seeds)
def test_a_border_lies_between_neighbouring_values(n_rows, n_values, seed):
    rng = np.random.default_rng(seed)
    values = np.sort(rng.choice(rng.normal(size=n_values), n_rows).astype(np.float32))
    distinct, borders = np.unique(values), _find_borders(values, MAX_BINS)
    assert (np.diff(borders) > 0).all()
    above = np.searchsorted(distinct, borders)
    np.testing.assert_allclose(borders, (distinct[above - 1] + distinct[above]) / 2)
    if len(distinct) <= MAX_BINS:
        assert len(borders) == len(distinct) - 1
    else:
        assert 1 <= len(borders) < MAX_BINS


def test_many_values_are_split_into_groups_of_one_size():
    values = np.sort(np.random.default_rng(0).normal(size=12_800)).astype(np.float32)
    sizes = np.bincount(np.searchsorted(_find_borders(values, MAX_BINS), values))
    assert len(sizes) == MAX_BINS
    assert np.abs(sizes - 100).max() <= 1


def test_a_value_that_most_rows_share_is_told_from_those_around_it():
    rare = np.arange(40)
    for values in (np.append(rare, np.full(9_960, 50)), np.append(np.zeros(9_960), rare)):
        assert len(_find_borders(values.astype(np.float32), MAX_BINS)) >= 1


@pytest.mark.parametrize("value", [1, 1 + 2**-23, -1, 0, 1e-45, 3e38])
def test_neighbouring_numbers_are_told_apart(value):
    low = np.float32(value)
    pair = np.array([[low], [np.nextafter(low, np.float32(np.inf))]])
    asked = _borders_and_bins(pair, even())
    assert (pair > asked.borders[0, 0]).ravel().tolist() == [False, True]
    assert asked.bins.tolist() == [[0, 1]]


def test_the_largest_numbers_make_finite_borders():
    largest = np.finfo(np.float32).max
    assert _find_borders(np.array([-largest, largest]), MAX_BINS).tolist() == [0]


def test_bins_count_the_borders_that_a_row_lies_above():
    X = draw(0)[0]
    X[:3] = np.nan
    X[:, 1] = 5
    asked = _borders_and_bins(X, even())
    assert asked.columns.tolist() == [0, 2]
    for column, borders, bins in zip(*asked, strict=True):
        assert bins.tolist() == [(value > borders).sum() for value in X[:, column]]


# Questions


@given(st.integers(1, 6), seeds)
def test_every_question_is_the_best_of_all_borders(depth, seed):
    X, _, _, slopes, bends = draw(seed)
    asked = _borders_and_bins(X, even())
    tree = _grow(asked, slopes, bends, depth, even(seed))
    leaves = np.zeros(len(X), dtype=np.intp)
    for column, border in zip(tree.columns, tree.borders, strict=True):
        gains = {
            (other, place): naive_gain(2 * leaves + (bins > place), slopes, bends)
            for other, bins in enumerate(asked.bins)
            for place in range(bins.max())
        }
        assert gains[column, border] == pytest.approx(max(gains.values()), rel=1e-5)
        leaves = 2 * leaves + (asked.bins[column] > border)
    np.testing.assert_array_equal(tree.leaves, leaves)


@given(seeds)
def test_gains_are_those_of_a_naive_sum_over_leaves(seed):
    rng = np.random.default_rng(seed)
    bins = rng.integers(5, size=(3, 40)).astype(np.uint16)
    leaves = rng.integers(4, size=40).astype(np.uint16)
    slopes, bends = rng.normal(size=40), rng.random(40)
    packed = _pack(slopes, bends)
    sums = _sum_by_bin(bins, np.arange(3), leaves, packed.values, (4, MAX_BINS))
    found = _gains(sums, packed.penalty)[:, :4]
    naive = [
        [naive_gain(2 * leaves + (row > border), slopes, bends) for border in range(4)]
        for row in bins
    ]
    np.testing.assert_allclose(found / found.max(), naive / np.max(naive), rtol=1e-4)


def test_questions_that_split_alike_are_level():
    rng = np.random.default_rng(0)
    bins = rng.integers(MAX_BINS, size=(1, 500)).astype(np.uint16)
    alike = np.concatenate([bins, MAX_BINS - 1 - bins, bins])
    leaves = rng.integers(8, size=500).astype(np.uint16)
    packed = _pack(rng.normal(size=500), rng.random(500))
    sums = _sum_by_bin(alike, np.arange(3), leaves, packed.values, (8, MAX_BINS))
    one, turned, same = _gains(sums, packed.penalty)[:, :-1]
    np.testing.assert_array_equal(one, turned[::-1])
    np.testing.assert_array_equal(one, same)


@given(seeds)
def test_the_order_of_rows_does_not_change_a_question(seed):
    X, _, _, slopes, bends = draw(seed)
    order = np.random.default_rng(seed).permutation(len(X))
    asked = _borders_and_bins(X, even())
    other = asked._replace(bins=asked.bins[:, order])
    tree = _grow(asked, slopes, bends, 4, even(seed))
    same = _grow(other, slopes[order], bends[order], 4, even(seed))
    np.testing.assert_array_equal(same.columns, tree.columns)
    np.testing.assert_array_equal(same.borders, tree.borders)
    np.testing.assert_array_equal(same.leaves, tree.leaves[order])


@pytest.mark.parametrize(
    ("n_columns", "n_tried"), [(1, 1), (3, 3), (9, 9), (16, 12), (100, 30)]
)
def test_three_roots_of_many_columns_are_tried(n_columns, n_tried, monkeypatch):
    X, targets, weights, *_ = draw(0, n_columns=n_columns)
    tried = []
    monkeypatch.setattr(
        boosting,
        "_sum_by_bin",
        lambda bins, some, *rest: (
            tried.append(set(some)) or _sum_by_bin(bins, some, *rest)
        ),
    )
    boost(X, targets, weights, np.random.default_rng(0), n_trees=2, depth=3)
    assert [len(each) for each in tried] == [n_tried] * 6


# Trees


@given(seeds)
def test_leaf_values_are_a_part_of_newtons_steps(seed):
    X, targets, weights, *_ = draw(seed)
    trees = boost(X, targets, weights, even(seed), n_trees=2, depth=3, rate=0.5)
    chances = np.full(len(X), np.average(targets, weights=weights))
    assert trees.intercept == pytest.approx(logit(chances[0]))
    scores = np.full(len(X), trees.intercept)
    for leaves, values in zip(trees.leaves(X), trees.values, strict=True):
        for leaf, value in enumerate(values):
            own = leaves == leaf
            slope = (weights * (targets - chances))[own].sum()
            bend = (weights * chances * (1 - chances))[own].sum()
            assert value == pytest.approx(0.5 * slope / (bend + PENALTY), abs=1e-12)
        scores += values[leaves]
        chances = expit(scores)


@given(seeds)
def test_a_soft_target_is_learnt_as_hard_ones_in_that_proportion(seed):
    X, targets, weights, *_ = draw(seed)
    soft = boost(X, targets, weights, even(), n_trees=5)
    hard = np.repeat([1.0, 0.0], len(X))
    parts = np.concatenate([weights * targets, weights * (1 - targets)])
    halves = boost(np.tile(X, (2, 1)), hard, parts, even(), n_trees=5)
    np.testing.assert_allclose(halves.score(X), soft.score(X), atol=1e-9)


@given(seeds)
def test_a_row_of_weight_two_counts_as_two_rows(seed):
    X, targets, *_ = draw(seed)
    weights = np.random.default_rng(seed).integers(1, 4, size=len(X))
    heavy = boost(X, targets, weights.astype(float), even(), n_trees=5)
    often = X.repeat(weights, axis=0), targets.repeat(weights)
    many = boost(*often, np.ones(weights.sum()), even(), n_trees=5)
    np.testing.assert_allclose(many.score(X), heavy.score(X), atol=1e-9)


def test_rows_of_no_weight_teach_nothing():
    X, targets, weights, *_ = draw(0)
    weights[40:] = 0
    lied = np.where(weights > 0, targets, 1 - targets)
    one, two = (
        boost(X, each, weights, np.random.default_rng(0), n_trees=10).score(X)
        for each in (targets, lied)
    )
    np.testing.assert_array_equal(one, two)


def test_a_scale_that_keeps_the_order_of_values_keeps_the_scores():
    X, targets, weights, *_ = draw(0, n_values=500)
    other = np.column_stack([X[:, 0] ** 2, 3 * X[:, 1] - 7, np.exp(X[:, 2] / 50)])
    one, two = (
        boost(each, targets, weights, np.random.default_rng(0), n_trees=10).score(each)
        for each in (X, other.astype(np.float32))
    )
    np.testing.assert_array_equal(one, two)


def test_the_seed_repeats_trees_and_another_makes_others():
    X, targets, weights, *_ = draw(0)
    one, two, other = (
        boost(X, targets, weights, np.random.default_rng(seed)) for seed in (3, 3, 4)
    )
    assert one.columns.shape == (N_TREES, DEPTH)
    for name in ("columns", "borders", "values"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert (one.score(X) != other.score(X)).any()


def test_columns_of_one_value_are_never_asked_about():
    X, targets, weights, *_ = draw(0, n_columns=5)
    X[:, [0, 3]] = 2
    trees = boost(X, targets, weights, np.random.default_rng(0), n_trees=20)
    assert set(trees.columns.ravel()) == {1, 2, 4}


def test_rows_that_are_all_the_same_score_the_mean_target():
    X = np.ones((4, 2), dtype=np.float32)
    targets, weights = np.array([1, 0, 0.5, 1]), np.array([1, 1, 2, 0])
    trees = boost(X, targets, weights, np.random.default_rng(0))
    np.testing.assert_array_equal(trees.score(X), np.zeros(4))
    trees = boost(X, targets, np.array([3.0, 1, 0, 0]), np.random.default_rng(0))
    np.testing.assert_allclose(trees.score(X + 1), logit(0.75))


@pytest.mark.parametrize("target", [0.0, 1.0])
def test_one_target_alone_is_learnt_as_nearly_certain(target):
    X = draw(0)[0]
    trees = boost(X, np.full(60, target), np.ones(60), np.random.default_rng(0))
    np.testing.assert_allclose(expit(trees.score(X)), target, atol=2e-6)
    assert np.isfinite(trees.borders).all()  # even though no question pays


def test_where_no_row_has_weight_nothing_is_learnt():
    X, targets, *_ = draw(0)
    trees = boost(X, targets, np.zeros(60), np.random.default_rng(0), n_trees=3)
    np.testing.assert_array_equal(trees.score(X), np.zeros(60))


# What is learnt


def test_boosted_trees_learn_what_no_single_column_tells():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4)).astype(np.float32)
    truth = (X[:, 0] > 0) != (X[:, 1] > 0)
    trees = boost(X[:300], truth[:300].astype(float), np.ones(300), rng)
    assert ((trees.score(X[300:]) > 0) == truth[300:]).mean() > 0.9


def test_chances_are_learnt_from_soft_targets():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000, 3)).astype(np.float32)
    chances = expit(2 * X[:, 0] + X[:, 1])
    trees = boost(X[:800], chances[:800], np.ones(800), rng)
    assert np.abs(expit(trees.score(X[800:])) - chances[800:]).mean() < 0.05


def test_borders_of_very_many_rows_are_those_of_some():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(21_000, 2)).astype(np.float32)
    asked = _borders_and_bins(X, rng)
    assert asked.bins.shape == (2, 21_000)
    assert np.abs(np.bincount(asked.bins[0]) / 21_000 - 1 / MAX_BINS).max() < 0.003
