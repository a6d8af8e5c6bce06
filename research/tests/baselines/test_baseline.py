"""The shell of all detectors: one threshold, one AUC, refusals that leave things be."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from mismatch import in_setting
from spadework.adapters import PyODAdapter
from spadework.core.matching import FALSE_ALARMS, match_threshold
from spadework.errors import InputError, LabelError
from spadework_research.baselines.baseline import classes_of, log_odds
from spadework_research.baselines.elkan_noto import WeightedElkanNoto
from spadework_research.baselines.one_class import OneClass
from spadework_research.baselines.srr import SRR


def test_the_threshold_of_pu_matches_labeled_anomalies_with_unlabeled_rows(table):
    X, y, _ = table
    y = in_setting(y, "PU")
    detector = SRR(random_state=0).fit(X, y)
    scores = detector.anomaly_score(X)
    expected = match_threshold(scores[y == 1], scores[y == -1], tail="upper")
    assert detector.threshold_ == expected


def test_without_labeled_anomalies_few_labeled_normals_lie_above_the_threshold(table):
    X, y, _ = table
    y = in_setting(y, "NU")
    detector = SRR(random_state=0).fit(X, y)
    normals = detector.anomaly_score(X)[y == 0]
    assert detector.threshold_ == np.quantile(normals, 1 - FALSE_ALARMS)


def test_a_threshold_that_is_given_is_taken(table):
    X, y, _ = table
    detector = SRR(threshold=-3, random_state=0).fit(X, y)
    assert detector.threshold_ == -3.0
    np.testing.assert_array_equal(detector.predict(X), detector.anomaly_score(X) > -3)


def test_score_is_the_auc_over_labeled_rows(table):
    X, y, _ = table
    detector = SRR(random_state=0).fit(X, y)
    known = y != -1
    scores = detector.anomaly_score(X)[known]
    assert detector.score(X, y) == roc_auc_score(y[known], scores)
    weight = np.linspace(1, 2, len(X))
    expected = roc_auc_score(y[known], scores, sample_weight=weight[known])
    assert detector.score(X, y, sample_weight=weight) == expected


def test_score_needs_rows_of_both_classes(table):
    X, y, _ = table
    detector = SRR(random_state=0).fit(X, y)
    with pytest.raises(InputError, match="labeled 1 and rows labeled 0"):
        detector.score(X, in_setting(y, "NU"))


def test_a_refused_setting_names_those_that_are_not_and_the_counts(table):
    X, y, _ = table
    with pytest.raises(LabelError, match=r"PNU, PU, PN only.* are NU .*51 normals"):
        WeightedElkanNoto().fit(X, in_setting(y, "NU"))


def test_a_fit_that_is_refused_leaves_the_earlier_one(table):
    X, y, _ = table
    detector = SRR(random_state=0).fit(X, y)
    before = dict(vars(detector))
    with pytest.raises(InputError):
        detector.set_params(threshold="high").fit(X[:, :3], y)
    detector.set_params(threshold="auto")
    assert vars(detector) == before


def test_unlabeled_rows_are_left_out_or_taken_for_normal():
    labels = np.array([1, 0, -1], dtype=np.int8)
    assert classes_of(labels, "ignore").tolist() == [1, 0, -1]
    assert classes_of(labels, "normal").tolist() == [1, 0, 0]
    assert labels.tolist() == [1, 0, -1]


@given(st.lists(st.floats(0, 1), min_size=1))
def test_log_odds_are_finite_and_keep_the_order(probabilities):
    odds = log_odds(np.sort(probabilities))
    assert np.isfinite(odds).all()
    assert (np.diff(odds) >= 0).all()


@given(st.floats(1e-9, 1 - 1e-9))
def test_log_odds_are_those_of_the_textbook(p):
    assert log_odds(np.array([p]))[0] == pytest.approx(np.log(p) - np.log1p(-p), abs=1e-6)


def test_any_baseline_can_be_adapted_to_pyod(table):
    X, y, _ = table
    adapter = PyODAdapter(OneClass(random_state=0)).fit(X, y)
    called = adapter.decision_scores_ > adapter.threshold_
    np.testing.assert_array_equal(adapter.labels_, called.astype(int))
