"""Held-out scores are measured with intervals that hold the truth."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import average_precision_score, roc_auc_score

from spadework.errors import LabelError
from spadework.report.performance import measure_performance


def made_scores(n=600, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.2
    return rng.normal(2.0 * truth), truth


@pytest.fixture(scope="module")
def measured():
    scores, truth = made_scores()
    return measure_performance(scores, truth, expit(scores), 1.0)


def test_measures_are_those_of_all_rows_and_lie_within_their_intervals(measured):
    scores, truth = made_scores()
    assert measured["measures"]["ROC AUC"][0] == roc_auc_score(truth, scores)
    assert measured["measures"]["average precision"][0] == pytest.approx(
        average_precision_score(truth, scores)
    )
    for value, low, high in measured["measures"].values():
        assert 0 <= low < value < high <= 1


def test_precision_and_recall_are_those_at_the_threshold(measured):
    scores, truth = made_scores()
    called = scores > 1.0
    measures = measured["measures"]
    assert measures["precision"][0] == pytest.approx(truth[called].mean())
    assert measures["recall"][0] == pytest.approx(called[truth].mean())


def test_curves_start_and_end_where_they_must(measured):
    assert measured["roc"][0] == [0, 0]
    assert measured["roc"][-1] == [1, 1]
    assert measured["lift"][0] == [0, 0]
    assert measured["lift"][-1] == [1, 1]
    assert max(map(len, (measured["roc"], measured["lift"]))) <= 200


def test_errors_by_threshold_are_counted(measured):
    scores, truth = made_scores()
    at, missed, alarms = measured["errors"][100]
    assert missed == (truth & (scores <= at)).sum()
    assert alarms == (~truth & (scores > at)).sum()


def test_calibration_counts_every_row_once(measured):
    assert sum(n for _, _, n in measured["calibration"]) == 600


@pytest.mark.parametrize("truth", [np.zeros(5, bool), np.ones(5, bool)])
def test_one_class_alone_cannot_be_measured(truth):
    with pytest.raises(LabelError, match="anomalies and normals"):
        measure_performance(np.arange(5.0), truth, np.full(5, 0.5), 0.0)
