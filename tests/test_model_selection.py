"""Folds and scorers never take an unlabeled row for a labeled one."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score, f1_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mismatch import SETTINGS, in_setting, mismatch_data
from spadework import SPADE, ForestLearner
from spadework.base import AnomalyDetector
from spadework.errors import InputError, LabelError
from spadework.model_selection import (
    LabeledKFold,
    average_precision,
    f1,
    recall_at,
    roc_auc,
    roc_auc_nu,
    roc_auc_pu,
)

SIDES = {  # which label should score above which
    average_precision: (1, 0),
    roc_auc: (1, 0),
    f1: (1, 0),
    roc_auc_pu: (1, -1),
    roc_auc_nu: (-1, 0),
}
WORDS = {"fraud": 1, "ok": 0, "?": -1}
AS_WORDS = {label: word for word, label in WORDS.items()}


class OneColumn(AnomalyDetector):
    """Scores rows by one of their columns and learns nothing else."""

    def __init__(self, column=0, threshold="auto", label_map=None):
        self.column, self.threshold, self.label_map = column, threshold, label_map
        self.random_state = 0

    def _learn(self, X, labels, rng):
        return self._score(X)

    def _score(self, X):
        return X[:, self.column].astype(float)


class LikelyOneColumn(OneColumn):
    """The same, for scorers that find probabilities alone."""

    @property
    def decision_function(self):
        raise AttributeError("probabilities alone")

    def predict_proba(self, X):
        chance = 1 / (1 + np.exp(-self.anomaly_score(X)))
        return np.stack([1 - chance, chance], axis=1)


def rows_of(scores):
    """Rows of a useless column, and of these scores."""
    noise = np.random.default_rng(0).normal(size=len(scores))
    return np.stack([noise, scores], axis=1)


def labels_of(counts):
    """Mixed labels, so many of each: anomalies, normals, unlabeled."""
    return np.random.default_rng(0).permutation(np.repeat([1, 0, -1], counts))


def folds(y, **parameters):
    return list(LabeledKFold(**parameters).split(np.zeros((len(y), 1)), y))


counts = st.tuples(st.integers(4, 30), st.integers(4, 30), st.integers(31, 90))
settings_and_counts = st.tuples(st.sampled_from(SETTINGS), counts)
seeds = st.integers(0, 1000)
n_splits = st.integers(2, 4)
switches = st.booleans()


# Folds


@given(settings_and_counts, n_splits, seeds, switches)
def test_every_labeled_row_is_tested_once_and_every_row_trains_or_is_tested(
    drawn, n_splits, seed, split_unlabeled
):
    y = in_setting(labels_of(drawn[1]), drawn[0])
    parts = folds(
        y, n_splits=n_splits, random_state=seed, split_unlabeled=split_unlabeled
    )
    assert len(parts) == n_splits
    for train, test in parts:
        assert not np.intersect1d(train, test).size
        np.testing.assert_array_equal(np.union1d(train, test), np.arange(len(y)))
    tested = np.concatenate([test for _, test in parts])
    assert len(tested) == len(np.unique(tested))
    assert set(np.flatnonzero(y != -1)) <= set(tested)


@given(counts, n_splits, seeds)
def test_no_unlabeled_row_is_tested_where_both_classes_are_labeled(
    counts, n_splits, seed
):
    y = labels_of(counts)
    unlabeled = np.flatnonzero(y == -1)
    for train, test in folds(y, n_splits=n_splits, random_state=seed):
        assert set(y[test]) == {0, 1}
        assert set(unlabeled) <= set(train)


@given(
    st.sampled_from([("PU", False), ("NU", False), ("PNU", True)]),
    counts,
    n_splits,
    switches,
)
def test_test_parts_hold_an_even_share_of_unlabeled_rows_where_these_are_compared(
    setting, counts, n_splits, shuffle
):
    y = in_setting(labels_of(counts), setting[0])
    parts = folds(y, n_splits=n_splits, shuffle=shuffle, split_unlabeled=setting[1])
    held = [test[y[test] == -1] for _, test in parts]
    sizes = list(map(len, held))
    np.testing.assert_array_equal(np.sort(np.concatenate(held)), np.flatnonzero(y == -1))
    assert max(sizes) - min(sizes) <= 1


@given(settings_and_counts, n_splits, switches)
def test_each_class_is_spread_evenly_over_test_parts(drawn, n_splits, shuffle):
    y = in_setting(labels_of(drawn[1]), drawn[0])
    parts = folds(y, n_splits=n_splits, shuffle=shuffle)
    for label in set(y) - {-1}:
        sizes = [(y[test] == label).sum() for _, test in parts]
        assert min(sizes) >= 1
        assert max(sizes) - min(sizes) <= 1


def assert_same_folds(parts, others):
    for one, other in zip(parts, others, strict=True):
        np.testing.assert_array_equal(one[1], other[1])


def test_a_seed_gives_the_same_folds_each_time_and_another_seed_others():
    y = labels_of((20, 20, 20))
    splitter = LabeledKFold(random_state=3)
    first = list(splitter.split(y[:, None], y))
    assert_same_folds(first, splitter.split(y[:, None], y))
    assert_same_folds(first, clone(splitter, safe=False).split(y[:, None], y))
    with pytest.raises(AssertionError):
        assert_same_folds(first, folds(y, random_state=4))


def test_without_shuffling_the_first_fold_tests_the_first_rows_of_each_class():
    parts = folds(np.array([1, 0, 1, 0, -1, -1, -1]), n_splits=2, shuffle=False)
    assert [test.tolist() for _, test in parts] == [[0, 1], [2, 3]]


def test_labels_in_words_are_split_as_the_numbers_that_they_mean():
    y = labels_of((8, 9, 20))
    words = np.array([AS_WORDS[label] for label in y], dtype=object)
    parts = folds(words, n_splits=3, random_state=0, label_map=WORDS)
    assert_same_folds(parts, folds(y, n_splits=3, random_state=0))


@pytest.mark.parametrize(
    ("counts", "parameters", "match"),
    [
        ((3, 9, 9), {}, r"5 labeled anomalies \(1\).*got 3\. Lower n_splits to 3, or"),
        ((9, 2, 9), {}, r"5 labeled normals \(0\).*got 2\. Lower n_splits to 2, or"),
        ((1, 9, 9), {"n_splits": 2}, r"2 labeled anomalies.*got 1\. Give more"),
        ((9, 0, 10), {"n_splits": 11}, r"11 labeled anomalies.*got 9"),
        ((4, 0, 9), {"n_splits": 5}, r"5 labeled anomalies.*got 4"),
        ((9, 9, 4), {"split_unlabeled": True}, r"5 unlabeled rows \(-1\).*got 4"),
        ((9, 9, 0), {}, "0 may mean 'normal' or 'not known'"),
        ((0, 0, 9), {}, "no row is labeled"),
    ],
)
def test_too_few_rows_of_a_class_are_refused_before_anything_is_fitted(
    counts, parameters, match
):
    y = labels_of(counts)
    with pytest.raises(LabelError, match=match):
        LabeledKFold(**parameters).split(y[:, None], y)


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"n_splits": 1}, "n_splits must be 2 or more"),
        ({"n_splits": 2.5}, "n_splits must be a positive integer"),
        ({"shuffle": False, "random_state": 0}, "random_state=0 draws nothing"),
        ({"random_state": "seed"}, "random_state must be"),
    ],
)
def test_parameters_without_meaning_are_refused(parameters, match):
    y = labels_of((9, 9, 9))
    with pytest.raises(InputError, match=match):
        LabeledKFold(**parameters).split(y[:, None], y)


def test_groups_and_missing_labels_are_refused():
    y = labels_of((9, 9, 9))
    with pytest.raises(InputError, match="does not keep groups"):
        LabeledKFold().split(y[:, None], y, groups=y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        LabeledKFold().split(y[:5, None], y)


# Scorers


def naive_auc(high, low):
    """Share of pairs in order, ties for a half."""
    pairs = np.subtract.outer(high, low)
    return ((pairs > 0) + 0.5 * (pairs == 0)).mean()


def naive_recall(anomalies, unlabeled, n_places):
    """Share of anomalies with a place among the unlabeled rows, over orders of ties."""
    chances = []
    for score in anomalies:
        higher = sum(other > score for other in unlabeled)
        tied = sum(other == score for other in unlabeled)
        places = [higher + before < n_places for before in range(tied + 1)]
        chances.append(np.mean(places))
    return np.mean(chances)


def scored(seed, counts=(6, 20, 150), lift=1):
    """A fitted detector, rows with tied scores, labels, and these scores."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat([1, 0, -1], counts))
    scores = np.round(rng.normal(size=len(y)) + lift * (y == 1), 1)
    X = rows_of(scores)
    return OneColumn(1).fit(X, y), X, y, X.astype(np.float32)[:, 1].astype(float)


@pytest.mark.parametrize("seed", range(5))
def test_every_scorer_agrees_with_a_naive_computation(seed):
    detector, X, y, scores = scored(seed)
    known = y != -1
    anomalies, normals, unlabeled = (scores[y == label] for label in (1, 0, -1))
    naive = {
        average_precision: average_precision_score(y[known], scores[known]),
        roc_auc: naive_auc(anomalies, normals),
        f1: f1_score(y[known], detector.predict(X[known])),
        roc_auc_pu: naive_auc(anomalies, unlabeled),
        roc_auc_nu: naive_auc(unlabeled, normals),
        recall_at(0.02): naive_recall(anomalies, unlabeled, 3),
        recall_at(0.3): naive_recall(anomalies, unlabeled, 45),
    }
    for scorer, expected in naive.items():
        assert scorer(detector, X, y) == pytest.approx(expected)
    assert naive[roc_auc] == detector.score(X, y)


@pytest.mark.parametrize("scorer", SIDES)
def test_rows_of_the_label_that_is_left_out_change_nothing(scorer):
    detector, X, y, _ = scored(0)
    (left_out,) = {1, 0, -1} - set(SIDES[scorer])
    kept = y != left_out
    assert scorer(detector, X, y) == scorer(detector, X[kept], y[kept])


def test_recall_is_that_of_each_anomaly_by_itself():
    y = np.repeat([1, -1], [10, 100])
    X = rows_of(np.r_[np.full(10, 99.0), np.arange(100.0)])
    detector = OneColumn(1).fit(X, y)
    assert recall_at(0.01)(detector, X, y) == 0.5  # tied with the highest
    X[:10] += 1
    assert recall_at(0.01)(detector, X, y) == 1  # ten anomalies, and one place


@pytest.mark.parametrize("share", [0.05, 0.3])
def test_the_auc_against_unlabeled_rows_is_a_lower_bound_by_their_share_of_anomalies(
    share,
):
    rng = np.random.default_rng(0)
    n_hidden = round(share * 20_000)
    y = np.repeat([1, -1], [20_000, 20_000])
    scores = rng.normal(size=40_000)
    scores[: 20_000 + n_hidden] += 1.5  # anomalies, labeled and hidden
    X = rows_of(scores)
    true = naive_auc(scores[:2000], scores[-2000:])
    found = roc_auc_pu(
        OneColumn(1).fit(
            X,
            y,
        ),
        X,
        y,
    )
    assert found < true
    assert found == pytest.approx((1 - share) * true + share / 2, abs=0.01)


def test_labels_are_read_as_the_scored_detector_reads_them():
    detector, X, y, _ = scored(0)
    words = np.array([AS_WORDS[label] for label in y], dtype=object)
    of_words = OneColumn(1, label_map=WORDS).fit(X, words)
    pipeline = make_pipeline(StandardScaler(), OneColumn(1, label_map=WORDS))
    search = GridSearchCV(
        OneColumn(label_map=WORDS),
        {"column": [0, 1]},
        scoring=roc_auc,
        cv=LabeledKFold(2, random_state=0, label_map=WORDS),
        error_score="raise",
    )
    for estimator in (of_words, pipeline.fit(X, words), search.fit(X, words)):
        assert roc_auc(estimator, X, words) == roc_auc(detector, X, y)


def test_zeros_that_a_detector_takes_for_unlabeled_are_no_normals():
    _, X, y, _ = scored(0)
    zeros = np.where(y == 1, 1, 0)
    detector = OneColumn(1, label_map={1: 1, 0: -1}).fit(X, zeros)
    with pytest.raises(InputError, match=r"labeled normals \(0\).*PU: 6 anomalies"):
        roc_auc(detector, X, zeros)
    assert 0.5 < roc_auc_pu(detector, X, zeros) < 1


def test_probabilities_are_ranked_where_there_is_no_decision_function():
    detector, X, y, _ = scored(0)
    likely = LikelyOneColumn(1).fit(X, y)
    assert roc_auc(likely, X, y) == roc_auc(detector, X, y)


@pytest.mark.parametrize("scorer", [*SIDES, recall_at(0.1)])
@pytest.mark.parametrize("lacking", [1, 0, -1])
def test_a_test_part_with_nothing_to_compare_is_refused_with_a_remedy(scorer, lacking):
    detector, X, y, _ = scored(0)
    rows = y != lacking
    if lacking not in SIDES.get(scorer, (1, -1)):
        assert np.isfinite(scorer(detector, X[rows], y[rows]))
        return
    with pytest.raises(InputError, match=r"compares .* with .* holds .*(Score|LabeledK)"):
        scorer(detector, X[rows], y[rows])


def test_what_is_no_detector_of_two_classes_is_refused():
    _, X, y, _ = scored(0)
    three = LogisticRegression().fit(X, y)
    outliers = IsolationForest(n_estimators=5, random_state=0).fit(X)
    for estimator, classes in ((three, r"\[-1  0  1\]"), (outliers, "None")):
        for scorer in (roc_auc, f1):
            with pytest.raises(InputError, match=rf"got \w+ with classes_ {classes}"):
                scorer(estimator, X, y)


@pytest.mark.parametrize("budget", [0, 1, 2, -0.1, "2%", None])
def test_a_budget_that_is_no_share_is_refused(budget):
    with pytest.raises(InputError, match="budget must be a share of rows"):
        recall_at(budget)


def test_a_budget_of_less_than_a_row_is_refused():
    detector, X, y, _ = scored(0, (6, 20, 40))
    with pytest.raises(InputError, match=r"1\.00% must allow for a row.*40 unlabeled"):
        recall_at(0.01)(detector, X, y)


def test_scorers_can_be_sent_to_other_processes():
    detector, X, y, _ = scored(0)
    for scorer in (*SIDES, recall_at(0.1)):
        again = pickle.loads(pickle.dumps(scorer))
        assert again(detector, X, y) == scorer(detector, X, y)


# A search


def choose(X, y, scoring, cv, **more):
    """Search for the better of a useless column and a good one."""
    search = GridSearchCV(OneColumn(), {"column": [0, 1]}, scoring=scoring, cv=cv, **more)
    return search.fit(X, y)


@pytest.mark.parametrize("scoring", ["average_precision", "roc_auc", "f1"])
def test_plain_scoring_finds_nothing_where_ours_finds_the_better_candidate(scoring):
    _, X, y, _ = scored(0, (20, 60, 200), lift=4)
    ours = {"average_precision": average_precision, "roc_auc": roc_auc, "f1": f1}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain = choose(X, y, scoring, 3)
    assert np.isnan(plain.cv_results_["mean_test_score"]).all()
    assert plain.best_params_ == {"column": 0}
    folds = LabeledKFold(3, random_state=0)
    found = choose(X, y, ours[scoring], folds, error_score="raise")
    assert found.best_params_ == {"column": 1}
    assert np.isfinite(found.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize(
    ("setting", "scorer"),
    [("PU", roc_auc_pu), ("PU", recall_at(0.2)), ("NU", roc_auc_nu)],
)
def test_the_better_candidate_is_found_with_one_class_of_labels(setting, scorer):
    rng = np.random.default_rng(0)
    truth = rng.permutation(np.repeat([1, 0], [150, 250]))
    y = in_setting(np.where(rng.random(400) < 0.4, truth, -1), setting)
    X = rows_of(rng.normal(size=400) + 2 * truth)
    folds = LabeledKFold(3, random_state=0)
    found = choose(X, y, scorer, folds, error_score="raise")
    assert found.best_params_ == {"column": 1}


def test_several_scorers_at_once_are_those_of_each_fold():
    X, y, _ = mismatch_data(300, seed=0, missed=0)
    X += np.random.default_rng(0).normal(scale=3, size=X.shape)
    detector = SPADE(learner=ForestLearner(n_trees=10), random_state=0)
    folds = LabeledKFold(2, random_state=0, split_unlabeled=True)
    scorers = {"auc": roc_auc, "recall": recall_at(0.05)}
    search = GridSearchCV(
        detector, {"learner__n_trees": [1, 20]}, scoring=scorers, cv=folds, refit="auc"
    ).fit(X, y)
    assert search.best_params_ == {"learner__n_trees": 20}
    for name, scorer in scorers.items():
        again = cross_val_score(
            search.best_estimator_, X, y, scoring=scorer, cv=folds, error_score="raise"
        )
        found = [search.cv_results_[f"split{fold}_test_{name}"][1] for fold in (0, 1)]
        np.testing.assert_array_equal(found, again)
