"""Readings are blended by rank: monotone, comparable, and finest where anomalies are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logit

from grown_forests import grown, rows, walked
from spadework.core.scaling import MinMaxScaler
from spadework.core.trees import FlatForest
from spadework.errors import InputError
from spadework.learners import blend
from spadework.learners.blend import (
    BlendedModel,
    ReadingModel,
    blend_held_out,
    blend_readings,
    fit_reading,
    judge_readings,
)
from spadework.learners.contract import GrownReading

STUMP = FlatForest(
    n_features=1,
    roots=np.array([0]),
    feature=np.array([0]),
    threshold=np.array([np.inf], dtype=np.float32),
    left=np.array([0]),
    value=np.array([0.5]),
)
Shares = st.lists(st.floats(0, 1, width=32), min_size=2, max_size=60)


def reading(held_out, labels=None, weight=1.0):
    held_out = np.array(held_out, dtype=float)
    labels = np.full(len(held_out), -1, np.int8) if labels is None else labels
    return fit_reading(GrownReading(STUMP, held_out), weight, labels)


@given(Shares, Shares)
def test_a_higher_score_never_ranks_lower(reference, scores):
    ordered = np.sort(np.array(scores, dtype=float))
    assert (np.diff(reading(reference).rank(ordered)) >= 0).all()


@given(Shares)
def test_scores_beyond_all_others_still_rise(reference):
    ranks = reading(reference).rank(max(reference) + np.array([0.0, 0.2, 0.4]))
    assert (np.diff(ranks) > 0).all()


def test_the_middle_has_rank_one_half_and_the_ninetieth_percentile_nine_tenths():
    ranks = reading(np.linspace(0, 1, 1001)).rank(np.array([0.5, 0.9]))
    np.testing.assert_allclose(ranks, logit([0.5, 0.9]), atol=0.01)


def test_ranks_are_those_among_unlabeled_rows():
    labels = np.repeat(np.array([1, -1], np.int8), [50, 101])
    held_out = np.concatenate([np.full(50, 0.99), np.linspace(0, 0.5, 101)])
    assert reading(held_out, labels).rank(np.array([0.25])) == pytest.approx(0, abs=0.01)


@given(st.integers(50, 950))
def test_rows_that_score_the_same_get_the_middle_of_their_ranks(n_tied):
    held_out = np.sort(
        np.concatenate([np.zeros(n_tied), np.linspace(1, 2, 1000 - n_tied)])
    )
    assert reading(held_out).rank(np.zeros(1)) == pytest.approx(
        logit(n_tied / 2000), abs=0.1
    )


def test_equal_scores_everywhere_are_no_error():
    assert np.isfinite(reading([0.3] * 20).rank(np.array([0.0, 0.3, 1.0]))).all()


def test_a_blend_is_the_weighted_mean_of_ranks():
    spread = np.linspace(0, 1, 101)
    models = (reading(spread, weight=0.75), reading(spread**2, weight=0.25))
    shares = [np.array([0.4, 0.8]), np.array([0.1, 0.6])]
    expected = 0.75 * models[0].rank(shares[0]) + 0.25 * models[1].rank(shares[1])
    blended = BlendedModel(models, scaler=None).blend(shares)
    np.testing.assert_allclose(blended, expected)


def test_a_reading_does_not_speak_for_rows_that_it_knows():
    spread = np.linspace(0, 1, 101)
    known = np.zeros((2, 101), dtype=bool)
    known[0, :2] = known[1, 1] = True
    grown = [
        GrownReading(STUMP, spread, known[0]),
        GrownReading(STUMP, spread**2, known[1]),
    ]
    labels = np.full(101, -1, np.int8)
    model = blend_readings(grown, [0.75, 0.25], labels, None)
    blended = blend_held_out(model, grown)
    plain = model.blend([each.held_out for each in grown])
    assert blended[0] == model.readings[1].rank(spread[:1] ** 2)[0]
    np.testing.assert_allclose(blended[1:], plain[1:])


@pytest.mark.parametrize(
    ("weight", "knots"), [(0.0, [0.0, 1.0]), (2.0, [0.0, 1.0]), (1.0, [1.0, 0.0])]
)
def test_a_reading_that_makes_no_sense_is_refused(weight, knots):
    with pytest.raises(InputError):
        ReadingModel(weight, STUMP, np.array(knots), np.array([0.0, 1.0]))


def test_readings_are_held_against_the_oddest_tenth_of_the_unlabeled_rows():
    labels = np.repeat(np.array([1, -1], np.int8), [20, 200])
    oddness = np.arange(220.0)
    held_out = np.where(labels == 1, 3.0, 0.0)
    held_out[200:] = 2.0
    grown = {"labels": GrownReading(STUMP, held_out)}
    assert judge_readings(grown, labels, oddness).agreement == 1
    assert judge_readings(grown, labels, -oddness).agreement < 0.5
    assert judge_readings(grown, labels, None).agreement is None


def test_scores_that_differ_by_rounding_alone_rank_the_same():
    reference = np.repeat([0.1, 0.5, 0.9], 50) + np.tile([0.0, 1e-16, 2e-16], 50)
    ranks = reading(reference).rank(0.5 + np.array([0.0, 1.2e-16, 2.3e-16]))
    np.testing.assert_allclose(ranks, ranks[0], atol=1e-6)


@pytest.mark.parametrize("masked", [[], [0, 2], [0, 1, 2]])
def test_a_blend_scores_the_same_whichever_forests_are_masked(masked, monkeypatch):
    forests = [grown(seed, 5, depth=4) for seed in range(3)]
    scaler = MinMaxScaler(np.zeros(4), np.ones(4))
    line = np.array([0.0, 1.0])
    readings = [
        ReadingModel(weight, forest, line, line)
        for weight, forest in zip((0.5, 0.3, 0.2), forests, strict=True)
    ]
    monkeypatch.setattr(blend, "choose_masked", lambda all_: [all_[i] for i in masked])
    scores = BlendedModel(tuple(readings), scaler).score(X := rows(1, 50, 4))
    expected = np.average(walked(forests, X), axis=0, weights=(0.5, 0.3, 0.2))
    np.testing.assert_allclose(scores, expected, rtol=1e-12)
