"""One-class scores as readings: of all rows, and of labeled normals alone."""

import numpy as np
import pytest
from scipy.stats import ks_2samp
from sklearn.metrics import roc_auc_score

from labelers import new_labeler
from mismatch import in_setting, mismatch_data
from spadework import SPADE, ForestLearner
from spadework.core.scaling import fit_scaler
from spadework.core.trust import ONE_CLASS, UNLIKE_NORMAL
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework.learners.contract import Task
from spadework.learners.oddness import MIN_NORMALS, read_neighbours, read_one_class


def read(X, labels, one_class="gaussian"):
    """Readings by one-class classifiers, of all rows."""
    rng = np.random.default_rng(0)
    scaler = fit_scaler(X, "asinh", rng)
    how = new_labeler(one_class)
    fitted, _ = how.fit(scaler.transform(X), labels, rng)
    task = Task(X, labels, scaler, np.arange(len(X)), rng)
    return read_one_class(fitted.members, how.one_class, task)


def normal_rows(n, n_labeled, n_columns=20):
    X = np.random.default_rng(1).normal(size=(n, n_columns)).astype(np.float32)
    return X, np.where(np.arange(n) < n_labeled, NORMAL, UNLABELED).astype(np.int8)


@pytest.mark.parametrize(
    "one_class", ["gaussian", "neighbours", "isolation_forest", "svm"]
)
def test_labeled_normals_score_as_other_normal_rows_do(one_class):
    X, labels = normal_rows(900, 100)
    held_out = read(X, labels, one_class)[UNLIKE_NORMAL].held_out
    labeled, others = (held_out[labels == kind] for kind in (NORMAL, UNLABELED))
    assert ks_2samp(labeled, others).statistic < 0.2
    assert np.median(labeled) == pytest.approx(np.median(others), rel=0.25)


def test_rows_that_are_not_labeled_normal_are_scored_by_the_model_itself():
    X, labels = normal_rows(300, 50)
    scorer, held_out, _ = read(X, labels)[UNLIKE_NORMAL]
    unlabeled = labels == UNLABELED
    np.testing.assert_array_equal(held_out[unlabeled], scorer.score(X)[unlabeled])
    assert (held_out[~unlabeled] > scorer.score(X)[~unlabeled]).mean() > 0.9


def test_a_few_labeled_normals_have_no_one_class_classifier_of_their_own():
    X, labels = normal_rows(300, MIN_NORMALS)
    assert set(read(X, labels)) == {ONE_CLASS, UNLIKE_NORMAL}
    labels[0] = UNLABELED
    assert set(read(X, labels)) == {ONE_CLASS}


@pytest.mark.parametrize("setting", ["PNU", "NU"])
def test_being_unlike_labeled_normals_finds_what_lies_far_from_them(setting):
    X, y, _ = mismatch_data(600, seed=0)
    fresh, _, truth = mismatch_data(600, seed=1)
    everything = ["labels", "as_suspect"]
    aucs = []
    for readings in (everything, [*everything, "unlike_normal"]):
        learner = ForestLearner(readings=readings, n_trees=20)
        detector = SPADE(learner=learner, random_state=0).fit(X, in_setting(y, setting))
        aucs.append(roc_auc_score(truth, detector.anomaly_score(fresh)))
    assert aucs[1] > aucs[0]


def distances(X, labels):
    """Readings by distances, of all rows."""
    rng = np.random.default_rng(0)
    scaler = fit_scaler(X, "asinh", rng)
    return read_neighbours(Task(X, labels, scaler, np.arange(len(X)), rng))


@pytest.mark.parametrize("name", [ONE_CLASS, UNLIKE_NORMAL])
@pytest.mark.parametrize("n_rows", [80, 900])
def test_rows_that_distances_are_measured_to_score_as_new_rows_do(n_rows, name):
    X, labels = normal_rows(n_rows, n_rows // 2, n_columns=4)
    reading = distances(X, labels)[name]
    new = np.random.default_rng(2).normal(size=(900, 4)).astype(np.float32)
    fresh = reading.scorer.score(new)
    assert np.median(reading.held_out) == pytest.approx(np.median(fresh), rel=0.3)
    assert ks_2samp(reading.held_out, fresh).statistic < 0.25


@pytest.mark.parametrize(("n_columns", "n_normals"), [(10, 40), (40, 100), (40, 60)])
def test_labeled_normals_lie_no_nearer_to_others_than_new_rows_do(n_columns, n_normals):
    """Of many columns, axes of few rows would know these rows by heart."""
    X, labels = normal_rows(1_000, n_normals, n_columns=n_columns)
    held_out = distances(X, labels)[UNLIKE_NORMAL].held_out
    assert roc_auc_score(labels == UNLABELED, held_out) < 0.65


def test_no_distance_is_measured_to_a_labeled_anomaly():
    X, labels = normal_rows(200, 20, n_columns=3)
    X[-30:] += 50.0
    labels[-30:] = ANOMALY
    scorer, held_out, _ = distances(X, labels)[ONE_CLASS]
    assert held_out[labels == ANOMALY].min() > held_out[labels != ANOMALY].max()
    assert (scorer.score(X[-30:]) > held_out[:-30].max()).all()


def test_being_unlike_labeled_normals_is_a_distance_to_these_alone():
    X, labels = normal_rows(200, 40, n_columns=3)
    X[:20] -= 5.0  # labeled normals come in two clusters, some rows in a third
    X[100:130] += 5.0
    readings = distances(X, labels)
    third = np.isin(np.arange(200), np.arange(100, 130))
    aucs = {name: roc_auc_score(third, each.held_out) for name, each in readings.items()}
    assert aucs[UNLIKE_NORMAL] > 0.99 > aucs[ONE_CLASS]


@pytest.mark.parametrize("enough", [True, False])
def test_distances_are_read_where_one_class_scores_are(enough):
    X, labels = normal_rows(300, MIN_NORMALS if enough else MIN_NORMALS - 1)
    assert distances(X, labels).keys() == read(X, labels).keys()


@pytest.mark.parametrize("n_others", [1, 2, 3])
def test_distances_to_hardly_any_row_are_finite(n_others):
    X, labels = normal_rows(10, 0, n_columns=3)
    labels[n_others:] = ANOMALY
    assert np.isfinite(distances(X, labels)[ONE_CLASS].held_out).all()


def test_distances_see_what_lies_between_clusters():
    rng = np.random.default_rng(0)
    centres = np.array([[-3.0, 0.0], [3.0, 0.0], [0.0, 3.0], [0.0, -3.0]])
    truth = (np.arange(1_500) < 100).astype(int)
    X = rng.normal(size=(1_500, 2)) * 0.4
    X[truth == 0] += centres[rng.integers(4, size=1_400)]
    y = np.where((truth == 0) & (rng.random(1_500) < 0.1), 0, -1)
    readings = ["as_suspect", ONE_CLASS]
    found = [
        roc_auc_score(
            truth,
            SPADE(
                learner=ForestLearner(readings=readings, neighbours=neighbours),
                random_state=0,
            )
            .fit(X, y)
            .anomaly_score(X),
        )
        for neighbours in (False, True)
    ]
    assert found[1] > found[0] + 0.05
