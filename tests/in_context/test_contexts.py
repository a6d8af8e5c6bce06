"""Contexts hold all labels that fit, and each member its own unlabeled rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from spadework.in_context.contexts import (
    IN_ALL,
    MAX_COLUMNS,
    MAX_LABELED,
    MAX_UNLABELED,
    deal_folds,
    draw_contexts,
)

COLUMNS = np.arange(5)


def labels_of(**counts):
    names = {"anomalies": 1, "normals": 0, "unlabeled": -1}
    y = np.concatenate([np.full(n, names[name]) for name, n in counts.items()])
    return np.random.default_rng(0).permutation(y).astype(np.int8)


def drawn(y, n_members, columns=COLUMNS, **options):
    return draw_contexts(y, columns, n_members, np.random.default_rng(0), **options)


def dealt(y, n_folds):
    return deal_folds(y, n_folds, np.random.default_rng(0))


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


# Folds

labelings = st.lists(st.sampled_from([1, 0, -1]), min_size=1, max_size=40).map(
    lambda y: np.array(y, dtype=np.int8)
)


@given(labelings, st.integers(1, 6))
@examples(100)
def test_the_labeled_rows_of_a_class_are_dealt_evenly_or_left_in_all(y, n_folds):
    folds = dealt(y, n_folds)
    assert (folds[y == -1] == IN_ALL).all()
    for label in (1, 0):
        own = folds[y == label]
        if n_folds == 1 or len(own) < n_folds:
            assert (own == IN_ALL).all()
        else:
            sizes = np.bincount(own, minlength=n_folds)
            assert len(sizes) == n_folds
            assert np.ptp(sizes) <= 1


def test_who_is_in_which_fold_is_drawn():
    y = labels_of(anomalies=30, normals=30)
    other = deal_folds(y, 3, np.random.default_rng(1))
    assert (dealt(y, 3) != other).any()
    np.testing.assert_array_equal(dealt(y, 3), dealt(y, 3))


@given(labelings, st.integers(1, 6))
@examples(100)
def test_a_context_holds_all_labels_but_those_of_its_own_fold(y, n_members):
    folds = dealt(y, n_members)
    for member, context in enumerate(drawn(y, n_members, folds=folds)):
        shown = (y != -1) & (folds != member)
        labeled = context.rows[y[context.rows] != -1]
        assert sorted(labeled) == np.flatnonzero(shown).tolist()


@given(labelings, st.integers(1, 6))
@examples(100)
def test_a_class_with_labels_has_some_in_every_context(y, n_members):
    for context in drawn(y, n_members, folds=dealt(y, n_members)):
        assert set(y[context.rows]) == set(y)


@given(st.integers(6, 40), st.integers(1, 6))
@examples(100)
def test_parts_of_so_many_rows_as_there_are_for_each_are_disjoint(n_rows, n_members):
    y = labels_of(anomalies=2, unlabeled=n_rows)
    size = n_rows // n_members
    contexts = drawn(y, n_members, max_unlabeled=size)
    parts = [c.rows[y[c.rows] == -1] for c in contexts]
    assert [len(part) for part in parts] == [size] * n_members
    assert len(set(np.concatenate(parts))) == size * n_members
