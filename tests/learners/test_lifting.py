"""What scores like labeled anomalies is lifted, and all other levels stay."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from spadework import SPADE
from spadework.core.likelihood import likelihood_ratio
from spadework.core.trees import FlatForest
from spadework.errors import InputError
from spadework.learners.blend import Levels, blend_readings
from spadework.learners.contract import GrownReading
from spadework.learners.forest import ForestLearner
from spadework.learners.lifting import lift_anomalies, match_levels

STUMP = FlatForest(
    n_features=1,
    roots=np.array([0]),
    feature=np.array([0]),
    threshold=np.array([np.inf], dtype=np.float32),
    left=np.array([0]),
    value=np.array([0.5]),
)


def two_readings(n_anomalies=20, known=None):
    """One reading is sure of anomalies, labeled and hidden; another ranks them midway."""
    labels = np.repeat(np.array([1, -1], np.int8), [n_anomalies, 980])
    hidden = np.arange(len(labels)) >= len(labels) - 10
    anomalous = hidden | (labels == 1)
    rng = np.random.default_rng(0)
    sure = np.where(anomalous, 0.9, 0.1) + 0.05 * rng.random(len(labels))
    odd = np.where(anomalous, 0.0, rng.standard_normal(len(labels)))
    grown = [GrownReading(STUMP, sure, known), GrownReading(STUMP, odd)]
    return grown, labels, anomalous


def lifted(grown, labels, lifts=(1.0, 1.0)):
    plain = blend_readings(grown, [0.5, 0.5], labels, None)
    return plain, lift_anomalies(plain, grown, lifts, labels)


def test_rows_like_labeled_anomalies_outrank_rows_that_are_merely_odd():
    grown, labels, anomalous = two_readings()
    unlabeled = labels == -1
    scores = [each.held_out[unlabeled] for each in grown]
    truth = anomalous[unlabeled]
    plain, model = lifted(grown, labels)
    assert average_precision_score(truth, plain.blend(scores)) < 0.5
    assert average_precision_score(truth, model.blend(scores)) == pytest.approx(1)


@pytest.mark.parametrize("n_hidden", [0, 1, 2])
@pytest.mark.parametrize("score", [0.25, 0.9, 40.0])
def test_scores_above_all_unlabeled_rows_are_lifted_in_full(n_hidden, score):
    labels = np.repeat(np.array([1, -1], np.int8), [20, 1000])
    scores = np.r_[np.full(20, score), np.linspace(0.1, 0.15, 1000)]
    scores[20 : 20 + n_hidden] = score
    grown, at = [GrownReading(STUMP, scores)], np.array([score])
    plain = blend_readings(grown, [1.0], labels, None)
    model = lift_anomalies(plain, grown, [1.0], labels)
    ratio = likelihood_ratio(scores[:20], scores[20:], at)
    gained = model.readings[0].rank(at) - plain.readings[0].rank(at)
    assert ratio > 5
    assert gained == pytest.approx(ratio)


def test_errors_of_rounding_do_not_decide_a_lift():
    labels = np.repeat(np.array([1, -1], np.int8), [20, 200])
    for low in np.linspace(0.01, 0.1, 19):
        gained = []
        for score in (0.5, np.nextafter(0.5, 1), np.nextafter(0.5, 0)):
            others = np.r_[np.linspace(low, 0.2, 60), np.full(140, 0.5)]
            grown = [GrownReading(STUMP, np.r_[np.full(20, score), others])]
            plain = blend_readings(grown, [1.0], labels, None)
            model = lift_anomalies(plain, grown, [1.0], labels)
            at = np.array([0.5])
            gained.append(model.readings[0].rank(at) - plain.readings[0].rank(at))
        assert np.ptp(gained) < 1e-6


def test_as_many_unlabeled_rows_as_before_lie_above_a_score():
    grown, labels, _ = two_readings()
    scores = [each.held_out[labels == -1] for each in grown]
    plain, model = (np.sort(each.blend(scores)) for each in lifted(grown, labels))
    np.testing.assert_allclose(model[1:-1], plain[1:-1], atol=0.05)


def test_without_labeled_anomalies_nothing_is_lifted():
    grown, labels, _ = two_readings(n_anomalies=0)
    plain, model = lifted(grown, labels)
    assert model is plain


def test_a_single_labeled_anomaly_lifts_nothing():
    grown, labels, _ = two_readings(n_anomalies=1)
    plain, model = lifted(grown, labels)
    assert model is plain


def test_without_unlabeled_rows_nothing_is_lifted():
    grown, _, anomalous = two_readings()
    plain, model = lifted(grown, anomalous.astype(np.int8))
    assert model is plain


def test_a_reading_is_not_lifted_by_rows_that_it_knows():
    grown, labels, _ = two_readings(known=np.arange(1000) < 20)
    plain, model = lifted(grown, labels)
    assert model.readings[0] is plain.readings[0]
    assert model.readings[1] is not plain.readings[1]


@given(
    st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=1, max_size=60),
    st.lists(st.floats(-12, 12, width=32), min_size=2, max_size=40, unique=True),
)
def test_levels_rise_wherever_scores_do(pairs, scores):
    one, other = np.array(pairs).T
    levels = match_levels(one, other, np.array([-12.0, 12.0]))
    ordered = np.sort(np.array(scores, dtype=float))
    apart = np.diff(ordered) > 1e-6
    assert (np.diff(levels.of(ordered))[apart] > 0).all()


@pytest.mark.parametrize(
    ("knots", "levels"), [([0.0, 0.0], [0.0, 1.0]), ([0.0, 1.0], [1.0]), ([], [])]
)
def test_levels_that_make_no_sense_are_refused(knots, levels):
    with pytest.raises(InputError, match="levels need knots that rise"):
        Levels(np.array(knots), np.array(levels))


def precision(lift, seed, share=0.6):
    """Average precision where some normal rows are odd, and half like anomalies."""
    rng = np.random.default_rng(seed)
    anomalous = rng.random(1600) < 0.03
    odd = ~anomalous & (rng.random(1600) < 0.02)
    X = rng.standard_normal((1600, 10))
    X[anomalous, :4] += [4, 4, 4, 4]
    X[odd, :4] += [4, 4, 4, -4]
    X[odd, 4:] *= 6
    y = np.where(anomalous & (rng.random(1600) < share), 1, -1)
    learner = ForestLearner(lift=lift, n_trees=30, boosted=False, whole=False)
    detector = SPADE(learner=learner, random_state=0)
    scores = detector.fit(X[:800], y[:800]).anomaly_score(X[800:])
    return average_precision_score(anomalous[800:], scores)


def test_what_labels_tell_for_certain_is_not_drowned_by_odd_normal_rows():
    plain, lifted = (
        np.mean([precision(lift, seed) for seed in range(3)]) for lift in (False, True)
    )
    assert lifted > plain + 0.03
    assert lifted > 0.95


def test_nor_is_it_where_all_anomalies_are_labeled():
    lifted = np.mean([precision(True, seed, share=1.0) for seed in range(3)])
    assert lifted > 0.99
