"""Every form of SPADE keeps the contract of contract.py."""

from functools import partial

import pytest
from sklearn.ensemble import IsolationForest
from threadpoolctl import threadpool_limits

import contract
from mismatch import in_setting, mismatch_data
from spadework import SPADE, ForestLearner, NetworkLearner
from spadework.errors import LabelError

SHORT = {
    "learner__max_epochs": 12,
    "learner__batch_size": 32,
    "learner__learning_rate": 0.01,
}


def forest(**parameters):
    return SPADE(learner=ForestLearner(), **{"random_state": 0, **parameters})


def network(**parameters):
    learner = NetworkLearner(n_networks=2, warmup_epochs=2)
    detector = SPADE(learner=learner, **{"random_state": 0, **parameters})
    return detector.set_params(**SHORT)


# On some seeds the ReLU code of the published form dies and scores are constant.
def paper(**parameters):
    return SPADE.paper(**SHORT, **{"random_state": 4, **parameters})


def isolation_forest(**parameters):
    return forest(one_class="isolation_forest", n_members=2, **parameters)


def neighbours(**parameters):
    return forest(one_class="neighbours", **parameters)


def svm(**parameters):
    return forest(one_class="svm", **parameters)


DETECTORS = {
    forest: ("PNU", "PU", "NU"),
    network: ("PNU", "PU", "NU"),
    paper: ("PNU", "PU", "NU"),
    isolation_forest: ("PNU", "PU", "NU"),
    neighbours: ("PNU", "PU", "NU"),
    svm: ("PNU", "PU", "NU"),
}
"""How detectors are made, and the settings they learn in."""

CHECKS = [check for name, check in vars(contract).items() if name.startswith("check_")]
FINDS = {
    "PNU": contract.check_finds_easy_anomalies_from_both_kinds_of_labels,
    "PU": contract.check_finds_easy_anomalies_from_labeled_anomalies,
    "NU": contract.check_finds_easy_anomalies_from_labeled_normals,
}
LEARNS = contract.check_learns_from_true_labels_and_nothing_from_shuffled_ones

LEFT_OUT = {
    # Nothing in the published form makes anomalies appear among the pseudo-labels.
    (paper, FINDS["NU"]),
}
LEFT_OUT |= {
    (make, FINDS[setting])
    for make, settings in DETECTORS.items()
    for setting in FINDS.keys() - set(settings)
}

# Steps and models: for how a detector behaves, and for what it learns.
STEPS = {
    "core.boosting.N_TREES": (8, 60),
    "core.perceptrons.STEPS": (10, 60),
    "learners.growing.MIN_TREES": (12, 30),
    "learners.growing.MAX_TREES": (12, 30),
    "learners.growing.MAX_WHOLE_TREES": (12, 30),
    "learners.linear.N_BAGS": (1, 3),
}


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Keep boosting from waiting for cores that are busy with other tests."""
    with threadpool_limits(1):
        yield


@pytest.fixture(autouse=True)
def small_models(request, monkeypatch):
    """Fewer trees, rounds and steps than the forest has, with steps that are longer."""
    checked = request.node.callspec.params.get("check")
    for name, (few, enough) in STEPS.items():
        n_steps = enough if checked in (LEARNS, *FINDS.values()) else few
        monkeypatch.setattr(f"spadework.{name}", n_steps)
    fewer_trees = partial(IsolationForest, n_estimators=20)
    monkeypatch.setattr("spadework.learners.one_class.IsolationForest", fewer_trees)


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


@pytest.mark.parametrize(
    ("make_detector", "setting"),
    [
        pytest.param(make, setting, id=f"{make.__name__}-{setting}")
        for make, settings in DETECTORS.items()
        for setting in ("PNU", "PU", "NU")
        if setting not in settings
    ],
)
def test_labels_that_a_detector_cannot_learn_from_are_refused_with_a_way_out(
    make_detector, setting
):
    X, y, _ = mismatch_data(100, seed=0)
    with pytest.raises(LabelError, match=r"[Ll]abel some|Give labels of the missing"):
        make_detector().fit(X, in_setting(y, setting))
