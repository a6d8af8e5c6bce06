"""What SPADE says about its fit, decides, and how it composes with scikit-learn."""

import logging
from functools import cache

import numpy as np
import pytest
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV

from mismatch import in_setting, mismatch_data
from spadework import SPADE, ForestLearner, NetworkLearner, TreeLearner
from spadework.core.matching import MOST_ANOMALIES
from spadework.detector import PAPER_ABLATIONS
from spadework.errors import InputError

STATED = {1: 1, 0: 0}


def default(**parameters):
    """Few trees."""
    return SPADE(learner=TreeLearner(n_trees=20), random_state=0, **parameters)


@cache
def fitted():
    """Fit the default on the table that all tests share."""
    X, y, _ = mismatch_data(300, seed=0)
    return default().fit(X, y)


def forest(**parameters):
    """Few trees."""
    return SPADE(learner=ForestLearner(n_trees=20), random_state=0, **parameters)


def network(**parameters):
    """Algorithm 1 alone."""
    learner = NetworkLearner(
        n_networks=1,
        max_epochs=6,
        warmup_epochs=2,
        batch_size=64,
        learning_rate=0.01,
    )
    return SPADE(learner=learner, random_state=0, **parameters)


def fully_labeled(n=200):
    X, _, truth = mismatch_data(n, seed=5)
    return X, truth


# What fit leaves behind


def test_fitted_attributes_describe_the_table(table):
    X, y, _ = table
    detector = fitted()
    assert detector.n_features_in_ == X.shape[1]
    assert not hasattr(detector, "feature_names_in_")
    np.testing.assert_array_equal(detector.classes_, [0, 1])
    assert isinstance(detector.threshold_, float)
    n_unlabeled = (y == -1).sum()
    assert detector.pseudo_labels_.labels.shape == (n_unlabeled,)
    assert detector.pseudo_labels_.votes.shape == (n_unlabeled, 3)
    assert set(np.unique(detector.pseudo_labels_.labels)) <= {-1, 0, 1}


@pytest.mark.parametrize(("make", "n_members"), [(forest, 5), (network, 5), (default, 3)])
def test_there_are_three_contexts_or_five_one_class_classifiers(table, make, n_members):
    X, y, _ = table
    for asked, expected in ((None, n_members), (2, 2)):
        detector = make(n_members=asked).fit(X[:60], y[:60])
        assert detector.pseudo_labels_.votes.shape[1] == expected
        assert detector.n_members is asked


def test_the_default_says_how_far_labels_were_trusted():
    assert 0.9 < fitted().trust_.recall <= 1
    assert str(fitted().trust_).startswith("Pseudo-labels rank labeled anomalies")


def test_rows_that_lie_close_are_scored_together_as_alone(table):
    X, y, _ = table
    X = X.copy()
    X[:, 2] = 1.7e9 + np.arange(len(X)) * 3e5  # the seconds of three years
    detector = default(n_members=1).fit(X, y)
    close = X[[0, 0]]
    close[1, 2] += 1
    alone = [detector.anomaly_score(row[None])[0] for row in close]
    np.testing.assert_array_equal(detector.anomaly_score(close), alone)


@pytest.mark.parametrize("make", [default, forest, network])
def test_without_unlabeled_rows_there_is_nothing_to_pseudo_label(make):
    X, truth = fully_labeled()
    detector = make(label_map=STATED).fit(X, truth)
    assert detector.setting_ == "PN"
    assert detector.pseudo_labels_ is None
    assert detector.pseudo_labeler_ is None
    with pytest.raises(InputError, match="every row was labeled"):
        detector.pseudo_label(X)


def test_pseudo_label_says_that_contexts_are_not_kept(table):
    with pytest.raises(InputError, match="contexts, which a fitted SPADE does not keep"):
        fitted().pseudo_label(table[0])


def test_pseudo_label_needs_a_fit(table):
    with pytest.raises(NotFittedError):
        SPADE().pseudo_label(table[0])


@pytest.mark.parametrize(
    "one_class", ["gaussian", "neighbours", "isolation_forest", "svm"]
)
def test_pseudo_label_repeats_the_pseudo_labels_of_training(table, one_class):
    X, y, _ = table
    detector = forest(one_class=one_class, n_members=3).fit(X, y)
    again = detector.pseudo_label(X[y == -1])
    np.testing.assert_array_equal(again.labels, detector.pseudo_labels_.labels)
    np.testing.assert_array_equal(again.votes, detector.pseudo_labels_.votes)


def test_pseudo_label_of_a_network_repeats_the_pseudo_labels_of_training(table):
    X, y, _ = table
    detector = network().fit(X, y)
    again = detector.pseudo_label(X[y == -1])
    np.testing.assert_array_equal(again.labels, detector.pseudo_labels_.labels)


def test_fit_prints_nothing_where_there_is_no_terminal(table, capsys, caplog):
    X, y, _ = table
    with caplog.at_level(logging.INFO, logger="spadework"):
        default(verbose=True).fit(X[:60], y[:60])
    assert capsys.readouterr() == ("", "")
    assert "reading contexts: done after 4 steps" in caplog.text


# The decision threshold


def test_the_default_calls_as_many_unlabeled_rows_as_there_should_be_anomalies(table):
    X, y, _ = table
    called = fitted().predict(X[y == -1])
    assert called.sum() == pytest.approx(fitted().share_ * len(called), abs=1)


def test_the_default_gives_chances_that_come_true_on_average_and_rise_with_the_score(
    table,
):
    X, y, _ = table
    chances = fitted().predict_proba(X[y == -1])[:, 1]
    assert chances.mean() == pytest.approx(fitted().share_)
    np.testing.assert_allclose(chances, expit(fitted().anomaly_score(X[y == -1])))


def test_without_unlabeled_rows_the_default_calls_what_is_more_likely_than_not():
    X, truth = fully_labeled(100)
    detector = default(label_map=STATED).fit(X, truth)
    assert detector.threshold_ == 0.0
    assert detector.share_ is None
    likely = detector.predict_proba(X)[:, 1] > 0.5
    np.testing.assert_array_equal(detector.predict(X), likely)


@pytest.mark.parametrize("make", [default, forest])
def test_a_given_threshold_is_used_as_it_is(table, make):
    X, y, _ = table
    assert make(threshold=-1.5).fit(X[:60], y[:60]).threshold_ == -1.5


@pytest.mark.parametrize(
    ("budget", "n_called"),
    [({"contamination": 0.1}, 0.1), ({"n_calls": 7}, 7), ({"contamination": 0.5}, 0.5)],
)
@pytest.mark.parametrize("make", [default, forest])
def test_a_budget_calls_so_many_unlabeled_rows_and_never_more(
    table, make, budget, n_called, caplog
):
    X, y, _ = table
    detector = make(**budget).fit(X[:100], y[:100])
    unlabeled = X[:100][y[:100] == -1]
    if n_called < 1:
        n_called = int(n_called * len(unlabeled))
    found = detector.predict(unlabeled).sum()
    assert found == n_called or (found < n_called and "the budget is" in caplog.text)
    assert found > 0


def test_a_budget_moves_the_threshold_alone(table):
    X, y, _ = table
    detector = default(n_calls=5).fit(X, y)
    np.testing.assert_array_equal(detector.anomaly_score(X), fitted().anomaly_score(X))
    np.testing.assert_array_equal(detector.predict_proba(X), fitted().predict_proba(X))
    assert detector.threshold_ > fitted().threshold_


def test_a_budget_counts_all_rows_where_every_row_is_labeled():
    X, truth = fully_labeled(100)
    detector = default(label_map=STATED, contamination=0.05).fit(X, truth)
    assert 0 < detector.predict(X).sum() <= 5


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"contamination": 0.1, "n_calls": 3}, "contamination or n_calls"),
        ({"threshold": 1.0, "n_calls": 3}, "threshold or n_calls"),
        ({"contamination": 0.6}, "above 0 and up to 0.5; got 0.6"),
        ({"contamination": "auto"}, "got 'auto'"),
        ({"n_calls": 0}, "n_calls"),
        ({"n_calls": 2.5}, "n_calls"),
        ({"n_calls": 61}, "between one row and the"),
        ({"contamination": 0.001}, "between one row and the"),
    ],
)
def test_a_budget_that_has_no_meaning_is_refused(table, parameters, words):
    X, y, _ = table
    with pytest.raises(InputError, match=words):
        default(**parameters).fit(X[:60], y[:60])


@pytest.mark.parametrize("make", [forest, network])
def test_where_no_share_is_predicted_belief_is_one_half_at_the_threshold(table, make):
    X, y, _ = table
    detector = make().fit(X, y)
    assert detector.share_ is None
    assert detector.to_probability(np.array([detector.threshold_])) == 0.5
    unlabeled = X[y == -1]
    assert 0 < detector.predict(unlabeled).mean() <= MOST_ANOMALIES


def test_easy_labels_on_both_sides_do_not_make_the_threshold_too_strict():
    rng = np.random.default_rng(0)
    truth = rng.random(2_000) < 0.2
    X = rng.normal(3.0 * truth, 1.0)[:, None]
    order = np.argsort(X[:, 0])
    y = np.full(len(X), -1)
    y[order[-20:]], y[order[:80]] = 1, 0
    detector = default().fit(X, y)
    assert detector.predict(X).mean() == pytest.approx(truth.mean(), abs=0.05)


def test_automatic_threshold_tells_easy_anomalies_from_normal_rows():
    right = []
    for seed in range(0, 8, 2):  # a single table says little about a guessed share
        X, y, _ = mismatch_data(200, seed=seed, missed=0.0)
        fresh, _, truth = mismatch_data(200, seed=seed + 1, missed=0.0)
        right.append(default().fit(X, y).predict(fresh) == truth)
    assert np.mean(right) > 0.9


# Parameters


def test_paper_is_the_published_configuration_parameter_by_parameter():
    parameters = SPADE.paper().get_params()
    assert isinstance(parameters.pop("learner"), NetworkLearner)
    assert parameters == {
        "one_class": "gaussian",
        "n_members": 5,
        "thresholds": "matching",
        "voting": "unanimous",
        "abstain": False,
        "use_labeled_normals": True,
        "score_scale": "raw",
        "stand_in": False,
        "scaling": "clipped",
        "contamination": None,
        "n_calls": None,
        "threshold": "auto",
        "label_map": None,
        "random_state": None,
        "verbose": False,
        "learner__n_networks": 1,
        "learner__alpha": 1.0,
        "learner__beta": 1.0,
        "learner__n_layers": 1,
        "learner__start": "glorot",
        "learner__linear_code": False,
        "learner__warmup_epochs": 0,
        "learner__batch_size": 128,
        "learner__learning_rate": 1e-3,
        "learner__max_epochs": 100,
        "learner__patience": 5,
        "learner__device": "auto",
    }


def test_paper_learner_has_half_as_many_hidden_units_as_features(table):
    X, y, _ = table
    detector = SPADE.paper(learner__max_epochs=1, random_state=0).fit(X, y)
    (weights,) = detector.model_.weights
    n_features, n_hidden = 8, 4
    shapes = {name: array.shape for name, array in weights.items() if "weight" in name}
    assert shapes == {
        "encoder.0.weight": (n_hidden, n_features),
        "predictor.0.weight": (1, n_hidden),
        "projection.0.weight": (n_features, n_hidden),
    }


def test_the_literal_reading_of_the_paper_differs_in_what_the_paper_leaves_open():
    nearest, literal = (SPADE.paper(literal=each).get_params() for each in (False, True))
    del nearest["learner"], literal["learner"]
    assert {key: literal[key] for key in literal if literal[key] != nearest[key]} == {
        "scaling": "minmax",
        "learner__n_layers": 2,
        "learner__start": "torch",
        "learner__batch_size": None,
        "learner__max_epochs": 200,
    }


@pytest.mark.parametrize("name", PAPER_ABLATIONS)
def test_paper_ablation_changes_exactly_one_parameter(name):
    published = SPADE.paper().get_params()
    ablated = SPADE.paper(**PAPER_ABLATIONS[name]).get_params()
    del published["learner"], ablated["learner"]
    changed = {key for key in published if published[key] != ablated[key]}
    assert changed == set(PAPER_ABLATIONS[name])
    assert len(changed) == 1


@pytest.mark.parametrize("name", PAPER_ABLATIONS)
def test_paper_ablation_runs_and_changes_the_scores(table, name):
    X, y, _ = table
    short = {"learner__max_epochs": 3, "learner__batch_size": 64, "random_state": 0}
    published = SPADE.paper(**short).fit(X, y)
    ablated = SPADE.paper(**short, **PAPER_ABLATIONS[name]).fit(X, y)
    assert np.isfinite(ablated.anomaly_score(X)).all()
    assert (ablated.anomaly_score(X) != published.anomaly_score(X)).any()


def test_there_are_the_five_ablations_of_the_paper():
    assert len(PAPER_ABLATIONS) == 5


def test_set_params_reaches_into_the_learner():
    detector = SPADE(learner=ForestLearner())
    detector.set_params(learner__n_trees=7, n_members=3, voting="majority")
    assert detector.learner.n_trees == 7
    assert detector.get_params()["learner__n_trees"] == 7
    assert detector.get_params(deep=False)["n_members"] == 3


def test_parameters_of_a_learner_by_name_can_be_set():
    assert SPADE().set_params(learner__n_trees=7).learner.n_trees == 7
    network = SPADE().set_params(learner="network", learner__n_networks=2)
    assert network.learner.n_networks == 2


def test_set_params_refuses_a_name_it_does_not_know():
    with pytest.raises(ValueError, match="n_classifiers"):
        SPADE().set_params(n_classifiers=3)


def test_repr_shows_what_was_changed_and_nothing_else():
    assert repr(SPADE()) == "SPADE()"
    shown = repr(SPADE(n_members=3, learner=ForestLearner(n_trees=9)))
    assert shown == "SPADE(learner=ForestLearner(n_trees=9), n_members=3)"


@pytest.mark.parametrize(
    ("name", "given"), [("trees", TreeLearner()), ("forest", ForestLearner())]
)
def test_learners_by_name_are_the_default_learners(name, given):
    X, truth = fully_labeled(40)
    one, other = (
        SPADE(learner=learner, label_map=STATED, random_state=0).fit(X, truth)
        for learner in (name, given)
    )
    np.testing.assert_array_equal(one.anomaly_score(X), other.anomaly_score(X))


def test_without_a_name_trees_learn():
    assert SPADE().learner == "trees"
    assert isinstance(SPADE().set_params(learner__n_trees=3).learner, TreeLearner)


def test_percentile_thresholds_are_percentiles_of_the_unlabeled_scores(table):
    X, y, _ = table
    detector = forest(thresholds=(30, 80), n_members=2).fit(X, y)
    rows = detector.model_.represent(X[y == -1].astype(np.float32))
    scores = detector.pseudo_labeler_.members.score(rows)
    found = detector.pseudo_labels_.thresholds
    np.testing.assert_allclose(found.normal, np.percentile(scores, 30, axis=0))
    np.testing.assert_allclose(found.anomaly, np.percentile(scores, 80, axis=0))


def test_majority_votes_label_at_least_as_many_rows_as_unanimous_ones(table):
    X, y, _ = table
    unanimous = forest().fit(X, y).pseudo_labels_.labels
    majority = forest(voting="majority").fit(X, y).pseudo_labels_.labels
    agreed = unanimous != -1
    np.testing.assert_array_equal(majority[agreed], unanimous[agreed])
    assert (majority != -1).sum() > agreed.sum()


def test_stand_in_changes_nothing_where_both_classes_are_labeled(table):
    X, y, _ = table
    with_it, without = (forest(stand_in=value).fit(X, y) for value in (True, False))
    np.testing.assert_array_equal(with_it.anomaly_score(X), without.anomaly_score(X))


class DistanceFromMean(BaseEstimator):
    """A one-class model of one's own: higher is more anomalous."""

    def fit(self, X):
        self.mean_ = X.mean(axis=0)
        return self

    def score(self, X):
        return np.linalg.norm(X - self.mean_, axis=1)


@pytest.mark.parametrize(
    "one_class",
    [DistanceFromMean(), IsolationForest(n_estimators=10, random_state=0)],
    ids=["score", "score_samples"],
)
def test_a_one_class_object_is_used_and_left_unfitted(table, one_class):
    X, y, truth = table
    detector = forest(one_class=one_class, n_members=2).fit(X, in_setting(y, "NU"))
    assert roc_auc_score(truth, detector.anomaly_score(X)) > 0.8
    assert not [name for name in vars(one_class) if name.endswith("_")]
    assert len(detector.pseudo_labeler_.members.models) == 2


class OneScoreForAll(DistanceFromMean):
    def score(self, X):
        return 0.5


def test_a_one_class_object_that_does_not_score_rows_is_named(table):
    X, y, _ = table
    with pytest.raises(InputError, match="OneScoreForAll must score every row"):
        forest(one_class=OneScoreForAll()).fit(X, y)


# scikit-learn's tools


def test_grid_search_over_nested_parameters_takes_unlabeled_rows(table):
    X, y, _ = table
    grid = {"learner__n_trees": [2, 5], "n_members": [2, 3]}
    search = GridSearchCV(forest(), grid, cv=2, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.9
    assert set(search.best_params_) == set(grid)
    assert search.score(X, y) > 0.9
    assert search.predict(X).shape == (len(X),)
