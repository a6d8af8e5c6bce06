"""Contexts hold all labels that fit, and each member its own unlabeled rows."""

import numpy as np
import pytest

from spadework.in_context.contexts import (
    MAX_COLUMNS,
    MAX_LABELED,
    MAX_UNLABELED,
    draw_contexts,
)

COLUMNS = np.arange(5)


def labels_of(**counts):
    names = {"anomalies": 1, "normals": 0, "unlabeled": -1}
    y = np.concatenate([np.full(n, names[name]) for name, n in counts.items()])
    return np.random.default_rng(0).permutation(y).astype(np.int8)


def drawn(y, n_members, columns=COLUMNS):
    return draw_contexts(y, columns, n_members, np.random.default_rng(0))


def test_a_small_table_is_read_whole_by_every_member():
    y = labels_of(anomalies=3, normals=20, unlabeled=100)
    for context in drawn(y, 3):
        assert sorted(context.rows) == list(range(123))
        assert context.columns.tolist() == COLUMNS.tolist()


def test_members_read_disjoint_unlabeled_rows_while_there_are_enough():
    y = labels_of(anomalies=5, unlabeled=4 * MAX_UNLABELED)
    parts = [set(c.rows[y[c.rows] == -1]) for c in drawn(y, 4)]
    assert all(len(part) == MAX_UNLABELED for part in parts)
    assert len(set.union(*parts)) == 4 * MAX_UNLABELED


def test_all_labeled_rows_are_in_every_context_while_they_fit():
    y = labels_of(anomalies=MAX_LABELED, normals=30, unlabeled=2 * MAX_UNLABELED)
    for context in drawn(y, 3):
        assert set(np.flatnonzero(y >= 0)) <= set(context.rows)


@pytest.mark.parametrize("label", [0, 1])
def test_of_a_class_with_more_labels_than_fit_each_member_draws_its_own(label):
    y = np.full(3 * MAX_LABELED, label, dtype=np.int8)
    y[:10] = 1 - label
    one, two = drawn(y, 2)
    assert len(one.rows) == len(set(one.rows)) == MAX_LABELED + 10
    assert set(one.rows) != set(two.rows)


def test_of_a_wide_table_each_member_reads_other_columns_in_the_given_order():
    order = np.random.default_rng(1).permutation(3 * MAX_COLUMNS)
    one, two = drawn(labels_of(anomalies=2, unlabeled=9), 2, order)
    place = np.argsort(order)
    for context in (one, two):
        assert len(set(context.columns)) == MAX_COLUMNS
        assert (np.diff(place[context.columns]) > 0).all()
    assert set(one.columns) != set(two.columns)


def test_rows_without_any_unlabeled_are_a_context_too():
    y = labels_of(anomalies=2, normals=8)
    assert sorted(drawn(y, 1)[0].rows) == list(range(10))
