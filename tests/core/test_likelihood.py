"""The likelihood ratio of scores rises, is fair, and leaves nothing to a single row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spadework.core.likelihood import likelihood_ratio

Scores = st.lists(st.integers(0, 12).map(float), min_size=1, max_size=30).map(np.array)


def naive_ratio(anomalies, others):
    """Pool neighbours whose shares of anomalies fall, until all rise; by score."""
    scores = sorted({*anomalies, *others})
    counts = [[(each == score).sum() for each in (anomalies, others)] for score in scores]
    steps = [[[score], *each] for score, each in zip(scores, counts, strict=True)]

    def odds(step):
        return step[1] / len(anomalies), step[2] / len(others)

    def falls(one, other):
        (a, b), (c, d) = odds(one), odds(other)
        return a * d >= c * b - 1e-12

    place = 0
    while place < len(steps) - 1:
        if falls(steps[place], steps[place + 1]):
            one, other = steps[place], steps.pop(place + 1)
            steps[place] = [one[0] + other[0], one[1] + other[1], one[2] + other[2]]
            place = max(place - 1, 0)
        else:
            place += 1
    found, highest = {}, -np.inf
    for each, n_anomalies, n_others in steps:
        share = (n_anomalies + 0.5) / (len(anomalies) + 0.5)
        other_share = (n_others + 0.5) / (len(others) + 0.5)
        highest = max(highest, np.log(share / other_share))
        found |= dict.fromkeys(each, highest)
    return found


@given(Scores, Scores)
def test_it_is_what_pooling_by_hand_finds(anomalies, others):
    expected = naive_ratio(anomalies, others)
    at = np.array(list(expected))
    np.testing.assert_allclose(
        likelihood_ratio(anomalies, others, at), list(expected.values()), atol=1e-9
    )


@given(Scores, Scores, Scores)
def test_it_never_falls_with_the_score(anomalies, others, at):
    ratio = likelihood_ratio(anomalies, others, np.sort(at))
    assert (np.diff(ratio) >= 0).all()


@given(Scores)
def test_the_same_scores_say_nothing(scores):
    ratio = likelihood_ratio(scores, scores, scores)
    np.testing.assert_allclose(ratio, 0, atol=1e-9)


def test_where_no_anomaly_scores_it_is_low_but_finite():
    anomalies, others = np.full(10, 5.0), np.linspace(0, 1, 100)
    low, high = likelihood_ratio(anomalies, others, np.array([0.5, 5.0]))
    assert low == pytest.approx(np.log(0.5 / 10.5))
    assert high == pytest.approx(-np.log(0.5 / 100.5))
