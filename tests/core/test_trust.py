"""Readings of the unlabeled rows are weighed by held-out labels alone."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

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
    CONFIRMED,
    LEAST_SURE,
    ONE_CLASS_SHARE,
    UNJUDGED_SHARE,
    auc,
    oddest,
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


@pytest.fixture
def rows():
    """300 labels, of which 20 are anomalies and 60 normals, and 30 odd rows."""
    labels = np.repeat([1, 0, -1], [20, 60, 220]).astype(np.int8)
    odd = np.zeros(300, dtype=bool)
    odd[-30:] = True
    return np.random.default_rng(0), labels, odd


@given(Scores, Scores)
def test_auc_is_that_of_scikit_learn(high, low):
    truth = [1] * len(high) + [0] * len(low)
    expected = roc_auc_score(truth, high + low)
    assert auc(np.array(high), np.array(low)) == pytest.approx(expected)


def test_auc_of_nothing_is_none():
    assert auc(np.empty(0), np.ones(3)) is None
    assert auc(np.ones(3), np.empty(0)) is None


@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
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


def test_a_reading_that_is_not_there_counts_no_more(rows):
    rng, labels, odd = rows
    trust = weigh_readings({LABELS: made(rng, labels, anomalies=3.0)}, labels, odd)
    assert trust.counting(AS_NORMAL, 4.0) == trust


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
    without = replace(trust, weights={**trust.weights, PSEUDO: 0.0})
    assert "only suspicious rows were labeled normal" in str(without)


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


def without_pseudo(trust):
    """Trust in a model that does without pseudo-labels."""
    return replace(trust, weights={**trust.weights, PSEUDO: 0.0})


def test_agreement_that_other_readings_outweigh_is_not_called_a_contradiction(rows):
    rng, labels, odd = rows
    scores = {
        LABELS: made(rng, labels, anomalies=3.0, odd=odd, hidden=0.5),
        PSEUDO: made(rng, labels, anomalies=3.0),
    }
    trust = weigh_readings(scores, labels, odd)
    outweighed = without_pseudo(trust)
    assert trust.agreement > 0.5
    assert "agree too little to count" in str(outweighed)
    assert "contradict" in str(replace(outweighed, agreement=0.4))


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
    labels = np.repeat([0, -1], [100, 2_000]).astype(np.int8)
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


def test_labels_alone_can_count_several_times(rows):
    rng, labels, odd = rows
    scores = {
        LABELS: made(rng, labels, anomalies=3.0),
        AS_SUSPECT: made(rng, labels, anomalies=3.0),
    }
    once, thrice = (
        weigh_readings(scores, labels, odd).counting(LABELS, times).weights
        for times in (1.0, 3.0)
    )
    ratios = [weights[LABELS] / weights[AS_SUSPECT] for weights in (once, thrice)]
    assert ratios[1] == pytest.approx(3 * ratios[0])


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
    assert "pseudo-labels not used" in str(without_pseudo(trust))


def test_few_labeled_anomalies_cannot_refute_the_consensus():
    rng = np.random.default_rng(0)
    found = {n: contradicted(rng, n) for n in (1, 4, 16, 64)}
    weights = [trust.weights[PSEUDO] for trust in found.values()]
    assert 0.2 < weights[0] < 0.5
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] < 0.01
    assert "too few anomalies are labeled to refute it" in str(found[1])
    assert "pseudo-labels not used" in str(without_pseudo(found[64]))


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
    assert "pseudo-labels used at weight 0.50" in str(trust)


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
    assert "no labeled anomaly can judge them" in str(trust)


def test_without_labeled_anomalies_one_class_scores_count_where_suspects_agree(rows):
    trust = weigh_without_anomalies(rows, normals=-0.6, hidden=3.0)
    assert trust.weights[ONE_CLASS] == pytest.approx(trust.weights[PSEUDO])


def test_suspects_that_cannot_be_relied_on_do_not_dismiss_one_class_scores(rows):
    trust = weigh_without_anomalies(rows, normals=-6.0, hidden=-2.0)
    assert trust.agreement < 0.5
    half = trust.weights[PSEUDO] / 2
    assert trust.weights[ONE_CLASS] == pytest.approx(half, rel=1e-3)


@pytest.mark.parametrize(
    ("apart", "said"), [(0.5, "can judge them;"), (4.0, "chosen by their looks")]
)
def test_without_labeled_anomalies_pseudo_labels_that_know_the_labeled_rows_give_way(
    rows, apart, said
):
    rng, labels, odd = rows
    labels = np.where(labels == 1, -1, labels).astype(np.int8)
    pseudo = made(rng, labels, normals=-apart)
    scores = {AS_SUSPECT: made(rng, labels), PSEUDO: pseudo, ONE_CLASS: pseudo}
    trust = weigh_readings(scores, labels, odd)
    assert (trust.weights[PSEUDO] > 0.2) == (apart < 1)
    assert said in str(trust)


def suspicion(rng, n_normals, shift):
    """Weight of suspects, where that of pseudo-labels is one."""
    labels = np.repeat([0, -1], [n_normals, 2_000]).astype(np.int8)
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
    assert "nothing can judge them" in str(trust)


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


def test_what_the_model_does_without_is_said_not_to_be_used(rows):
    rng, labels, odd = rows
    scores = {
        LABELS: made(rng, labels, anomalies=3.0, odd=odd, hidden=-2.0),
        PSEUDO: made(rng, labels),
    }
    trust = weigh_readings(scores, labels, odd)
    assert "pseudo-labels not used" in str(without_pseudo(trust))
    forced = replace(trust, weights={LABELS: 0.5, PSEUDO: 0.5})
    assert "consensus and labels disagree" in str(forced)
