"""Beliefs in readings become shares of one, and a sentence says what they rest on."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from spadework.core.trust import (
    AGREED,
    AS_NORMAL,
    CHANCE,
    FULL_AGREEMENT,
    LABELS,
    PSEUDO,
    READINGS,
    Evidence,
    Trust,
    as_shares,
    belief_in,
    choosiness_of,
    gini,
)

Beliefs = st.dictionaries(st.sampled_from(READINGS), st.floats(0.01, 9), min_size=1)
JUDGED = {LABELS: Evidence(recall=0.9, shift=0.5)}


def trust_in(weights, *, agreement=0.8, riskiness=0.0, evidence=JUDGED):
    return Trust(weights, evidence, agreement, riskiness)


@given(Beliefs)
@examples(30)
def test_beliefs_become_shares_of_one(believed):
    shares = as_shares(believed)
    assert sum(shares.values()) == pytest.approx(1)
    total = sum(believed.values())
    assert {name: total * share for name, share in shares.items()} == pytest.approx(
        believed
    )


def test_where_nothing_is_believed_all_count_the_same():
    assert as_shares({LABELS: 0.0, PSEUDO: 0.0}) == {LABELS: 0.5, PSEUDO: 0.5}


def test_a_reading_can_count_several_times():
    trust = trust_in({LABELS: 0.25, PSEUDO: 0.75}).counting(LABELS, 3.0)
    assert trust.weights == {LABELS: 0.5, PSEUDO: 0.5}


def test_a_reading_that_is_not_there_counts_no_more():
    trust = trust_in({LABELS: 1.0})
    assert trust.counting(AS_NORMAL, 4.0) == trust


def test_a_reading_that_joins_counts_beside_one_and_brings_its_evidence():
    found = Evidence(None, 0.6)
    trust = trust_in({LABELS: 1.0})
    assert trust.joined_by(AGREED, 0.25).weights == {LABELS: 0.8, AGREED: 0.2}
    assert trust.joined_by(AGREED, 0.25).evidence == JUDGED
    assert trust.joined_by(AGREED, 0.25, found).evidence == {**JUDGED, AGREED: found}


@given(st.floats(0, 1), st.floats(0, 1))
def test_belief_and_choosiness_rise_from_nothing_to_one(one, other):
    low, high = sorted((one, other))
    for rising in (belief_in, choosiness_of, gini):
        assert 0 == rising(0.5) <= rising(low) <= rising(high) <= rising(1.0) == 1
    assert belief_in(FULL_AGREEMENT) == 1
    assert choosiness_of(0.75) == choosiness_of(None) == 0


@pytest.mark.parametrize(
    ("weight", "agreement", "riskiness", "said"),
    [
        (
            0.5,
            FULL_AGREEMENT,
            0.0,
            "used at weight 0.50: consensus and labels agree, AUC",
        ),
        (0.5, 0.6, 0.0, "consensus and labels agree in part, AUC 0.60"),
        (0.5, 0.4, 0.0, "consensus and labels disagree (AUC 0.40), but too few"),
        (0.5, None, 0.0, "nothing can judge them"),
        (0.0, 0.8, 1.0, "not used: they learn from labeled normals, and only suspicious"),
        (0.0, 0.6, 0.0, "not used: next to what the labels say, the one-class models"),
        (0.0, CHANCE, 0.0, "not used: the one-class models contradict what the labels"),
    ],
)
def test_the_sentence_says_what_pseudo_labels_rest_on(weight, agreement, riskiness, said):
    weights = {LABELS: 1 - weight, PSEUDO: weight}
    trust = trust_in(weights, agreement=agreement, riskiness=riskiness)
    assert said in trust.verdict
    shares = f"labels {1 - weight:.2f}, pseudo {weight:.2f}"
    assert str(trust) == f"{trust.verdict}; weights: {shares}"


@pytest.mark.parametrize("shift", [0.6, 0.9])
@pytest.mark.parametrize("weight", [0.0, 0.5])
def test_where_no_anomaly_judges_pseudo_labels_it_is_said_and_how_they_look(
    shift, weight
):
    evidence = {PSEUDO: Evidence(None, shift)}
    weights = {LABELS: 1 - weight, PSEUDO: weight}
    verdict = trust_in(weights, evidence=evidence).verdict
    used = "used at weight 0.50" if weight else "not used"
    assert verdict.startswith(f"pseudo-labels {used}: no labeled anomaly can judge them")
    assert ("chosen by their looks" in verdict) == (shift > 0.75)


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ({LABELS: 1.0}, "no pseudo-labels: every row was labeled"),
        ({LABELS: 0.8, AGREED: 0.2}, "what other readings agree on is learnt at weight"),
        ({LABELS: 1.0, AGREED: 0.0}, "nor is what other readings agree on"),
    ],
)
def test_a_model_without_pseudo_labels_says_why(weights, said):
    assert said in trust_in(weights).verdict
