"""Trees learn labels and what the members say of unlabeled rows, as far as both count."""

from functools import cache, partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.metrics import roc_auc_score

from labelers import new_labeler
from mismatch import in_setting, mismatch_data
from properties import examples
from spadework import TreeLearner
from spadework.core.ranks import blend_by_rank, share_below
from spadework.core.scaling import fit_scaler
from spadework.errors import InputError
from spadework.in_context.contexts import IN_ALL
from spadework.in_context.members import InContextEnsemble
from spadework.learners import trees
from spadework.learners.trees import (
    InContextScores,
    hard_labels,
    judge_labels,
    sample_classes,
    score_in_context,
    shift_to_share,
)
from spadework.predictor.boosting import SUREST
from spadework.predictor.trees import SymmetricTrees


def rows(n=200, seed=0):
    X, y, truth = mismatch_data(n, seed)
    return X.astype(np.float32), y.astype(np.int8), truth.astype(np.int8)


def learn(X, labels, *, n_members=3, voting="unanimous", **parameters):
    """Learn from rows with a seed."""
    rng = np.random.default_rng(0)
    scaler, labeler = fit_scaler(X, "asinh", rng), new_labeler(n_members=n_members)
    learner = TreeLearner(**({"n_trees": 20} | parameters))
    return learner.learn(X, labels, scaler, labeler, rng, verbose=False)


@cache
def learnt(setting):
    """Learn from what the published model says."""
    X, y, truth = rows()
    return learn(X, truth if setting == "PN" else in_setting(y, setting))


class Spoken:
    """In place of a context: log-odds are a function of the rows, a bit off."""

    def __init__(self, function, place):
        self.function, self.place = function, place

    def log_odds(self, X):
        return self.function(X.astype(np.float64)) + self.place / 8


class SpokenEnsemble:
    """In place of contexts, with what these were asked for."""

    def __init__(self, function, labels, n_members, options):
        self.members = [Spoken(function, place) for place in range(n_members)]
        self.labels, self.options = labels, options

    def log_odds(self, X):
        return np.mean([member.log_odds(X) for member in self.members], axis=0)

    def likely_shares(self, level):
        return 0.5 - level / 2, level / 2


@pytest.fixture
def say(monkeypatch):
    """Put functions of rows in the place of contexts; return what was drawn.

    The context without labeled anomalies says nothing, or something else.
    """

    def put(function, without=lambda X: np.zeros(len(X))):
        drawn = []

        def draw(X, labels, n_members, rng, **options):
            said = function if (labels == 1).any() or "folds" in options else without
            drawn.append(SpokenEnsemble(said, labels, n_members, options))
            return drawn[-1]

        monkeypatch.setattr(InContextEnsemble, "draw", draw)
        return drawn

    return put


def lies_high(X):
    return 2 * X[:, 0] - 4


def lies_low(X):
    return -2 * X[:, 0] - 4


def scored(X, labels, n_members=3, advance=lambda note: None):
    return score_in_context(X, labels, n_members, np.random.default_rng(0), advance)


# What the members say


def test_every_member_scores_every_unlabeled_row(say):
    say(lies_high)
    X, y, _ = rows()
    found = scored(X, y)
    np.testing.assert_array_equal(found.rows, np.flatnonzero(y == -1))
    expected = lies_high(X[y == -1].astype(float))[:, None] + np.arange(3) / 8
    np.testing.assert_allclose(found.log_odds, expected)


def test_a_labeled_row_is_judged_by_the_member_that_has_not_seen_its_label(say):
    drawn = say(lies_high)
    X, y, _ = rows()
    found, folds = scored(X, y), drawn[0].options["folds"]
    assert set(folds[y != -1]) == {0, 1, 2}
    for member, fold in enumerate(drawn[0].members):
        own = folds == member
        expected = share_below(fold.log_odds(X[own]), fold.log_odds(X[y == -1]))
        np.testing.assert_array_equal(found.below[own], expected)
    np.testing.assert_array_equal(np.isnan(found.below), folds == IN_ALL)


@pytest.mark.parametrize(("n_members", "n_labels"), [(3, 2), (1, 200)])
def test_labels_that_every_member_has_seen_judge_nothing(say, n_members, n_labels):
    say(lies_high)
    X, y, _ = rows()
    y[np.flatnonzero(y == 1)[n_labels:]] = -1
    found = scored(X, in_setting(y, "PU"), n_members)
    assert np.isnan(found.below).all()


@pytest.mark.parametrize("most", [1000, 20])
def test_members_share_the_unlabeled_rows_as_far_as_contexts_hold_them(
    say, monkeypatch, most
):
    monkeypatch.setattr(trees, "MAX_IN_CONTEXT", most)
    drawn = say(lies_high)
    X, y, _ = rows()
    scored(X, y)
    n_unlabeled = (y == -1).sum()
    assert drawn[0].options["max_unlabeled"] == min(most, n_unlabeled // 3)


def test_progress_is_told_once_a_member(say):
    say(lies_high)
    told = []
    scored(*rows()[:2], advance=told.append)
    assert len(told) == 3


def test_only_so_many_labels_judge_and_only_so_many_rows_are_scored(say, monkeypatch):
    monkeypatch.setattr(trees, "MAX_JUDGES", 4)
    monkeypatch.setattr(trees, "MAX_PSEUDO_LABELED", 30)
    say(lies_high)
    X, y, _ = rows()
    found = scored(X, y)
    assert len(found.rows) == 30
    assert (y[found.rows] == -1).all()
    assert (np.diff(found.rows) > 0).all()
    judged = ~np.isnan(found.below)
    assert [(judged & (y == label)).sum() for label in (1, 0, -1)] == [4, 4, 0]


def test_labels_are_judged_by_class():
    y = np.array([1, 1, 0, 0, -1, 1])
    trust = judge_labels(y, np.array([0.9, 0.7, 0.2, np.nan, np.nan, np.nan]))
    assert trust.recall == pytest.approx(0.8)
    assert trust.typical == pytest.approx((0.8 + 10 * 0.5) / 11)


# Shifted scores


def trees_of(scores):
    """Return a tree for each border between whole numbers: row i has the i-th score."""
    scores = np.asarray(scores, dtype=float)
    n_trees = len(scores) - 1
    columns = np.zeros((n_trees, 1), dtype=np.intp)
    borders = np.arange(n_trees, dtype=np.float32)[:, None] + 0.5
    values = np.stack([np.zeros(n_trees), np.diff(scores)], axis=1)
    X = np.arange(len(scores), dtype=np.float32)[:, None]
    return SymmetricTrees(1, columns, borders, values, scores[0]), X


@given(
    st.lists(st.floats(-40, 40), min_size=1, max_size=20),
    st.floats(SUREST, 1 - SUREST),
)
@examples(200)
def test_shifted_scores_come_true_on_average(scores, share):
    model, X = trees_of(scores)
    shifted = shift_to_share(model, X, share).score(X)
    assert expit(shifted).mean() == pytest.approx(share, abs=1e-9)
    by_how_much = shifted - model.score(X)
    np.testing.assert_allclose(by_how_much, by_how_much[0], atol=1e-9)


@pytest.mark.parametrize("share", [SUREST, 0.5, 1 - SUREST])
@pytest.mark.parametrize("scores", [[0.0] * 5, [-900.0, 900.0], [500.0] * 3])
def test_scores_that_tie_or_are_sure_are_shifted_too(scores, share):
    model, X = trees_of(scores)
    chances = expit(shift_to_share(model, X, share).score(X))
    assert chances.mean() == pytest.approx(share, rel=1e-6)


# Pseudo-labels to look at


def test_each_member_calls_as_many_as_there_should_be_anomalies(say):
    say(lies_high)
    X, y, _ = rows()
    found = scored(X, y)
    pseudo = hard_labels(y, found, 0.1, "unanimous")
    n_called = (pseudo.votes == 1).sum(axis=0)
    np.testing.assert_allclose(n_called, 0.1 * len(found.rows), atol=1)
    assert pseudo.n_anomalies == pytest.approx(n_called[0])  # all three say the same


@pytest.mark.parametrize(("voting", "expected"), [("unanimous", -1), ("majority", 1)])
def test_members_that_do_not_agree_label_a_row_by_majority_alone(voting, expected):
    log_odds = np.zeros((10, 3))
    log_odds[1:] -= np.arange(1, 10)[:, None]
    log_odds[0, 2] = -99.0
    found = InContextScores(np.arange(10), log_odds, np.full(10, np.nan), (0.1, 0.2))
    pseudo = hard_labels(np.full(10, -1), found, 0.15, voting)
    assert pseudo.votes[0].tolist() == [1, 1, 0]
    assert pseudo.labels[0] == expected


def test_rows_that_were_not_scored_get_neither_votes_nor_a_label():
    y = np.array([0, -1, -1, 1, -1, -1])
    log_odds = np.array([[3.0], [-3.0]])
    found = InContextScores(np.array([2, 5]), log_odds, np.full(6, np.nan), (0.1, 0.2))
    pseudo = hard_labels(y, found, 0.5, "unanimous")
    assert pseudo.labels.tolist() == [-1, 1, -1, 0]
    assert pseudo.votes[:, 0].tolist() == [-1, 1, -1, 0]


# Learning


def test_trees_learn_labels_and_mean_chances_of_unlabeled_rows(say, monkeypatch):
    say(lies_high)
    asked = []

    def boost(X, targets, *rest, **options):
        asked.append((X, targets))
        return original(X, targets, *rest, **options)

    original = trees.boost
    monkeypatch.setattr(trees, "boost", boost)
    X, y, _ = rows()
    learn(X, y)
    ((seen, targets),) = asked
    chances = expit(lies_high(X.astype(float)) + 1 / 8)
    expected = np.where(y == -1, chances, y)
    place = {row.tobytes(): at for at, row in enumerate(X)}
    order = [place[row.tobytes()] for row in seen]
    assert sorted(order) == list(range(len(X)))
    np.testing.assert_allclose(targets, expected[order])


@pytest.mark.parametrize(
    ("function", "side"), [(lies_high, "suspicious"), (lies_low, "easy")]
)
def test_labeled_normals_count_as_far_as_they_look_like_the_rest(
    say, monkeypatch, function, side
):
    say(function)
    X, y, _ = rows(600)
    normals = np.flatnonzero(y == 0)
    y[normals[X[normals, 0] < 0.5]] = -1  # those that lie high are labeled
    trust = learn(X, y).trust
    assert (trust.of_normals < 0.7) == (side == "suspicious")
    assert (trust.of_labels_alone > 0.3) == (side == "easy")
    weighed = []
    monkeypatch.setattr(
        trees,
        "boost",
        lambda X, t, w, *rest, **more: weighed.append(w) or trees_of([0])[0],
    )
    TreeLearner()._boost_all(
        X, y, np.array([0]), np.zeros(1), trust, np.random.default_rng(0)
    )
    (weights,) = weighed
    n_anomalies, n_normals = (y == 1).sum(), (y == 0).sum()
    expected = np.repeat([1, trust.of_normals, 1], [n_anomalies, n_normals, 1])
    np.testing.assert_array_equal(weights, expected)


def test_where_labels_are_easy_what_they_say_alone_is_blended_in(say, monkeypatch):
    say(lies_low)
    X, y, _ = rows(600)
    normals = np.flatnonzero(y == 0)
    y[normals[X[normals, 0] < 0.5]] = -1
    blended = []

    def blend(own, other, weight):
        blended.append((own, other, weight))
        return blend_by_rank(own, other, weight)

    monkeypatch.setattr(trees, "blend_by_rank", blend)
    found = learn(X, y)
    ((own, alone, weight),) = blended
    assert weight == found.trust.of_labels_alone
    np.testing.assert_allclose(own, lies_low(X[y == -1].astype(float)) + 1 / 8)
    assert roc_auc_score(X[y == -1, 0] > 1, alone) > 0.6  # as labels have it
    assert found.share == pytest.approx(expit(own).mean())


# What a context without labeled anomalies says


@pytest.mark.parametrize("setting", ["PNU", "PU"])
def test_one_context_holds_no_labeled_anomaly(say, setting):
    drawn = say(lies_high)
    X, y, _ = rows()
    y = in_setting(y, setting)
    learn(X, y)
    _, without = drawn
    np.testing.assert_array_equal(without.labels, y[y != 1])
    assert len(without.members) == 1


def test_where_no_anomaly_is_labeled_there_is_no_such_context(say):
    drawn = say(lies_high)
    X, y, _ = rows()
    found = learn(X, in_setting(y, "NU"))
    assert len(drawn) == 1
    assert found.trust.one_class_recall is None


@pytest.mark.parametrize("most", [1000, 50])
def test_it_is_judged_by_how_high_it_ranks_labeled_anomalies(say, monkeypatch, most):
    monkeypatch.setattr(trees, "MAX_JUDGES", most)
    say(lies_low, without=lies_high)
    X, y, _ = rows()
    recall = learn(X, y).trust.one_class_recall
    known, high = y != 0, X[:, 0]
    assert recall == pytest.approx(roc_auc_score(y[known] == 1, high[known]), abs=0.05)


def test_it_counts_as_far_as_it_finds_labeled_anomalies(say, monkeypatch):
    blended = []

    def blend(own, other, weight):
        blended.append((own, other, weight))
        return blend_by_rank(own, other, weight)

    monkeypatch.setattr(trees, "blend_by_rank", blend)
    X, y, _ = rows()
    y = in_setting(y, "PU")
    unlabeled = X[y == -1].astype(float)
    say(lies_high, without=lies_low)
    learn(X, y)
    assert blended == []
    say(lies_low, without=lies_high)
    found = learn(X, y)
    ((own, other, weight),) = blended
    assert weight == found.trust.of_one_class > 0.3
    np.testing.assert_allclose(own, lies_low(unlabeled) + 1 / 8)
    np.testing.assert_allclose(other, lies_high(unlabeled))
    assert found.share == pytest.approx(expit(own).mean())


# What comes of it


@pytest.mark.parametrize("setting", ["PNU", "PU", "NU"])
def test_the_mean_chance_of_unlabeled_rows_is_the_predicted_share(setting):
    X, y, _ = rows()
    found = learnt(setting)
    assert 0 < found.share < 0.5
    unlabeled = in_setting(y, setting) == -1
    chances = expit(found.model.score(X[unlabeled]))
    assert chances.mean() == pytest.approx(found.share)
    np.testing.assert_array_equal(found.train_scores, found.model.score(X))


@pytest.mark.parametrize(
    ("setting", "at_least"), [("PNU", 0.95), ("PU", 0.85), ("NU", 0.95)]
)
def test_the_kind_of_anomaly_that_nobody_labeled_is_found(setting, at_least):
    fresh, _, truth = rows(600, seed=1)
    missed = fresh[:, 4:7].mean(axis=1) < -2.5
    judged = missed | (truth == 0)
    scores = learnt(setting).model.score(fresh)
    assert roc_auc_score(missed[judged], scores[judged]) > at_least


def test_pseudo_labels_are_of_the_unlabeled_rows():
    _, y, truth = rows()
    pseudo = learnt("PNU").pseudo_labels
    assert len(pseudo.labels) == (y == -1).sum()
    assert pseudo.votes.shape == (len(pseudo.labels), 3)
    called = pseudo.labels != -1
    assert called.mean() > 0.8
    assert (pseudo.labels == truth[y == -1])[called].mean() > 0.9


def test_new_rows_cannot_be_pseudo_labeled_as_contexts_are_not_kept():
    assert learnt("PNU").pseudo_labeler is None


def test_history_counts_pseudo_labels_and_trees():
    found = learnt("PNU")
    assert found.history == [
        {
            "n_trees": 20,
            "pseudo_anomalies": (found.pseudo_labels.labels == 1).sum(),
            "pseudo_normals": (found.pseudo_labels.labels == 0).sum(),
        }
    ]


def test_scores_are_log_odds():
    assert learnt("PNU").model.gives_log_odds


def test_rows_are_shown_as_scaled_columns():
    X, _, _ = rows()
    model = learnt("PNU").model
    np.testing.assert_array_equal(model.represent(X), model.scaler.transform(X))


@pytest.mark.parametrize("certain", [1000.0, -1000.0])
def test_members_that_are_certain_of_all_rows_do_no_harm(say, certain):
    say(lambda X: np.full(len(X), certain))
    X, y, _ = rows()
    found = learn(X, y)
    assert np.isfinite(found.train_scores).all()
    assert SUREST <= found.share <= 1 - SUREST
    assert expit(found.train_scores[y == -1]).mean() == pytest.approx(found.share)


ODD_TABLES = {
    "one column": lambda X: X[:, :1],
    "a column of two values": lambda X: (X[:, :1] > 2).astype(np.float32),
    "columns of one value": lambda X: np.c_[X, np.zeros_like(X)],
    "more columns than a context holds": lambda X: np.tile(X, 13),
    "rows that come twice": lambda X: X // 3,
    "numbers too large to be squared": lambda X: X * np.float32(1e30),
    "one huge number": lambda X: np.where(np.arange(len(X))[:, None] == 7, 3e38, X),
}


@pytest.mark.parametrize("name", ODD_TABLES)
def test_odd_tables_are_learnt_from(name):
    X, y, truth = rows(60)
    X = ODD_TABLES[name](X).astype(np.float32)
    found = learn(X, y)
    assert np.isfinite(found.train_scores).all()
    assert expit(found.train_scores[y == -1]).mean() == pytest.approx(found.share)
    assert roc_auc_score(truth, found.train_scores) > 0.7


@pytest.mark.parametrize(
    ("n_anomalies", "n_normals"), [(1, 1), (1, 10), (2, 0), (3, 0), (0, 2), (4, 10)]
)
def test_few_labels_are_learnt_from(n_anomalies, n_normals):
    X, _, truth = rows(60)
    y = np.full(60, -1, np.int8)
    y[np.flatnonzero(truth)[:n_anomalies]] = 1
    y[np.flatnonzero(truth == 0)[:n_normals]] = 0
    found = learn(X, y)
    assert np.isfinite(found.train_scores).all()
    assert (found.trust.recall is not None) == (n_anomalies >= 3)
    assert (found.trust.typical is not None) == (n_normals > 0)


def test_one_unlabeled_row_for_each_member_is_enough():
    X, _, y = rows(60)
    y[np.flatnonzero(y == 0)[:3]] = -1
    found = learn(X, y)
    assert len(found.pseudo_labels.labels) == 3
    assert np.isfinite(found.train_scores).all()


def test_of_many_unlabeled_rows_some_get_pseudo_labels_and_all_get_scores(monkeypatch):
    monkeypatch.setattr(trees, "MAX_PSEUDO_LABELED", 30)
    X, y, _ = rows()
    found = learn(X, y)
    assert (found.pseudo_labels.votes != -1).any(axis=1).sum() <= 30
    assert len(found.pseudo_labels.labels) == (y == -1).sum()
    assert np.isfinite(found.train_scores).all()


def test_where_no_row_differs_all_score_the_share_of_anomalies(say):
    say(lambda X: np.full(len(X), -2.0))
    found = learn(
        np.zeros((90, 2), np.float32), np.repeat([1, 0, -1], 30).astype(np.int8)
    )
    assert found.history[0]["n_trees"] == 0
    np.testing.assert_allclose(expit(found.train_scores), found.share)


# Labels alone


def test_without_unlabeled_rows_there_is_nothing_to_pseudo_label():
    found = learnt("PN")
    assert found.pseudo_labels is found.trust is found.share is None
    assert found.history == [{"n_trees": 20}]
    X, _, truth = rows()
    assert roc_auc_score(truth, found.model.score(X)) == 1


def refuse(X):
    raise AssertionError("contexts were read")


def test_without_pseudo_labels_no_context_is_read(say):
    say(refuse)
    X, y, _ = rows()
    found = learn(X, y, pseudo_labels=False)
    assert found.pseudo_labels is found.trust is found.share is None


@pytest.mark.parametrize(("setting", "taken_for"), [("PNU", None), ("PU", 0), ("NU", 1)])
def test_without_pseudo_labels_unlabeled_rows_stand_in_for_a_class_that_has_none(
    setting, taken_for
):
    X, y, _ = rows()
    y = in_setting(y, setting)
    unlabeled = y == -1
    other = X.copy()
    other[unlabeled] = np.random.default_rng(1).permutation(X[unlabeled])
    scores, others = (
        learn(each, y, pseudo_labels=False).model.score(X) for each in (X, other)
    )
    if taken_for is None:
        np.testing.assert_array_equal(scores, others)
    else:
        assert (scores != others).any()
        taken = np.where(unlabeled, taken_for, y)
        assert roc_auc_score(taken, scores) > 0.9


# Samples and refusals


def test_of_a_large_class_a_sample_is_learnt():
    y = np.repeat([1, 0, -1], [5, 50, 5]).astype(np.int8)
    anomalies, normals = sample_classes(y, 10, np.random.default_rng(0))
    assert sorted(anomalies) == [0, 1, 2, 3, 4]
    assert len(set(normals)) == 10
    assert (y[normals] == 0).all()
    draw = partial(sample_classes, y, 10)
    assert set(draw(np.random.default_rng(1))[1]) != set(normals)


def test_learning_leaves_the_parameters_as_they_were(say):
    say(lies_high)
    X, y, _ = rows(60)
    learner = TreeLearner(n_trees=3)
    before, rng = dict(vars(learner)), np.random.default_rng(0)
    scaler = fit_scaler(X, "asinh", rng)
    learner.learn(X, y, scaler, new_labeler(), rng, verbose=False)
    assert vars(learner) == before


@pytest.mark.parametrize("n_trees", [0, 2.5, None])
def test_a_number_of_trees_without_meaning_is_refused(n_trees):
    X, y, _ = rows(20)
    with pytest.raises(InputError, match="n_trees must be"):
        learn(X, y, n_trees=n_trees)
