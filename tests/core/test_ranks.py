"""Ranks compare scores whatever their scale."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logit
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score

from properties import examples
from spadework.core.ranks import blend_by_rank, share_below

values = st.lists(st.integers(-5, 5), min_size=1, max_size=30).map(np.array)
pairs = st.integers(1, 30).flatmap(
    lambda n: st.tuples(
        *(st.lists(st.integers(-5, 5), min_size=n, max_size=n).map(np.array),) * 2
    )
)


@given(values, values)
@examples(100)
def test_the_share_below_counts_lower_ones_and_half_of_the_ties(scores, others):
    expected = [
        np.mean([(other < score) + (other == score) / 2 for other in others])
        for score in scores
    ]
    np.testing.assert_allclose(share_below(scores, others), expected)


@given(values, values)
@examples(100)
def test_the_mean_share_below_is_the_auc(scores, others):
    truth = np.repeat([1, 0], [len(scores), len(others)])
    expected = roc_auc_score(truth, np.append(scores, others))
    assert share_below(scores, others).mean() == pytest.approx(expected)


@given(pairs, st.floats(0, 3))
@examples(100)
def test_a_blend_keeps_the_values_of_the_first(pair, weight):
    own, other = pair
    blended = blend_by_rank(own.astype(float), other, weight)
    assert sorted(blended) == sorted(own)


@given(pairs, st.floats(0, 3))
@examples(100)
def test_a_blend_orders_rows_by_the_weighted_log_odds_of_their_ranks(pair, weight):
    own, other = pair
    n_rows = len(own)
    log_odds = [logit(rankdata(each) / (n_rows + 1)) for each in pair]
    order = log_odds[0] + weight * log_odds[1]
    blended = blend_by_rank(own.astype(float), other, weight)
    by_order = np.argsort(order, kind="stable")
    surely_apart = np.diff(order[by_order]) > 1e-9
    assert (np.diff(blended[by_order])[surely_apart] >= 0).all()


@given(pairs, st.floats(0, 3))
@examples(50)
def test_a_blend_is_the_same_on_any_rising_scale_of_the_other(pair, weight):
    own, other = pair
    np.testing.assert_array_equal(
        blend_by_rank(own, np.exp(other), weight), blend_by_rank(own, other, weight)
    )


@given(values)
@examples(50)
def test_a_blend_with_itself_changes_nothing(scores):
    np.testing.assert_array_equal(blend_by_rank(scores, scores, 1.0), scores)


def test_a_weightless_other_changes_nothing():
    own, other = np.random.default_rng(0).normal(size=(2, 50))
    np.testing.assert_array_equal(blend_by_rank(own, other, 0.0), own)


def test_the_first_may_be_overruled_by_a_heavy_other():
    own, other = np.random.default_rng(0).normal(size=(2, 50))
    blended = blend_by_rank(own, other, 1e9)
    np.testing.assert_array_equal(np.argsort(blended), np.argsort(other))
