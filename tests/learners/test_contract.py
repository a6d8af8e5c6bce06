"""A task says which rows judge, and a reading which of these it knows."""

import numpy as np

from spadework.learners.contract import GrownReading, Task


def test_the_judged_labels_are_those_of_the_judged_rows():
    labels = np.array([1, 0, -1, 0], np.int8)
    task = Task(None, labels, None, np.array([3, 0]), None)
    assert task.judged_labels.tolist() == [0, 1]


def test_a_reading_knows_the_rows_it_names_and_else_none():
    held_out, known = np.zeros(3), np.array([True, False, True])
    assert GrownReading(None, held_out).is_known.tolist() == [False] * 3
    assert GrownReading(None, held_out, known).is_known.tolist() == known.tolist()
