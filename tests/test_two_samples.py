"""Two samples from one source differ in no more tests than was said."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from properties import examples
from spadework.two_samples import (
    compare_counts,
    compare_numbers,
    count_values,
    find_certain,
    tell_apart,
)

LEVEL, N_TIMES = 0.05, 150
MOST = int(binom.ppf(0.9999, N_TIMES, LEVEL))
"""False alarms of so many tests, at most, but for one study in ten thousand."""


def n_alarms(p_value_of):
    rng = np.random.default_rng(0)
    return sum(p_value_of(rng) <= LEVEL for _ in range(N_TIMES))


def test_the_bound_on_false_alarms_is_no_bar_to_true_tests_and_one_to_wrong_ones():
    assert binom.sf(MOST, N_TIMES, LEVEL) < 1e-4
    assert binom.sf(MOST, N_TIMES, 4 * LEVEL) > 0.95


@pytest.mark.parametrize("n_rows", [(10, 10), (15, 400), (300, 300)])
@pytest.mark.parametrize("digits", [0, 1, 9])
def test_numbers_from_one_source_hardly_ever_differ(n_rows, digits):
    def p_value(rng):
        first, second = (rng.normal(size=n).round(digits) for n in n_rows)
        return compare_numbers(first, second, 200).p_value

    assert n_alarms(p_value) <= MOST


@pytest.mark.parametrize("n_rows", [(12, 12), (10, 300), (300, 300)])
@pytest.mark.parametrize("n_values", [2, 7, 200])
def test_values_from_one_source_hardly_ever_differ(n_rows, n_values):
    def p_value(rng):
        weights = 1 / np.arange(1, n_values + 1)
        codes = rng.choice(n_values, sum(n_rows), p=weights / weights.sum())
        return compare_counts(count_values(codes, n_rows[0]), 200).p_value

    assert n_alarms(p_value) <= MOST


def test_values_that_moved_are_found_however_rare():
    rng = np.random.default_rng(0)
    codes = np.append(rng.integers(0, 900, 2_000), rng.integers(450, 1_350, 2_000))
    test = compare_counts(count_values(codes, 2_000), 2_000)
    assert test.p_value < 0.001
    assert 0.3 < test.distance < 0.7


@pytest.mark.parametrize("n_each", [2, 30])
def test_the_distance_of_sets_without_a_value_in_common_is_one(n_each):
    counts = count_values(np.arange(40).repeat(n_each), 20 * n_each)
    assert compare_counts(counts, 100).distance == pytest.approx(1)


def test_values_that_are_there_once_each_tell_nothing():
    assert compare_counts(count_values(np.arange(40), 20), 100) == (0.0, 1.0)


def test_a_few_values_that_moved_are_certain_with_exact_chance():
    assert compare_counts(np.array([[9, 0], [0, 9]]), 1_000).p_value < 0.01
    assert compare_counts(np.array([[9, 9], [9, 9]]), 1_000).p_value > 0.5
    assert compare_counts(np.array([[20, 0], [30, 0]]), 1_000) == (0.0, 1.0)


def test_numbers_that_moved_are_found():
    first, second = np.arange(200.0), np.arange(200.0) + 80
    test = compare_numbers(first, second, 100)
    assert test.distance == pytest.approx(0.4)
    assert test.p_value < 1e-6


def test_rows_that_differ_in_how_columns_go_together_are_told_apart():
    x = np.random.default_rng(0).normal(size=(2, 400)).astype(np.float32)
    told = tell_apart(np.stack([x[0], x[0]], 1), np.stack([x[1], -x[1]], 1))
    assert told.auc > 0.8
    assert told.p_value < 1e-6


def test_telling_apart_the_same_rows_is_chance():
    rows = np.random.default_rng(0).normal(size=(300, 3)).astype(np.float32)
    assert tell_apart(rows, rows).auc < 0.55
    assert tell_apart(rows, rows).p_value > 0.1
    assert tell_apart(rows[:, :0], rows[:, :0]) == (0.5, 1.0)


def test_the_smallest_of_many_p_values_must_be_so_much_smaller():
    found = find_certain([0.02, 0.001, 0.5, 0.012], 0.05)
    assert found.tolist() == [True, True, False, True]
    assert find_certain([0.02, 0.02, 0.02], 0.05).tolist() == [False] * 3


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20), st.floats(0.001, 0.2))
@examples(100)
def test_what_is_certain_lies_between_bonferroni_and_no_correction(p_values, level):
    values = np.array(p_values)
    certain = find_certain(p_values, level)
    assert (certain >= (values <= level / len(values))).all()
    assert (certain <= (values <= level)).all()
    if certain.any() and not certain.all():
        assert values[certain].max() <= values[~certain].min()
