"""Held-out scores are measured with intervals that hold the truth."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn.metrics import (
    average_precision_score,
    precision_recall_curve,
    roc_auc_score,
)

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


@pytest.fixture(scope="module")
def measured_on_many():
    """Other scores of the same kind, fifty times as many."""
    scores, truth = made_scores(30_000, seed=1)
    return measure_performance(scores, truth, expit(scores), 1.0)


def test_measures_are_those_of_all_rows_and_lie_within_their_intervals(measured):
    scores, truth = made_scores()
    assert measured["measures"]["ROC AUC"][0] == pytest.approx(
        roc_auc_score(truth, scores)
    )
    assert measured["measures"]["average precision"][0] == pytest.approx(
        average_precision_score(truth, scores)
    )
    for value, low, high in measured["measures"].values():
        assert 0 <= low < value < high <= 1


def test_tied_scores_are_measured_as_scikit_learn_does():
    scores, truth = made_scores()
    scores = np.round(scores)
    measures = measure_performance(scores, truth, expit(scores), 1.0)["measures"]
    assert measures["ROC AUC"][0] == pytest.approx(roc_auc_score(truth, scores))
    expected = average_precision_score(truth, scores)
    assert measures["average precision"][0] == pytest.approx(expected)


def test_a_threshold_above_all_scores_calls_nothing_right():
    scores, truth = made_scores()
    measures = measure_performance(scores, truth, expit(scores), 99.0)["measures"]
    assert measures["precision"] == measures["recall"] == [0, 0, 0]


def test_rows_are_put_in_order_as_often_however_often_they_are_drawn(monkeypatch):
    n_sorted = []

    def counting(values, *given, **named):
        n_sorted[-1] += 1
        return argsort(values, *given, **named)

    argsort = np.argsort
    monkeypatch.setattr(np, "argsort", counting)
    scores, truth = made_scores()
    for n_resamples in (2, 20):
        monkeypatch.setattr("spadework.report.performance.N_RESAMPLES", n_resamples)
        n_sorted.append(0)
        measure_performance(scores, truth, expit(scores), 1.0)
    assert 0 < n_sorted[0] == n_sorted[1]


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


def test_curves_keep_their_shape_where_few_rows_decide():
    """All that precision tells is in a hundredth of the rows."""
    scores, truth = made_scores(20_000)
    rare = truth & (np.arange(20_000) % 40 == 0)
    found = measure_performance(scores + 5 * rare, rare, expit(scores), 1.0)
    recall, precision = np.array(found["precision_recall"]).T
    whole = precision_recall_curve(rare, scores + 5 * rare)
    expected = np.interp([0.3, 0.6, 0.9], whole[1][::-1], whole[0][::-1])
    assert np.interp([0.3, 0.6, 0.9], recall, precision) == pytest.approx(
        expected, abs=0.03
    )


def test_calibration_has_bins_where_anomalies_are_however_few_there_are():
    scores, truth = made_scores(20_000)
    rare = truth & (np.arange(20_000) % 100 == 0)
    probability = expit(8 * rare - 6 + 0.1 * scores)
    found = measure_performance(scores, rare, probability, 1.0)["calibration"]
    assert sum(mean > 0.5 for mean, *_ in found) >= 3


def test_errors_by_threshold_are_counted(measured):
    scores, truth = made_scores()
    at, missed, alarms = measured["errors"][100]
    assert missed == (truth & (scores <= at)).sum()
    assert alarms == (~truth & (scores > at)).sum()


def test_errors_are_exact_at_the_threshold_of_the_model(measured):
    scores, truth = made_scores()
    (at,) = [each for each in measured["errors"] if each[0] == 1.0]
    assert at[1] == (truth & (scores <= 1.0)).sum()
    assert at[2] == (~truth & (scores > 1.0)).sum()


def test_thresholds_lie_where_anomalies_are_however_few_there_are():
    scores, truth = made_scores(20_000)
    few = truth & (np.arange(20_000) % 100 == 0)
    found = measure_performance(scores, few, expit(scores), 1.0)
    missed = {each[1] for each in found["errors"]}
    assert len(missed) > 0.9 * few.sum()


def test_calibration_counts_every_row_once(measured):
    assert sum(n for _, _, n, _, _ in measured["calibration"]) == 600


def test_calibration_comes_with_intervals_that_are_narrower_with_more_rows(
    measured, measured_on_many
):
    for _, share, _, low, high in measured["calibration"]:
        assert 0 <= low <= share <= high <= 1
        assert low < high
    widths = [
        np.mean([high - low for *_, low, high in found["calibration"]])
        for found in (measured, measured_on_many)
    ]
    assert widths[1] < 0.2 * widths[0]


@pytest.mark.parametrize("name", ["roc", "precision_recall", "lift"])
def test_curves_of_other_rows_lie_in_the_bands(measured, measured_on_many, name):
    other = measured_on_many[name]
    at, low, high = np.array(measured["bands"][name]).T
    height = np.interp(at, *np.array(other).T)
    inside = (low - 0.02 <= height) & (height <= high + 0.02)
    assert inside.mean() > 0.9
    assert (low <= high).all()


@pytest.mark.parametrize("truth", [np.zeros(5, bool), np.ones(5, bool)])
def test_one_class_alone_cannot_be_measured(truth):
    with pytest.raises(LabelError, match="anomalies and normals"):
        measure_performance(np.arange(5.0), truth, np.full(5, 0.5), 0.0)
