"""SPADE in the shape of PyOD's detectors, and its threshold in theirs."""

import numpy as np
import pytest
from pyod.models.ecod import ECOD
from pyod.models.knn import KNN
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from mismatch import in_setting, mismatch_data
from spadework import SPADE, NetworkLearner, TreeLearner
from spadework.adapters import PartialMatchingThreshold, PyODAdapter
from spadework.core.matching import FALSE_ALARMS, decide_threshold
from spadework.errors import InputError, LabelError

PYOD = (ECOD, KNN)


def small():
    return SPADE(learner=TreeLearner(n_trees=5), random_state=0)


@pytest.fixture(scope="module")
def adapter(table):
    X, y, _ = table
    return PyODAdapter(small()).fit(X, y)


# A PyOD detector


@pytest.mark.parametrize("setting", ["PNU", "PU", "NU"])
def test_scores_above_the_threshold_are_the_labels(table, setting):
    X, y, _ = table
    adapter = PyODAdapter(small()).fit(X, in_setting(y, setting))
    called = adapter.decision_scores_ > adapter.threshold_
    np.testing.assert_array_equal(adapter.labels_, called.astype(int))
    np.testing.assert_array_equal(adapter.predict(X), adapter.labels_)
    np.testing.assert_array_equal(adapter.decision_function(X), adapter.decision_scores_)
    assert set(np.unique(adapter.labels_)) == {0, 1}


def test_the_adapter_answers_as_its_detector(table, adapter):
    X, y, _ = table
    rows = mismatch_data(50, seed=1)[0]
    native = small().fit(X, y)
    np.testing.assert_array_equal(
        adapter.decision_function(rows), native.anomaly_score(rows)
    )
    np.testing.assert_array_equal(adapter.predict(rows), native.predict(rows))
    np.testing.assert_array_equal(adapter.predict_proba(rows), native.predict_proba(rows))
    assert adapter.threshold_ == native.threshold_


def test_the_adapter_has_what_a_pyod_detector_has_after_fit(table, adapter):
    X = table[0]
    reference = ECOD().fit(X)
    for name in ("decision_scores_", "labels_"):
        ours, theirs = getattr(adapter, name), getattr(reference, name)
        assert ours.shape == theirs.shape
        assert ours.dtype == theirs.dtype
    assert adapter.predict(X[:3]).dtype == reference.predict(X[:3]).dtype
    assert adapter.predict_proba(X[:3]).shape == reference.predict_proba(X[:3]).shape
    assert np.isscalar(adapter.threshold_)


def test_the_given_detector_is_left_unfitted(table):
    X, y, _ = table
    detector = small()
    PyODAdapter(detector).fit(X, y)
    assert not hasattr(detector, "threshold_")


def test_without_a_detector_it_is_spade(table):
    X, y, _ = table
    assert isinstance(PyODAdapter().fit(X, y).detector_, SPADE)


@pytest.mark.parametrize("detector", [LogisticRegression(), ECOD()])
def test_other_detectors_are_refused(table, detector):
    X, y, _ = table
    with pytest.raises(InputError, match=r"such as SPADE\(\); got"):
        PyODAdapter(detector).fit(X, y)


@pytest.mark.parametrize("method", ["decision_function", "predict", "predict_proba"])
def test_an_unfitted_adapter_says_so(table, method):
    with pytest.raises(NotFittedError):
        getattr(PyODAdapter(), method)(table[0])


# A thresholder


@pytest.mark.parametrize("kind", PYOD)
@pytest.mark.parametrize("setting", ["PNU", "PU", "NU"])
def test_pyod_takes_it_for_a_contamination(table, kind, setting):
    X, y, _ = table
    labels = in_setting(y, setting)
    detector = kind(contamination=PartialMatchingThreshold(labels)).fit(X)
    expected = decide_threshold(detector.decision_scores_, labels)
    assert detector.threshold_ == expected
    np.testing.assert_array_equal(
        detector.labels_, (detector.decision_scores_ > expected).astype(int)
    )
    rows = mismatch_data(80, seed=1)[0]
    np.testing.assert_array_equal(
        detector.predict(rows),
        (detector.decision_function(rows) > expected).astype(int),
    )
    assert np.isfinite(detector.predict_confidence(rows)).all()


@pytest.mark.parametrize("rate", [0.02, 0.3])
@pytest.mark.parametrize("seed", range(3))
def test_the_share_of_outliers_is_found_and_not_assumed(rate, seed):
    rng = np.random.default_rng(seed)
    truth = np.arange(1000) < 1000 * rate
    scores = rng.normal(size=1000) + 8.0 * truth
    labels = np.where(rng.random(1000) < 0.2, truth, -1)
    found = PartialMatchingThreshold(labels).fit(scores).labels_
    assert found.mean() == pytest.approx(rate, rel=0.2)


@pytest.mark.parametrize("setting", ["PNU", "PU", "NU"])
def test_it_finds_the_threshold_of_spade_on_the_scores_of_spade(table, setting):
    X, y, _ = table
    labels = in_setting(y, setting)
    learner = NetworkLearner(n_networks=1, max_epochs=2, warmup_epochs=1)
    detector = SPADE(learner=learner, random_state=0).fit(X, labels)
    scores = detector.anomaly_score(X)
    thresholder = PartialMatchingThreshold(labels).fit(scores)
    assert thresholder.threshold_ == pytest.approx(detector.threshold_, abs=1e-12)
    np.testing.assert_array_equal(thresholder.predict(scores), detector.predict(X))


def test_with_labeled_normals_alone_few_of_them_are_called(table):
    _, y, _ = table
    scores = np.random.default_rng(0).normal(size=len(y))
    labels = in_setting(y, "NU")
    thresholder = PartialMatchingThreshold(labels).fit(scores)
    expected = np.quantile(scores[labels == 0], 1 - FALSE_ALARMS)
    assert thresholder.threshold_ == expected


def test_fully_labeled_scores_have_a_threshold():
    scores = np.concatenate([np.arange(20.0), 100 + np.arange(5.0)])
    thresholder = PartialMatchingThreshold([0] * 20 + [1] * 5).fit(scores)
    assert 19 < thresholder.threshold_ < 100
    assert thresholder.labels_.tolist() == [0] * 20 + [1] * 5


def test_both_names_of_the_threshold_are_one(table):
    _, y, _ = table
    thresholder = PartialMatchingThreshold(y).fit(np.arange(float(len(y))))
    assert thresholder.thresh_ == thresholder.threshold_


def test_labels_may_be_words_and_a_clone_keeps_them(table):
    _, y, truth = table
    scores = truth + np.random.default_rng(0).normal(size=len(y))
    words = np.array(["normal", "anomaly", ""])[y].tolist()
    thresholder = clone(PartialMatchingThreshold(words)).fit(scores)
    assert thresholder.labels == words
    expected = PartialMatchingThreshold(y).fit(scores).threshold_
    assert thresholder.threshold_ == expected


def test_one_label_is_needed_for_each_score(table):
    _, y, _ = table
    with pytest.raises(LabelError, match=r"300 labels were given, and 4 scores"):
        PartialMatchingThreshold(y).fit([1.0, 2.0, 3.0, 4.0])


@pytest.mark.parametrize("labels", [[-1, -1, -1], [1, 1, 1], [1, 2, -1]])
def test_labels_that_say_nothing_are_refused(labels):
    with pytest.raises(LabelError):
        PartialMatchingThreshold(labels).fit([1.0, 2.0, 3.0])


@pytest.mark.parametrize(
    ("scores", "match"),
    [
        ([[1.0], [2.0], [3.0]], r"got shape \(3, 1\)"),
        ([1.0, np.nan, 3.0], "with NaN or infinity"),
        ([1.0, np.inf, 3.0], "with NaN or infinity"),
        ([], r"got shape \(0,\)"),
    ],
)
def test_scores_that_are_no_finite_column_are_refused(scores, match):
    thresholder = PartialMatchingThreshold([1, 0, -1])
    with pytest.raises(InputError, match=match):
        thresholder.fit(scores)
    thresholder.fit([3.0, 1.0, 2.0])
    with pytest.raises(InputError, match=match):
        thresholder.predict(scores)


def test_an_unfitted_thresholder_says_so():
    with pytest.raises(NotFittedError):
        PartialMatchingThreshold([1, 0, -1]).predict([1.0])
