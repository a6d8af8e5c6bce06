"""A fit says how many anomalies to expect, how surely, and when that rests on little."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from mismatch import in_setting, mismatch_data
from properties import examples
from spadework import SPADE, ForestLearner, TreeLearner
from spadework.calls import (
    FEWEST_LABELED,
    MISFIT,
    WIDEST,
    Calls,
    Doubt,
    Expected,
    cost_threshold,
)
from spadework.errors import InputError

SURE = Doubt(0.0, 0.0)
SCORES = st.lists(st.floats(-9, 9), min_size=1, max_size=50).map(np.array)
DOUBTS = st.builds(Doubt, st.floats(0, 3), st.floats(0, 3))


def expect(scores, doubt):
    return doubt.expect(doubt.weigh(scores), len(scores))


@pytest.fixture(scope="module")
def detector():
    X, y, _ = mismatch_data(300, seed=0)
    return SPADE(learner=TreeLearner(n_trees=20), random_state=0).fit(X, y), X, y


@given(SCORES, DOUBTS)
@examples(50)
def test_the_expected_number_is_the_sum_of_probabilities_and_inside(scores, doubt):
    found = expect(scores, doubt)
    assert found.mean == pytest.approx(expit(scores).sum())
    assert 0 <= found.low <= found.mean + 1e-6
    assert found.mean - 1e-6 <= found.high <= len(scores)


@given(SCORES, SCORES, DOUBTS)
@examples(50)
def test_rows_may_come_in_parts(some, others, doubt):
    sums = doubt.weigh(some) + doubt.weigh(others)
    both = np.append(some, others)
    found = doubt.expect(sums, len(both))
    assert found.mean == pytest.approx(expect(both, doubt).mean)
    assert abs(found.low - expect(both, doubt).low) <= 1  # sums round otherwise
    assert abs(found.high - expect(both, doubt).high) <= 1


@given(SCORES, DOUBTS, st.floats(0, 2))
@examples(50)
def test_more_doubt_means_a_wider_interval(scores, doubt, more):
    # With every chance below one half, noise grows with the chance, too.
    less = expect(scores, doubt).high
    assert expect(scores, Doubt(doubt.lower, doubt.upper + more)).high >= less - 1


def test_without_doubt_the_interval_holds_nine_of_ten_draws():
    rng = np.random.default_rng(0)
    scores = rng.normal(-2, 1, 500)
    low, high = expect(scores, SURE)[1:]
    truth = (rng.random((2_000, 500)) < expit(scores)).sum(axis=1)
    assert 0.88 < ((low <= truth) & (truth <= high)).mean() < 0.96


@given(st.floats(0.001, 0.5), st.floats(0.001, 0.5), st.floats(0.001, 0.5))
@examples(50)
def test_doubt_reaches_beyond_likely_shares_and_is_never_less_than_misfit(share, a, b):
    likely = min(a, b), max(a, b)
    doubt = Doubt.of(share, likely)
    assert min(doubt.lower, doubt.upper) >= MISFIT
    center = np.log(share / (1 - share))
    if likely[0] <= share <= likely[1]:
        assert expit(center - doubt.lower) <= likely[0] + 1e-9
        assert expit(center + doubt.upper) >= likely[1] - 1e-9


@given(st.floats(1, 1e6), st.floats(0.001, 0.999), st.floats(-9, 9))
@examples(50)
def test_rows_are_called_where_a_call_costs_less_than_what_is_missed(
    missed, ratio, score
):
    chance = expit(score)
    if abs(chance - ratio) > 1e-9:
        called = score > cost_threshold(missed, ratio * missed)
        assert called == (chance * missed > ratio * missed)


@pytest.mark.parametrize("costs", [(5, 5), (5, 0), (5, -1), (5, 6), (float("inf"), 1)])
def test_costs_that_call_all_or_none_are_refused(costs):
    with pytest.raises(InputError, match="less than a missed anomaly"):
        cost_threshold(*costs)


# What a fit says


def test_a_fit_counts_its_calls_and_what_to_expect(detector):
    fitted, X, y = detector
    calls, unlabeled = fitted.calls_, X[y == -1]
    assert calls.n_rows == len(unlabeled)
    assert calls.n_called == fitted.predict(unlabeled).sum() > 0
    chances = fitted.predict_proba(unlabeled)[:, 1]
    called = fitted.predict(unlabeled) == 1
    assert calls.among_rows.mean == pytest.approx(chances.sum())
    assert calls.among_calls.mean == pytest.approx(chances[called].sum())
    for found in (calls.among_calls, calls.among_rows):
        assert found.low < found.high


def test_calls_are_one_plain_sentence():
    calls = Calls(3_800, 186, Expected(26.3, 5, 90), Expected(180.2, 60, 500), 40)
    assert str(calls) == (
        "186 of 3,800 unlabeled rows are called; of these, 26 (5 to 90) should be "
        "anomalies, and of all unlabeled rows 180 (60 to 500)."
    )


def test_likely_shares_lie_around_the_predicted_share(detector):
    fitted, _, _ = detector
    assert 0 < fitted.likely_shares_[0] < fitted.likely_shares_[1] < 1


def test_a_budget_counts_the_calls_that_it_asks_for():
    X, y, _ = mismatch_data(200, seed=0)
    learner = TreeLearner(n_trees=20)
    fitted = SPADE(learner=learner, random_state=0, n_calls=9).fit(X, y)
    assert fitted.calls_.n_called == fitted.predict(X[y == -1]).sum() <= 9


@pytest.mark.parametrize(
    ("learner", "setting"), [(ForestLearner(n_trees=20), "PNU"), (TreeLearner(), "PN")]
)
def test_where_no_share_is_predicted_nothing_is_expected(learner, setting):
    X, _, truth = mismatch_data(100, seed=0)
    y = truth if setting == "PN" else in_setting(mismatch_data(100, seed=0)[1], setting)
    mapping = {1: 1, 0: 0, -1: -1}
    fitted = SPADE(learner=learner, random_state=0, label_map=mapping).fit(X, y)
    assert fitted.calls_ is None
    assert fitted.doubt is None


def calls(n_labeled, low, high):
    return Calls(1_000, 100, Expected(50.0, low, high), Expected(60.0, 5, 900), n_labeled)


def test_enough_labels_and_a_narrow_interval_need_no_warning():
    assert calls(FEWEST_LABELED, 9, 9 * WIDEST).warning is None


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (calls(4, 9, 90), "4 anomalies are labeled"),
        (calls(0, 9, 90), "no anomalies are labeled"),
        (calls(40, 9, 91), "from 9 to 91 of 100 calls may be right"),
        (calls(40, 0, 11), "from 0 to 11 of 100 calls may be right"),
        (calls(4, 0, 11), "Label some of the top rows"),
    ],
)
def test_calls_that_rest_on_little_are_warned_of_with_a_way_out(found, words):
    assert words in found.warning
