"""K Gaussians fitted at once, against one dense formula for each."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.mixture import GaussianMixture

from properties import examples
from spadework.core import gaussian
from spadework.core.gaussian import (
    LEFT_OUT,
    RIDGE,
    SHARED,
    GaussianEnsemble,
    fit_gaussians,
)
from spadework.errors import InputError

seeds = st.integers(0, 2**32 - 1)


def member_rows(X, groups, member):
    """Rows that one member is fitted on."""
    return X[(groups == member) | (groups == SHARED)].astype(np.float64)


def naive_scores(X, groups, new, ridge=RIDGE):
    """Negative log-likelihoods, one dense Gaussian after the other."""
    columns = []
    for member in range(groups.max() + 1):
        rows = member_rows(X, groups, member)
        centred = rows - rows.mean(axis=0)
        covariance = centred.T @ centred / len(rows) + ridge * np.eye(X.shape[1])
        density = multivariate_normal(rows.mean(axis=0), covariance)
        columns.append(-np.atleast_1d(density.logpdf(new.astype(np.float64))))
    return np.stack(columns, axis=1)


def random_rows(seed, n_rows=60, n_features=4, n_members=3):
    """Correlated rows, all kinds of group codes, and every member with rows."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)) @ rng.normal(size=(n_features, n_features))
    groups = rng.integers(LEFT_OUT, n_members, size=n_rows)
    groups[:n_members] = np.arange(n_members)
    return X, groups


@given(
    seed=seeds,
    n_rows=st.integers(3, 60),
    n_features=st.integers(1, 6),
    n_members=st.integers(1, 3),
)
@examples(100)
def test_scores_are_those_of_the_dense_formula(seed, n_rows, n_features, n_members):
    X, groups = random_rows(seed, n_rows, n_features, n_members)
    before = X.copy(), groups.copy()
    scores = fit_gaussians(X, groups).score(X)
    np.testing.assert_allclose(scores, naive_scores(X, groups, X), rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(groups, before[1])


@given(seed=seeds)
@examples(10)
def test_scores_are_those_of_a_gaussian_mixture_of_one(seed):
    X, groups = random_rows(seed)
    scores = fit_gaussians(X, groups).score(X)
    for member in range(3):
        model = GaussianMixture(1, reg_covar=1e-6).fit(member_rows(X, groups, member))
        expected = -model.score_samples(X)
        np.testing.assert_allclose(scores[:, member], expected, rtol=1e-6, atol=1e-9)


@given(seed=seeds)
@examples(20)
def test_means_are_those_of_own_and_shared_rows(seed):
    X, groups = random_rows(seed)
    expected = [member_rows(X, groups, member).mean(axis=0) for member in range(3)]
    np.testing.assert_allclose(fit_gaussians(X, groups).means, expected, atol=1e-12)


@given(seed=seeds)
@examples(20)
def test_shared_rows_count_as_much_as_rows_repeated_in_every_member(seed):
    X, groups = random_rows(seed)
    shared = X[groups == SHARED]
    own = (groups != SHARED) & (groups != LEFT_OUT)
    repeated = np.vstack([X[own]] + [shared] * 3)
    codes = np.append(groups[own], np.repeat(np.arange(3), len(shared)))
    scores = fit_gaussians(X, groups).score(X)
    expected = fit_gaussians(repeated, codes).score(X)
    np.testing.assert_allclose(scores, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("far", [0.0, 1e3, 1e6, 1e9])
def test_left_out_rows_count_in_no_member_however_far_they_lie(far):
    X, groups = random_rows(7)
    X[groups == LEFT_OUT] = far
    kept = groups != LEFT_OUT
    scores = fit_gaussians(X, groups).score(X[kept])
    expected = fit_gaussians(X[kept], groups[kept]).score(X[kept])
    np.testing.assert_allclose(scores, expected, rtol=1e-6)


@given(seed=seeds)
@examples(10)
def test_rows_in_several_chunks_score_as_in_one(seed):
    X, groups = random_rows(seed)
    expected = fit_gaussians(X, groups).score(X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gaussian, "_CHUNK_ROWS", 7)
        scores = fit_gaussians(X, groups).score(X)
    np.testing.assert_allclose(scores, expected, rtol=1e-6, atol=1e-9)


def degenerate_tables():
    """Tables whose covariances are singular."""
    rng = np.random.default_rng(11)
    X = rng.normal(size=(30, 4))
    constant, doubled = X.copy(), X.copy()
    constant[:, 1] = 5.0
    doubled[:, 2] = doubled[:, 0]
    return {
        "constant column": (constant, np.arange(30) % 3),
        "duplicated column": (doubled, np.arange(30) % 3),
        "fewer rows than columns": (rng.normal(size=(9, 8)), np.arange(9) % 3),
        "one row per member": (rng.normal(size=(3, 4)), np.arange(3)),
        "all rows equal": (np.ones((6, 4)), np.arange(6) % 3),
    }


@pytest.mark.parametrize("name", degenerate_tables())
def test_singular_covariances_still_give_the_ridged_density(name):
    X, groups = degenerate_tables()[name]
    new = np.vstack([X, X + 0.1])
    scores = fit_gaussians(X, groups).score(new)
    assert np.isfinite(scores).all()
    np.testing.assert_allclose(scores, naive_scores(X, groups, new), rtol=1e-6)


def test_float32_rows_far_from_zero_score_as_float64_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(1e4, 1.0, size=(5_000, 5)).astype(np.float32)
    groups = np.arange(len(X)) % 3
    narrow = fit_gaussians(X, groups).score(X)
    wide = fit_gaussians(X.astype(np.float64), groups).score(X.astype(np.float64))
    np.testing.assert_allclose(narrow, wide, rtol=1e-9)
    np.testing.assert_allclose(narrow, naive_scores(X, groups, X), rtol=1e-6)


@given(seed=seeds, exponents=st.lists(st.integers(-6, 9), min_size=2, max_size=6))
@examples(50)
def test_badly_scaled_columns_still_score_finitely(seed, exponents):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, len(exponents))) * 10.0 ** np.array(exponents)
    scores = fit_gaussians(X, np.arange(40) % 2).score(X)
    assert np.isfinite(scores).all()


@given(seed=seeds, exponent=st.integers(0, 9))
@examples(50)
def test_duplicated_columns_of_any_scale_still_score_finitely(seed, exponent):
    X = np.random.default_rng(seed).normal(size=(40, 3)) * 10.0**exponent
    X = X[:, [0, 1, 2, 0, 1, 2]]
    scores = fit_gaussians(X, np.arange(40) % 2).score(X)
    assert np.isfinite(scores).all()


def test_a_row_far_from_a_member_scores_higher_than_its_mean():
    X, groups = random_rows(1)
    ensemble = fit_gaussians(X, groups)
    at_means, far_off = ensemble.score(ensemble.means), ensemble.score(X + 100.0)
    assert (far_off > at_means.diagonal()).all()


def test_no_rows_give_no_scores():
    X, groups = random_rows(1)
    assert fit_gaussians(X, groups).score(X[:0]).shape == (0, 3)


@pytest.mark.parametrize("shape", [(5, 3), (5, 5), (4,)])
def test_rows_of_another_width_are_refused(shape):
    X, groups = random_rows(1, n_features=4)
    with pytest.raises(InputError, match="expected rows of 4 features; got an array"):
        fit_gaussians(X, groups).score(np.zeros(shape))


@pytest.mark.parametrize("groups", [[SHARED] * 4, [LEFT_OUT, SHARED] * 2])
def test_rows_that_belong_to_no_member_are_refused(groups):
    with pytest.raises(InputError, match="no row belongs to a member"):
        fit_gaussians(np.ones((4, 2)), np.array(groups))


def test_a_member_without_rows_is_refused():
    with pytest.raises(InputError, match="member 1 has no rows"):
        fit_gaussians(np.ones((4, 2)), np.array([0, 2, 2, LEFT_OUT]))


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        (np.ones((2, 3, 2)), r"must have shape \(2, 3, 3\); got \(2, 3, 2\)"),
        (np.ones((1, 3, 3)), r"must have shape \(2, 3, 3\); got \(1, 3, 3\)"),
        (np.zeros((2, 3, 3)), "finite with a positive diagonal"),
        (np.stack([np.eye(3), -np.eye(3)]), "finite with a positive diagonal"),
        (np.stack([np.eye(3), np.full((3, 3), np.inf)]), "finite with a positive"),
        (np.full((2, 3, 3), np.nan), "finite with a positive diagonal"),
    ],
)
def test_factors_that_are_no_cholesky_factors_are_refused(factors, message):
    with pytest.raises(InputError, match=message):
        GaussianEnsemble(np.zeros((2, 3)), factors)
