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
from sklearn.exceptions import NotFittedError

from mismatch import mismatch_data
from spadework import SPADE, ForestLearner, NetworkLearner
from spadework.errors import InputError, LabelError

NAN, INF = float("nan"), float("inf")


def forest(**parameters):
    small = {"learner": ForestLearner(n_trees=5), "random_state": 0}
    return SPADE(**{**small, **parameters})


@cache
def fitted_forest():
    X, y, _ = mismatch_data(100, seed=9)
    return forest().fit(X, y)


def refuses(X, y, error, match, **parameters):
    """Check that fit refuses, on an unfitted detector and on a fitted one."""
    unfitted = forest(**parameters)
    with pytest.raises(error, match=match):
        unfitted.fit(X, y)
    good, _, _ = mismatch_data(100, seed=9)
    for method in ("predict", "anomaly_score", "predict_proba"):
        with pytest.raises(NotFittedError):
            getattr(unfitted, method)(good)
    fitted = deepcopy(fitted_forest())
    before, expected = dict(vars(fitted)), fitted.predict_proba(good)
    fitted.set_params(**parameters)
    with pytest.raises(error, match=match):
        fitted.fit(X, y)
    fitted.set_params(**{name: before[name] for name in parameters})
    assert vars(fitted) == before
    np.testing.assert_array_equal(fitted.predict_proba(good), expected)


def with_cell(value, row=3, column=2):
    """A good table with one bad cell, and its labels."""
    X, y, _ = mismatch_data(100, seed=0)
    X[row, column] = value
    return X, y


def good_table():
    X, y, _ = mismatch_data(100, seed=0)
    return X, y


# Cells


def test_nan_is_refused_with_the_number_of_its_column():
    refuses(*with_cell(NAN), InputError, r"(?s)NaN.*: 2\b.*[Ii]mpute")


@pytest.mark.parametrize("value", [INF, -INF])
def test_infinity_is_refused_with_the_number_of_its_column(value):
    refuses(*with_cell(value), InputError, r"(?s)infinity.*: 2\b.*[Ii]mpute")


@pytest.mark.parametrize("value", [NAN, INF])
def test_bad_cells_of_a_frame_are_refused_with_the_names_of_their_columns(value):
    X, y = with_cell(value)
    X[7, 5] = value
    frame = pd.DataFrame(X, columns=[f"sensor {i}" for i in range(8)])
    refuses(frame, y, InputError, r"(?s): sensor 2, sensor 5\..*[Ii]mpute")


def test_bad_columns_are_listed_up_to_eight():
    X, y = good_table()
    X = np.hstack([X, X])
    X[0] = NAN
    refuses(X, y, InputError, r": 0, 1, 2, 3, 4, 5, 6, 7 and 8 more\.")


def test_none_in_a_frame_counts_as_missing():
    X, y = good_table()
    frame = pd.DataFrame(X, columns=list("abcdefgh")).astype(object)
    frame.loc[4, "b"] = None
    refuses(frame, y, InputError, r"(?s)NaN.*: b\b.*[Ii]mpute")


def test_nan_is_refused_in_rows_to_score():
    X, y = good_table()
    detector = forest().fit(X, y)
    with pytest.raises(InputError, match=r"(?s)NaN.*: 2\b.*[Ii]mpute"):
        detector.predict(with_cell(NAN)[0])


@pytest.mark.parametrize("value", [1e39, -1e300])
def test_numbers_too_large_for_float32_are_refused(value):
    refuses(*with_cell(value), InputError, "beyond the range of float32.*rescale")


def test_text_in_a_matrix_is_refused():
    X, y = good_table()
    text = X.astype(object)
    text[0, 0] = "blue"
    refuses(text, y, ValueError, "blue")


def test_complex_numbers_are_refused():
    X, y = good_table()
    refuses(X + 1j, y, ValueError, "[Cc]omplex")


def test_sparse_matrices_are_refused():
    X, y = good_table()
    refuses(sparse.csr_array(X), y, TypeError, "(?s)[Ss]parse.*dense")


# Shapes


def test_an_empty_table_is_refused():
    refuses(np.empty((0, 3)), np.empty(0), ValueError, "0 sample")


def test_a_table_without_columns_is_refused():
    refuses(np.empty((100, 0)), good_table()[1], ValueError, "0 feature")


def test_a_vector_is_refused_as_a_table():
    refuses(np.arange(100.0), good_table()[1], ValueError, "(?s)2D array.*1D array")


def test_a_cube_is_refused_as_a_table():
    refuses(np.zeros((10, 2, 2)), [1, 0] * 5, ValueError, "dim 3")


def test_all_features_constant_is_refused():
    X = np.tile([1.0, 2.0], (100, 1))
    refuses(X, good_table()[1], InputError, "every column of X is constant")


def test_wrong_width_is_refused_in_rows_to_score():
    X, y = good_table()
    detector = forest().fit(X, y)
    with pytest.raises(ValueError, match=r"3 features.*8 features"):
        detector.predict(X[:, :3])


@pytest.mark.parametrize("n_labels", [99, 101])
def test_a_table_and_labels_of_different_length_are_refused_with_both(n_labels):
    X, y = good_table()
    labels = np.resize(y, n_labels)
    refuses(X, labels, LabelError, f"X has 100 rows, y has {n_labels}")


# Labels


def test_missing_labels_are_refused():
    refuses(good_table()[0], None, LabelError, "requires y")


def test_empty_labels_are_refused():
    refuses(good_table()[0], [], LabelError, "empty")


def test_labels_in_two_columns_are_refused():
    X, y = good_table()
    refuses(X, np.stack([y, y], axis=1), LabelError, r"\(100, 2\)")


@pytest.mark.parametrize("unknown", [2, -2, 0.5])
def test_unknown_numbers_as_labels_are_refused_by_name(unknown):
    X, y = good_table()
    y = y.astype(float)
    y[0] = unknown
    refuses(X, y, LabelError, rf"unknown label value {unknown}.*label_map")


def test_unknown_words_as_labels_are_refused_by_name():
    X, y = good_table()
    words = np.array(["ok", "fraud", ""], dtype=object)[y]
    refuses(X, words, LabelError, "unknown label value.*'fraud'.*label_map")


def test_labels_that_the_map_does_not_name_are_refused():
    X, y = good_table()
    mapping = {1: 1, -1: -1}
    refuses(X, y, LabelError, "no entry for 0", label_map=mapping)


def test_a_label_map_to_other_values_is_refused():
    X, y = good_table()
    mapping = {1: 2, 0: 0, -1: -1}
    refuses(X, y, LabelError, "must map to 1", label_map=mapping)


def test_only_zeros_and_ones_are_refused_without_a_statement():
    X, _, truth = mismatch_data(100, seed=0)
    refuses(X, truth, LabelError, "0 may mean 'normal' or 'not known'.*label_map")


def test_no_label_at_all_is_refused():
    refuses(good_table()[0], np.full(100, -1), LabelError, "no row is labeled")


@pytest.mark.parametrize(("label", "name"), [(1, "anomaly"), (0, "normal")])
def test_one_class_and_no_unlabeled_rows_are_refused(label, name):
    refuses(good_table()[0], np.full(100, label), LabelError, f"every row.*{name}")


@pytest.mark.parametrize("label", [1, 0])
def test_one_labeled_row_is_refused_as_too_few(label):
    y = np.full(100, -1)
    y[0] = label
    refuses(good_table()[0], y, LabelError, "one labeled row is too few")


def test_fewer_unlabeled_rows_than_members_are_refused():
    X, _, truth = mismatch_data(100, seed=0)
    y = truth.copy()
    y[:4] = -1
    refuses(X, y, LabelError, "4 unlabeled rows.*n_members=5")


# Parameters


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("voting", "plurality", "voting must be one of.*'plurality'"),
        ("voting", None, "voting must be one of.*None"),
        ("scaling", "standard", "scaling must be one of.*'standard'"),
        ("score_scale", "sqrt", "score_scale must be one of.*'sqrt'"),
        (
            "thresholds",
            "mean",
            "thresholds must be 'bounded', 'matching', 'otsu'.*'mean'",
        ),
        ("thresholds", (10,), r"thresholds must be.*two percentiles.*\(10,\)"),
        ("thresholds", (10, 50, 90), "thresholds must be.*two percentiles"),
        ("thresholds", (90, 10), "thresholds must be.*two percentiles"),
        ("thresholds", (-1, 90), "thresholds must be.*two percentiles"),
        ("thresholds", (10, 101), "thresholds must be.*two percentiles"),
        ("thresholds", (10, NAN), "thresholds must be.*two percentiles"),
        ("thresholds", ("low", "high"), "thresholds must be.*two percentiles"),
        ("thresholds", 10, "thresholds must be.*10"),
        ("thresholds", None, "thresholds must be.*None"),
        ("threshold", "high", "threshold must be 'auto' or a number.*'high'"),
        ("threshold", None, "threshold must be 'auto' or a number.*None"),
        ("threshold", [0.5], "threshold must be 'auto' or a number"),
        ("threshold", NAN, "threshold must be 'auto' or a number"),
        ("n_members", 0, "n_members must be a positive integer; got 0"),
        ("n_members", -3, "n_members must be a positive integer; got -3"),
        ("n_members", 2.5, "n_members must be a positive integer; got 2.5"),
        ("n_members", "5", "n_members must be a positive integer; got '5'"),
        ("learner", "tree", "learner must be 'forest', 'network'.*'tree'"),
        ("learner", 5, "learner must be 'forest', 'network'.*5"),
        ("learner", None, "learner must be 'forest', 'network'.*None"),
        ("learner", ForestLearner, "learner must be 'forest', 'network'"),
        ("one_class", "lof", "one_class must be 'gaussian'.*'lof'"),
        ("one_class", None, "one_class must be 'gaussian'.*None"),
        ("one_class", object(), "one_class must be 'gaussian'"),
    ],
)
def test_a_parameter_value_without_meaning_is_refused(name, value, match):
    refuses(*good_table(), InputError, match, **{name: value})


@pytest.mark.parametrize("device", ["gpu0", "cuda:99", "", 7])
def test_a_device_that_is_not_there_is_refused(device):
    learner = NetworkLearner(max_epochs=1, device=device)
    refuses(*good_table(), InputError, "device must be 'auto' or", learner=learner)


@pytest.mark.parametrize(
    ("learner", "name"),
    [
        (ForestLearner(n_trees=0), "n_trees"),
        (ForestLearner(n_trees=-1), "n_trees"),
        (ForestLearner(n_trees=5, anomaly_weight=-1.0), "anomaly_weight"),
        (ForestLearner(n_trees=5, normal_weight=NAN), "normal_weight"),
        (ForestLearner(n_trees=5, max_depth=0), "max_depth"),
        (ForestLearner(n_trees=5, min_samples_leaf=0), "min_samples_leaf"),
        (NetworkLearner(max_epochs=0), "max_epochs"),
        (NetworkLearner(max_epochs=None), "max_epochs"),
        (NetworkLearner(max_epochs=1, patience=None), "patience"),
        (NetworkLearner(max_epochs=1, learning_rate=None), "learning.rate"),
        (ForestLearner(n_trees=5, anomaly_weight="much"), "anomaly_weight"),
        (ForestLearner(n_trees=5, readings=5), "readings"),
        (NetworkLearner(n_networks=0), "n_networks"),
        (NetworkLearner(max_epochs=1, batch_size=0), "batch_size"),
        (NetworkLearner(max_epochs=1, learning_rate=-1.0), "learning.rate"),
    ],
    ids=str,
)
def test_a_learner_parameter_without_meaning_is_refused(learner, name):
    refuses(*good_table(), ValueError, name, learner=learner)


# Precision


def unix_times():
    """A good table whose third column holds the seconds of a year, and its labels."""
    X, y = good_table()
    X[:, 2] = 1.7e9 + np.arange(len(X)) * 3e5
    return X, y


def test_a_column_that_float32_flattens_is_refused_in_fit():
    X, y = good_table()
    X[:, 2] = 1.7e9 + np.arange(len(X)) / 10
    refuses(X, y, InputError, "columns 2 differ only beyond the precision of float32")


def test_a_column_that_differs_by_rounding_is_constant():
    X, y = good_table()
    X[:, 2] = np.where(np.arange(len(X)) % 2, 0.1 + 0.2, 0.3)
    assert np.isfinite(forest().fit(X, y).anomaly_score(X)).all()


def test_rows_that_lie_close_are_scored_together_as_alone():
    X, y = unix_times()
    detector = forest().fit(X, y)
    close = X[[0, 0]]
    close[1, 2] += 1
    alone = [detector.anomaly_score(row[None])[0] for row in close]
    np.testing.assert_array_equal(detector.anomaly_score(close), alone)


def test_text_is_refused_with_what_takes_it():
    X, y = good_table()
    table = pd.DataFrame(X).assign(place="here")
    table.columns = table.columns.astype(str)
    refuses(table, y, InputError, "a detector takes numbers.*spadework.fit_table")


@pytest.mark.parametrize("beside", [True, False])
def test_dates_are_refused_with_a_way_out(beside):
    X, y, _ = mismatch_data(60, seed=0)
    dates = pd.DataFrame({"day": pd.date_range("2026-01-01", periods=60)})
    table = dates.assign(x=X[:, 0]) if beside else dates
    with pytest.raises(InputError, match="fit_table"):
        SPADE().fit(table, y)


@pytest.mark.parametrize("seed", [-1, "zero"])
def test_a_seed_that_is_none_is_refused_by_the_name_of_its_parameter(seed):
    X, y, _ = mismatch_data(60, seed=0)
    with pytest.raises(InputError, match="random_state must be"):
        SPADE(random_state=seed).fit(X, y)


def test_parameters_of_a_learner_by_name_can_be_set():
    assert SPADE().set_params(learner__n_trees=7).learner.n_trees == 7
    network = SPADE().set_params(learner="network", learner__n_networks=2)
    assert network.learner.n_networks == 2


@pytest.mark.parametrize(
    "dates",
    [
        pl.DataFrame({"at": [dt.datetime(2026, 1, 1)] * 60, "x": range(60)}),
        pl.DataFrame({"day": [dt.date(2026, 1, 1)] * 60, "x": range(60)}),
        pd.DataFrame({"at": [dt.datetime(2026, 1, 1)] * 60}, dtype=object),
        [[dt.datetime(2026, 1, 1), 1.0]] * 60,
    ],
    ids=["polars times", "polars days", "objects", "lists"],
)
def test_dates_of_any_kind_are_refused(dates):
    refuses(dates, [1, 0, -1] * 20, InputError, "fit_table")


def test_one_row_of_a_frame_is_refused_in_words():
    frame = pd.DataFrame(mismatch_data(100, seed=9)[0])
    with pytest.raises(ValueError, match="single row"):
        fitted_forest().predict(frame.iloc[0])


def test_a_table_of_arrow_is_taken_as_numbers():
    X, y, _ = mismatch_data(100, seed=9)
    table = pa.table({f"c{at}": column for at, column in enumerate(X.T)})
    scores = forest().fit(table, y).anomaly_score(table)
    np.testing.assert_array_equal(scores, forest().fit(X, y).anomaly_score(X))


def test_ragged_labels_are_refused_in_words():
    X, _, _ = mismatch_data(60, seed=9)
    refuses(X, [[1], [1, 2]] * 30, LabelError, "one value per row")


def test_labels_of_another_length_are_refused_by_their_number():
    X, _, _ = mismatch_data(100, seed=9)
    refuses(X, [-1] * 10, LabelError, "X has 100 rows, y has 10 labels")
