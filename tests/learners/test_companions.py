"""Models beside trees: where they stand, what they see, and what they add."""

from dataclasses import replace
from functools import cache
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from properties import examples
from spadework import SPADE, ForestLearner
from spadework.core.scaling import fit_scaler
from spadework.core.trees import MAX_DEPTH
from spadework.core.trust import AS_NORMAL, LABELS, READINGS, Trust, as_shares
from spadework.errors import InputError
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework.learners.companions import (
    BOOSTED,
    LINEAR,
    NEGLIGIBLE,
    OWN,
    WHOLE,
    Companion,
    blend_by_trust,
    boost_companion,
    boosted_share,
    companion_share,
    fit_companions,
    least_share_of_whole,
    share_put_right,
    share_told_apart,
    side_by_side,
)
from spadework.learners.contract import GrownReading, Task
from spadework.learners.directions import ColumnScorer, ScaledScorer
from spadework.learners.growing import Grower
from spadework.learners.oddness import Oddness
from spadework.learners.readings import Draws, Reading, judged_rows, make_readings

ALPHAS = {NORMAL: 0.3, ANOMALY: 0.3}
FEW = {"n_trees": 30, "boosted": False, "whole": False}
"""Few trees, and no others beside them."""


def tilted_rows(n, seed):
    """Rows that grow more anomalous in one direction of ten."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 10)).astype(np.float32)
    return X, X.sum(axis=1) > 3.5


def few_labels(truth, n_each):
    labels = np.full(len(truth), UNLABELED, dtype=np.int8)
    labels[np.flatnonzero(truth)[:n_each]] = ANOMALY
    labels[np.flatnonzero(~truth)[:n_each]] = NORMAL
    return labels


def reading_of(n_normal, n_anomalous):
    return Reading(
        Draws(np.arange(3), None, n_normal), Draws(np.arange(3), None, n_anomalous), 1
    )


def linear_readings(detector):
    return [
        reading
        for reading in detector.model_.readings
        if isinstance(reading.scorer, ScaledScorer)
    ]


@pytest.mark.parametrize(
    ("share_of", "most"),
    [(companion_share, 0.5), (boosted_share, 0.5), (least_share_of_whole, 1.0)],
)
@given(st.integers(1, 30_000), st.integers(1, 30_000), st.integers(1, 1_000))
@examples(50)
def test_a_share_falls_with_the_draws_and_is_never_more_than_its_most(
    share_of, most, n, m, more
):
    share = share_of(reading_of(n, m))
    assert 0 <= share_of(reading_of(n + more, m)) <= share < most
    assert share_of(reading_of(30_000, 30_000)) == 0


@pytest.mark.parametrize(("n_each", "names"), [(5, {LABELS, AS_NORMAL}), (1_250, set())])
def test_few_labels_get_linear_models_and_many_get_none(n_each, names):
    X, truth = tilted_rows(12_000, 0)
    labels, rng = few_labels(truth, n_each), np.random.default_rng(0)
    n_unlabeled = (labels == UNLABELED).sum()
    readings = make_readings(
        labels, np.full(n_unlabeled, UNLABELED), ALPHAS, max_draws=5_000, min_leaf=5
    )
    task = Task(X, labels, fit_scaler(X, "asinh", rng), judged_rows(labels, rng), rng)
    found = set(fit_companions(task, readings))
    assert found >= names
    assert bool(found) == bool(names)


@cache
def fitted():
    """Return a detector fitted on rows of few labels, and the rows."""
    X, truth = tilted_rows(300, 0)
    learner = ForestLearner(n_trees=20)
    return SPADE(learner=learner, random_state=0).fit(X, few_labels(truth, 5)), X


def test_the_weights_of_trees_and_lines_are_those_of_the_readings():
    detector, _ = fitted()
    total = sum(reading.weight for reading in detector.model_.readings)
    assert 0.8 < total <= sum(detector.trust_.weights.values()) + 1e-9
    lines = sum(reading.weight for reading in linear_readings(detector))
    assert 0 < lines < 0.5


def test_linear_models_help_where_anomalies_lie_in_one_direction():
    X, truth = tilted_rows(3_000, 1)
    labels = few_labels(truth[:1_000], 6)
    scores = [
        SPADE(learner=ForestLearner(**FEW, linear=linear), random_state=0)
        .fit(X[:1_000], labels)
        .anomaly_score(X[1_000:])
        for linear in (True, False)
    ]
    with_lines, trees = (roc_auc_score(truth[1_000:], each) for each in scores)
    assert with_lines > trees + 0.02


def test_boosted_trees_help_where_one_column_of_many_tells():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3_000, 40)).astype(np.float32)
    truth = X[:, 0] > 1.5
    learner = ForestLearner(readings=[LABELS], linear=False, whole=False, n_trees=30)
    scores = [
        SPADE(learner=learner.set_params(boosted=boosted), random_state=0)
        .fit(X[:1_000], few_labels(truth[:1_000], 20))
        .anomaly_score(X[1_000:])
        for boosted in (True, False)
    ]
    with_boosted, trees = (roc_auc_score(truth[1_000:], each) for each in scores)
    assert 1 - with_boosted < (1 - trees) / 2


def test_few_labels_get_boosted_trees_and_many_get_none():
    X, truth = tilted_rows(1_000, 0)
    few, many = reading_of(20, 20), reading_of(1_500, 1_500)
    rng = np.random.default_rng(0)
    task = Task(X, few_labels(truth, 20), None, np.arange(1_000), rng)
    companion = boost_companion(task, few)
    assert companion.share == boosted_share(few) > 0.4
    assert boost_companion(task, many) is None


def test_held_out_scores_of_random_labels_tell_nothing():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 30)).astype(np.float32)
    labels = np.full(400, UNLABELED, dtype=np.int8)
    labels[:80] = rng.permutation(np.repeat([NORMAL, ANOMALY], 40))
    readings = make_readings(
        labels, np.full(320, UNLABELED), ALPHAS, max_draws=1_000, min_leaf=5
    )
    scaler = fit_scaler(X, "asinh", rng)
    task, known = Task(X, labels, scaler, np.arange(400), rng), labels != UNLABELED
    linear = fit_companions(task, readings)["labels"]
    boosted = boost_companion(task, readings["labels"])
    for companion in (linear, boosted):
        auc = roc_auc_score(labels[known], companion.grown.held_out[known])
        assert 0.3 < auc < 0.7


def test_a_sample_of_the_unlabeled_rows_is_enough():
    X, truth = tilted_rows(30_000, 2)
    labels = few_labels(truth, 20)
    rng = np.random.default_rng(0)
    readings = make_readings(
        labels, np.full(len(X) - 40, UNLABELED), ALPHAS, max_draws=1_000, min_leaf=5
    )
    judged = judged_rows(labels, rng)
    assert len(judged) < len(X) / 2
    scaler = fit_scaler(X, "asinh", rng)
    task = Task(X, labels, scaler, judged, rng)
    linear = fit_companions(task, readings)
    for name in ("labels", "as_normal"):
        boosted = boost_companion(task, readings[name])
        for grown in (linear[name].grown, boosted.grown):
            assert grown.held_out.shape == judged.shape
            assert roc_auc_score(truth, grown.scorer.score(X)) > 0.75


def test_readings_of_scaled_rows_need_the_scaler_of_their_blend():
    detector, X = fitted()
    other = fit_scaler(2 * X, "asinh", np.random.default_rng(0))
    with pytest.raises(InputError, match="scaler of their blend"):
        replace(detector.model_, scaler=other)


def test_rows_are_scaled_once_for_all_readings_that_need_it():
    detector, X = fitted()
    model = detector.model_
    kinds = {type(reading.scorer) for reading in model.readings}
    assert {Oddness, ScaledScorer} <= kinds
    apart = [reading.scorer.score(X) for reading in model.readings]
    np.testing.assert_allclose(model.score(X), model.blend(apart))


def islands(n, seed):
    """Rows in a box, anomalous near twenty points: one row in ten."""
    points = np.random.default_rng(9).random((20, 4))
    X = np.random.default_rng(seed).random((n, 4)).astype(np.float32)
    away = ((X[:, None] - points) ** 2).sum(axis=2).min(axis=1)
    return X, away < np.quantile(away, 0.1)


@pytest.mark.parametrize("n_normals", [0, 1_000])
def test_trees_to_the_last_row_help_where_anomalies_lie_in_many_places(n_normals):
    X, truth = islands(6_000, 0)
    labels = np.full(3_000, UNLABELED, dtype=np.int8)
    labels[np.flatnonzero(truth[:3_000])[:150]] = ANOMALY
    labels[np.flatnonzero(~truth[:3_000])[:n_normals]] = NORMAL
    scores = [
        SPADE(learner=ForestLearner(**(FEW | {"whole": whole})), random_state=0)
        .fit(X[:3_000], labels)
        .anomaly_score(X[3_000:])
        for whole in (False, True)
    ]
    without, with_them = (roc_auc_score(truth[3_000:], each) for each in scores)
    assert with_them > without + 0.01


def test_trees_to_the_last_row_do_not_count_where_they_score_other_rows_the_same():
    X = np.random.default_rng(0).normal(size=(500, 4)).astype(np.float32)
    labels = np.where(np.arange(500) < 30, ANOMALY, UNLABELED).astype(np.int8)
    X[labels == ANOMALY] += 20
    without, beside = (
        SPADE(learner=ForestLearner(**(FEW | {"whole": whole})), random_state=0).fit(
            X, labels
        )
        for whole in (False, True)
    )
    assert len(beside.model_.readings) == len(without.model_.readings)
    scores = [each.anomaly_score(X) for each in (without, beside)]
    np.testing.assert_allclose(*scores, rtol=0.01, atol=0.01)


def test_few_labels_alone_are_read_by_trees_to_the_last_row_whatever_they_put_right():
    X, truth = tilted_rows(500, 1)
    shares = []
    for n_each in (20, 50):
        learner = ForestLearner(
            readings=[LABELS], n_trees=20, linear=False, boosted=False
        )
        detector = SPADE(learner=learner, random_state=0)
        model = detector.fit(X, few_labels(truth, n_each)).model_
        plain, whole = (reading.weight for reading in model.readings)
        shares.append(whole / (plain + whole))
    np.testing.assert_allclose(shares, [1 / (1 + 40 / 500), 1 / (1 + 100 / 500)])


def test_trees_to_the_last_row_do_not_count_where_they_rank_anomalies_worse():
    labels = np.repeat([1, -1], [3, 10]).astype(np.int8)
    right, wrong = (
        GrownReading(None, np.where(labels == 1, shift, 0.5)) for shift in (1.0, 0.0)
    )
    assert share_put_right(wrong, right, labels) == 1
    assert share_put_right(right, wrong, labels) == 0
    assert share_put_right(right, right, labels) == 0


def test_trees_to_the_last_row_are_no_deeper_than_a_forest_may_be():
    rng = np.random.default_rng(0)
    # Random splits of numbers of all sizes part a few of the largest at a time.
    X = np.exp(rng.uniform(-80, 80, (6_000, 4))).astype(np.float32)
    labels = np.where(np.arange(6_000) < 200, ANOMALY, UNLABELED).astype(np.int8)
    readings = make_readings(labels, labels[200:], ALPHAS, max_draws=32_768, min_leaf=5)
    task = Task(X, labels, None, np.arange(10), rng)
    deep = Grower(task, 4, MAX_DEPTH, verbose=False).grow_whole(readings[AS_NORMAL])
    assert deep.scorer.depth == MAX_DEPTH


def standing_beside(shares, grown):
    """Return as many companions as there are shares, up to three."""
    kinds = (BOOSTED, LINEAR, WHOLE)
    return {
        kind: Companion(each, grown) for kind, each in zip(kinds, shares, strict=False)
    }


def test_trees_to_the_last_row_take_their_share_first_of_unlabeled_rows_as_normal():
    one = GrownReading(None, np.zeros(2))
    beside = dict(reversed(standing_beside([0.5, 0.4, 0.2], one).items()))
    in_turn = {
        reading: side_by_side({reading: one}, {reading: beside}, {reading: 1.0})[1]
        for reading in (LABELS, AS_NORMAL)
    }
    assert in_turn[LABELS] == pytest.approx(
        {
            (LABELS, OWN): 0.24,
            (LABELS, BOOSTED): 0.5,
            (LABELS, LINEAR): 0.2,
            (LABELS, WHOLE): 0.06,
        }
    )
    assert in_turn[AS_NORMAL] == pytest.approx(
        {
            (AS_NORMAL, OWN): 0.24,
            (AS_NORMAL, WHOLE): 0.2,
            (AS_NORMAL, BOOSTED): 0.4,
            (AS_NORMAL, LINEAR): 0.16,
        }
    )


@given(st.lists(st.floats(0.25, 0.75), max_size=3), st.floats(0.1, 1))
def test_models_side_by_side_weigh_what_their_reading_weighs(shares, weight):
    one = GrownReading(None, np.zeros(2))
    beside = standing_beside(shares, one)
    with mock.patch("spadework.learners.companions.NEGLIGIBLE", 0):
        every, weights = side_by_side(
            {"labels": one}, {"labels": beside}, {"labels": weight}
        )
    assert len(every) == len(weights) == 1 + len(shares)
    assert sum(weights.values()) == pytest.approx(weight)


@given(
    believed=st.lists(st.floats(0, 1), min_size=1, max_size=4).filter(any),
    shares=st.lists(st.floats(0, 0.5), max_size=3),
)
def test_trust_has_the_weights_with_which_readings_are_in_the_blend(believed, shares):
    names = READINGS[: len(believed)]
    scorers = {name: ColumnScorer(place) for place, name in enumerate(names)}
    held_out = np.linspace(0, 1, 101)
    grown = {name: GrownReading(scorers[name], held_out) for name in names}
    beside = {name: standing_beside(shares, grown[name]) for name in names[:1]}
    weights = as_shares(dict(zip(names, believed, strict=True)))
    labels = np.full(101, UNLABELED, np.int8)
    trust = Trust(weights, {}, agreement=None, riskiness=0.0)
    model, _, used = blend_by_trust(grown, beside, trust, labels, None, lift=False)
    in_all = sum(each.weight for each in model.readings)
    for name in names:
        of_reading = [r.weight for r in model.readings if r.scorer is scorers[name]]
        assert used.weights[name] == pytest.approx(sum(of_reading) / in_all)
        assert all(weight > NEGLIGIBLE for weight in of_reading)


@given(seed=st.integers(0, 2**32 - 1), n_values=st.integers(1, 9))
def test_trees_to_the_last_row_count_by_the_pairs_of_unlabeled_rows_they_tell_apart(
    seed, n_values
):
    rng = np.random.default_rng(seed)
    labels = np.append(rng.choice([-1, 0, 1], 30), UNLABELED).astype(np.int8)
    held_out = rng.integers(n_values, size=31).astype(float)
    among = held_out[labels == UNLABELED]
    apart = np.mean(among[:, None] != among)
    share = share_told_apart(GrownReading(None, held_out), labels)
    assert share == pytest.approx(apart / (1 + apart))
    assert 0 <= share < 0.5
