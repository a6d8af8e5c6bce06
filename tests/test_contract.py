"""Every detector keeps the contract of contract.py."""

import pytest

import contract
from spadework import SPADE, ForestLearner, NetworkLearner

SHORT = {
    "learner__max_epochs": 12,
    "learner__batch_size": 32,
    "learner__learning_rate": 0.01,
}


def forest(**parameters):
    return SPADE(learner=ForestLearner(n_trees=30), **{"random_state": 0, **parameters})


def network(**parameters):
    learner = NetworkLearner(warmup_epochs=2)
    detector = SPADE(learner=learner, **{"random_state": 0, **parameters})
    return detector.set_params(**SHORT)


# On some seeds the ReLU code of the published form dies and scores are constant.
def paper(**parameters):
    return SPADE.paper(**SHORT, **{"random_state": 4, **parameters})


def isolation_forest(**parameters):
    return forest(one_class="isolation_forest", n_members=2, **parameters)


def svm(**parameters):
    return forest(one_class="svm", **parameters)


DETECTORS = (forest, network, paper, isolation_forest, svm)
CHECKS = [check for name, check in vars(contract).items() if name.startswith("check_")]

# Nothing in the published form makes anomalies appear among the pseudo-labels.
LEFT_OUT = {(paper, contract.check_finds_easy_anomalies_from_labeled_normals)}


@pytest.mark.parametrize(
    ("make_detector", "check"),
    [
        pytest.param(make, check, id=f"{make.__name__}-{check.__name__[6:]}")
        for make in DETECTORS
        for check in CHECKS
        if (make, check) not in LEFT_OUT
    ],
)
def test_detector_keeps_the_contract(make_detector, check):
    check(make_detector)
