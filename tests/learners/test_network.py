"""Networks from different starts, averaged, and judged beside small networks."""

from functools import cache

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from mismatch import in_setting, mismatch_data
from spadework import SPADE, NetworkLearner
from spadework.core.neighbours import NearestNeighbours
from spadework.core.trust import AGREED, READINGS
from spadework.errors import InputError
from spadework.learners.blend import BlendedModel
from spadework.learners.directions import ScaledScorer
from spadework.learners.network import MAX_NETWORKS, ROW_BUDGET, NetworkModel
from spadework.learners.oddness import Oddness
from spadework.learners.perceptrons import Perceptrons


def fit(X, y, **parameters):
    short = {"n_networks": 1, "max_epochs": 3, "warmup_epochs": 1}
    learner = NetworkLearner(**{**short, **parameters})
    return SPADE(learner=learner, random_state=0).fit(X, y)


@pytest.fixture(scope="module")
def fitted():
    X, y, _ = mismatch_data(200, seed=0)
    X = X.astype(np.float32)
    return fit(X, y, n_networks=3, judge=False), X


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


def test_the_published_form_is_one_network_that_nothing_judges():
    assert SPADE.paper().learner.n_networks == 1
    assert not SPADE.paper().learner.judge


def test_a_model_without_networks_is_refused(fitted):
    detector, _ = fitted
    with pytest.raises(InputError, match="at least one network"):
        NetworkModel((), linear_code=True, scaler=detector.model_.scaler)


# Judged


@cache
def judged(setting):
    """Return a judged network in a setting, its rows and its labels."""
    X, y, _ = mismatch_data(200, seed=0)
    y = in_setting(y, setting)
    return fit(X, y), X, y


@pytest.mark.parametrize(
    ("setting", "readings"),
    [
        ("PNU", set(READINGS) - {AGREED}),
        ("PU", {"as_normal", "pseudo", "one_class"}),
        ("NU", {"as_suspect", "pseudo", "one_class", "unlike_normal"}),
    ],
)
def test_networks_are_judged_beside_every_reading_the_labels_allow(setting, readings):
    weights = judged(setting)[0].trust_.weights
    assert set(weights) == readings
    assert sum(weights.values()) == pytest.approx(1)


def test_linear_models_count_beside_small_networks_that_draw_few_rows():
    scorers = [reading.scorer for reading in judged("PNU")[0].model_.readings]
    assert any(isinstance(scorer, ScaledScorer) for scorer in scorers)


def test_small_networks_and_distances_stand_beside_algorithm_1():
    scorers = [reading.scorer for reading in judged("PU")[0].model_.readings]
    kinds = [type(scorer) for scorer in scorers]
    assert kinds.count(Perceptrons) == 2  # as_normal and pseudo
    assert NetworkModel in kinds
    members = [each.members for each in scorers if isinstance(each, Oddness)]
    assert any(isinstance(each, NearestNeighbours) for each in members)


def test_without_unlabeled_rows_there_is_nothing_to_judge():
    X, _, truth = mismatch_data(60, seed=0)
    learner = NetworkLearner(n_networks=1, max_epochs=3)
    detector = SPADE(learner=learner, label_map={1: 1, 0: 0}).fit(X, truth)
    assert detector.trust_ is None
    assert isinstance(detector.model_, NetworkModel)


def test_networks_whose_pseudo_labels_the_labels_contradict_do_not_count():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 6))
    truth = rng.random(400) < 0.1
    X[truth] *= 0.1  # what is labeled lies in the middle, where nothing is odd
    y = np.where(rng.random(400) < 0.5, truth.astype(int), -1)
    detector = fit(X, y)
    assert detector.trust_.agreement < 0.5
    assert detector.trust_.weights["pseudo"] == 0
    kept = [reading.scorer for reading in detector.model_.readings]
    assert not any(isinstance(scorer, NetworkModel) for scorer in kept)
    assert roc_auc_score(truth, detector.anomaly_score(X)) > 0.8


def test_pseudo_labels_of_judged_networks_are_those_of_the_features():
    detector, X, y = judged("PNU")
    assert isinstance(detector.model_, BlendedModel)
    again = detector.pseudo_label(X[y == -1])
    np.testing.assert_array_equal(again.labels, detector.pseudo_labels_.labels)
    expected = detector.model_.scaler.transform(X)
    np.testing.assert_array_equal(detector.model_.represent(X), expected)


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
