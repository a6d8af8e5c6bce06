"""Readings of the unlabeled rows are weighed by held-out labels alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
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
from spadework.core.weighing import (
    AGREED_SHARE,
    CONFIRMED,
    LEAST_SURE,
    ONE_CLASS_SHARE,
    SURE_ALONE,
    UNJUDGED_SHARE,
    auc,
    oddest,
    share_of_agreed,
    weigh_readings,
)

Scores = st.lists(st.integers(-5, 5).map(float), min_size=1, max_size=30)


def made(rng, labels, *, anomalies=0.0, normals=0.0, hidden=0.0, odd=None):
    """Held-out scores: each kind of row is shifted, and so are odd rows."""
    scores = rng.normal(size=len(labels))
    scores[labels == 1] += anomalies
    scores[labels == 0] += normals
    if odd is not None:
        scores[odd] += hidden
    return scores


def labels_of(n_normals, n_unlabeled):
    """Labels of normals and of rows without one."""
    return np.repeat(np.array([0, -1], np.int8), [n_normals, n_unlabeled])


@pytest.fixture
def rows():
    """300 labels, of which 20 are anomalies and 60 normals, and 30 odd rows."""
    labels = np.repeat([1, 0, -1], [20, 60, 220]).astype(np.int8)
    odd = np.zeros(300, dtype=bool)
    odd[-30:] = True
    return np.random.default_rng(0), labels, odd


@given(Scores, Scores)
@examples(50)
def test_auc_is_the_share_of_pairs_in_the_right_order_and_half_of_the_ties(high, low):
    gaps = np.subtract.outer(high, low)
    expected = np.mean((gaps > 0) + (gaps == 0) / 2)
    assert auc(np.array(high), np.array(low)) == pytest.approx(expected)


def test_auc_of_nothing_is_none():
    assert auc(np.empty(0), np.ones(3)) is None
    assert auc(np.ones(3), np.empty(0)) is None


@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
@examples(50)
def test_weights_are_shares_of_one_whatever_the_scores(seed, anomalies, normals):
    rng = np.random.default_rng(seed)
    kinds = [-1] + [1] * anomalies + [0] * normals
    labels = rng.choice(kinds, 50).astype(np.int8)
    scores = {name: rng.normal(size=50) for name in set(READINGS) - {AGREED}}
    trust = weigh_readings(scores, labels, rng.random(50) < 0.2)
    assert sum(trust.weights.values()) == pytest.approx(1)
    assert all(0 <= weight <= 1 for weight in trust.weights.values())


def test_a_reading_that_ranks_labeled_anomalies_low_does_not_count(rows):
    rng, labels, odd = rows
    scores = {
        LABELS: made(rng, labels, anomalies=3.0),
        AS_SUSPECT: made(rng, labels, anomalies=-3.0),
    }
    trust = weigh_readings(scores, labels, odd)
    assert trust.weights[AS_SUSPECT] == 0
    assert trust.evidence[LABELS].recall > 0.95


def test_labels_alone_give_way_when_labeled_normals_look_risky(rows):
    rng, labels, odd = rows
    as_normal = made(rng, labels, anomalies=3.0, normals=3.0)
    scores = {LABELS: made(rng, labels, anomalies=3.0), AS_NORMAL: as_normal}
    trust = weigh_readings(scores, labels, odd)
    assert trust.riskiness > 0.9
    assert trust.weights[AS_NORMAL] > 0.9


def test_labels_alone_hold_where_they_find_odd_what_reading_as_normal_does(rows):
    rng, labels, odd = rows
    as_normal = made(rng, labels, anomalies=3.0, normals=3.0, odd=odd, hidden=3.0)
    like = as_normal + 0.1 * rng.normal(size=len(labels))
    unlike = made(rng, labels, anomalies=3.0)
    held, gave_way = (
        weigh_readings({LABELS: each, AS_NORMAL: as_normal}, labels, odd)
        for each in (like, unlike)
    )
    assert min(held.riskiness, gave_way.riskiness) > 0.7
    assert held.weights[LABELS] > 0.45
    assert gave_way.weights[LABELS] < 0.3


def test_pseudo_labels_give_way_too_since_they_learn_from_labeled_normals(rows):
    rng, labels, odd = rows
    scores = {
        LABELS: made(rng, labels, anomalies=3.0, odd=odd, hidden=2.0),
        AS_NORMAL: made(rng, labels, anomalies=3.0, normals=9.0, odd=odd, hidden=2.0),
        PSEUDO: made(rng, labels, anomalies=3.0),
    }
    trust = weigh_readings(scores, labels, odd)
    assert trust.riskiness > 0.99
    assert trust.agreement > 0.5
    assert trust.weights[PSEUDO] < 0.01


def test_unlabeled_rows_are_not_taken_for_normal_when_labeled_normals_are_fair(rows):
    rng, labels, odd = rows
    scores = {
        LABELS: made(rng, labels, anomalies=3.0),
        AS_NORMAL: made(rng, labels, anomalies=3.0, normals=-0.2),
    }
    assert weigh_readings(scores, labels, odd).weights[LABELS] > 0.9


def test_unlabeled_rows_are_taken_for_normal_too_when_only_safe_rows_were_checked(rows):
    rng, labels, odd = rows
    scores = {
        LABELS: made(rng, labels, anomalies=3.0),
        AS_NORMAL: made(rng, labels, anomalies=3.0, normals=-9.0),
    }
    trust = weigh_readings(scores, labels, odd)
    assert trust.riskiness == 0
    assert trust.weights[AS_NORMAL] == pytest.approx(0.5, abs=0.02)
    by_heart = weigh_readings(scores, labels, odd, doubt_shift=False)
    assert by_heart.weights[AS_NORMAL] == 0


def weight_of_one_class(rows, scores, recall):
    """Weight of one-class scores that rank labeled anomalies that high."""
    rng, labels, odd = rows
    scores = {**scores, ONE_CLASS: made(rng, labels, anomalies=recall)}
    return weigh_readings(scores, labels, odd).weights[ONE_CLASS]


@pytest.mark.parametrize(("normals", "most"), [(0.0, CONFIRMED), (9.0, 1.0)])
def test_one_class_scores_count_as_far_as_they_rank_labeled_anomalies(
    rows, normals, most
):
    rng, labels, odd = rows
    seen = made(rng, labels, anomalies=5.0, normals=normals, odd=odd, hidden=3.0)
    scores = {LABELS: seen, AS_NORMAL: seen}
    weights = [weight_of_one_class(rows, scores, recall) for recall in (0.0, 1.0, 5.0)]
    assert weights[0] < 0.02
    assert weights[0] < weights[1] < weights[2]
    others = 1 - weights[2]
    n_believed = 1 if normals == 0 else 2  # fair normals: unlabeled rows are no normals
    expected = most * ONE_CLASS_SHARE / n_believed
    assert weights[2] / others == pytest.approx(expected, rel=0.1)


def test_being_unlike_labeled_normals_counts_as_one_class_scores_do(rows):
    rng, labels, odd = rows
    seen = made(rng, labels, anomalies=3.0, odd=odd, hidden=3.0)
    scores = {LABELS: seen, ONE_CLASS: seen, UNLIKE_NORMAL: seen}
    weights = weigh_readings(scores, labels, odd).weights
    assert weights[UNLIKE_NORMAL] == weights[ONE_CLASS] > 0.2
    behind = {**scores, UNLIKE_NORMAL: made(rng, labels, anomalies=1.0)}
    weights = weigh_readings(behind, labels, odd).weights
    assert weights[UNLIKE_NORMAL] < weights[ONE_CLASS]
    contradicted = weigh_readings(scores, labels, ~odd).weights
    assert contradicted[UNLIKE_NORMAL] == contradicted[ONE_CLASS] < 0.1


def test_being_unlike_labeled_normals_does_not_count_where_these_look_risky(rows):
    rng, labels, odd = rows
    ratios = []
    for risk in (0.0, 0.5, 2.0):
        seen = made(rng, labels, anomalies=3.0, normals=risk, odd=odd, hidden=3.0)
        scores = {LABELS: seen, AS_NORMAL: seen, ONE_CLASS: seen, UNLIKE_NORMAL: seen}
        weights = weigh_readings(scores, labels, odd).weights
        ratios.append(weights[UNLIKE_NORMAL] / weights[ONE_CLASS])
    assert 1 >= ratios[0] > ratios[1] > ratios[2] == 0


def unlikeness(rng, *, suspects, chosen):
    """Weight of being unlike labeled normals, where that of one-class scores is one."""
    labels = labels_of(100, 2_000)
    scores = {
        AS_SUSPECT: made(rng, labels, normals=-suspects),
        ONE_CLASS: made(rng, labels),
        UNLIKE_NORMAL: made(rng, labels, normals=-chosen),
    }
    odd = oddest(scores[ONE_CLASS], labels)
    weights = weigh_readings(scores, labels, odd).weights
    return weights[UNLIKE_NORMAL] / weights[ONE_CLASS]


def test_without_labeled_anomalies_labeled_normals_count_in_full_if_suspects_are_unsure(
    rows,
):
    rng = rows[0]
    assert unlikeness(rng, suspects=0.0, chosen=0.0) > 2
    assert unlikeness(rng, suspects=0.4, chosen=0.0) == pytest.approx(1)
    assert unlikeness(rng, suspects=0.0, chosen=4.0) == pytest.approx(1, rel=0.05)


def test_suspicion_counts_less_the_better_normals_and_unlabeled_rows_differ(rows):
    rng, labels, odd = rows
    shares = []
    for shift in (0.0, -1.0, -4.0):
        scores = {
            LABELS: made(rng, labels, anomalies=3.0),
            AS_SUSPECT: made(rng, labels, anomalies=3.0, normals=shift),
        }
        shares.append(weigh_readings(scores, labels, odd).weights[AS_SUSPECT])
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] < 0.02


def contradicted(rng, n_anomalies, *, by_heart=0.0):
    """Trust where labels rank low what one-class classifiers find odd.

    These tell labeled normals from other rows as far as they know them by heart.
    """
    labels = np.repeat([1, 0, -1], [n_anomalies, 100, 2_000]).astype(np.int8)
    odd = (labels == -1) & (rng.random(len(labels)) < 0.1)
    seen = made(rng, labels, anomalies=3.0, normals=-by_heart, odd=odd, hidden=9.0)
    taught = made(rng, labels, anomalies=3.0, odd=odd, hidden=-2.0)
    scores = {LABELS: taught, PSEUDO: seen, ONE_CLASS: seen}
    return weigh_readings(scores, labels, odd)


def test_pseudo_labels_that_the_labels_contradict_are_not_used():
    trust = contradicted(np.random.default_rng(0), 100)
    assert max(trust.weights[PSEUDO], trust.weights[ONE_CLASS]) < 0.01


def test_few_labeled_anomalies_cannot_refute_the_consensus():
    rng = np.random.default_rng(0)
    found = {n: contradicted(rng, n) for n in (1, 4, 16, 64)}
    weights = [trust.weights[PSEUDO] for trust in found.values()]
    assert 0.2 < weights[0] < 0.5
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] < 0.01


def test_classifiers_that_know_labeled_normals_by_heart_need_no_refuting():
    rng = np.random.default_rng(0)
    weights = [contradicted(rng, 2, by_heart=each).weights[PSEUDO] for each in (0, 3, 9)]
    assert weights[0] > weights[1] > weights[2] >= 0
    assert weights[2] < 0.01


def test_pseudo_labels_that_the_labels_confirm_count_in_full(rows):
    rng, labels, odd = rows
    scores = {
        LABELS: made(rng, labels, anomalies=9.0, odd=odd, hidden=3.0),
        PSEUDO: made(rng, labels),
    }
    trust = weigh_readings(scores, labels, odd)
    assert trust.weights[PSEUDO] == pytest.approx(0.5)


def weigh_without_anomalies(rows, *, normals, hidden):
    """Weigh readings where suspects shift labeled normals and odd rows that far."""
    rng, labels, odd = rows
    labels = np.where(labels == 1, np.int8(-1), labels)
    suspect = made(rng, labels, normals=normals, odd=odd, hidden=hidden)
    scores = {AS_SUSPECT: suspect, PSEUDO: made(rng, labels), ONE_CLASS: suspect}
    return weigh_readings(scores, labels, odd)


def test_without_labeled_anomalies_nothing_contradicts_pseudo_labels(rows):
    trust = weigh_without_anomalies(rows, normals=-0.9, hidden=-2.0)
    assert trust.weights[PSEUDO] >= 0.2
    assert trust.weights[ONE_CLASS] == 0


def test_without_labeled_anomalies_one_class_scores_count_where_suspects_agree(rows):
    trust = weigh_without_anomalies(rows, normals=-0.6, hidden=3.0)
    assert trust.weights[ONE_CLASS] == pytest.approx(trust.weights[PSEUDO])


def test_suspects_that_cannot_be_relied_on_do_not_dismiss_one_class_scores(rows):
    trust = weigh_without_anomalies(rows, normals=-6.0, hidden=-2.0)
    assert trust.agreement < 0.5
    half = trust.weights[PSEUDO] / 2
    assert trust.weights[ONE_CLASS] == pytest.approx(half, rel=1e-3)


@pytest.mark.parametrize("apart", [0.5, 4.0])
def test_without_labeled_anomalies_pseudo_labels_that_know_the_labeled_rows_give_way(
    rows, apart
):
    rng, labels, odd = rows
    labels = np.where(labels == 1, -1, labels).astype(np.int8)
    pseudo = made(rng, labels, normals=-apart)
    scores = {AS_SUSPECT: made(rng, labels), PSEUDO: pseudo, ONE_CLASS: pseudo}
    trust = weigh_readings(scores, labels, odd)
    assert (trust.weights[PSEUDO] > 0.2) == (apart < 1)


def suspicion(rng, n_normals, shift):
    """Weight of suspects, where that of pseudo-labels is one."""
    labels = labels_of(n_normals, 2_000)
    scores = {AS_SUSPECT: made(rng, labels, normals=-shift), PSEUDO: made(rng, labels)}
    trust = weigh_readings(scores, labels, np.zeros(len(labels), dtype=bool))
    return trust.weights[AS_SUSPECT] / trust.weights[PSEUDO]


def test_suspects_count_more_where_many_normals_are_labeled(rows):
    rng, _, _ = rows
    few, many = (suspicion(rng, n_normals, shift=0.2) for n_normals in (20, 2_000))
    assert many > 2 * few


def test_suspects_count_as_far_as_they_rank_anomalies_like_the_best_reading(rows):
    rng, labels, odd = rows
    best = made(rng, labels, anomalies=3.0)
    behind = made(rng, labels, anomalies=0.7)
    weights = [
        weigh_readings({LABELS: best, AS_SUSPECT: suspect}, labels, odd).weights
        for suspect in (best, behind)
    ]
    assert weights[0][AS_SUSPECT] > 0.25
    assert weights[1][AS_SUSPECT] < 0.1


def test_suspects_that_cannot_be_told_from_normals_count_little_and_not_nothing(rows):
    rng, _, _ = rows
    assert suspicion(rng, 2_000, shift=-0.1) == pytest.approx(LEAST_SURE / UNJUDGED_SHARE)


def test_suspects_that_differ_from_normals_by_more_than_anomalies_do_not_count(rows):
    rng, _, _ = rows
    assert suspicion(rng, 2_000, shift=3.0) < 0.03


def test_a_single_anomaly_cannot_judge_what_has_learnt_from_it(rows):
    rng, labels, odd = rows
    labels[1:20] = -1
    taught, other = made(rng, labels, anomalies=9.0), made(rng, labels, anomalies=1.0)
    scores = {LABELS: taught, ONE_CLASS: other}
    trust = weigh_readings(scores, labels, odd)
    assert trust.evidence[LABELS].recall is None
    assert trust.evidence[ONE_CLASS].recall == auc(other[:1], other[labels == -1])


def test_without_odd_rows_there_is_no_agreement(rows):
    rng, labels, odd = rows
    scores = {LABELS: made(rng, labels, anomalies=3.0), PSEUDO: made(rng, labels)}
    assert weigh_readings(scores, labels, np.zeros_like(odd)).agreement is None


def test_readings_that_do_not_hold_cannot_judge_pseudo_labels(rows):
    rng, labels, odd = rows
    scores = {LABELS: made(rng, labels, anomalies=-3.0), PSEUDO: made(rng, labels)}
    trust = weigh_readings(scores, labels, odd)
    assert trust.agreement is None


def test_where_nothing_can_judge_them_one_class_scores_count_beside_pseudo_labels(rows):
    rng, labels, odd = rows
    scores = {
        LABELS: made(rng, labels, anomalies=-3.0),
        PSEUDO: made(rng, labels),
        ONE_CLASS: made(rng, labels, anomalies=1.0),
    }
    weights = weigh_readings(scores, labels, odd).weights
    assert weights[ONE_CLASS] / weights[PSEUDO] == pytest.approx(
        ONE_CLASS_SHARE * CONFIRMED
    )


@given(st.integers(2, 5_000), st.floats(0, 1))
def test_the_surer_suspects_are_the_less_agreement_adds(n_normals, shift):
    labels = labels_of(n_normals, 5_000)
    share = share_of_agreed(shift, labels)
    assert 0 < share <= share_of_agreed(min(shift, 0.5), labels) == AGREED_SHARE
    assert share <= share_of_agreed(shift, labels_of(n_normals - 1, 5_000))


def test_agreement_counts_by_half_where_suspects_are_as_sure_as_eight_standard_errors():
    error = np.sqrt((1 / 500 + 1 / 1_000) / 12)
    share = share_of_agreed(0.5 + SURE_ALONE * error, labels_of(500, 1_000))
    assert share == pytest.approx(AGREED_SHARE / 2)
