"""Thresholds of a budget call the highest scores, and never more than asked."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spadework.core.budget import budget_threshold, nth_highest, share_of

SCORES = st.lists(
    st.one_of(st.integers(-3, 3).map(float), st.floats(-1e300, 1e300)), min_size=1
)


@given(SCORES, st.integers(1, 40))
def test_at_most_so_many_scores_lie_above_and_one_tie_more_would_be_too_many(values, n):
    scores = np.array(values)
    called = scores > budget_threshold(scores, n)
    assert called.sum() <= n
    if not called.all():
        next_tie = scores >= scores[~called].max()
        assert next_tie.sum() > n


def test_without_ties_exactly_so_many_scores_lie_above():
    scores = np.random.default_rng(0).normal(size=1_000)
    for n in (1, 200, 999, 1_000):
        assert (scores > budget_threshold(scores, n)).sum() == n


@given(st.lists(SCORES, min_size=1), st.data())
def test_the_nth_highest_of_parts_is_that_of_sorting_everything(parts, data):
    arrays = [np.array(part) for part in parts]
    everything = np.sort(np.concatenate(arrays))
    n = data.draw(st.integers(1, len(everything)))
    assert nth_highest(lambda: arrays, n) == everything[-n]


@pytest.mark.parametrize(
    ("share", "n_rows", "found"), [(0.29, 100, 29), (0.02, 99, 1), (0.02, 49, 0)]
)
def test_a_share_of_rows_is_rounded_down_and_not_by_an_error_of_floats(
    share, n_rows, found
):
    assert share_of(share, n_rows) == found
