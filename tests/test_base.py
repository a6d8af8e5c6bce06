"""Whatever learns and scores is a detector, by one threshold and as others are used."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter

from mismatch import in_setting
from spadework.base import AnomalyDetector
from spadework.core.matching import decide_threshold
from spadework.errors import InputError, LabelError

WORDS = {"fraud": 1, "ok": 0, "?": -1}


class Distance(AnomalyDetector):
    """How far a row lies from the middle of a few rows that are drawn."""

    def __init__(self, *, threshold="auto", label_map=None, random_state=0):
        self.threshold = threshold
        self.label_map = label_map
        self.random_state = random_state

    def _learn(self, X, labels, rng):
        self.middle_ = rng.permutation(X[labels != 1])[:100].mean(axis=0)
        return self._score(X)

    def _score(self, X):
        return np.linalg.norm(X - self.middle_, axis=1).astype(np.float64)


class NeedsAnomalies(Distance):
    settings = ("PNU", "PU")


@pytest.fixture(scope="module")
def fitted(table):
    X, y, _ = table
    return Distance().fit(X, y)


@pytest.mark.parametrize("setting", ["PNU", "PU", "NU"])
def test_setting_and_census_follow_from_the_labels(table, setting):
    X, y, _ = table
    y = in_setting(y, setting)
    detector = Distance().fit(X, y)
    assert detector.setting_ == setting
    assert list(detector.census_) == [(y == label).sum() for label in (1, 0, -1)]


def test_a_setting_that_a_detector_cannot_learn_from_is_refused(table):
    X, y, _ = table
    assert NeedsAnomalies().fit(X, y).setting_ == "PNU"
    with pytest.raises(
        LabelError, match="in the settings PNU, PU only; the labels are NU"
    ):
        NeedsAnomalies().fit(X, in_setting(y, "NU"))


def test_an_unfitted_detector_says_so(table):
    for method in ("anomaly_score", "decision_function", "predict", "predict_proba"):
        with pytest.raises(NotFittedError):
            getattr(Distance(), method)(table[0])


# The decision threshold


@pytest.mark.parametrize("setting", ["PNU", "PU", "NU"])
def test_the_threshold_is_decided_on_the_scores_of_training_rows(table, setting):
    X, y, _ = table
    y = in_setting(y, setting)
    detector = Distance().fit(X, y)
    assert detector.threshold_ == decide_threshold(detector.anomaly_score(X), y)


@pytest.mark.parametrize("threshold", [0.25, 1, -3.5, np.float32(0.5)])
def test_a_given_threshold_is_used_as_it_is_and_does_not_change_scores(
    table, fitted, threshold
):
    X, y, _ = table
    detector = Distance(threshold=threshold).fit(X, y)
    scores = detector.anomaly_score(X)
    assert detector.threshold_ == threshold
    np.testing.assert_array_equal(detector.predict(X), scores > threshold)
    np.testing.assert_array_equal(scores, fitted.anomaly_score(X))


def test_belief_in_anomaly_is_one_half_at_the_threshold_and_rises_with_the_score(fitted):
    at = fitted.threshold_ + np.array([-1.0, 0.0, 1.0])
    below, half, above = fitted.to_probability(at)
    assert below == pytest.approx(1 - above)
    assert below < half == 0.5 < above


# Labels


def test_label_map_gives_the_same_fit_as_plain_labels(table, fitted):
    X, y, _ = table
    words = np.array(["ok", "fraud", "?"], dtype=object)[y]
    named = Distance(label_map=WORDS).fit(X, words)
    np.testing.assert_array_equal(named.anomaly_score(X), fitted.anomaly_score(X))
    assert named.score(X, words) == fitted.score(X, y)
    assert set(named.predict(X)) == {0, 1}


def test_label_map_can_say_that_zero_means_unlabeled(table):
    X, y, _ = table
    stated = Distance(label_map={1: 1, 0: -1}).fit(X, np.where(y == 1, 1, 0))
    plain = Distance().fit(X, in_setting(y, "PU"))
    assert stated.setting_ == "PU"
    np.testing.assert_array_equal(stated.anomaly_score(X), plain.anomaly_score(X))


def test_score_is_the_auc_over_labeled_rows(table, fitted):
    X, y, _ = table
    known = y != -1
    expected = roc_auc_score(y[known], fitted.anomaly_score(X[known]))
    assert fitted.score(X, y) == expected
    assert fitted.score(X[known], y[known]) == expected


def test_score_weighs_the_labeled_rows(table, fitted):
    X, y, truth = table
    weight = np.random.default_rng(0).random(len(y))
    expected = roc_auc_score(truth, fitted.anomaly_score(X), sample_weight=weight)
    assert fitted.score(X, truth, sample_weight=weight) == expected
    huge_where_unlabeled = np.where(y == -1, 1e9, 1.0)
    assert fitted.score(X, y, sample_weight=huge_where_unlabeled) == pytest.approx(
        fitted.score(X, y)
    )


def test_score_reads_every_label_that_fit_reads(table, fitted):
    X, y, _ = table
    words = np.array(["normal", "anomaly", "unlabeled"], dtype=object)[y]
    assert Distance().fit(X, words).score(X, words) == fitted.score(X, y)


def test_score_needs_both_classes(table, fitted):
    X, y, _ = table
    for kept in (y == 0, y == -1, y != 0):
        with pytest.raises(InputError, match=r"an AUC needs .*; got P?N?U?:? ?\d?"):
            fitted.score(X[kept], y[kept])


def test_score_says_what_a_label_map_leaves_of_the_labels(table):
    X, _, truth = table
    detector = Distance(label_map={1: 1, 0: -1}).fit(X, truth)
    with pytest.raises(InputError, match=r"0 normals.* as label_map reads it"):
        detector.score(X, truth)


def test_score_needs_a_label_and_a_weight_for_each_row(table, fitted):
    X, y, _ = table
    with pytest.raises(InputError, match=f"y must have a value .* {len(X)} rows, got"):
        fitted.score(X, y[:-1])
    with pytest.raises(InputError, match="sample_weight must have a value"):
        fitted.score(X, y, sample_weight=np.ones(3))


# What is drawn


@pytest.mark.parametrize("names", [["sample_weight"], ["sample_weight", "groups"]])
def test_fit_takes_rows_and_labels_alone_and_says_so(table, names):
    X, y, _ = table
    detector = Distance()
    before = dict(vars(detector))
    with pytest.raises(InputError, match=rf"got {', '.join(names)}, too.*label those -1"):
        detector.fit(X, y, **dict.fromkeys(names, np.ones(len(X))))
    assert vars(detector) == before
    assert not has_fit_parameter(detector, "sample_weight")


@pytest.mark.parametrize("random_state", [np.random.default_rng(0), None])
def test_with_a_generator_or_without_a_seed_fits_differ(table, random_state):
    X, y, _ = table
    detector = Distance(random_state=random_state)
    first = detector.fit(X, y).anomaly_score(X)
    assert (detector.fit(X, y).anomaly_score(X) != first).any()


def test_a_seed_repeats_the_fit(table, fitted):
    X, y, _ = table
    again = clone(fitted).fit(X, y)
    np.testing.assert_array_equal(again.anomaly_score(X), fitted.anomaly_score(X))


# scikit-learn's tools


def test_pipeline_with_a_scaler_scores_like_the_detector_on_scaled_rows(table):
    X, y, _ = table
    pipeline = make_pipeline(StandardScaler(), Distance()).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    expected = Distance().fit(scaled, y).decision_function(scaled)
    np.testing.assert_array_equal(pipeline.decision_function(X), expected)
    assert pipeline.score(X, y) > 0.9


def test_pipeline_with_an_imputer_takes_missing_values(table):
    X, y, _ = table
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    pipeline = make_pipeline(SimpleImputer(), Distance()).fit(holes, y)
    assert pipeline.score(holes, y) > 0.9
    assert np.isfinite(pipeline.predict_proba(holes)).all()


def test_cross_validation_by_auc_takes_fully_labeled_rows(table):
    X, _, truth = table
    detector = Distance(label_map={1: 1, 0: 0})
    scores = cross_val_score(
        detector, X, truth, scoring="roc_auc", cv=3, error_score="raise"
    )
    assert scores.min() > 0.9
