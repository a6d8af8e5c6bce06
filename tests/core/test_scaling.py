"""Scaled columns are of order one, whatever the columns were."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from properties import examples
from spadework.core import scaling
from spadework.core.scaling import (
    LIMIT,
    MOST_ROWS,
    AsinhScaler,
    ClippedScaler,
    MinMaxScaler,
    column_spread,
    fit_principal_scaler,
    fit_scaler,
)
from spadework.errors import InputError

SCALINGS = ["minmax", "clipped", "asinh"]

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
@examples(100)
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
@examples(100)
def test_asinh_rises_with_each_column_is_bounded_and_takes_the_median_to_zero(X):
    scaled = fitted(X, "asinh").transform(X)
    assert scaled.dtype == np.float32
    assert np.abs(scaled).max() <= LIMIT
    for values, each in zip(X.T, scaled.T, strict=True):
        order = np.argsort(values, kind="stable")
        assert (np.diff(each[order]) >= 0).all()
        below, above = np.mean(each < 0), np.mean(each > 0)
        assert max(below, above) <= 0.5


@given(X=tables)
@examples(50)
def test_most_rows_of_a_column_lie_where_a_standard_normal_has_them(X):
    within = np.abs(fitted(X, "asinh").transform(X)) <= 1.645 * (1 + 1e-6)
    assert (within.mean(axis=0) >= MOST_ROWS - 1 / len(X)).all()


def test_a_value_twice_as_far_out_is_less_than_twice_as_far_and_at_last_no_further():
    X = np.random.default_rng(0).normal(size=(500, 1))
    scaler = fitted(X, "asinh")
    far = scaler.centre + scaler.unit * column([0.01, 0.02, 1.0, 2.0, 4.0, 1e30])
    scaled = scaler.transform(far)[:, 0]
    assert scaled[1] == pytest.approx(2 * scaled[0], rel=1e-3)
    assert scaled[2] == pytest.approx(1.645)
    assert scaled[3] < 1.7 * scaled[2]
    assert scaled[4] == scaled[5] == LIMIT


@given(seed=st.integers(0, 2**32 - 1), outlier=st.floats(1e3, 1e30))
@examples(30)
def test_one_outlier_hardly_moves_where_other_rows_are_put(seed, outlier):
    X = np.random.default_rng(seed).normal(size=(5_000, 1))
    with_outlier = np.append(X, [[outlier]], axis=0)
    expected = fitted(X, "asinh").transform(X)
    scaled = fitted(with_outlier, "asinh").transform(X)
    np.testing.assert_allclose(scaled, expected, atol=0.05)


def test_a_column_that_most_rows_agree_in_is_measured_by_its_deviation():
    X = column(np.arange(1_000) < 50)
    scaler = fitted(X, "asinh")
    assert (scaler.centre, scaler.unit) == (0, pytest.approx(X.std()))
    assert np.unique(scaler.transform(X)).tolist() == [0, LIMIT]


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


@given(X=tables)
@examples(30)
@pytest.mark.parametrize("name", SCALINGS)
def test_scaling_leaves_the_rows_as_they_were(name, X):
    before = X.copy()
    fitted(X, name).transform(X)
    np.testing.assert_array_equal(X, before)


@given(X=tables, data=st.data())
@examples(30)
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


def test_medians_of_more_rows_than_are_sampled_depend_on_the_seed_alone():
    X = np.random.default_rng(0).normal(size=(100_500, 1)).astype(np.float32)
    centres = [fitted(X, "asinh", seed).centre for seed in (4, 4, 5)]
    np.testing.assert_array_equal(centres[0], centres[1])
    assert (centres[0] != centres[2]).any()


def test_medians_of_fewer_rows_do_not_depend_on_the_seed():
    X = np.random.default_rng(0).normal(size=(1_000, 2))
    first, second = (fitted(X, "asinh", seed).centre for seed in (4, 5))
    np.testing.assert_array_equal(first, second)


def test_an_unknown_scaling_is_refused():
    with pytest.raises(InputError, match=r"one of \(.*\); got 'standard'"):
        fitted(np.ones((2, 2)), "standard")


@pytest.mark.parametrize("span", [[1.0, 0.0], [1.0, -1.0], [1.0, np.nan], [1.0]])
def test_a_minmax_scaler_without_positive_spans_is_refused(span):
    with pytest.raises(InputError, match="one positive span per column"):
        MinMaxScaler(np.zeros(2), np.array(span))


def test_clipped_columns_are_cut_before_they_are_scaled_by_their_range():
    X = np.random.default_rng(0).normal(size=(500, 3))
    X[0], X[1] = 1e5, -1e5
    first, median, third = np.quantile(X, (0.25, 0.5, 0.75), axis=0)
    cut = np.clip(X, median - 3 * (third - first), median + 3 * (third - first))
    naive = (cut - cut.min(axis=0)) / np.ptp(cut, axis=0)
    scaler = fitted(X, "clipped")
    np.testing.assert_allclose(scaler.transform(X), naive, atol=1e-6)
    np.testing.assert_allclose(scaler.transform(10 * X[:2]), naive[:2], atol=1e-6)


def test_columns_of_mostly_one_value_are_not_cut():
    X = np.where(np.arange(50) < 5, 7.0, 0.0)[:, None]
    assert fitted(X, "clipped").transform(X).ravel().tolist() == [1.0] * 5 + [0.0] * 45


@pytest.mark.parametrize("most", [[1.0, -1.0], [1.0, np.nan], [1.0]])
def test_a_clipped_scaler_without_limits_in_order_is_refused(most):
    with pytest.raises(InputError, match="two limits in order per column"):
        ClippedScaler(np.zeros(2), np.ones(2), np.zeros(2), np.array(most))


@pytest.mark.parametrize("unit", [[1.0, 0.0], [1.0, -1.0], [1.0, np.nan], [1.0]])
def test_an_asinh_scaler_without_positive_units_is_refused(unit):
    with pytest.raises(InputError, match="one positive unit per column"):
        AsinhScaler(np.zeros(2), np.array(unit))


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


def test_min_max_scaling_ends_far_out():
    scaler = MinMaxScaler(np.array([0.0]), np.array([0.05]))
    far = np.array([[-3.4e38], [3.4e38]], dtype=np.float32)
    np.testing.assert_array_equal(scaler.transform(far)[:, 0], [-1e6, 1e6])
