"""Labels that a fit has not seen tell how well a detector does, and how surely."""

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from mismatch import mismatch_data
from spadework import SPADE
from spadework.errors import InputError, LabelError
from spadework.evaluation import (
    SCENARIOS,
    Interval,
    compare_scenarios,
    cross_validate_labels,
    told_by_scenario,
)
from spadework.labels import STATED
from spadework.learners.trees import TreeLearner

ALONE = SPADE(learner=TreeLearner(pseudo_labels=False, n_trees=20), random_state=0)


@pytest.fixture(scope="module")
def data():
    return mismatch_data(600, 0, missed=0.0)


@pytest.fixture(scope="module")
def evaluation(data):
    X, y, _ = data
    return cross_validate_labels(ALONE, X, y, learning_curve=True, budgets=(0.05, 0.2))


class Remembers(SPADE):
    """Scores a row by its first column, and notes the labels of each fit."""

    seen: list

    def fit(self, X, y):
        type(self).seen.append(np.array(y))
        return self

    def anomaly_score(self, X):
        return np.asarray(X)[:, 0]


def test_every_label_is_hidden_once_and_shown_otherwise(data):
    X, y, _ = data
    Remembers.seen = []
    cross_validate_labels(Remembers(), X, y, n_folds=4)
    shown = np.array(Remembers.seen)
    assert len(shown) == 4
    labeled = y != -1
    assert ((shown[:, labeled] == -1).sum(axis=0) == 1).all()
    assert (shown[:, ~labeled] == -1).all()
    kept = shown[:, labeled] != -1
    assert (shown[:, labeled] == y[labeled])[kept].all()


def test_areas_and_recall_are_those_of_ranks_among_unlabeled_rows(data):
    X, y, _ = data
    Remembers.seen = []
    found = cross_validate_labels(Remembers(), X, y, budgets=(0.1,))
    score = X[:, 0]
    among_unlabeled = np.append(score[y == 1], score[y == -1])
    truth = np.append(np.ones((y == 1).sum()), np.zeros((y == -1).sum()))
    assert found.auc_unlabeled.value == pytest.approx(
        roc_auc_score(truth, among_unlabeled)
    )
    known = y != -1
    area = roc_auc_score(y[known], score[known])
    assert found.auc.value == pytest.approx(area, abs=0.02)  # ranks tie between normals
    top = np.quantile(score[y == -1], 0.9)
    assert found.recall[0.1].value == pytest.approx(
        (score[y == 1] > top).mean(), abs=0.02
    )


def test_an_evaluation_tells_what_unlabeled_truth_would(data, evaluation):
    X, y, truth = data
    fitted = SPADE(learner=ALONE.learner, random_state=0).fit(X, y)
    unlabeled = y == -1
    of_truth = roc_auc_score(truth[unlabeled], fitted.anomaly_score(X[unlabeled]))
    assert evaluation.auc.low - 0.02 <= of_truth <= evaluation.auc.high + 0.02


def test_at_least_as_many_top_rows_are_anomalies_as_labeled_ones_are_among_them(data):
    X, y, _ = data
    Remembers.seen = []
    found = cross_validate_labels(Remembers(), X, y, budgets=(0.1,))
    kept, score = y != 0, X[:, 0]
    top = score > np.quantile(score[y == -1], 0.9)
    naive = (y[kept] == 1)[top[kept]].sum() / (0.1 * kept.sum())
    assert found.least_precision[0.1] == pytest.approx(naive, abs=0.03)


def test_more_labels_gain_no_less_and_never_more_than_there_is_to_gain(evaluation):
    gains = [evaluation.gain(n) for n in (10, 100, 10_000)]
    assert gains == sorted(gains)
    assert all(0 <= gain <= 1 - list(evaluation.curve.values())[-1] for gain in gains)
    assert list(evaluation.curve) == sorted(evaluation.curve)
    assert "more labels of the same kind should gain" in str(evaluation)


def test_an_evaluation_is_plain_for_json(evaluation):
    plain = json.loads(json.dumps(evaluation.as_dict()))
    assert plain["auc_unlabeled"]["value"] == evaluation.auc_unlabeled.value
    assert set(plain["recall"]) == {"0.05", "0.2"}


@pytest.mark.parametrize("n_positive", [5, 20, 100])
@pytest.mark.parametrize("apart", [0.5, 1.5, 3.0])
def test_intervals_of_an_area_hold_the_truth_about_nine_times_of_ten(n_positive, apart):
    rng = np.random.default_rng(0)
    far = rng.normal(apart, 1, 10**5), rng.normal(0, 1, 10**5)
    truth = np.mean(far[0] > far[1])
    held = 0
    for _ in range(300):
        scores = np.append(rng.normal(apart, 1, n_positive), rng.normal(0, 1, 200))
        known = np.append(np.ones(n_positive), np.zeros(200))
        interval = Interval.of_auc(roc_auc_score(known, scores), n_positive, 200)
        held += interval.low <= truth <= interval.high
    assert 0.8 <= held / 300


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_intervals_of_a_share_hold_the_truth_about_nine_times_of_ten(share):
    drawn = np.random.default_rng(0).binomial(30, share, 500)
    intervals = [Interval.of_share(int(n), 30) for n in drawn]
    held = np.mean([each.low <= share <= each.high for each in intervals])
    assert 0.82 <= held <= 0.97


def test_a_perfect_ranking_of_few_rows_is_not_certain():
    few, many = (Interval.of_auc(1.0, n, 1000) for n in (3, 300))
    assert few.low < 0.95 < many.low
    assert few.high == many.high == 1.0


def test_positives_alone_are_evaluated_against_unlabeled_rows(data):
    X, y, _ = data
    found = cross_validate_labels(ALONE, X, np.where(y == 0, -1, y), n_folds=2)
    assert found.auc is None
    assert found.auc_unlabeled.value > 0.7


@pytest.mark.parametrize("labels", ["no anomaly", "one anomaly", "all labeled"])
def test_labels_that_tell_nothing_are_refused_with_the_remedy(data, labels):
    X, y, _ = data
    if labels == "all labeled":
        X, y = X[y != -1], y[y != -1]
    else:
        y = np.where(y == 1, -1, y)
        y[0] = 1 if labels == "one anomaly" else y[0]
    with pytest.raises(LabelError, match="compare_scenarios"):
        cross_validate_labels(clone(ALONE).set_params(label_map=STATED), X, y)


def test_budgets_beyond_all_rows_are_refused(data):
    with pytest.raises(InputError, match="between 0 and 1; got 2"):
        cross_validate_labels(ALONE, *data[:2], budgets=(2,))


def test_scenarios_are_compared_on_rows_that_did_not_train(data):
    X, _, truth = data
    found = compare_scenarios(ALONE, X, truth, n_seeds=1)
    assert list(found) == list(SCENARIOS)
    assert found["a random share"].auc > 0.7
    assert [line.split(":")[0] for line in told_by_scenario(found)] == list(SCENARIOS)


def test_scenarios_need_a_table_that_is_labeled_in_full(data):
    X, y, _ = data
    with pytest.raises(LabelError, match="cross_validate_labels"):
        compare_scenarios(ALONE, X, y)
