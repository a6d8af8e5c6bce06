"""Trees learn the readings that are wanted and allowed, and nothing else counts."""

from functools import cache
from unittest import mock

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from labelers import new_labeler
from mismatch import in_setting, mismatch_data
from spadework import ForestLearner
from spadework.core.scaling import fit_scaler
from spadework.core.trees import MAX_DEPTH, FlatForest
from spadework.core.trust import (
    AGREED,
    AS_NORMAL,
    AS_SUSPECT,
    LABELS,
    ONE_CLASS,
    PSEUDO,
    READINGS,
    UNLIKE_NORMAL,
)
from spadework.core.weighing import AGREED_SHARE
from spadework.errors import InputError
from spadework.learners.growing import Grower
from spadework.learners.oddness import Oddness

FEW = {"n_trees": 5, "linear": False, "boosted": False, "whole": False}
"""Few trees, and no models beside them."""


def rows(n=300, seed=0):
    X, y, truth = mismatch_data(n, seed)
    return X.astype(np.float32), y.astype(np.int8), truth


def learn(X, labels, **parameters):
    """Learn from rows with a seed."""
    rng = np.random.default_rng(0)
    scaler, learner = fit_scaler(X, "asinh", rng), ForestLearner(**parameters)
    return learner.learn(X, labels, scaler, new_labeler(), rng, verbose=False)


@cache
def learnt(setting):
    X, y, truth = rows()
    labels = truth.astype(np.int8) if setting == "PN" else in_setting(y, setting)
    return learn(X, labels, **FEW)


@pytest.mark.parametrize(
    ("setting", "readings"),
    [
        ("PNU", set(READINGS) - {AGREED}),
        ("PU", {AS_NORMAL, PSEUDO, ONE_CLASS}),
        ("NU", {AS_SUSPECT, ONE_CLASS, UNLIKE_NORMAL, AGREED}),
        ("PN", {LABELS}),
    ],
)
def test_the_labels_decide_which_readings_are_weighed(setting, readings):
    weights = learnt(setting).trust.weights
    assert set(weights) == readings
    assert sum(weights.values()) == pytest.approx(1)


def test_what_readings_agree_on_takes_the_place_of_pseudo_labels_in_nu():
    trust = learnt("NU").trust
    assert 0.2 < trust.weights[AGREED] <= AGREED_SHARE / (1 + AGREED_SHARE)
    assert f"at weight {trust.weights[AGREED]:.2f}" in trust.verdict


@pytest.mark.parametrize(
    "without",
    [{"readings": [name for name in READINGS if name != AGREED]}, {"judge": False}],
)
def test_without_what_readings_agree_on_pseudo_labels_are_learnt_in_nu(without):
    X, y, _ = rows()
    weights = learn(X, in_setting(y, "NU"), **FEW, **without).trust.weights
    assert weights[PSEUDO] > 0
    assert AGREED not in weights


def test_readings_that_are_not_judged_all_count_the_same():
    X, y, _ = rows()
    weights = learn(X, y, **FEW, judge=False).trust.weights
    assert weights == pytest.approx(dict.fromkeys(weights, 1 / 6))


def test_without_unlabeled_rows_nothing_is_pseudo_labeled():
    assert learnt("PN").pseudo_labels is None
    assert learnt("PN").pseudo_labeler is None
    assert learnt("PN").history[0]["pseudo_normals"] == 0


def test_history_counts_pseudo_labels_and_trees():
    X, y, _ = rows()
    grow = {"autospec": True, "side_effect": Grower.grow_whole}
    with mock.patch.object(Grower, "grow_whole", **grow) as grown:
        found = learn(X, y, **(FEW | {"whole": True}))
    n_whole = grown.call_count
    assert n_whole > 0
    assert found.history == [
        {
            "pseudo_anomalies": (found.pseudo_labels.labels == 1).sum(),
            "pseudo_normals": (found.pseudo_labels.labels == 0).sum(),
            "n_trees": (4 + n_whole) * 5,  # of four readings, and to the last row
        }
    ]


def test_every_row_of_a_small_table_has_a_score_that_is_not_of_what_learnt_from_it():
    X, _, _ = rows()
    found = learnt("PNU")
    assert np.isfinite(found.train_scores).all()
    assert not np.allclose(found.train_scores, found.model.score(X))


def test_without_models_beside_them_trees_and_one_class_classifiers_score():
    X, y, _ = rows()
    found = learn(X, y, **FEW, neighbours=False)
    scorers = [each.scorer for each in found.model.readings]
    assert {type(each) for each in scorers} == {FlatForest, Oddness}
    assert len(scorers) == sum(weight > 0 for weight in found.trust.weights.values())


def test_trees_on_labels_alone_learn_nothing_from_unlabeled_rows():
    X, y, _ = rows()
    other = X.copy()
    other[y == -1] = np.random.default_rng(1).normal(50, 9, other[y == -1].shape)
    one, two = (
        learn(each, y, **FEW, readings=[LABELS]).model.readings[0].scorer.score(X)
        for each in (X, other)
    )
    np.testing.assert_array_equal(one, two)


def test_pseudo_labels_find_the_kind_of_anomaly_that_nobody_labeled():
    X, y, _ = rows(1_500)
    fresh, _, truth = rows(600, seed=1)
    missed = fresh[:, 4:7].mean(axis=1) < -2.5
    judged = missed | (truth == 0)
    blind = {"anomaly_weight": 0, "normal_weight": 0}
    with_it, without = (
        roc_auc_score(
            missed[judged],
            learn(
                X, y, **(FEW | {"n_trees": 20}), readings=[PSEUDO], **weights
            ).model.score(fresh)[judged],
        )
        for weights in ({}, blind)
    )
    assert with_it > 0.9
    assert with_it > without + 0.03


def test_learning_leaves_the_parameters_as_they_were():
    X, y, _ = rows(60)
    learner = ForestLearner(**FEW)
    before, rng = dict(vars(learner)), np.random.default_rng(0)
    scaler = fit_scaler(X, "asinh", rng)
    learner.learn(X, y, scaler, new_labeler(), rng, verbose=False)
    assert vars(learner) == before


# Refusals


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_trees": 0},
        {"anomaly_weight": -1.0},
        {"anomaly_weight": "much"},
        {"normal_weight": float("nan")},
        {"max_depth": 0},
        {"max_depth": MAX_DEPTH + 1},
        {"min_samples_leaf": 0},
        {"readings": 5},
        {"readings": ["label"]},
    ],
    ids=str,
)
def test_parameters_without_meaning_are_refused(wrong):
    X, y, _ = rows(20)
    with pytest.raises(InputError, match=f"{next(iter(wrong))} must be"):
        learn(X, y, **wrong)


def test_readings_that_the_labels_do_not_allow_are_refused_with_those_they_do():
    X, y, _ = rows(60)
    with pytest.raises(InputError, match="the labels allow as_normal, pseudo; wanted"):
        learn(X, in_setting(y, "PU"), readings=[AS_SUSPECT])
