"""What every detector must do: ``check_*(make_detector)``, one claim each.

``make_detector(**parameters)`` returns an unfitted detector. It must take at least
``random_state`` and ``label_map``, and be seeded when none is given.
"""

import pickle
from functools import cache
from itertools import product

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


def small_table(seed=0):
    """150 rows X and their labels y."""
    X, y, _ = mismatch_data(150, seed)
    return X, y


@cache
def fitted(make_detector):
    """Fit on a small table, once for all checks that only look."""
    return make_detector().fit(*small_table())


@cache
def fitted_on_frames(make_detector):
    """Fit on the same table with named columns, in pandas and in polars."""
    X, y = small_table()
    return [(frame, make_detector().fit(frame, y)) for frame in frames(X)]


def held_out_auc(make_detector, setting):
    """Fit on easy data in a setting, and return the AUC on fresh rows."""
    X, y, _ = mismatch_data(400, seed=0, missed=0.0)
    fresh, _, truth = mismatch_data(400, seed=1, missed=0.0)
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


def check_learns_from_true_labels_and_nothing_from_shuffled_ones(make_detector):
    true, shuffled = [], []
    for seed, side in product(range(2), (1, -1)):
        X, truth = twin_blobs(200, seed, side)
        fresh, fresh_truth = twin_blobs(200, seed + 100, side)
        noise = np.random.default_rng(seed).permutation(truth)
        # Labels and their opposites: a lucky direction in one is unlucky in the other.
        for y, aucs in ((truth, true), (noise, shuffled), (1 - noise, shuffled)):
            detector = make_detector(random_state=seed, label_map={1: 1, 0: 0})
            scores = detector.fit(X, y).anomaly_score(fresh)
            aucs.append(roc_auc_score(fresh_truth, scores))
    assert np.mean(true) > 0.9
    assert abs(np.mean(shuffled) - 0.5) < 0.1


def check_refit_forgets_the_earlier_fit(make_detector):
    first, second = small_table(seed=0), small_table(seed=1)
    second = second[0][:, :-1], second[1]
    refitted = make_detector(random_state=0).fit(*first).fit(*second)
    fresh = make_detector(random_state=0).fit(*second)
    for method in METHODS:
        again, once = (getattr(each, method)(second[0]) for each in (refitted, fresh))
        np.testing.assert_array_equal(again, once)
    assert refitted.threshold_ == fresh.threshold_


def check_refit_on_an_array_forgets_the_column_names(make_detector):
    X, y = small_table()
    detector = make_detector().fit(frames(X)[0], y).fit(X, y)
    assert not hasattr(detector, "feature_names_in_")


def check_same_seed_repeats_to_the_bit(make_detector):
    X, y = small_table()
    one, two = (make_detector(random_state=3).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(one.anomaly_score(X), two.anomaly_score(X))
    assert one.threshold_ == two.threshold_


def check_different_seeds_give_different_scores(make_detector):
    X, y = small_table()
    one, two = (make_detector(random_state=seed).fit(X, y) for seed in (3, 4))
    assert (one.anomaly_score(X) != two.anomaly_score(X)).any()


def check_inputs_are_left_unchanged(make_detector):
    for dtype in (np.float32, np.float64):
        X, y = small_table()
        X = X.astype(dtype)
        before = X.tobytes(), y.tobytes()
        detector = make_detector().fit(X, y)
        for method in METHODS:
            getattr(detector, method)(X)
        assert (X.tobytes(), y.tobytes()) == before


def check_read_only_arrays_are_accepted(make_detector):
    X, y = small_table()
    X = X.astype(np.float32)
    X.flags.writeable = y.flags.writeable = False
    detector = make_detector().fit(X, y)
    for method in METHODS:
        getattr(detector, method)(X)


def check_memory_layout_does_not_matter(make_detector):
    X, y = small_table()
    expected = fitted(make_detector).anomaly_score(X)
    columns_first = np.asfortranarray(X)
    scores = make_detector().fit(columns_first, y).anomaly_score(columns_first)
    np.testing.assert_array_equal(scores, expected)
    strided = np.repeat(X, 2, axis=1)[:, ::2]
    np.testing.assert_array_equal(fitted(make_detector).anomaly_score(strided), expected)


def check_scores_are_finite_and_one_per_row(make_detector):
    X, _ = small_table()
    scores = fitted(make_detector).anomaly_score(X)
    assert scores.shape == (len(X),)
    assert scores.dtype == np.float64
    assert np.isfinite(scores).all()


def check_scores_are_mostly_distinct(make_detector):
    X, _ = small_table()
    assert len(np.unique(fitted(make_detector).anomaly_score(X))) > 20


def check_decision_function_is_the_score_above_the_threshold(make_detector):
    detector, (X, _) = fitted(make_detector), small_table()
    expected = detector.anomaly_score(X) - detector.threshold_
    np.testing.assert_array_equal(detector.decision_function(X), expected)


def check_predictions_are_1_exactly_where_the_decision_is_positive(make_detector):
    detector, (X, _) = fitted(make_detector), small_table()
    expected = (detector.decision_function(X) > 0).astype(int)
    np.testing.assert_array_equal(detector.predict(X), expected)
    assert set(detector.predict(X)) == {0, 1}
    np.testing.assert_array_equal(detector.classes_, [0, 1])


def check_probabilities_sum_to_one_and_rise_with_the_score(make_detector):
    detector, (X, _) = fitted(make_detector), small_table()
    probabilities = detector.predict_proba(X)
    assert probabilities.shape == (len(X), 2)
    assert ((probabilities >= 0) & (probabilities <= 1)).all()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    by_score = np.argsort(detector.anomaly_score(X))
    assert (np.diff(probabilities[by_score, 1]) >= 0).all()


def check_a_row_scores_the_same_alone_and_among_others(make_detector):
    detector, (X, _) = fitted(make_detector), small_table()
    scores = detector.anomaly_score(X)
    order = np.random.default_rng(0).permutation(len(X))
    for rows in (order, order[:17], [5], slice(0, 1)):
        alone = detector.anomaly_score(X[rows])
        np.testing.assert_allclose(alone, scores[rows], rtol=1e-5, atol=1e-5)


def check_arrays_and_frames_give_equal_scores(make_detector):
    X, _ = small_table()
    expected = fitted(make_detector).anomaly_score(X)
    for frame, detector in fitted_on_frames(make_detector):
        np.testing.assert_array_equal(detector.anomaly_score(frame), expected)
        assert list(detector.feature_names_in_) == list("abcdefgh")
        assert detector.n_features_in_ == 8


def check_labels_may_come_in_a_series(make_detector):
    X, y = small_table()
    expected = fitted(make_detector).anomaly_score(X)
    for series in (pd.Series(y), pl.Series(y)):
        scores = make_detector().fit(X, series).anomaly_score(X)
        np.testing.assert_array_equal(scores, expected)


def check_renamed_columns_are_refused_by_name(make_detector):
    X, _ = small_table()
    for frame, detector in fitted_on_frames(make_detector):
        names = ["height", *"bcdefgh"]
        renamed = type(frame)(dict(zip(names, X.T, strict=True)))
        with pytest.raises(ValueError, match=r"(?s)height.*\ba\b"):
            detector.anomaly_score(renamed)


def check_reordered_columns_are_refused_by_name(make_detector):
    for frame, detector in fitted_on_frames(make_detector):
        with pytest.raises(ValueError, match=r"(?s)order.*\ba\b"):
            detector.anomaly_score(frame[list("bacdefgh")])


def check_missing_columns_are_refused_by_name(make_detector):
    for frame, detector in fitted_on_frames(make_detector):
        with pytest.raises(ValueError, match=r"(?s)missing.*\bc\b"):
            detector.anomaly_score(frame[list("abdefgh")])


def check_wrong_width_is_refused_with_both_widths(make_detector):
    detector, (X, _) = fitted(make_detector), small_table()
    for wrong in (X[:, :-1], np.hstack([X, X])):
        with pytest.raises(ValueError, match=rf"{wrong.shape[1]} features.*8 features"):
            detector.anomaly_score(wrong)


def check_a_clone_is_unfitted_and_fits_the_same(make_detector):
    X, y = small_table()
    copy = clone(fitted(make_detector))
    assert not [name for name in vars(copy) if name.endswith("_")]
    expected = fitted(make_detector).anomaly_score(X)
    np.testing.assert_array_equal(copy.fit(X, y).anomaly_score(X), expected)


def check_a_pickled_detector_predicts_the_same(make_detector):
    detector, (X, _) = fitted(make_detector), small_table()
    copy = pickle.loads(pickle.dumps(detector))
    for method in METHODS:
        expected = getattr(detector, method)(X)
        np.testing.assert_array_equal(getattr(copy, method)(X), expected)


def check_an_unfitted_detector_says_so(make_detector):
    X, y = small_table()
    for method in METHODS:
        with pytest.raises(NotFittedError):
            getattr(make_detector(), method)(X)
    with pytest.raises(NotFittedError):
        make_detector().score(X, y)


def check_fit_returns_the_detector_and_keeps_its_parameters(make_detector):
    X, y = small_table()
    detector = make_detector()
    before = {name: repr(value) for name, value in detector.get_params().items()}
    assert detector.fit(X, y) is detector
    after = {name: repr(value) for name, value in detector.get_params().items()}
    assert after == before


def check_global_random_state_and_threads_are_left_alone(make_detector):
    X, y = small_table()
    n_threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        before = _global_state()
        make_detector().fit(X, y).predict_proba(X)
        assert _global_state() == before
    finally:
        torch.set_num_threads(n_threads)


def check_global_random_state_does_not_change_the_fit(make_detector):
    X, y = small_table()
    expected = fitted(make_detector).anomaly_score(X)
    np.random.seed(123)  # noqa: NPY002
    torch.manual_seed(123)
    scores = make_detector().fit(X, y).anomaly_score(X)
    np.testing.assert_array_equal(scores, expected)


def check_twelve_rows_are_learnt_from_or_refused_clearly(make_detector):
    for setting in SETTINGS:
        for seed in range(2):
            X, y, _ = mismatch_data(12, seed, rate=0.4, labeled=0.4)
            try:
                detector = make_detector().fit(X, in_setting(y, setting))
            except InputError:
                continue
            assert np.isfinite(detector.anomaly_score(X)).all()


def check_duplicate_rows_score_the_same(make_detector):
    X, y, _ = mismatch_data(50, seed=0)
    X, y = np.repeat(X, 3, axis=0), np.repeat(y, 3)
    scores = make_detector().fit(X, y).anomaly_score(X).reshape(50, 3)
    assert np.isfinite(scores).all()
    assert np.ptp(scores, axis=1).max() < 1e-5


def check_constant_columns_do_no_harm(make_detector):
    X, y = small_table()
    n_distinct = len(np.unique(fitted(make_detector).anomaly_score(X)))
    X = np.hstack([np.full((len(X), 1), 7.0), X, np.zeros((len(X), 1))])
    scores = make_detector().fit(X, y).anomaly_score(X)
    assert np.isfinite(scores).all()
    assert len(np.unique(scores)) > n_distinct / 2


def check_float32_and_float64_agree(make_detector):
    X, y = small_table()
    double = fitted(make_detector).anomaly_score(X)
    single = X.astype(np.float32)
    scores = make_detector().fit(single, y).anomaly_score(single)
    np.testing.assert_allclose(scores, double, rtol=1e-5, atol=1e-5)


def _global_state():
    """Everything global that a fit could disturb."""
    return (
        str(np.random.get_state()),  # noqa: NPY002
        torch.random.get_rng_state().numpy().tobytes(),
        torch.get_num_threads(),
    )
