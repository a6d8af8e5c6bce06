"""What cannot be used is refused with a reason, and leaves an earlier fit in place."""

import datetime as dt
from copy import deepcopy
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning

from mismatch import mismatch_data
from spadework import SPADE, ForestLearner
from spadework.errors import InputError, LabelError
from spadework.labels import count_labels
from spadework.validation import (
    check_counts,
    check_members,
    check_parameters,
    check_rows,
    check_threshold,
    named_or_given,
    new_generator,
    read_labels,
    refuse_arguments,
    refuse_constant,
    unchanged_on_failure,
)

NAN, INF = float("nan"), float("inf")
NAMES = [f"sensor {column}" for column in range(8)]


def good_rows(n=20):
    return mismatch_data(n, seed=0)[0]


def with_cells(value, columns=(2,)):
    """Good rows with a bad cell in each of some columns."""
    X = good_rows()
    X[3, list(columns)] = value
    return X


def checked(X):
    """Check rows as a fit does."""
    return check_rows(BaseEstimator(), X, fitting=True)


@cache
def looked_at():
    """An estimator that has seen rows with names."""
    estimator = BaseEstimator()
    check_rows(estimator, pd.DataFrame(good_rows(), columns=NAMES), fitting=True)
    return estimator


# A fit


@cache
def fitted():
    X, y, _ = mismatch_data(100, seed=9)
    detector = SPADE(learner=ForestLearner(n_trees=5), random_state=0)
    return detector.fit(X, y)


def assert_refused(X, y, error, match, **parameters):
    """Check that fit refuses, on an unfitted detector and on a fitted one."""
    for detector in (SPADE(), deepcopy(fitted())):
        before = dict(vars(detector.set_params(**parameters)))
        with pytest.raises(error, match=match):
            detector.fit(X, y)
        assert vars(detector) == before


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("voting", "plurality"),
        ("threshold", "high"),
        ("n_members", 0),
        ("learner", "tree"),
        ("one_class", "lof"),
        ("random_state", -1),
    ],
)
def test_a_parameter_without_meaning_is_refused_before_any_work(name, value):
    X, y, _ = mismatch_data(100, seed=0)
    assert_refused(X, y, InputError, f"{name} must be .*{value}", **{name: value})


def test_bad_rows_and_bad_labels_leave_an_earlier_fit_in_place():
    X, y, truth = mismatch_data(20, seed=0)
    assert_refused(with_cells(NAN), y, InputError, "NaN")
    assert_refused(X, y[:-1], LabelError, "X has 20 rows, y has 19 labels")
    too_few = np.append(truth[2:], [-1] * 2)
    assert_refused(X, too_few, LabelError, "2 unlabeled rows.*n_members=[35]")
    assert_refused(np.ones((20, 2)), y, InputError, "every column of X is constant")


def test_what_fails_halfway_is_undone_and_what_does_not_is_kept():
    estimator = BaseEstimator()
    estimator.kept, estimator.lost = 1, 2

    def fail():
        estimator.kept, estimator.new = 3, 4
        del estimator.lost
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), unchanged_on_failure(estimator):
        fail()
    assert vars(estimator) == {"kept": 1, "lost": 2}
    with unchanged_on_failure(estimator):
        estimator.kept = 3
    assert vars(estimator) == {"kept": 3, "lost": 2}


def test_what_fit_does_not_take_is_named():
    refuse_arguments(SPADE(), {})
    with pytest.raises(InputError, match=r"fit of SPADE takes X and y alone; got w, too"):
        refuse_arguments(SPADE(), {"w": 1})


# Rows


def test_rows_become_float32_and_their_columns_are_remembered():
    estimator, X = BaseEstimator(), good_rows()
    rows = check_rows(estimator, pd.DataFrame(X, columns=NAMES), fitting=True)
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(rows, X.astype(np.float32))
    assert estimator.n_features_in_ == 8
    assert list(estimator.feature_names_in_) == NAMES


def test_every_kind_of_table_gives_the_same_rows():
    X = good_rows()
    columns = dict(zip(NAMES, X.T, strict=True))
    for table in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        np.testing.assert_array_equal(checked(table), X.astype(np.float32))


@pytest.mark.parametrize(("value", "kind"), [(NAN, "NaN"), (INF, "inf"), (-INF, "inf")])
def test_cells_that_are_not_finite_are_refused_with_the_number_of_their_column(
    value, kind
):
    with pytest.raises(InputError, match=rf"(?s){kind}.*: 2\b.*[Ii]mpute.*fit_table"):
        checked(with_cells(value))


@pytest.mark.parametrize("fitting", [True, False])
def test_bad_cells_of_a_frame_are_refused_with_the_names_of_their_columns(fitting):
    frame = pd.DataFrame(with_cells(NAN, (2, 5)), columns=NAMES)
    with pytest.raises(InputError, match=r": sensor 2, sensor 5\..*[Ii]mpute"):
        check_rows(deepcopy(looked_at()), frame, fitting=fitting)


def test_bad_columns_are_listed_up_to_eight():
    with pytest.raises(InputError, match=r": 0, 1, 2, 3, 4, 5, 6, 7 and 8 more\."):
        checked(np.full((5, 16), NAN))


def test_none_in_a_frame_counts_as_missing():
    frame = pd.DataFrame(good_rows(), columns=list("abcdefgh")).astype(object)
    frame.loc[4, "b"] = None
    with pytest.raises(InputError, match=r"NaN.*: b\b.*[Ii]mpute"):
        checked(frame)


@pytest.mark.parametrize("value", [1e39, -1e300])
def test_numbers_too_large_for_float32_are_refused(value):
    with pytest.raises(InputError, match=r"beyond the range of float32.*rescale"):
        checked(with_cells(value))


@pytest.mark.parametrize(
    ("X", "error", "match"),
    [
        (good_rows() + 1j, ValueError, "[Cc]omplex"),
        (sparse.csr_array(good_rows()), TypeError, "(?s)[Ss]parse.*dense"),
        (np.empty((0, 3)), ValueError, "0 sample"),
        (np.empty((20, 0)), ValueError, "0 feature"),
        (np.arange(20.0), ValueError, "(?s)2D array.*1D array"),
        (np.zeros((10, 2, 2)), ValueError, "dim 3"),
    ],
    ids=["complex", "sparse", "no rows", "no columns", "a vector", "a cube"],
)
def test_what_is_no_table_of_numbers_is_refused(X, error, match):
    with pytest.raises(error, match=match):
        checked(X)


@pytest.mark.parametrize(
    "X",
    [
        pd.DataFrame({"x": range(20), "place": "here"}),
        pd.DataFrame({"day": pd.date_range("2026-01-01", periods=20)}),
        pd.DataFrame({"x": 1.0, "day": pd.date_range("2026-01-01", periods=20)}),
        pd.DataFrame({"at": [dt.datetime(2026, 1, 1)] * 20}, dtype=object),
        pl.DataFrame({"at": [dt.datetime(2026, 1, 1)] * 20, "x": range(20)}),
        pl.DataFrame({"day": [dt.date(2026, 1, 1)] * 20, "x": range(20)}),
        [[dt.datetime(2026, 1, 1), 1.0]] * 20,
    ],
    ids=["text", "days", "beside", "objects", "polars times", "polars days", "lists"],
)
def test_text_and_dates_are_refused_with_what_takes_them(X):
    with pytest.raises(InputError, match=r"detector takes numbers.*spadework\.fit_table"):
        checked(X)


def test_one_row_of_a_frame_is_refused_in_words():
    with pytest.raises(ValueError, match="single row"):
        checked(pd.DataFrame(good_rows(), columns=NAMES).iloc[0])


def test_columns_that_moved_are_named():
    frame = pd.DataFrame(good_rows(), columns=[NAMES[1], NAMES[0], *NAMES[2:]])
    with pytest.raises(InputError, match=r"same order; moved are sensor 0, sensor 1$"):
        check_rows(looked_at(), frame, fitting=False)


def test_a_table_in_which_no_row_differs_is_refused():
    refuse_constant(np.array([[1, 2], [1, 3]], np.float32))
    with pytest.raises(InputError, match="every column of X is constant"):
        refuse_constant(np.tile(np.float32([1, 2]), (20, 1)))


def test_a_column_that_float32_flattens_is_refused_in_fit_alone():
    X = good_rows()
    X[:, 2] = 1.7e9 + np.arange(len(X)) / 10
    flattened = "columns 2 differ only beyond the precision of float32"
    with pytest.raises(InputError, match=flattened):
        checked(X)
    assert check_rows(looked_at(), pd.DataFrame(X, columns=NAMES), fitting=False).size


def test_a_column_that_differs_by_rounding_is_constant():
    X = good_rows()
    X[:, 2] = np.where(np.arange(len(X)) % 2, 0.1 + 0.2, 0.3)
    assert np.ptp(checked(X)[:, 2]) == 0


# Labels


@pytest.mark.parametrize("n_labels", [10, 19, 21])
def test_labels_of_another_number_than_rows_are_refused_with_both(n_labels):
    with pytest.raises(LabelError, match=f"X has 20 rows, y has {n_labels} labels"):
        read_labels([-1] * n_labels, None, 20)


def test_labels_are_read_as_the_map_says():
    words = {"bad": 1, "ok": 0, "": -1}
    assert read_labels(list(words), words, 3).tolist() == [1, 0, -1]


def test_labels_in_one_column_are_taken_with_a_warning_and_in_two_refused():
    column = np.array([[1], [0], [-1]])
    with pytest.warns(DataConversionWarning, match="column-vector"):
        assert read_labels(column, None, 3).tolist() == [1, 0, -1]
    with pytest.raises(LabelError, match=r"\(3, 2\)"):
        read_labels(np.hstack([column, column]), None, 3)


@pytest.mark.parametrize("label", [1, 0])
def test_one_labeled_row_is_too_few(label):
    check_counts(np.array([label, label, -1]))
    with pytest.raises(LabelError, match="one labeled row is too few"):
        check_counts(np.array([label, -1, -1]))


def test_every_member_needs_an_unlabeled_row_if_there_is_one():
    few, none = (count_labels(np.array(each)) for each in ([1, 0, *[-1] * 4], [1, 0]))
    for sound in ((few, 4), (none, 5)):
        check_members(*sound)
    with pytest.raises(LabelError, match=r"4 unlabeled rows.*n_members=5"):
        check_members(few, 5)


# Parameters


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("voting", "plurality", "voting must be one of.*'plurality'"),
        ("scaling", None, "scaling must be one of.*None"),
        ("score_scale", "sqrt", "score_scale must be one of.*'sqrt'"),
        ("n_members", 2.5, "n_members must be a positive integer; got 2.5"),
        ("thresholds", "mean", "'bounded', 'matching', 'otsu'.*'mean'"),
        ("thresholds", (10, 50, 90), r"two percentiles.*\(10, 50, 90\)"),
        ("thresholds", (90, 10), "two percentiles"),
        ("thresholds", (-1, 90), "two percentiles"),
        ("thresholds", (10, NAN), "two percentiles"),
        ("thresholds", ("low", "high"), "two percentiles"),
        ("thresholds", 10, "two percentiles.*10"),
    ],
)
def test_a_parameter_of_a_detector_without_meaning_is_refused(name, value, match):
    with pytest.raises(InputError, match=match):
        check_parameters(SPADE(**{name: value}))


@pytest.mark.parametrize("rule", ["bounded", "matching", "otsu", (0, 100), [30, 30]])
def test_names_of_rules_and_pairs_of_percentiles_are_thresholds(rule):
    check_parameters(SPADE(thresholds=rule))


@pytest.mark.parametrize("threshold", ["high", None, [0.5], NAN])
def test_a_decision_threshold_is_auto_or_a_finite_number(threshold):
    for sound in ("auto", 0, -1.5, np.float32(0.5)):
        check_threshold(sound)
    with pytest.raises(InputError, match="threshold must be 'auto' or a number"):
        check_threshold(threshold)


@pytest.mark.parametrize("learner", ["tree", 5, None, ForestLearner])
def test_a_learner_is_named_or_an_object_that_learns(learner):
    known, given = {"forest": ForestLearner}, ForestLearner(n_trees=7)
    assert isinstance(named_or_given("forest", known), ForestLearner)
    assert named_or_given(given, known) is given
    with pytest.raises(InputError, match="learner must be 'forest' or a learner object"):
        named_or_given(learner, known)


def test_a_seed_a_generator_and_a_random_state_say_what_is_drawn():
    given = np.random.default_rng(0)
    assert new_generator(given) is given
    seeds = (7, 8, np.random.RandomState(7), np.random.RandomState(7))
    drawn = [new_generator(seed).random() for seed in seeds]
    assert drawn[0] == new_generator(7).random() != drawn[1]
    assert drawn[2] == drawn[3]


@pytest.mark.parametrize("seed", [-1, "zero"])
def test_a_seed_that_is_none_is_refused_by_the_name_of_its_parameter(seed):
    with pytest.raises(InputError, match="random_state must be"):
        new_generator(seed)
