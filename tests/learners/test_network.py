"""Networks from different starts, averaged."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from mismatch import in_setting, mismatch_data
from spadework import SPADE, NetworkLearner
from spadework.errors import InputError
from spadework.learners.network import MAX_NETWORKS, ROW_BUDGET, NetworkModel


def fit(X, y, label_map=None, **parameters):
    short = {"n_networks": 1, "max_epochs": 3, "warmup_epochs": 1}
    learner = NetworkLearner(**{**short, **parameters})
    return SPADE(learner=learner, label_map=label_map, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def fitted():
    X, y, _ = mismatch_data(200, seed=0)
    X = X.astype(np.float32)
    return fit(X, y, n_networks=3), X


def alone(model, member):
    return NetworkModel((model.weights[member],), model.linear_code, model.scaler)


def test_the_score_is_the_mean_logit_of_all_networks(fitted):
    detector, X = fitted
    members = [alone(detector.model_, member).score(X) for member in range(3)]
    np.testing.assert_allclose(detector.anomaly_score(X), np.mean(members, axis=0))
    assert not np.allclose(members[0], members[1])


def test_codes_are_those_of_the_first_network(fitted):
    detector, X = fitted
    expected = alone(detector.model_, 0).represent(X)
    np.testing.assert_array_equal(detector.model_.represent(X), expected)


@pytest.mark.parametrize(
    ("n_rows", "expected"),
    [(10, MAX_NETWORKS), (ROW_BUDGET // 2, 2), (ROW_BUDGET, 1), (10 * ROW_BUDGET, 1)],
)
def test_large_tables_get_fewer_networks(n_rows, expected):
    assert NetworkLearner()._n_networks(n_rows) == expected
    assert NetworkLearner(n_networks=7)._n_networks(n_rows) == 7


def test_the_published_form_is_one_network():
    assert SPADE.paper().learner.n_networks == 1


def test_a_model_without_networks_is_refused(fitted):
    detector, _ = fitted
    with pytest.raises(InputError, match="at least one network"):
        NetworkModel((), linear_code=True, scaler=detector.model_.scaler)


@pytest.mark.parametrize("setting", ["PNU", "PU", "NU"])
def test_pseudo_labels_and_history_are_those_of_the_first_network(setting):
    X, y, _ = mismatch_data(200, seed=0)
    y = in_setting(y, setting)
    detector, first = (fit(X, y, n_networks=n_networks) for n_networks in (2, 1))
    found = detector.pseudo_labels_
    np.testing.assert_array_equal(found.votes, first.pseudo_labels_.votes)
    assert detector.history_ == first.history_
    again = detector.pseudo_label(X[y == -1])
    np.testing.assert_array_equal(again.labels, found.labels)


def test_without_unlabeled_rows_nothing_is_pseudo_labeled():
    X, _, truth = mismatch_data(60, seed=0)
    detector = fit(X, truth, label_map={1: 1, 0: 0})
    assert detector.pseudo_labels_ is detector.pseudo_labeler_ is None
    assert isinstance(detector.model_, NetworkModel)


def test_it_judges_no_labels_and_predicts_no_share(fitted):
    detector, _ = fitted
    assert detector.trust_ is detector.share_ is None
    assert not detector.model_.gives_log_odds


def test_long_training_finds_labeled_anomalies():
    X, y, _ = mismatch_data(300, seed=0, missed=0.0)
    fresh, _, truth = mismatch_data(300, seed=1, missed=0.0)
    detector = fit(X, y, max_epochs=30, batch_size=32, learning_rate=0.01)
    assert roc_auc_score(truth, detector.anomaly_score(fresh)) > 0.95


@pytest.mark.parametrize(
    "wrong",
    [
        {"alpha": -1},
        {"beta": np.inf},
        {"warmup_epochs": -3},
        {"patience": None},
        {"max_epochs": None},
        {"n_networks": 2.5},
        {"batch_size": 0},
        {"learning_rate": -1.0},
        {"device": "gpu0"},
    ],
)
def test_parameters_without_meaning_are_refused(wrong):
    (name,) = wrong
    X, y = (
        np.random.default_rng(0).normal(size=(40, 2)),
        np.repeat([1, 0, -1], [5, 5, 30]),
    )
    with pytest.raises(InputError, match=f"{name} must be"):
        SPADE(learner=NetworkLearner(**wrong)).fit(X, y)
