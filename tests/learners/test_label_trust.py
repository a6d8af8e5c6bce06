"""Held-out labels tell how far labels count, and in which words."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from spadework.learners.label_trust import FOUND, IMAGINED, LabelTrust

shares = st.lists(st.floats(0, 1), max_size=30).map(np.array)


def trust(*, anomalies=(), normals=(), n_normals=None):
    n_normals = len(normals) if n_normals is None else n_normals
    return LabelTrust.of(np.array(anomalies), np.array(normals), n_normals)


@given(shares, shares)
@examples(100)
def test_recall_is_the_mean_share_below_held_out_anomalies(anomalies, normals):
    found = LabelTrust.of(anomalies, normals, len(normals))
    if len(anomalies):
        assert found.recall == pytest.approx(np.mean(anomalies))
    else:
        assert found.recall is None


@given(shares)
@examples(100)
def test_imagined_normals_that_look_like_the_rest_stand_beside_the_real_ones(normals):
    found = LabelTrust.of(np.array([]), normals, len(normals))
    if len(normals):
        beside = np.append(1 - normals, [0.5] * IMAGINED)
        assert found.typical == pytest.approx(beside.mean())
    else:
        assert found.typical is None


@given(shares)
@examples(100)
def test_at_most_one_of_the_two_weights_differs_from_plain_trust(normals):
    found = LabelTrust.of(np.array([]), normals, len(normals))
    assert 0 < found.of_normals <= 1
    assert 0 <= found.of_labels_alone < 1
    assert found.of_normals == 1 or found.of_labels_alone == 0


@given(shares)
@examples(50)
def test_a_normal_row_counts_twice_the_share_below_which_normals_lie(normals):
    found = LabelTrust.of(np.array([]), normals, 5)
    assert found.of_normals == pytest.approx(min(1, 2 * found.typical))
    assert found.of_labels_alone == pytest.approx(max(0, 2 * found.typical - 1))


@pytest.mark.parametrize("n_normals", [1, 2])
def test_normals_that_could_not_be_held_out_are_taken_to_look_like_the_rest(n_normals):
    assert trust(n_normals=n_normals).typical == 0.5
    assert trust(n_normals=n_normals).of_normals == 1


def test_without_labeled_normals_nothing_is_said_of_them():
    found = trust(anomalies=[0.9, 1.0])
    assert found.of_normals == 1
    assert found.of_labels_alone == 0
    assert str(found) == (
        "Pseudo-labels rank labeled anomalies that they have not seen above 95% of the "
        "unlabeled rows."
    )


@pytest.mark.parametrize(
    ("below", "words"),
    [
        (0.5, r"Labeled normals look like the rest \(below 50% of it\)\.$"),
        (0.98, r"look more suspicious than most rows \(below 6%.*counts for 0\.13 of"),
        (0.02, r"look easier than most rows \(below 94%.*has weight 0\.87 beside"),
    ],
)
def test_the_sentence_says_what_labeled_normals_look_like(below, words):
    assert re.search(words, str(trust(normals=[below] * 100)))


chances = st.floats(0, 1)
maybe = st.none() | chances


@given(maybe, maybe)
@examples(100)
def test_a_context_without_anomalies_counts_as_far_as_it_finds_them(typical, recall):
    weight = LabelTrust(0.9, typical, recall).of_one_class
    assert 0 <= weight <= 1
    if recall is None or recall <= FOUND:
        assert weight == 0
    elif typical in (None, 0.5):
        assert weight == pytest.approx((recall - FOUND) / (1 - FOUND))


@given(chances, chances)
@examples(100)
def test_it_counts_less_the_further_labeled_normals_are_from_typical(typical, recall):
    typical_ones, these, opposite = (
        LabelTrust(0.9, each, recall).of_one_class for each in (0.5, typical, 1 - typical)
    )
    assert these == pytest.approx(typical_ones * (1 - abs(2 * typical - 1)))
    assert these == pytest.approx(opposite)


def test_the_sentence_says_that_being_unlike_other_rows_counts():
    said = str(LabelTrust(0.95, 0.5, 0.9))
    assert said.endswith(
        " Labeled anomalies are found without their labels, too (above 90%): being "
        "unlike other rows has weight 0.50."
    )
    assert "unlike" not in str(LabelTrust(0.95, 0.5, 0.7))


def test_the_sentence_says_that_no_anomaly_could_be_held_out():
    assert str(trust()).startswith("No labeled anomaly could be held out")
