"""Where no anomaly is labeled, trees learn what the other readings agree on."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spadework import SPADE, ForestLearner
from spadework.learners.agreeing import (
    ANOMALOUS_SHARE,
    NORMAL_SHARE,
    agree,
    take_for,
)
from spadework.learners.contract import GrownReading, Task

SCORES = st.lists(st.floats(-9, 9), min_size=2, max_size=60)


def labels_of(n_normals, n_unlabeled):
    return np.repeat(np.array([0, -1], np.int8), [n_normals, n_unlabeled])


@given(SCORES, SCORES)
def test_no_row_taken_for_normal_scores_above_one_taken_for_anomalous(normals, unlabeled):
    scores = np.array(normals + unlabeled)
    labels = labels_of(len(normals), len(unlabeled))
    targets = take_for(scores, labels)
    low, high = (np.array(unlabeled)[targets == target] for target in (0, 1))
    assert not len(low) or not len(high) or low.max() < high.min()


@given(st.integers(0, 100), st.integers(10, 300), st.floats(-3, 3))
def test_at_most_a_tenth_is_taken_for_anomalous_and_four_fifths_for_normal(
    seed, n_unlabeled, shift
):
    rng = np.random.default_rng(seed)
    scores = np.r_[rng.normal(size=30), rng.normal(shift, 1, n_unlabeled)]
    targets = take_for(scores, labels_of(30, n_unlabeled))
    assert 1 <= (targets == 1).sum() <= max(1, n_unlabeled / 10)
    assert (targets == 0).sum() == int(NORMAL_SHARE * n_unlabeled)


def test_fewer_are_taken_for_anomalous_where_few_do_not_score_like_labeled_normals():
    scores = np.r_[np.linspace(0, 1, 100), np.linspace(0, 0.9, 197), 5, 6, 7]
    targets = take_for(scores, labels_of(100, 200))
    assert np.flatnonzero(targets == 1).tolist() == [197, 198, 199]


def test_rows_that_no_reading_has_scored_are_taken_for_nothing():
    scores = np.r_[np.arange(20.0), np.arange(40.0)]
    scores[[20, 59]] = np.nan
    targets = take_for(scores, labels_of(20, 40))
    assert targets[[0, 39]].tolist() == [-1, -1]
    assert targets[[1, 38]].tolist() == [0, 1]


def test_readings_count_as_far_as_they_are_believed():
    labels = labels_of(20, 100)
    task = Task(None, labels, None, np.arange(len(labels)), None)
    grown = {
        "as_suspect": GrownReading(None, np.arange(120.0)),
        "one_class": GrownReading(None, -np.arange(120.0)),
    }
    weights = {"as_suspect": 0.8, "one_class": 0.2}
    targets = agree(grown, {}, weights, task)
    assert targets[[0, -1]].tolist() == [0, 1]


@given(st.lists(st.integers(0, 3), min_size=1, max_size=60))
def test_rows_that_tie_are_taken_for_the_same_and_never_too_many(unlabeled):
    scores = np.array([0.0, *unlabeled])
    targets = take_for(scores, labels_of(1, len(unlabeled)))
    for value in set(unlabeled):
        assert len(set(targets[scores[1:] == value])) == 1
    assert (targets == 1).sum() <= max(1, ANOMALOUS_SHARE * len(unlabeled))
    assert (targets == 0).sum() <= NORMAL_SHARE * len(unlabeled)


@pytest.mark.parametrize("n_rows", [12, 12_000])
def test_where_readings_agree_on_nothing_or_need_not_it_is_said_so(n_rows):
    """Six unlabeled rows are all alike; of thousands, half are unlike labeled normals."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, -1], n_rows // 2)
    X = np.eye(2)[-y] if n_rows == 12 else rng.normal(size=(n_rows, 2))
    X[n_rows * 3 // 4 :] += 4 * (n_rows > 12)
    learner = ForestLearner(readings=["as_suspect", "agreed"], linear=False, n_trees=8)
    trust = SPADE(random_state=0, learner=learner).fit(X, y).trust_
    assert trust.weights == {"as_suspect": 1, "agreed": 0}
    assert "nor is what other readings agree on" in trust.verdict
