"""Pseudo-labels by consensus, against loops over rows and members (eq. 1 to 4)."""

import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from properties import examples
from spadework.core.gaussian import LEFT_OUT, SHARED, fit_gaussians
from spadework.core.matching import match_threshold, otsu_threshold
from spadework.core.pseudo_labels import (
    PseudoLabeler,
    Thresholds,
    find_thresholds,
    learning_targets,
    split_unlabeled,
    steady,
    vote,
)
from spadework.learners.one_class import make_one_class

SETTINGS = ["PNU", "PU", "NU"]
VOTINGS = ["unanimous", "majority"]

seeds = st.integers(0, 2**32 - 1)
any_labels = st.lists(st.sampled_from([1, 0, -1]), min_size=1, max_size=40).map(
    lambda labels: np.array(labels, dtype=np.int8)
)


def labels_in(setting, seed, n=60):
    """Shuffled labels: of each class 11 or 13, so that hardly any two tails tie."""
    labels = np.full(n, -1, dtype=np.int8)
    labels[:11] = 1 if "P" in setting else -1
    labels[11:24] = 0 if "N" in setting else -1
    return np.random.default_rng(seed).permutation(labels)


def scores_for(labels, seed, n_members=3):
    """Heavy-tailed scores, higher for labeled anomalies."""
    rng = np.random.default_rng(seed)
    scores = rng.standard_exponential((len(labels), n_members)) ** 2
    return scores + 3.0 * (labels == 1)[:, None]


def rows_for(labels, seed):
    """Rows of three columns with labeled anomalies apart, and a few hidden ones."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(len(labels), 3))
    X[labels == 1] += 4.0
    X[np.flatnonzero(labels == -1)[::5]] += 4.0
    return X


def gaussian_labeler(**changes):
    """Return a pseudo-labeler of three Gaussians."""
    options = {
        "one_class": make_one_class("gaussian"),
        "n_members": 3,
        "thresholds": "matching",
        "voting": "unanimous",
        "abstain": True,
        "use_labeled_normals": True,
        "score_scale": "log",
        "stand_in": True,
    }
    return PseudoLabeler(**(options | changes))


def voted_cases(*, crossing):
    """Scores and thresholds in whole numbers, so that many are equal."""
    numbers = st.integers(-4, 4).map(float)
    shapes = st.tuples(st.integers(1, 8), st.integers(1, 5))

    def case(shape):
        pairs = hnp.arrays(np.float64, (2, shape[1]), elements=numbers)
        ordered = pairs.map(lambda p: np.sort(p, axis=0)[:: -1 if crossing else 1])
        scores = hnp.arrays(np.float64, shape, elements=numbers)
        return st.tuples(scores, ordered.map(lambda p: Thresholds(p[0], p[1])))

    return shapes.flatmap(case)


def naive_consensus(scores, thresholds, voting):
    """Eq. 1 and 2, row by row and member by member."""
    labels = []
    for row in scores:
        above = [o > eta for o, eta in zip(row, thresholds.anomaly, strict=True)]
        below = [o < eta for o, eta in zip(row, thresholds.normal, strict=True)]
        if voting == "unanimous":
            agreed = [all(above), all(below)]
        else:
            agreed = [sum(above) > len(row) / 2, sum(below) > len(row) / 2]
        labels.append(-1 if agreed[0] == agreed[1] else 1 if agreed[0] else 0)
    return labels


@given(labels=any_labels, n_members=st.integers(1, 6), seed=seeds)
@examples(100)
def test_unlabeled_rows_are_dealt_into_disjoint_parts_of_nearly_equal_size(
    labels, n_members, seed
):
    groups = split_unlabeled(labels, n_members, np.random.default_rng(seed))
    dealt = groups[labels == -1]
    sizes = [int((dealt == member).sum()) for member in range(n_members)]
    assert sum(sizes) == len(dealt)
    assert max(sizes) - min(sizes) <= 1
    assert (groups[labels == 0] == SHARED).all()
    assert (groups[labels == 1] == LEFT_OUT).all()


def test_the_split_is_shuffled_by_the_generator_alone():
    labels = np.full(50, -1, dtype=np.int8)
    first, again, other = (
        split_unlabeled(labels, 5, np.random.default_rng(seed)).tolist()
        for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other
    assert first != [row % 5 for row in range(50)]


@pytest.mark.parametrize("voting", VOTINGS)
@given(case=st.one_of(voted_cases(crossing=True), voted_cases(crossing=False)))
@examples(100)
def test_the_vote_is_that_of_the_equations(voting, case):
    scores, thresholds = case
    expected = naive_consensus(scores, thresholds, voting)
    assert vote(scores, thresholds, voting).labels.tolist() == expected


@pytest.mark.parametrize("voting", VOTINGS)
@given(case=voted_cases(crossing=False))
@examples(50)
def test_abstaining_changes_nothing_where_thresholds_do_not_cross(voting, case):
    literal, abstaining = (vote(*case, voting, abstain=a) for a in (False, True))
    np.testing.assert_array_equal(literal.votes, abstaining.votes)
    np.testing.assert_array_equal(literal.labels, abstaining.labels)


def test_a_row_that_one_member_calls_both_is_an_anomaly_by_equation_1():
    thresholds = Thresholds(np.array([5.0, 1, 1, 1, 1]), np.full(5, 2.0))
    pseudo = vote(np.full((1, 5), 3.0), thresholds, "unanimous")
    assert pseudo.labels.tolist() == [1]
    assert pseudo.explain(0) == (
        "pseudo-anomaly: 4 of 5 members vote anomaly, 0 vote normal, 1 both, 0 abstain"
    )


@pytest.mark.parametrize("voting", VOTINGS)
@given(case=voted_cases(crossing=True))
@examples(100)
def test_a_member_abstains_where_its_crossing_thresholds_say_both(voting, case):
    scores, thresholds = case
    pseudo = vote(scores, thresholds, voting, abstain=True)
    both = (scores > thresholds.anomaly) & (scores < thresholds.normal)
    assert (pseudo.votes[both] == -1).all()
    for row, votes in zip(pseudo.labels, pseudo.votes, strict=True):
        needed = len(votes) if voting == "unanimous" else len(votes) // 2 + 1
        enough = [label for label in (1, 0) if (votes == label).sum() >= needed]
        assert row == (enough[0] if enough else -1)


@given(case=st.one_of(voted_cases(crossing=True), voted_cases(crossing=False)))
@examples(100)
def test_unanimous_pseudo_labels_are_among_those_of_the_majority(case):
    unanimous, majority = (vote(*case, v, abstain=True).labels for v in VOTINGS)
    agreed = unanimous != -1
    np.testing.assert_array_equal(majority[agreed], unanimous[agreed])


def test_half_of_the_members_is_no_majority():
    thresholds = Thresholds(np.zeros(4), np.ones(4))
    scores = np.array([[2.0, 2.0, 0.5, 0.5], [2.0, 2.0, 2.0, -1.0], [-1, -1, -1, 2.0]])
    assert vote(scores, thresholds, "majority").labels.tolist() == [-1, 1, 0]


@given(seed=seeds)
@examples(20)
def test_with_both_labels_both_thresholds_are_matched(seed):
    labels = labels_in("PNU", seed)
    scores = scores_for(labels, seed)
    found = find_thresholds(scores, labels, "matching", "raw")
    for member, column in enumerate(scores.T):
        unlabeled = column[labels == -1]
        normal = match_threshold(column[labels == 0], unlabeled, tail="lower")
        anomaly = match_threshold(column[labels == 1], unlabeled, tail="upper")
        assert (found.normal[member], found.anomaly[member]) == (normal, anomaly)


@given(seed=seeds)
@examples(20)
def test_without_labeled_normals_their_threshold_is_otsus(seed):
    labels = labels_in("PU", seed)
    scores = scores_for(labels, seed)
    found = find_thresholds(scores, labels, "matching", "raw")
    for member, column in enumerate(scores.T):
        unlabeled = column[labels == -1]
        anomaly = match_threshold(column[labels == 1], unlabeled, tail="upper")
        assert found.anomaly[member] == anomaly
        assert found.normal[member] == pytest.approx(otsu_threshold(unlabeled))


@given(seed=seeds)
@examples(20)
def test_without_labeled_anomalies_their_threshold_is_otsus(seed):
    labels = labels_in("NU", seed)
    scores = scores_for(labels, seed)
    found = find_thresholds(scores, labels, "matching", "raw")
    for member, column in enumerate(scores.T):
        unlabeled = column[labels == -1]
        normal = match_threshold(column[labels == 0], unlabeled, tail="lower")
        assert found.normal[member] == normal
        assert found.anomaly[member] == pytest.approx(otsu_threshold(unlabeled))


@pytest.mark.parametrize("setting", SETTINGS)
@given(seed=seeds)
@examples(20)
def test_by_the_otsu_rule_both_thresholds_split_the_rows_at_otsus(setting, seed):
    labels = labels_in(setting, seed)
    scores = scores_for(labels, seed)
    unlabeled = scores[labels == -1]
    found = find_thresholds(scores, labels, "otsu", "raw")
    split = np.array([otsu_threshold(column) for column in unlabeled.T])
    np.testing.assert_array_equal(unlabeled > found.anomaly, unlabeled > split)
    np.testing.assert_array_equal(unlabeled < found.normal, unlabeled <= split)


@pytest.mark.parametrize("scale", ["raw", "log"])
def test_by_the_otsu_rule_rows_of_one_and_the_same_score_are_normal(scale):
    labels = labels_in("PNU", 0)
    scores = np.full((len(labels), 2), 3.0)
    found = find_thresholds(scores, labels, "otsu", scale)
    votes = vote(scores[labels == -1], found, "unanimous").votes
    np.testing.assert_array_equal(votes, 0)


@pytest.mark.parametrize("rule", [(80, 95), [5.0, 50.0], (0, 100)])
@pytest.mark.parametrize("scale", ["raw", "log"])
def test_percentile_thresholds_are_percentiles_of_the_unlabeled_scores(rule, scale):
    labels = labels_in("PNU", 0)
    scores = scores_for(labels, 0)
    found = find_thresholds(scores, labels, rule, scale)
    expected = np.percentile(scores[labels == -1], rule, axis=0)
    np.testing.assert_allclose(found, expected)


@given(seed=seeds)
@examples(20)
def test_log_scale_thresholds_cut_the_rows_that_matching_takes_on_that_scale(seed):
    labels = labels_in("PNU", seed)
    scores = scores_for(labels, seed, n_members=1)
    found = find_thresholds(scores, labels, "matching", "log")
    column = scores[:, 0]
    logs = steady(column, column[labels == -1])
    unlabeled = column[labels == -1], logs[labels == -1]
    anomaly = match_threshold(logs[labels == 1], unlabeled[1], tail="upper")
    normal = match_threshold(logs[labels == 0], unlabeled[1], tail="lower")
    np.testing.assert_array_equal(unlabeled[0] > found.anomaly[0], unlabeled[1] > anomaly)
    np.testing.assert_array_equal(unlabeled[0] < found.normal[0], unlabeled[1] < normal)


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("scale", ["raw", "log"])
@given(seed=seeds, factor=st.floats(1e-3, 1e3), shift=st.floats(-1e3, 1e3))
@examples(30)
def test_the_same_rows_are_pseudo_labeled_when_all_scores_are_shifted_and_scaled(
    setting, scale, seed, factor, shift
):
    labels = labels_in(setting, seed)
    scores = scores_for(labels, seed)
    moved = factor * scores + shift
    before, after = (
        vote(s[labels == -1], find_thresholds(s, labels, "matching", scale), "majority")
        for s in (scores, moved)
    )
    np.testing.assert_array_equal(before.votes, after.votes)


@given(
    scores=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20).map(sorted),
    reference=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20),
)
@example(scores=[0.0, 2.0], reference=[0.0, 2.2250738585072014e-308])
@examples(100)
def test_the_log_scale_is_monotone_and_finite(scores, reference):
    logs = steady(np.array(scores), np.array(reference))
    assert np.isfinite(logs).all()
    assert (np.diff(logs) >= 0).all()


def test_the_log_scale_starts_at_the_lowest_and_has_the_median_as_its_unit():
    reference = np.array([10.0, 12.0, 1e9])
    logs = steady(np.array([3.0, 10.0, 12.0, 16.0]), reference)
    np.testing.assert_allclose(logs, np.log([1.0, 1.0, 2.0, 4.0]))


@given(case=voted_cases(crossing=False), voting=st.sampled_from(VOTINGS))
@examples(50)
def test_explanations_count_the_votes_truly(case, voting):
    pseudo = vote(*case, voting)
    names = {1: "pseudo-anomaly", 0: "pseudo-normal", -1: "unknown"}
    pattern = (
        r"(.*): (\d+) of (\d+) members vote anomaly, (\d+) vote normal, (\d+) abstain"
    )
    for row, votes in enumerate(pseudo.votes.tolist()):
        name, *numbers = re.fullmatch(pattern, pseudo.explain(row)).groups()
        counts = Counter(votes)
        expected = [counts[1], len(votes), counts[0], counts[-1]]
        assert name == names[int(pseudo.labels[row])]
        assert [int(number) for number in numbers] == expected
    assert pseudo.n_anomalies == pseudo.labels.tolist().count(1)
    assert pseudo.n_normals == pseudo.labels.tolist().count(0)


@pytest.mark.parametrize("voting", VOTINGS)
@pytest.mark.parametrize("thresholds", ["matching", "otsu", (40, 90)])
@pytest.mark.parametrize("setting", SETTINGS)
def test_a_fitted_labeler_repeats_the_training_pseudo_labels(setting, thresholds, voting):
    labels = labels_in(setting, 1, n=150)
    X = rows_for(labels, 1)
    labeler = gaussian_labeler(voting=voting, thresholds=thresholds)
    fitted, pseudo = labeler.fit(X, labels, np.random.default_rng(0))
    again = fitted.label(X[labels == -1])
    np.testing.assert_array_equal(again.labels, pseudo.labels)
    np.testing.assert_array_equal(again.votes, pseudo.votes)
    assert pseudo.n_anomalies + pseudo.n_normals > 0


@given(seed=seeds)
@example(seed=156)
@examples(10)
def test_a_fitted_labeler_repeats_the_pseudo_labels_of_rows_seen_one_by_one(seed):
    labels = labels_in("PNU", seed)
    X = rows_for(labels, seed)
    # Anomalies like all other rows are matched by all of them, down to the lowest.
    X[labels == 1] = X[labels == -1][: (labels == 1).sum()]
    labeler = gaussian_labeler(score_scale="raw")
    fitted, pseudo = labeler.fit(X, labels, np.random.default_rng(seed))
    votes = [fitted.label(row[None]).votes[0] for row in X[labels == -1]]
    np.testing.assert_array_equal(votes, pseudo.votes)


@pytest.mark.parametrize("shared", [True, False])
def test_labeled_normals_join_every_member_only_when_they_are_to_be_used(shared):
    labels = labels_in("PNU", 2)
    X = rows_for(labels, 2)
    labeler = gaussian_labeler(use_labeled_normals=shared)
    fitted, _ = labeler.fit(X, labels, np.random.default_rng(9))
    groups = split_unlabeled(labels, 3, np.random.default_rng(9))
    kept = groups >= (SHARED if shared else 0)
    expected = fit_gaussians(X[kept], groups[kept]).means
    np.testing.assert_allclose(fitted.members.means, expected)


def test_most_pseudo_anomalies_and_few_pseudo_normals_lie_apart():
    labels = labels_in("PNU", 3, n=600)
    X = rows_for(labels, 3)
    hidden = (X[labels == -1] > 1.5).all(axis=1)
    _, pseudo = gaussian_labeler().fit(X, labels, np.random.default_rng(0))
    assert hidden[pseudo.labels == 1].mean() > 0.5
    assert hidden[pseudo.labels == 0].mean() < 0.1


@given(data=st.data(), labels=any_labels, stand_in=st.booleans())
@examples(100)
def test_rows_without_consensus_stand_in_for_a_class_without_labels_only(
    data, labels, stand_in
):
    labels = np.append(labels, data.draw(st.sampled_from([1, 0]))).astype(np.int8)
    n_unlabeled = int((labels == -1).sum())
    pseudo = data.draw(
        hnp.arrays(np.int8, n_unlabeled, elements=st.sampled_from([1, 0, -1]))
    )
    missing = [label for label in (1, 0) if label not in labels]
    other = missing[0] if stand_in and missing else -1
    expected = [other if label == -1 else label for label in pseudo.tolist()]
    before = pseudo.copy()
    assert learning_targets(labels, pseudo, stand_in=stand_in).tolist() == expected
    np.testing.assert_array_equal(pseudo, before)


@pytest.mark.parametrize(("stand_in", "expected"), [(True, [0, 0]), (False, [-1, -1])])
def test_before_there_are_pseudo_labels_no_row_has_one(stand_in, expected):
    labels = np.array([1, -1, -1], dtype=np.int8)
    assert learning_targets(labels, None, stand_in=stand_in).tolist() == expected
