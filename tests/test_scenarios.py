"""Scenarios label the rows they say, hide the rest, and keep test rows apart."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from spadework import scenarios
from spadework.errors import InputError

DRAWN = (
    scenarios.new_types,
    scenarios.negatives_only,
    scenarios.positives_only,
    scenarios.easiness,
    scenarios.high_risk,
)
ALL = (*DRAWN, scenarios.time_varying)
seeds = st.integers(0, 10_000)


def made_table(n_rows=400, seed=0, n_train=None):
    """Four kinds of rows; the first column numbers them, so they can be told apart."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(4, n_rows, p=[0.7, 0.1, 0.1, 0.1])
    X = rng.normal(kind[:, None], 1.0, (n_rows, 3))
    X[:, 0] = np.arange(n_rows)
    return scenarios.LabeledTable(X, kind, given=(1, 2), n_train=n_train)


def train_kinds(table, trial):
    return table.kind[trial.X[:, 0].astype(int)]


@pytest.mark.parametrize("scenario", ALL)
@given(seed=seeds)
@examples(10)
def test_train_and_test_partition_the_rows(scenario, seed):
    table = made_table(seed=seed, n_train=200)
    trial = scenario(table, seed)
    train, test = trial.X[:, 0], trial.X_test[:, 0]
    assert sorted([*train, *test]) == list(range(400))
    np.testing.assert_array_equal(table.kind[test.astype(int)], trial.kind_test)


@pytest.mark.parametrize("scenario", ALL)
@given(seed=seeds)
@examples(10)
def test_labels_are_true_where_they_are_given(scenario, seed):
    table = made_table(seed=seed, n_train=200)
    trial = scenario(table, seed)
    labeled = trial.y >= 0
    assert set(np.unique(trial.y)) <= {1, 0, -1}
    truth = train_kinds(table, trial) > 0
    np.testing.assert_array_equal(trial.y[labeled], truth[labeled])


@pytest.mark.parametrize("scenario", ALL)
def test_same_seed_repeats(scenario):
    table = made_table(n_train=200)
    first, again = scenario(table, 3), scenario(table, 3)
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("scenario", DRAWN)
def test_another_seed_gives_another_split(scenario):
    table = made_table()
    assert (scenario(table, 0).X[:, 0] != scenario(table, 1).X[:, 0]).any()


@given(seed=seeds, share=st.floats(0.02, 0.3))
@examples(30)
def test_new_types_labels_the_share_and_no_new_kind(seed, share):
    table = made_table(seed=seed)
    trial = scenarios.new_types(table, seed, share=share)
    assert (trial.y >= 0).sum() == round(share * 200)
    assert 3 not in train_kinds(table, trial)[trial.y >= 0]


@given(seed=seeds)
@examples(20)
def test_negatives_only_keeps_the_normals_of_new_types(seed):
    table = made_table(seed=seed)
    both = scenarios.new_types(table, seed)
    normals = scenarios.negatives_only(table, seed)
    assert (normals.y == 1).sum() == 0
    np.testing.assert_array_equal(normals.y == 0, both.y == 0)


@given(seed=seeds)
@examples(20)
def test_positives_only_labels_half_of_the_given_kinds(seed):
    table = made_table(seed=seed)
    trial = scenarios.positives_only(table, seed)
    n_given = np.isin(train_kinds(table, trial), (1, 2)).sum()
    assert (trial.y == 1).sum() == round(0.5 * n_given)
    assert (trial.y == 0).sum() == 0


@given(seed=seeds)
@examples(10)
def test_easiness_labels_at_most_a_tenth_of_each_class(seed):
    table = made_table(seed=seed)
    trial = scenarios.easiness(table, seed)
    truth = train_kinds(table, trial) > 0
    for label in (0, 1):
        assert (trial.y == label).sum() <= round(0.1 * (truth == label).sum())
    assert (trial.y == 0).sum() > 0


def test_easy_rows_are_further_apart_than_the_others():
    table = made_table(n_rows=2000)
    trial = scenarios.easiness(table, 0)
    gap = [
        trial.X[trial.y == 1, 1].mean() - trial.X[trial.y == 0, 1].mean(),
        trial.X[train_kinds(table, trial) > 0, 1].mean()
        - trial.X[train_kinds(table, trial) == 0, 1].mean(),
    ]
    assert gap[0] > gap[1]


@pytest.mark.parametrize("share", [0.01, 0.015, 0.025])
def test_high_risk_labels_are_richer_in_anomalies_than_the_table(share):
    table = made_table(n_rows=4000)
    trial = scenarios.high_risk(table, 0, share=share)
    assert (trial.y >= 0).sum() == round(share * 2000)
    assert (trial.y == 1).sum() > 0.5 * (trial.y >= 0).sum()


def test_time_varying_labels_the_earliest_rows():
    table = made_table(n_train=200)
    trial = scenarios.time_varying(table, 0, share=0.1)
    np.testing.assert_array_equal(np.flatnonzero(trial.y >= 0), np.arange(20))
    assert trial.X[:, 0].max() < trial.X_test[:, 0].min()


def test_time_varying_needs_a_table_in_order():
    with pytest.raises(InputError, match="order of time"):
        scenarios.time_varying(made_table(), 0)


@pytest.mark.parametrize("scenario", DRAWN)
@given(seed=seeds, share=st.floats(0.2, 0.9), n_rows=st.integers(100, 300))
@examples(10)
def test_a_share_of_the_rows_trains_and_the_others_test(scenario, seed, share, n_rows):
    table = replace(made_table(n_rows, seed), train_share=share)
    trial = scenario(table, seed)
    assert len(trial.X) == len(trial.y) == int(share * n_rows)
    assert sorted([*trial.X[:, 0], *trial.X_test[:, 0]]) == list(range(n_rows))
    kinds = scenarios.training_kinds(table, seed)
    np.testing.assert_array_equal(kinds, train_kinds(table, trial))


@given(n_rows=st.integers(1, 2_000_000))
def test_by_default_half_of_the_rows_trains_the_smaller_one(n_rows):
    table = scenarios.LabeledTable(np.zeros((1, 1)), np.zeros(1, dtype=int), given=())
    assert int(table.train_share * n_rows) == n_rows // 2


@pytest.mark.parametrize("share", [0.0, 1.0, -0.5, np.nan])
def test_a_share_that_leaves_one_side_empty_is_refused(share):
    with pytest.raises(InputError, match="between 0 and 1"):
        replace(made_table(), train_share=share)


@pytest.mark.parametrize("scenario", [scenarios.easiness, scenarios.high_risk])
def test_what_is_easy_is_judged_by_other_columns_where_there_are_some(scenario):
    table = made_table()
    blank = replace(table, X=np.stack([table.X[:, 0], np.zeros(400)], axis=1))
    seen = replace(blank, judged_by=table.X)
    np.testing.assert_array_equal(scenario(seen, 0).y, scenario(table, 0).y)
    assert (scenario(seen, 0).y != scenario(blank, 0).y).any()
    np.testing.assert_array_equal(scenario(seen, 0).X, scenario(blank, 0).X)


def test_photos_may_be_the_rows_of_a_table():
    pixels = np.zeros((400, 4, 4, 3), dtype=np.uint8)
    pixels[:, 0, 0, 0] = np.arange(400) // 2
    table = made_table()
    trial = scenarios.easiness(replace(table, X=pixels, judged_by=table.X), 0)
    assert trial.X.dtype == np.uint8
    assert trial.X.shape[1:] == trial.X_test.shape[1:] == (4, 4, 3)
    numbers = scenarios.easiness(table, 0).X[:, 0]
    np.testing.assert_array_equal(trial.X[:, 0, 0, 0], numbers // 2)


def test_what_rows_are_judged_by_has_as_many_rows():
    with pytest.raises(InputError, match="400 rows, got 3"):
        replace(made_table(), judged_by=np.zeros((3, 1)))


def test_a_table_needs_one_kind_per_row():
    with pytest.raises(InputError, match="3 rows, 2 kinds"):
        scenarios.LabeledTable(np.zeros((3, 1)), np.zeros(2, dtype=int), given=(1,))
