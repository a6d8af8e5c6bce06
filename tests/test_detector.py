"""What SPADE says about its fit, decides, and how it composes with scikit-learn."""

import logging

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV

from mismatch import in_setting, mismatch_data
from spadework import SPADE, ForestLearner, NetworkLearner
from spadework.core.matching import FALSE_ALARMS
from spadework.detector import PAPER_ABLATIONS
from spadework.errors import InputError

STATED = {1: 1, 0: 0}


def forest(**parameters):
    """Few trees, and no models beside them."""
    learner = ForestLearner(n_trees=20, linear=False, boosted=False, whole=False)
    return SPADE(learner=learner, random_state=0, **parameters)


def network(**parameters):
    """Algorithm 1 alone."""
    learner = NetworkLearner(
        n_networks=1,
        max_epochs=6,
        warmup_epochs=2,
        batch_size=64,
        learning_rate=0.01,
        judge=False,
    )
    return SPADE(learner=learner, random_state=0, **parameters)


def fully_labeled(n=200):
    X, _, truth = mismatch_data(n, seed=5)
    return X, truth


# What fit leaves behind


def test_fitted_attributes_describe_the_table(table):
    X, y, _ = table
    detector = forest().fit(X, y)
    assert detector.n_features_in_ == X.shape[1]
    assert not hasattr(detector, "feature_names_in_")
    np.testing.assert_array_equal(detector.classes_, [0, 1])
    assert isinstance(detector.threshold_, float)
    n_unlabeled = (y == -1).sum()
    assert detector.pseudo_labels_.labels.shape == (n_unlabeled,)
    assert detector.pseudo_labels_.votes.shape == (n_unlabeled, 5)
    assert set(np.unique(detector.pseudo_labels_.labels)) <= {-1, 0, 1}


def test_rows_that_lie_close_are_scored_together_as_alone(table):
    X, y, _ = table
    X = X.copy()
    X[:, 2] = 1.7e9 + np.arange(len(X)) * 3e5  # the seconds of three years
    detector = forest().fit(X, y)
    close = X[[0, 0]]
    close[1, 2] += 1
    alone = [detector.anomaly_score(row[None])[0] for row in close]
    np.testing.assert_array_equal(detector.anomaly_score(close), alone)


@pytest.mark.parametrize("make", [forest, network])
def test_without_unlabeled_rows_there_is_nothing_to_pseudo_label(make):
    X, truth = fully_labeled()
    detector = make(label_map=STATED).fit(X, truth)
    assert detector.setting_ == "PN"
    assert detector.pseudo_labels_ is None
    assert detector.pseudo_labeler_ is None
    with pytest.raises(InputError, match="every row was labeled"):
        detector.pseudo_label(X)


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
        forest(verbose=True).fit(X, y)
    assert capsys.readouterr() == ("", "")
    assert "growing trees: done after 80 steps" in caplog.text


# The decision threshold


def test_easy_labels_on_both_sides_do_not_make_the_threshold_too_strict():
    rng = np.random.default_rng(0)
    truth = rng.random(2_000) < 0.2
    X = rng.normal(3.0 * truth, 1.0)[:, None]
    order = np.argsort(X[:, 0])
    y = np.full(len(X), -1)
    y[order[-20:]], y[order[:80]] = 1, 0
    detector = forest().fit(X, y)
    assert detector.predict(X).mean() == pytest.approx(truth.mean(), abs=0.05)


def test_false_alarms_keep_to_their_share_on_fresh_normals_in_nu():
    X, y, _ = mismatch_data(1_500, seed=0)
    detector = forest().fit(X, in_setting(y, "NU"))
    fresh, _, truth = mismatch_data(3_000, seed=1)
    assert detector.predict(fresh)[truth == 0].mean() < 2 * FALSE_ALARMS
    assert detector.predict(fresh)[truth == 1].mean() > 4 * FALSE_ALARMS


def test_automatic_threshold_tells_easy_anomalies_from_normal_rows():
    right = []
    for seed in range(0, 8, 2):  # a single table says little about a guessed share
        X, y, _ = mismatch_data(1_000, seed=seed, missed=0.0)
        fresh, _, truth = mismatch_data(1_000, seed=seed + 1, missed=0.0)
        right.append(forest().fit(X, y).predict(fresh) == truth)
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
        "learner__judge": False,
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


def test_learners_by_name_are_the_default_learners():
    X, truth = fully_labeled(40)
    named, given = (
        SPADE(learner=learner, label_map=STATED, random_state=0).fit(X, truth)
        for learner in ("forest", ForestLearner())
    )
    np.testing.assert_array_equal(named.anomaly_score(X), given.anomaly_score(X))


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
    assert roc_auc_score(truth, detector.anomaly_score(X)) > 0.9
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
