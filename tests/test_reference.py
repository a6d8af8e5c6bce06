"""A reference knows its rows by marks, and which of them stand for what comes in."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from spadework.errors import InputError
from spadework.reference import Reference, mark_rows

LABELS = np.array([1, -1, 0, -1], np.int8)
X = np.arange(8, dtype=np.float32).reshape(4, 2)


def made(**changes):
    parts = {
        "X": X,
        "labels": LABELS,
        "scores": np.zeros(4),
        "places": np.arange(4),
        "names": None,
        "categories": np.zeros((4, 1), np.uint64),
        "learnt": mark_rows(X[LABELS != -1], None),
    }
    return Reference(**(parts | changes))


@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.booleans())
@examples(50)
def test_rows_have_the_same_mark_where_they_are_equal_and_named_alike(values, named):
    rows = np.array(values, np.float32)[:, None] // 2
    names = [str(value) for value in values]
    marks = mark_rows(rows, names if named else None)
    for mark, row, name in zip(marks, rows, names, strict=True):
        equal = (rows == row).all(axis=1)
        alike = equal & (np.array(names) == name)
        np.testing.assert_array_equal(marks[:, 0] == mark[0], equal)
        np.testing.assert_array_equal(marks[:, 1] == mark[1], alike if named else True)


def test_no_rows_have_no_marks():
    assert mark_rows(X[:0], []).shape == (0, 2)


def test_unlabeled_rows_stand_for_what_comes_in_or_all_if_there_are_none():
    assert made().usual.tolist() == [False, True, False, True]
    assert made(labels=np.array([1, 0, 0, 0], np.int8)).usual.all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"X": X[0]},
        {"labels": LABELS[1:]},
        {"scores": np.zeros((4, 1))},
        {"places": np.arange(5)},
        {"names": np.array(["a"], dtype=object)},
    ],
)
def test_a_reference_needs_everything_of_every_row(wrong):
    with pytest.raises(InputError, match="label, score, place and name per row"):
        made(**wrong)


@pytest.mark.parametrize("shape", [(3, 1), (4,)])
def test_a_reference_needs_marks_of_the_categories_of_every_row(shape):
    with pytest.raises(InputError, match="marks of the categories of each row"):
        made(categories=np.zeros(shape, np.uint64))


def test_a_reference_needs_two_marks_a_row():
    with pytest.raises(InputError, match="two marks for each row"):
        made(learnt=np.zeros((3, 1), np.uint64))
