"""Rows are scored along a direction, of columns as they are or as they are scaled."""

import numpy as np
import pytest

from spadework.core.scaling import fit_scaler
from spadework.errors import InputError
from spadework.learners.directions import ColumnScorer, LinearScorer, ScaledScorer

X = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
LINE = LinearScorer(np.array([1.0, -2.0, 0.5]), 0.25)


def scaler_of(rows):
    return fit_scaler(rows, "asinh", np.random.default_rng(0))


def test_a_score_is_a_weighted_sum_of_columns_above_an_intercept():
    expected = [x - 2 * y + 0.5 * z + 0.25 for x, y, z in X.tolist()]
    np.testing.assert_allclose(LINE.score(X), expected)


def test_a_direction_among_scaled_rows_scores_what_the_scaler_makes_of_them():
    scaler = scaler_of(X)
    scaled, found = scaler.transform(X), ScaledScorer(scaler, LINE)
    np.testing.assert_allclose(found.score(X), LINE.score(scaled), rtol=1e-5)
    np.testing.assert_array_equal(found.score(X), found.score_scaled(scaled))


def test_a_score_does_not_depend_on_the_rows_beside_it():
    scorer = ScaledScorer(scaler_of(X), LINE)
    alone = [scorer.score(row[None])[0] for row in X]
    np.testing.assert_array_equal(scorer.score(X), alone)


def test_a_column_can_be_a_score():
    scores = ColumnScorer(2).score(X)
    assert scores.dtype == np.float64
    np.testing.assert_array_equal(scores, X[:, 2])


@pytest.mark.parametrize("weights", [[1.0, np.nan], [1.0, np.inf], [[1.0, 2.0]]])
def test_a_linear_scorer_needs_one_finite_weight_a_column(weights):
    with pytest.raises(InputError, match="one finite weight a column"):
        LinearScorer(np.array(weights), 0.0)


def test_a_direction_needs_a_weight_for_each_scaled_column():
    with pytest.raises(InputError, match="each column"):
        ScaledScorer(scaler_of(X[:, :2]), LINE)
