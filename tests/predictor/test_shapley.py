"""Shapley values by tables against those of all coalitions, and the rules they keep."""

from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spadework.errors import InputError
from spadework.predictor.shapley import ShapleyTables
from spadework.predictor.trees import SymmetricTrees

seeds = st.integers(0, 2**32 - 1)


def draw(seed, n_trees=3, depth=4, n_features=6, n_owners=4):
    """Trees, background rows, owners of which each has a feature, and rows."""
    rng = np.random.default_rng(seed)
    trees = SymmetricTrees(
        n_features,
        rng.integers(n_features, size=(n_trees, depth)),
        rng.normal(size=(n_trees, depth)).astype(np.float32),
        rng.normal(size=(n_trees, 2**depth)),
        rng.normal(),
    )
    background, X = rng.normal(size=(2, 7, n_features)).astype(np.float32)
    owners = rng.permutation(np.arange(n_features) % n_owners)
    return trees, background, owners, X


def mean_score(trees, background, taken, X):
    """Mean score of the background where it takes some features of each row."""
    mixed = np.where(taken, X[:, None], background)
    return trees.score(mixed.reshape(-1, X.shape[1])).reshape(len(X), -1).mean(axis=1)


def naive_shares(trees, background, owners, X):
    """Shapley's formula, coalition by coalition, (n_rows, n_owners)."""
    n_owners = owners.max() + 1
    shares = np.zeros((len(X), n_owners))
    for owner in range(n_owners):
        others = [each for each in range(n_owners) if each != owner]
        for size in range(n_owners):
            for taken in combinations(others, size):
                less, more = (
                    mean_score(trees, background, np.isin(owners, each), X)
                    for each in (taken, (*taken, owner))
                )
                shares[:, owner] += (more - less) / (n_owners * comb(n_owners - 1, size))
    return shares


@given(st.integers(0, 3), st.integers(1, 5), st.integers(1, 5), seeds)
def test_shares_are_those_of_all_coalitions(n_trees, depth, n_owners, seed):
    *model, X = draw(seed, n_trees, depth, n_owners=n_owners)
    shares = ShapleyTables.of(*model).shares(X)
    np.testing.assert_allclose(shares, naive_shares(*model, X), rtol=0, atol=1e-10)


@given(st.integers(1, 8), seeds)
def test_shares_add_up_to_the_score_less_the_mean_score_of_the_background(depth, seed):
    *model, X = draw(seed, 10, depth)
    tables = ShapleyTables.of(*model)
    assert tables.baseline == pytest.approx(model[0].score(model[1]).mean(), abs=1e-10)
    sums = tables.shares(X).sum(axis=1)
    np.testing.assert_allclose(sums, model[0].score(X) - tables.baseline, atol=1e-9)


@given(seeds)
def test_a_column_that_no_tree_asks_about_has_no_share(seed):
    trees, background, _, X = draw(seed, n_features=30)
    shares = ShapleyTables.of(trees, background, np.arange(30)).shares(X)
    assert (shares[:, np.setdiff1d(np.arange(30), trees.columns)] == 0).all()


@given(seeds)
def test_other_places_of_owners_give_their_shares_other_places(seed):
    trees, background, owners, X = draw(seed)
    places = np.random.default_rng(seed).permutation(owners.max() + 1)
    shares = ShapleyTables.of(trees, background, owners).shares(X)
    moved = ShapleyTables.of(trees, background, places[owners]).shares(X)
    np.testing.assert_allclose(moved[:, places], shares, atol=1e-12)


def test_columns_that_say_the_same_share_alike():
    values = np.array([[0.0, 1.0, 1.0, 5.0]])  # of no, of either one and of both
    borders = np.zeros((1, 2), dtype=np.float32)
    trees = SymmetricTrees(2, np.array([[0, 1]]), borders, values, 0.0)
    background = np.array([[-1, -1]], dtype=np.float32)
    tables = ShapleyTables.of(trees, background, np.arange(2))
    np.testing.assert_allclose(tables.shares(-background), [[2.5, 2.5]])


def test_shares_do_not_depend_on_company():
    *model, X = draw(0)
    tables = ShapleyTables.of(*model)
    many = np.random.default_rng(0).normal(size=(5_000, 6)).astype(np.float32)
    many[-7:] = X
    np.testing.assert_array_equal(tables.shares(many)[-7:], tables.shares(X))
    assert tables.shares(X[:0]).shape == (0, 4)


def test_no_background_and_owners_of_other_features_are_refused():
    trees, background, owners, _ = draw(0)
    with pytest.raises(InputError, match="got 0 rows and 6 owners"):
        ShapleyTables.of(trees, background[:0], owners)
    with pytest.raises(InputError, match="got 7 rows and 5 owners"):
        ShapleyTables.of(trees, background, owners[:5])
