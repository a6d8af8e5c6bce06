"""What every detector must do: ``check_*(make_detector)``, one claim each.

``make_detector(**parameters)`` returns an unfitted detector. It must take at least
``random_state`` and ``label_map``, and be seeded when none is given. Rows are those of a
table, unless ``make_detector.draw`` draws others, with the parameters of `mismatch_data`.
A row scores the same alone to 1e-5, or to ``make_detector.close``.
Fits are shared: whoever changes a fitted detector takes a copy.
"""

import pickle
from contextlib import contextmanager
from copy import deepcopy
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from mismatch import SETTINGS, in_setting, mismatch_data
from spadework.errors import InputError

METHODS = ("anomaly_score", "decision_function", "predict", "predict_proba")


def of_tables(check):
    """Mark a check that needs rows of numbers."""
    check.of_tables = True
    return check


def checks_of(make_detector):
    """Return the checks that a detector must pass."""
    takes_tables = draw_of(make_detector) is mismatch_data
    return [
        check
        for name, check in globals().items()
        if name.startswith("check_") and (takes_tables or not hasattr(check, "of_tables"))
    ]


def draw_of(make_detector):
    """Return what draws rows X, labels y and the truth for a detector."""
    return getattr(make_detector, "draw", mismatch_data)


def small_table(make_detector, seed=0):
    """150 rows X, or fewer where rows are large, and their labels y."""
    X, y, _ = draw_of(make_detector)(150, seed)
    return X, y


@contextmanager
def two_threads():
    """Let torch use two threads: sums come out a bit differently on one."""
    n_threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        yield
    finally:
        torch.set_num_threads(n_threads)


@cache
@two_threads()
def fitted(make_detector):
    """Fit on a small table, once for all checks that only look."""
    return make_detector().fit(*small_table(make_detector))


class Observed(NamedTuple):
    """A fit on columns stored one after another and a series, in a stirred world.

    Each pair holds what was before and what was after.
    """

    made: Any
    returned: Any
    parameters: tuple[Any, Any]
    inputs: tuple[Any, Any]
    world: tuple[Any, Any]


@cache
@two_threads()
def observed(make_detector):
    """Fit, and note all that a fit could change."""
    X, y = small_table(make_detector)
    X, y = np.asfortranarray(X), pd.Series(y)
    made = make_detector()
    np.random.seed(123)  # noqa: NPY002
    torch.manual_seed(123)
    before = _parameters(made), (X.tobytes(), y.to_list()), _world()
    returned = made.fit(X, y)
    for method in METHODS:
        getattr(made, method)(X)
    after = _parameters(made), (X.tobytes(), y.to_list()), _world()
    return Observed(made, returned, *zip(before, after, strict=True))


@cache
@two_threads()
def fitted_on_frames(make_detector):
    """Fit on the same table with named columns and labels, in pandas and in polars."""
    X, y = small_table(make_detector)
    labels = (pd.Series(y), pl.Series(y))
    return [
        (frame, make_detector().fit(frame, y))
        for frame, y in zip(frames(X), labels, strict=True)
    ]


def held_out_auc(make_detector, setting):
    """Fit on easy data in a setting, and return the AUC on fresh rows."""
    draw = draw_of(make_detector)
    X, y, _ = draw(400, seed=0, missed=0.0)
    fresh, _, truth = draw(400, seed=1, missed=0.0)
    detector = make_detector().fit(X, in_setting(y, setting))
    return roc_auc_score(truth, detector.anomaly_score(fresh))


def twin_blobs(n, seed, side):
    """Two equal round blobs, one normal and one anomalous: only labels can tell which.

    ``side`` is 1 or -1 and says where the anomalies are. The blobs have one size and
    one shape, and neither has the larger values (the shift goes up in two columns and
    down in two). What a detector prefers without labels, it prefers on both sides, so
    it comes out at an AUC of one half on average; one-class detectors are no exception.
    """
    X = np.random.default_rng(seed).normal(size=(n, 8))
    truth = np.repeat([0, 1], n // 2)
    X[:, :4] += side * np.outer(2 * truth - 1, [1.2, -1.2, 1.2, -1.2])
    return X, truth


def frames(X):
    """Name columns a, b, c ... in pandas and in polars."""
    names = [chr(ord("a") + column) for column in range(X.shape[1])]
    return pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)


def check_finds_easy_anomalies_from_both_kinds_of_labels(make_detector):
    assert held_out_auc(make_detector, "PNU") > 0.9


def check_finds_easy_anomalies_from_labeled_anomalies(make_detector):
    assert held_out_auc(make_detector, "PU") > 0.9


def check_finds_easy_anomalies_from_labeled_normals(make_detector):
    assert held_out_auc(make_detector, "NU") > 0.9


@of_tables
def check_learns_from_true_labels_and_nothing_from_shuffled_ones(make_detector):
    true, shuffled = [], []
    for side in (1, -1):
        X, truth = twin_blobs(200, 0, side)
        fresh, fresh_truth = twin_blobs(200, 100, side)
        noise = np.random.default_rng(0).permutation(truth)
        # Labels and their opposites: a lucky direction in one is unlucky in the other.
        for y, aucs in ((truth, true), (noise, shuffled), (1 - noise, shuffled)):
            detector = make_detector(label_map={1: 1, 0: 0})
            scores = detector.fit(X, y).anomaly_score(fresh)
            aucs.append(roc_auc_score(fresh_truth, scores))
    assert np.mean(true) > 0.9
    assert abs(np.mean(shuffled) - 0.5) < 0.1


def check_refit_forgets_the_earlier_fit(make_detector):
    X, y = small_table(make_detector, seed=1)
    X = X[:, :-1]
    refitted = deepcopy(fitted(make_detector)).fit(X, y)
    fresh = make_detector().fit(X, y)
    for method in METHODS:
        again, once = (getattr(each, method)(X) for each in (refitted, fresh))
        np.testing.assert_array_equal(again, once)
    assert refitted.threshold_ == fresh.threshold_


@of_tables
def check_refit_on_an_array_forgets_the_column_names(make_detector):
    _, on_frame = fitted_on_frames(make_detector)[0]
    detector = deepcopy(on_frame).fit(*small_table(make_detector))
    assert not hasattr(detector, "feature_names_in_")


def check_neither_layout_nor_series_nor_what_was_drawn_before_change_the_fit(
    make_detector,
):
    X, _ = small_table(make_detector)
    detector, again = fitted(make_detector), observed(make_detector).made
    np.testing.assert_array_equal(again.anomaly_score(X), detector.anomaly_score(X))
    assert again.threshold_ == detector.threshold_


def check_different_seeds_give_different_scores(make_detector):
    X, y = small_table(make_detector)
    other = make_detector(random_state=1).fit(X, y)
    assert (fitted(make_detector).anomaly_score(X) != other.anomaly_score(X)).any()


def check_inputs_are_left_unchanged(make_detector):
    before, after = observed(make_detector).inputs
    assert after == before


def check_fit_returns_the_detector_and_keeps_its_parameters(make_detector):
    fit = observed(make_detector)
    assert fit.returned is fit.made
    before, after = fit.parameters
    assert after == before


def check_global_random_state_and_threads_are_left_alone(make_detector):
    before, after = observed(make_detector).world
    assert after == before


def check_rows_in_any_layout_score_the_same(make_detector):
    X, _ = small_table(make_detector)
    detector = fitted(make_detector)
    expected = detector.anomaly_score(X)
    strided = np.repeat(X, 2, axis=1)[:, ::2]
    for stored in (np.asfortranarray(X), strided):
        np.testing.assert_array_equal(detector.anomaly_score(stored), expected)


def check_scores_are_finite_and_one_per_row(make_detector):
    X, _ = small_table(make_detector)
    scores = fitted(make_detector).anomaly_score(X)
    assert scores.shape == (len(X),)
    assert scores.dtype == np.float64
    assert np.isfinite(scores).all()


def check_scores_are_mostly_distinct(make_detector):
    X, _ = small_table(make_detector)
    assert len(np.unique(fitted(make_detector).anomaly_score(X))) > 20


def check_decision_function_is_the_score_above_the_threshold(make_detector):
    detector, (X, _) = fitted(make_detector), small_table(make_detector)
    expected = detector.anomaly_score(X) - detector.threshold_
    np.testing.assert_array_equal(detector.decision_function(X), expected)


def check_predictions_are_1_exactly_where_the_decision_is_positive(make_detector):
    detector, (X, _) = fitted(make_detector), small_table(make_detector)
    expected = (detector.decision_function(X) > 0).astype(int)
    np.testing.assert_array_equal(detector.predict(X), expected)
    assert set(detector.predict(X)) == {0, 1}
    np.testing.assert_array_equal(detector.classes_, [0, 1])


def check_probabilities_sum_to_one_and_rise_with_the_score(make_detector):
    detector, (X, _) = fitted(make_detector), small_table(make_detector)
    probabilities = detector.predict_proba(X)
    assert probabilities.shape == (len(X), 2)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    by_score = np.argsort(detector.anomaly_score(X))
    assert (np.diff(probabilities[by_score, 1]) >= 0).all()


def check_a_row_scores_the_same_alone_and_among_others(make_detector):
    detector, (X, _) = fitted(make_detector), small_table(make_detector)
    scores = detector.anomaly_score(X)
    order = np.random.default_rng(0).permutation(len(X))
    close = getattr(make_detector, "close", 1e-5)
    for rows in (order, order[:17], [5], slice(0, 1)):
        alone = detector.anomaly_score(X[rows])
        np.testing.assert_allclose(alone, scores[rows], rtol=close, atol=close)


@of_tables
def check_arrays_and_frames_give_equal_scores(make_detector):
    X, _ = small_table(make_detector)
    expected = fitted(make_detector).anomaly_score(X)
    for frame, detector in fitted_on_frames(make_detector):
        np.testing.assert_array_equal(detector.anomaly_score(frame), expected)
        assert list(detector.feature_names_in_) == list("abcdefgh")
        assert detector.n_features_in_ == 8


@of_tables
def check_renamed_columns_are_refused_by_name(make_detector):
    X, _ = small_table(make_detector)
    for frame, detector in fitted_on_frames(make_detector):
        names = ["height", *"bcdefgh"]
        renamed = type(frame)(dict(zip(names, X.T, strict=True)))
        with pytest.raises(ValueError, match=r"(?s)height.*\ba\b"):
            detector.anomaly_score(renamed)


@of_tables
def check_reordered_columns_are_refused_by_name(make_detector):
    for frame, detector in fitted_on_frames(make_detector):
        with pytest.raises(ValueError, match=r"(?s)order.*\ba\b"):
            detector.anomaly_score(frame[list("bacdefgh")])


@of_tables
def check_missing_columns_are_refused_by_name(make_detector):
    for frame, detector in fitted_on_frames(make_detector):
        with pytest.raises(ValueError, match=r"(?s)missing.*\bc\b"):
            detector.anomaly_score(frame[list("abdefgh")])


@of_tables
def check_wrong_width_is_refused_with_both_widths(make_detector):
    detector, (X, _) = fitted(make_detector), small_table(make_detector)
    for wrong in (X[:, :-1], np.hstack([X, X])):
        with pytest.raises(ValueError, match=rf"{wrong.shape[1]} features.*8 features"):
            detector.anomaly_score(wrong)


@two_threads()
def check_a_clone_is_unfitted_and_fits_the_same_on_read_only_arrays(make_detector):
    X, y = small_table(make_detector)
    X.flags.writeable = y.flags.writeable = False
    copy = clone(fitted(make_detector))
    assert not [name for name in vars(copy) if name.endswith("_")]
    expected = fitted(make_detector).anomaly_score(X)
    np.testing.assert_array_equal(copy.fit(X, y).anomaly_score(X), expected)


def check_a_pickled_detector_predicts_the_same(make_detector):
    detector, (X, _) = fitted(make_detector), small_table(make_detector)
    copy = pickle.loads(pickle.dumps(detector))
    for method in METHODS:
        expected = getattr(detector, method)(X)
        np.testing.assert_array_equal(getattr(copy, method)(X), expected)


def check_an_unfitted_detector_says_so(make_detector):
    X, y = small_table(make_detector)
    for method in METHODS:
        with pytest.raises(NotFittedError):
            getattr(make_detector(), method)(X)
    with pytest.raises(NotFittedError):
        make_detector().score(X, y)


def check_twelve_rows_are_learnt_from_or_refused_clearly(make_detector):
    draw = draw_of(make_detector)
    for setting in SETTINGS:
        X, y, _ = draw(12, seed=0, rate=0.4, labeled=0.4)
        try:
            detector = make_detector().fit(X, in_setting(y, setting))
        except InputError:
            continue
        assert np.isfinite(detector.anomaly_score(X)).all()


def check_duplicate_rows_score_the_same(make_detector):
    X, y, _ = draw_of(make_detector)(50, seed=0)
    n_rows = len(X)
    X, y = np.repeat(X, 3, axis=0), np.repeat(y, 3)
    scores = make_detector().fit(X, y).anomaly_score(X).reshape(n_rows, 3)
    assert np.isfinite(scores).all()
    first = scores[:, [0, 0, 0]]
    np.testing.assert_allclose(scores, first, rtol=1e-5, atol=1e-5)


@of_tables
def check_constant_columns_do_no_harm(make_detector):
    X, y = small_table(make_detector)
    n_distinct = len(np.unique(fitted(make_detector).anomaly_score(X)))
    X = np.hstack([np.full((len(X), 1), 7.0), X, np.zeros((len(X), 1))])
    scores = make_detector().fit(X, y).anomaly_score(X)
    assert np.isfinite(scores).all()
    assert len(np.unique(scores)) > n_distinct / 2


@of_tables
def check_float32_and_float64_agree_and_float32_is_left_unchanged(make_detector):
    X, y = small_table(make_detector)
    double = fitted(make_detector).anomaly_score(X)
    single = X.astype(np.float32)
    before = single.tobytes()
    scores = make_detector().fit(single, y).anomaly_score(single)
    np.testing.assert_allclose(scores, double, rtol=1e-5, atol=1e-5)
    assert single.tobytes() == before


def _parameters(detector):
    """Parameters as text."""
    return {name: repr(value) for name, value in detector.get_params().items()}


def _world():
    """Everything global that a fit could disturb."""
    return (
        str(np.random.get_state()),  # noqa: NPY002
        torch.random.get_rng_state().numpy().tobytes(),
        torch.get_num_threads(),
    )
