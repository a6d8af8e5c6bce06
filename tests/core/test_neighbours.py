"""Distances to the nearest of a few rows, against one row at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.metrics import roc_auc_score

from properties import examples
from spadework.core import neighbours
from spadework.core.neighbours import (
    N_DRAWS,
    NearestNeighbours,
    distance_axes,
    draw_neighbours,
)
from spadework.errors import InputError

seeds = st.integers(0, 2**32 - 1)


def naive_scores(fitted, X):
    """Average the distance to the nearest row, draw after draw."""
    columns = []
    for member in fitted.points:
        distances = [cdist(X @ fitted.axes, draw).min(axis=1) for draw in member]
        columns.append(np.mean(distances, axis=0))
    return np.stack(columns, axis=1)


def random_parts(seed, n_members=3):
    """The rows of every member, and new rows; many more than a chunk holds."""
    rng = np.random.default_rng(seed)
    parts = [
        rng.normal(size=(rng.integers(1, 90), 4)).astype(np.float32)
        for _ in range(n_members)
    ]
    return rng, parts, rng.normal(size=(50, 4)).astype(np.float32) * 2


@given(seeds, st.integers(1, 3))
@examples(40)
def test_scores_are_mean_distances_to_the_nearest_row_of_every_draw(seed, n_members):
    rng, parts, new = random_parts(seed, n_members)
    fitted = draw_neighbours(parts, rng)
    naive = naive_scores(fitted, new.astype(np.float64))
    np.testing.assert_allclose(fitted.score(new), naive, atol=1e-6)


@given(seeds)
@examples(20)
def test_draws_are_rows_of_their_member_and_hold_none_twice(seed):
    rng, parts, _ = random_parts(seed)
    fitted = draw_neighbours(parts, rng)
    n_members, n_draws, n_points, _ = fitted.points.shape
    assert n_members * n_draws >= N_DRAWS
    assert n_points == min(neighbours.N_POINTS, *map(len, parts))
    for rows, draws in zip(parts, fitted.points, strict=True):
        for draw in draws:
            apart = cdist(draw, rows @ fitted.axes)
            assert apart.min(axis=1).max() < 1e-6
            assert len(set(apart.argmin(axis=1))) == n_points


def test_a_row_is_scored_alone_as_among_others(monkeypatch):
    rng, parts, new = random_parts(0)
    fitted = draw_neighbours(parts, rng)
    together = fitted.score(new)
    alone = np.concatenate([fitted.score(row[None]) for row in new])
    np.testing.assert_array_equal(alone, together)
    monkeypatch.setattr(neighbours, "_CHUNK_ROWS", 7)
    np.testing.assert_allclose(fitted.score(new), together, rtol=1e-12)


def test_a_row_that_every_draw_holds_lies_at_no_distance():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(20, 6)).astype(np.float32) * 3
    fitted = draw_neighbours([rows], rng)
    assert (fitted.score(rows) == 0).all()


def test_rows_between_clusters_score_higher_than_rows_within():
    rng = np.random.default_rng(0)
    centres = np.array([[-3.0, 0.0], [3.0, 0.0], [0.0, 3.0], [0.0, -3.0]])
    clusters = centres[rng.integers(4, size=500)] + rng.normal(size=(500, 2)) * 0.3
    between = rng.normal(size=(50, 2)) * 0.3  # at the mean, which a Gaussian finds normal
    fitted = draw_neighbours([clusters], rng)
    scores = fitted.score(np.concatenate([clusters, between]))[:, 0]
    truth = np.arange(550) >= 500
    assert roc_auc_score(truth, scores) > 0.99


def test_rows_of_another_width_are_refused():
    rng, parts, _ = random_parts(0)
    with pytest.raises(InputError, match="expected rows of 4 features"):
        draw_neighbours(parts, rng).score(np.zeros((3, 5)))


def test_a_member_without_rows_is_refused():
    with pytest.raises(InputError, match="at least one row"):
        draw_neighbours([np.zeros((0, 3))], np.random.default_rng(0))


@pytest.mark.parametrize("points", [np.zeros((2, 3, 4)), np.full((1, 1, 1, 1), np.nan)])
def test_points_that_are_none_are_refused(points):
    with pytest.raises(InputError, match="points must"):
        NearestNeighbours(points, np.eye(points.shape[-1]))


@pytest.mark.parametrize("axes", [np.eye(3), np.zeros(2)])
def test_axes_that_points_do_not_lie_on_are_refused(axes):
    with pytest.raises(InputError, match=r"must have shape \(n_features, 2\)"):
        NearestNeighbours(np.zeros((1, 1, 1, 2)), axes)


@given(seeds)
@examples(20)
def test_distances_are_those_of_a_gaussian_with_some_slack(seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(60, 4)) @ rng.normal(size=(4, 4))
    covariance = np.cov(rows.T, bias=True)
    slack = neighbours.SLACK * np.trace(covariance) / 4
    inverse = np.linalg.inv(covariance + slack * np.eye(4))
    along = rows @ distance_axes(rows)
    naive = cdist(rows, rows, "mahalanobis", VI=inverse)
    np.testing.assert_allclose(cdist(along, along), naive, rtol=1e-6, atol=1e-9)


def test_a_row_that_breaks_a_tie_lies_farther_than_one_that_keeps_it():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(500, 1)) + rng.normal(size=(500, 2)) * 0.1
    keeps, breaks = draw_neighbours([rows], rng).score(np.array([[2.5, 2.5], [1, -1]]))
    assert breaks > keeps


@pytest.mark.parametrize("n_rows", [1, 5])
def test_rows_that_are_all_the_same_have_axes(n_rows):
    assert np.isfinite(distance_axes(np.ones((n_rows, 3)))).all()
