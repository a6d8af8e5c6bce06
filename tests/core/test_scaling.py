"""Scaled columns are of order one, whatever the columns were."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from spadework.core import scaling
from spadework.core.scaling import (
    NORMAL_LIMIT,
    MinMaxScaler,
    QuantileScaler,
    column_spread,
    fit_principal_scaler,
    fit_scaler,
    same_scaling,
)
from spadework.errors import InputError

SCALINGS = ["minmax", "quantile"]

tables = hnp.arrays(
    st.sampled_from([np.float32, np.float64]),
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=20),
    elements=st.one_of(
        st.integers(-2, 2).map(float), st.floats(-(2.0**60), 2.0**60, width=32)
    ),
)


def fitted(X, name, seed=0):
    """Scaler of the rows of X."""
    return fit_scaler(X, name, np.random.default_rng(seed))


def column(values):
    """One column as a table."""
    return np.asarray(values, dtype=np.float64)[:, None]


@given(X=tables)
@settings(max_examples=100, deadline=None)
def test_minmax_maps_each_training_column_onto_zero_to_one_or_to_zero(X):
    scaled = fitted(X, "minmax").transform(X)
    assert scaled.dtype == np.float32
    constant = X.min(axis=0) == X.max(axis=0)
    np.testing.assert_array_equal(scaled.min(axis=0), 0.0)
    np.testing.assert_array_equal(scaled.max(axis=0), np.where(constant, 0.0, 1.0))


def test_minmax_takes_unseen_values_beyond_zero_to_one():
    scaler = fitted(column([10.0, 20.0]), "minmax")
    assert scaler.transform(column([0.0, 15.0, 40.0])).ravel().tolist() == [-1, 0.5, 3]


def test_minmax_moves_unseen_values_of_a_constant_column_by_their_difference():
    scaler = fitted(column([7.0, 7.0]), "minmax")
    assert scaler.transform(column([7.0, 9.0])).ravel().tolist() == [0.0, 2.0]


@given(X=tables)
@settings(max_examples=100, deadline=None)
def test_quantile_scores_rise_with_each_column_and_are_bounded(X):
    scaled = fitted(X, "quantile").transform(X)
    assert scaled.dtype == np.float32
    assert np.abs(scaled).max() <= NORMAL_LIMIT
    for values, scores in zip(X.T, scaled.T, strict=True):
        order = np.argsort(values, kind="stable")
        assert (np.diff(scores[order]) >= 0).all()


@given(seed=st.integers(0, 2**32 - 1), n_rows=st.integers(50, 400))
@settings(max_examples=30, deadline=None)
def test_quantile_scores_of_a_heavy_tailed_column_are_about_standard_normal(seed, n_rows):
    X = np.random.default_rng(seed).standard_cauchy(size=(n_rows, 1))
    scores = fitted(X, "quantile").transform(X)
    assert np.median(scores) == pytest.approx(0.0, abs=0.1)
    assert scores.mean() == pytest.approx(0.0, abs=0.1)
    assert scores.std() == pytest.approx(1.0, abs=0.25)


@given(seed=st.integers(0, 2**32 - 1), outlier=st.floats(1e3, 1e30))
@settings(max_examples=30, deadline=None)
def test_one_outlier_hardly_moves_the_quantile_scores_of_other_rows(seed, outlier):
    X = np.random.default_rng(seed).normal(size=(500, 1))
    with_outlier = np.append(X, [[outlier]], axis=0)
    inner = np.abs(X[:, 0]) < 1.5
    expected = fitted(X, "quantile").transform(X[inner])
    scores = fitted(with_outlier, "quantile").transform(X[inner])
    np.testing.assert_allclose(scores, expected, atol=0.1)


@given(share=st.floats(0.0, 1.0))
@example(share=0.0)
@example(share=0.001)
@example(share=0.5)
@settings(max_examples=30, deadline=None)
def test_binary_columns_keep_two_values_around_a_centre_near_zero(share):
    n_ones = round(share * 1_000)
    X = column(np.arange(1_000) < n_ones)
    scores = fitted(X, "quantile").transform(X)[:, 0]
    if n_ones in (0, 1_000):
        np.testing.assert_array_equal(scores, 0.0)
    else:
        assert scores[0] > 0 > scores[-1]
        assert len(np.unique(scores)) == 2
        assert abs(scores.mean()) < 0.2


def test_a_balanced_binary_column_is_centred_at_zero():
    scores = fitted(column([0.0, 1.0] * 50), "quantile").transform(column([0.0, 1.0]))
    assert scores[0] == pytest.approx(-scores[1])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", SCALINGS)
def test_columns_over_the_whole_range_of_float32_can_be_scaled(name, dtype):
    X = column([-3e38, 0.0, 3e38, 3e38]).astype(dtype)
    scaled = fitted(X[[0, 2]], name).transform(X)[:, 0]
    assert np.isfinite(scaled).all()
    assert scaled[0] < scaled[1] < scaled[2] == scaled[3]


@pytest.mark.parametrize("name", SCALINGS)
def test_constant_columns_become_zero(name):
    X = np.full((9, 2), [3.5, -1e20])
    np.testing.assert_array_equal(fitted(X, name).transform(X), 0.0)


def test_unseen_values_beyond_the_range_get_the_quantile_score_of_its_ends():
    X = np.random.default_rng(0).normal(size=(300, 2))
    scaler = fitted(X, "quantile")
    ends = scaler.transform(np.stack([X.min(axis=0), X.max(axis=0)]))
    beyond = scaler.transform(np.array([[-1e9, -1e30], [1e9, 1e30]]))
    np.testing.assert_array_equal(beyond, ends)
    np.testing.assert_array_equal(ends, [[-NORMAL_LIMIT] * 2, [NORMAL_LIMIT] * 2])


@given(X=tables)
@settings(max_examples=30, deadline=None)
@pytest.mark.parametrize("name", SCALINGS)
def test_scaling_leaves_the_rows_as_they_were(name, X):
    before = X.copy()
    fitted(X, name).transform(X)
    np.testing.assert_array_equal(X, before)


@given(X=tables, data=st.data())
@settings(max_examples=30, deadline=None)
@pytest.mark.parametrize("name", SCALINGS)
def test_a_row_is_scaled_the_same_alone_as_among_others(name, X, data):
    row = data.draw(st.integers(0, len(X) - 1))
    scaler = fitted(X, name)
    alone = scaler.transform(X[row : row + 1])
    np.testing.assert_array_equal(alone[0], scaler.transform(X)[row])


def test_rows_in_several_chunks_are_scaled_as_in_one():
    X = np.random.default_rng(0).normal(size=(2 * scaling._CHUNK_ROWS + 5, 1))
    scaled = fitted(X, "minmax").transform(X)
    expected = (X - X.min()) / (X.max() - X.min())
    np.testing.assert_allclose(scaled, expected, rtol=1e-6)


def test_quantiles_of_more_rows_than_are_sampled_depend_on_the_seed_alone():
    X = np.random.default_rng(0).normal(size=(100_500, 1)).astype(np.float32)
    knots = [fitted(X, "quantile", seed).knots for seed in (4, 4, 5)]
    np.testing.assert_array_equal(knots[0], knots[1])
    assert (knots[0] != knots[2]).any()


def test_quantiles_of_fewer_rows_do_not_depend_on_the_seed():
    X = np.random.default_rng(0).normal(size=(1_000, 2))
    first, second = (fitted(X, "quantile", seed).knots for seed in (4, 5))
    np.testing.assert_array_equal(first, second)


def test_an_unknown_scaling_is_refused():
    with pytest.raises(InputError, match="'minmax' or 'quantile'; got 'standard'"):
        fitted(np.ones((2, 2)), "standard")


@pytest.mark.parametrize("span", [[1.0, 0.0], [1.0, -1.0], [1.0, np.nan], [1.0]])
def test_a_minmax_scaler_without_positive_spans_is_refused(span):
    with pytest.raises(InputError, match="one positive span per column"):
        MinMaxScaler(np.zeros(2), np.array(span))


@pytest.mark.parametrize(
    "knots", [[[0.0], [2.0], [1.0]], [[0.0], [np.nan], [1.0]], [0.0, 1.0]]
)
def test_quantile_knots_that_do_not_rise_are_refused(knots):
    with pytest.raises(InputError, match="knots must rise along each column"):
        QuantileScaler(np.array(knots))


def test_principal_axes_are_uncorrelated_and_of_variance_one():
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(80, 3)) @ rng.normal(size=(3, 200))).astype(np.float32)
    scaler = fit_principal_scaler(X, 3)
    codes = scaler.transform(X)
    assert np.allclose(np.cov(codes.T, ddof=0), np.eye(3), atol=0.01)
    assert scaler.n_features == 200


def test_there_are_no_more_principal_axes_than_rows_differ_in():
    X = np.random.default_rng(0).normal(size=(4, 50)).astype(np.float32)
    assert fit_principal_scaler(X, 16).transform(X).shape == (4, 3)
    flat = np.outer(np.arange(10.0), np.ones(5)).astype(np.float32)
    assert fit_principal_scaler(flat, 4).transform(flat).shape == (10, 1)


def test_a_column_that_hardly_moves_in_training_cannot_outweigh_all_others():
    X = np.random.default_rng(0).normal(size=(50, 20)).astype(np.float32)
    X[:, 3] = 1e-5 * X[:, 3]
    new = X[:1].copy()
    new[0, 3] = 5.0
    scaler = fit_principal_scaler(X, 8)
    assert np.abs(scaler.transform(new) - scaler.transform(X[:1])).max() < 3
    assert column_spread(X)[3] == pytest.approx(0.1 * np.median(X.std(axis=0)), rel=0.01)
    assert column_spread(X)[4] == pytest.approx(X[:, 4].std(), rel=1e-4)


@given(n_views=st.integers(1, 3), n_rows=st.integers(1, 9))
def test_spread_is_taken_over_all_axes_but_the_last(n_views, n_rows):
    X = np.random.default_rng(n_rows).normal(size=(n_views, n_rows, 4))
    flat = X.reshape(-1, 4)
    assert column_spread(X) == pytest.approx(column_spread(flat))
    assert (column_spread(X) > 0).all()


@pytest.mark.parametrize("name", SCALINGS)
def test_scalers_are_the_same_if_their_arrays_are(name):
    X = np.random.default_rng(0).normal(size=(50, 3))
    assert same_scaling(fitted(X, name), fitted(X.copy(), name))
    assert not same_scaling(fitted(X, name), fitted(2 * X, name))
    assert not same_scaling(fitted(X, "minmax"), fitted(X, "quantile"))
