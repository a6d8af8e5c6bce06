"""Every reading draws the rows it says, and no truth but the labels'."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spadework.core.trust import AS_NORMAL, AS_SUSPECT, LABELS, PSEUDO
from spadework.learners.growing import draw
from spadework.learners.readings import WIDE, make_readings

ALPHAS = {1: 0.5, 0: 0.25}


def readings_of(labels, targets, **changes):
    options = {"max_draws": 1000, "min_leaf": 5, **changes}
    labels, targets = np.array(labels, np.int8), np.array(targets, np.int8)
    return make_readings(labels, targets, ALPHAS, **options)


Labels = st.lists(st.sampled_from([1, 0, -1]), min_size=1, max_size=40)


@given(Labels, st.randoms(use_true_random=False))
def test_readings_hold_each_row_on_the_side_they_take_it_for(labels, random):
    targets = [random.choice([1, 0, -1]) for label in labels if label == -1]
    readings = readings_of(labels, targets)
    labels = np.array(labels)
    sides = {
        LABELS: (labels == 0, labels == 1),
        AS_NORMAL: (labels != 1, labels == 1),
        AS_SUSPECT: (labels == 0, labels == -1),
    }
    joined = labels.copy()
    joined[labels == -1] = targets
    sides[PSEUDO] = (joined == 0, joined == 1)
    for name, reading in readings.items():
        normal, anomalous = sides[name]
        assert set(reading.normal.rows) == set(np.flatnonzero(normal))
        assert set(reading.anomalous.rows) == set(np.flatnonzero(anomalous))


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([1, 0, 1, 0], {LABELS}),
        ([1, 0, -1, -1], {LABELS, AS_NORMAL, AS_SUSPECT, PSEUDO}),
        ([1, 1, -1, -1], {AS_NORMAL, PSEUDO}),
        ([0, 0, -1, -1], {AS_SUSPECT, PSEUDO}),
    ],
)
def test_labels_decide_which_readings_there_are(labels, expected):
    targets = [1, 0][: labels.count(-1)]
    assert set(readings_of(labels, targets)) == expected


def test_a_mixture_is_drawn_no_more_than_the_pure_side():
    labels = [1] * 8 + [0] * 12 + [-1] * 500
    readings = readings_of(labels, [-1] * 500)
    as_normal, as_suspect = readings[AS_NORMAL], readings[AS_SUSPECT]
    assert as_normal.normal.n_draws == as_normal.anomalous.n_draws == 8
    assert as_suspect.normal.n_draws == as_suspect.anomalous.n_draws == 12


def test_where_unlabeled_rows_pass_for_normal_every_second_tree_draws_them_widely():
    labels = [1] * 8 + [0] * 12 + [-1] * 500
    readings = readings_of(labels, [-1] * 500)
    assert {name for name, each in readings.items() if each.wide} == {AS_NORMAL}
    wide = readings[AS_NORMAL].wide
    assert wide.n_draws == WIDE * 8
    np.testing.assert_array_equal(wide.rows, readings[AS_NORMAL].normal.rows)
    anomalous = readings[AS_NORMAL].anomalous
    _, targets, weights = draw(wide, anomalous, np.random.default_rng(0))
    assert (targets == 0).sum() > 8
    assert weights[targets == 1].sum() == pytest.approx(weights[targets == 0].sum())


def test_a_wide_draw_is_no_larger_than_the_rows_there_are():
    readings = readings_of([1] * 8 + [-1] * 20, [-1] * 20)
    assert readings[AS_NORMAL].wide.n_draws == 20


def test_pseudo_labels_of_a_class_weigh_alpha_times_its_labels():
    labels = [1] * 4 + [0] * 8 + [-1] * 100
    reading = readings_of(labels, [1] * 30 + [0] * 70)[PSEUDO]
    for side, n_labels, alpha in ((reading.anomalous, 4, 0.5), (reading.normal, 8, 0.25)):
        assert side.weights[:n_labels].sum() == n_labels
        assert side.weights[n_labels:].sum() == pytest.approx(alpha * n_labels)


def test_draws_are_capped():
    labels = [1] * 400 + [0] * 400 + [-1] * 400
    readings = readings_of(labels, [1] * 200 + [0] * 200, max_draws=100)
    for reading in readings.values():
        assert reading.normal.n_draws == reading.anomalous.n_draws == 50


def test_both_classes_of_a_tree_weigh_the_same_and_rows_are_distinct():
    labels = [1] * 5 + [0] * 50 + [-1] * 20
    reading = readings_of(labels, [-1] * 20)[LABELS]
    rows, targets, weights = draw(
        reading.normal, reading.anomalous, np.random.default_rng(0)
    )
    assert len(np.unique(rows)) == len(rows)
    assert weights[targets == 1].sum() == pytest.approx(1)
    assert weights[targets == 0].sum() == pytest.approx(1)
    np.testing.assert_array_equal(targets, np.array(labels)[rows])
