"""Every baseline keeps the contract that SPADE keeps."""

from functools import partial

import pytest
from sklearn.ensemble import IsolationForest
from threadpoolctl import threadpool_limits

import contract
from mismatch import in_setting, mismatch_data
from spadework.errors import LabelError
from spadework_research.baselines import classifiers
from spadework_research.baselines.bagging_pu import BaggingPU
from spadework_research.baselines.dann import DANN
from spadework_research.baselines.deep_sad import DeepSAD
from spadework_research.baselines.devnet import DevNet
from spadework_research.baselines.elkan_noto import WeightedElkanNoto
from spadework_research.baselines.one_class import OneClass
from spadework_research.baselines.self_training import SelfTraining
from spadework_research.baselines.srr import SRR
from spadework_research.baselines.supervised import Supervised
from spadework_research.baselines.vime import VIME
from spadework_research.baselines.xgbod import XGBOD


def supervised(**parameters):
    return Supervised(classifier="tuned_forest", **{"random_state": 0, **parameters})


def negative_supervised(**parameters):
    return Supervised(unlabeled="normal", **{"random_state": 0, **parameters})


def xgboost(**parameters):
    return negative_supervised(classifier="xgboost", **parameters)


def catboost(**parameters):
    return Supervised(classifier="catboost", **{"random_state": 0, **parameters})


def occ(**parameters):
    return OneClass(**{"random_state": 0, **parameters})


def negative_occ(**parameters):
    model = {"model": "isolation_forest", "unlabeled": "normal"}
    return OneClass(**model, **{"random_state": 0, **parameters})


def srr(**parameters):
    return SRR(**{"random_state": 0, **parameters})


def elkan_noto(**parameters):
    return WeightedElkanNoto(**{"random_state": 0, **parameters})


def bagging_pu(**parameters):
    return BaggingPU(n_bags=20, **{"random_state": 0, **parameters})


def bagging_pu_all(**parameters):
    return BaggingPU(bag="all", n_bags=10, **{"random_state": 0, **parameters})


def self_training(**parameters):
    return SelfTraining(**{"random_state": 0, **parameters})


def xgbod(**parameters):
    return XGBOD(**{"random_state": 0, **parameters})


def vime(**parameters):
    return VIME(**{"random_state": 0, **parameters})


def dann(**parameters):
    return DANN(**{"random_state": 0, **parameters})


def deep_sad(**parameters):
    return DeepSAD(**{"random_state": 0, **parameters})


def devnet(**parameters):
    return DevNet(**{"random_state": 0, **parameters})


DETECTORS = {
    supervised: ("PNU",),
    negative_supervised: ("PNU", "PU"),
    xgboost: ("PNU", "PU"),
    catboost: ("PNU",),
    occ: ("PNU", "NU"),
    negative_occ: ("PNU", "PU", "NU"),
    srr: ("PNU", "PU", "NU"),
    elkan_noto: ("PNU", "PU"),
    bagging_pu: ("PNU", "PU"),
    bagging_pu_all: ("PNU", "PU"),
    self_training: ("PNU",),
    xgbod: ("PNU",),
    vime: ("PNU",),
    dann: ("PNU",),
    deep_sad: ("PNU", "PU", "NU"),
    devnet: ("PNU", "PU"),
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
    # A Gaussian draws nothing, and neither does XGBoost as it comes.
    (occ, contract.check_different_seeds_give_different_scores),
    (xgboost, contract.check_different_seeds_give_different_scores),
    # Their trees grow to pure leaves and agree on most rows: scores are counts of votes.
    (negative_supervised, contract.check_scores_are_mostly_distinct),
    (bagging_pu, contract.check_scores_are_mostly_distinct),
    (bagging_pu_all, contract.check_scores_are_mostly_distinct),
    # Boosting on 32 labeled rows splits once or twice, on columns that no seed changes.
    (xgbod, contract.check_scores_are_mostly_distinct),
    (xgbod, contract.check_different_seeds_give_different_scores),
}
LEFT_OUT |= {
    (make, FINDS[setting])
    for make, settings in DETECTORS.items()
    for setting in FINDS.keys() - set(settings)
}

COLLAPSES = (deep_sad, FINDS["NU"])

# Steps: for how a detector behaves, and for what it learns.
STEPS = {
    "vime.N_PRETRAINING": (4, 10),
    "vime.N_STEPS": (4, 60),
    "dann.N_STEPS": (8, 40),
    "deep_sad.N_PRETRAINING": (8, 20),
    "deep_sad.N_STEPS": (8, 100),
    "devnet.N_STEPS": (8, 60),
}


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Keep boosting from waiting for cores that are busy with other tests."""
    with threadpool_limits(1):
        yield


@pytest.fixture(autouse=True)
def small_models(request, monkeypatch):
    """Fewer trees and steps than baselines have, with steps that are longer."""
    checked = request.node.callspec.params.get("check")
    # On labeled normals alone, Deep SAD's code collapses when steps are long.
    if (request.node.callspec.params.get("make_detector"), checked) != COLLAPSES:
        for name, (few, enough) in STEPS.items():
            n_steps = enough if checked in (LEARNS, *FINDS.values()) else few
            monkeypatch.setattr(f"spadework_research.baselines.{name}", n_steps)
        monkeypatch.setattr("spadework_research.baselines.deep.LEARNING_RATE", 0.01)
    for name, size in {
        "random_forest": {"n_estimators": 20},
        "tuned_forest": {"n_estimators": 20},
        "boosting": {"max_iter": 20},
        "xgboost": {"n_estimators": 20},
        "catboost": {"n_estimators": 20},
    }.items():
        full = classifiers.CLASSIFIERS[name]
        small = partial(_made_smaller, full, size)
        monkeypatch.setitem(classifiers.CLASSIFIERS, name, small)
    fewer_trees = partial(IsolationForest, n_estimators=20)
    monkeypatch.setattr("spadework.learners.one_class.IsolationForest", fewer_trees)


def _made_smaller(make, size, *given):
    return make(*given).set_params(**size)


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
