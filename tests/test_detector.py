"""What SPADE says about its fit, decides, and how it composes with scikit-learn."""

import logging
from unittest import mock

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mismatch import in_setting, mismatch_data
from spadework import SPADE, ForestLearner, NetworkLearner
from spadework.core.matching import FALSE_ALARMS, match_threshold
from spadework.detector import PAPER_ABLATIONS
from spadework.errors import InputError
from spadework.learners.growing import Grower

STATED = {1: 1, 0: 0}


def forest(**parameters):
    return SPADE(learner=ForestLearner(n_trees=20), random_state=0, **parameters)


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


@pytest.mark.parametrize("setting", ["PNU", "PU", "NU"])
def test_setting_and_census_follow_from_the_labels(table, setting):
    X, y, _ = table
    y = in_setting(y, setting)
    detector = forest().fit(X, y)
    assert detector.setting_ == setting
    counts = [(y == label).sum() for label in (1, 0, -1)]
    assert list(detector.census_) == counts


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


def test_forest_history_counts_pseudo_labels_and_trees(table):
    X, y, _ = table
    grow = {"autospec": True, "side_effect": Grower.grow_whole}
    with mock.patch.object(Grower, "grow_whole", **grow) as grown:
        detector = forest().fit(X, y)
    (entry,) = detector.history_
    n_whole = grown.call_count
    assert n_whole > 0
    assert entry == {
        "pseudo_anomalies": (detector.pseudo_labels_.labels == 1).sum(),
        "pseudo_normals": (detector.pseudo_labels_.labels == 0).sum(),
        "n_trees": (4 + n_whole) * 20,  # of four readings, and to the last row
    }


def test_network_history_adds_up_to_the_loss_in_every_epoch(table):
    X, y, _ = table
    detector = network().set_params(learner__alpha=0.5, learner__beta=2.0).fit(X, y)
    assert len(detector.history_) == 6
    for epoch in detector.history_:
        parts = epoch["labeled"] + 0.5 * epoch["pseudo"] + 2.0 * epoch["reconstruction"]
        assert epoch["loss"] == pytest.approx(parts, rel=1e-5)


def test_network_makes_no_pseudo_labels_while_it_warms_up(table):
    X, y, _ = table
    history = network().fit(X, y).history_
    assert [epoch["pseudo_normals"] for epoch in history[:2]] == [0, 0]
    assert history[2]["pseudo_normals"] > 0


def test_network_training_halves_the_loss_on_labels():
    X, truth = fully_labeled()
    detector = network(label_map=STATED).set_params(learner__max_epochs=20)
    history = detector.fit(X, truth).history_
    assert history[-1]["labeled"] < history[0]["labeled"] / 2


def test_fit_prints_nothing_where_there_is_no_terminal(table, capsys, caplog):
    X, y, _ = table
    with caplog.at_level(logging.INFO, logger="spadework"):
        forest(verbose=True).fit(X, y)
    assert capsys.readouterr() == ("", "")
    assert "growing trees: done after 80 steps" in caplog.text


# The decision threshold


@pytest.mark.parametrize("threshold", [0.25, 1, -3.5, np.float32(0.5)])
def test_a_given_threshold_is_used_as_it_is(table, threshold):
    X, y, _ = table
    detector = forest(threshold=threshold).fit(X, y)
    assert detector.threshold_ == threshold
    expected = detector.anomaly_score(X) > threshold
    np.testing.assert_array_equal(detector.predict(X), expected)


def test_a_given_threshold_does_not_change_the_scores(table):
    X, y, _ = table
    automatic, given = forest().fit(X, y), forest(threshold=0.5).fit(X, y)
    np.testing.assert_array_equal(automatic.anomaly_score(X), given.anomaly_score(X))


def test_threshold_of_pu_matches_labeled_anomalies_to_unlabeled_rows(table):
    X, y, _ = table
    y = in_setting(y, "PU")
    detector = network().fit(X, y)
    scores = detector.anomaly_score(X)
    expected = match_threshold(scores[y == 1], scores[y == -1], tail="upper")
    assert detector.threshold_ == expected


def middle_guess(scores, labels, unlabeled):
    above = unlabeled > match_threshold(scores[labels == 1], unlabeled, tail="upper")
    below = unlabeled < match_threshold(scores[labels == 0], unlabeled, tail="lower")
    by_labels = len(unlabeled) * (labels == 1).sum() / (labels != -1).sum()
    return np.median([above.sum(), (~below).sum(), by_labels])


def test_threshold_of_pnu_is_the_middle_of_three_guesses(table):
    X, y, _ = table
    detector = network().fit(X, y)
    scores = detector.anomaly_score(X)
    called = scores[y == -1] > detector.threshold_
    assert called.sum() == pytest.approx(middle_guess(scores, y, scores[y == -1]), abs=1)


def test_easy_labels_on_both_sides_do_not_make_the_threshold_too_strict():
    rng = np.random.default_rng(0)
    truth = rng.random(4_000) < 0.2
    X = rng.normal(3.0 * truth, 1.0)[:, None]
    order = np.argsort(X[:, 0])
    y = np.full(len(X), -1)
    y[order[-40:]], y[order[:160]] = 1, 0
    detector = SPADE(random_state=0).fit(X, y)
    assert detector.predict(X).mean() == pytest.approx(truth.mean(), abs=0.05)


def test_where_no_anomaly_is_labeled_few_labeled_normals_lie_above_the_threshold(table):
    X, y, _ = table
    y = in_setting(y, "NU")
    detector = network().fit(X, y)
    called = detector.predict(X)[y == 0]
    assert called.mean() == pytest.approx(FALSE_ALARMS, abs=1 / len(called))


def test_false_alarms_keep_to_their_share_on_fresh_normals_in_nu():
    X, y, _ = mismatch_data(3_000, seed=0)
    detector = forest().fit(X, in_setting(y, "NU"))
    fresh, _, truth = mismatch_data(3_000, seed=1)
    assert detector.predict(fresh)[truth == 0].mean() < 2 * FALSE_ALARMS
    assert detector.predict(fresh)[truth == 1].mean() > 4 * FALSE_ALARMS


def test_threshold_matches_against_all_rows_when_none_is_unlabeled():
    X, truth = fully_labeled()
    detector = network(label_map=STATED).fit(X, truth)
    scores = detector.anomaly_score(X)
    called = scores > detector.threshold_
    assert called.sum() == pytest.approx(middle_guess(scores, truth, scores), abs=1)


def test_automatic_threshold_tells_easy_anomalies_from_normal_rows():
    right = []
    for seed in range(0, 8, 2):  # a single table says little about a guessed share
        X, y, _ = mismatch_data(1_000, seed=seed, missed=0.0)
        fresh, _, truth = mismatch_data(1_000, seed=seed + 1, missed=0.0)
        right.append(SPADE(random_state=0).fit(X, y).predict(fresh) == truth)
    assert np.mean(right) > 0.9


# Labels


def test_label_map_gives_the_same_fit_as_plain_labels(table):
    X, y, _ = table
    words = np.array(["ok", "fraud", "?"], dtype=object)[y]
    named = forest(label_map={"fraud": 1, "ok": 0, "?": -1}).fit(X, words)
    plain = forest().fit(X, y)
    np.testing.assert_array_equal(named.anomaly_score(X), plain.anomaly_score(X))
    assert named.score(X, words) == plain.score(X, y)
    assert set(named.predict(X)) == {0, 1}


def test_label_map_can_say_that_zero_means_unlabeled(table):
    X, y, _ = table
    zeros = np.where(y == 1, 1, 0)
    stated = forest(label_map={1: 1, 0: -1}).fit(X, zeros)
    plain = forest().fit(X, in_setting(y, "PU"))
    assert stated.setting_ == "PU"
    np.testing.assert_array_equal(stated.anomaly_score(X), plain.anomaly_score(X))


def test_score_is_the_auc_over_labeled_rows(table):
    X, y, _ = table
    detector = forest().fit(X, y)
    known = y != -1
    expected = roc_auc_score(y[known], detector.anomaly_score(X[known]))
    assert detector.score(X, y) == expected
    assert detector.score(X[known], y[known]) == expected


def test_score_weighs_the_labeled_rows(table):
    X, y, truth = table
    detector = forest().fit(X, y)
    weight = np.random.default_rng(0).random(len(y))
    expected = roc_auc_score(truth, detector.anomaly_score(X), sample_weight=weight)
    assert detector.score(X, truth, sample_weight=weight) == expected
    huge_where_unlabeled = np.where(y == -1, 1e9, 1.0)
    assert detector.score(X, y, sample_weight=huge_where_unlabeled) == pytest.approx(
        detector.score(X, y)
    )


def test_score_reads_every_label_that_fit_reads(table):
    X, y, _ = table
    words = np.array(["normal", "anomaly", "unlabeled"], dtype=object)[y]
    detector = forest().fit(X, words)
    assert detector.score(X, words) == detector.score(X, y)


def test_score_needs_both_classes(table):
    X, y, _ = table
    detector = forest().fit(X, y)
    for kept in (y == 0, y == -1, y != 0):
        with pytest.raises(InputError, match=r"an AUC needs .*; got P?N?U?:? ?\d?"):
            detector.score(X[kept], y[kept])


def test_score_says_what_a_label_map_leaves_of_the_labels(table):
    X, _, truth = table
    detector = forest(label_map={1: 1, 0: -1}).fit(X, truth)
    with pytest.raises(InputError, match=r"0 normals.* as label_map reads it"):
        detector.score(X, truth)


def test_score_needs_a_label_and_a_weight_for_each_row(table):
    X, y, _ = table
    detector = forest().fit(X, y)
    with pytest.raises(InputError, match=f"y must have a value .* {len(X)} rows, got"):
        detector.score(X, y[:-1])
    with pytest.raises(InputError, match="sample_weight must have a value"):
        detector.score(X, y, sample_weight=np.ones(3))


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
        "scaling": "minmax",
        "threshold": "auto",
        "label_map": None,
        "random_state": None,
        "verbose": False,
        "learner__n_networks": 1,
        "learner__alpha": 1.0,
        "learner__beta": 1.0,
        "learner__linear_code": False,
        "learner__warmup_epochs": 0,
        "learner__batch_size": None,
        "learner__learning_rate": 1e-3,
        "learner__max_epochs": 200,
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
        "encoder.2.weight": (n_hidden, n_hidden),
        "predictor.0.weight": (n_hidden, n_hidden),
        "predictor.2.weight": (1, n_hidden),
        "projection.0.weight": (n_hidden, n_hidden),
        "projection.2.weight": (n_features, n_hidden),
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


def test_set_params_refuses_a_name_it_does_not_know():
    with pytest.raises(ValueError, match="n_classifiers"):
        SPADE().set_params(n_classifiers=3)


def test_repr_shows_what_was_changed_and_nothing_else():
    assert repr(SPADE()) == "SPADE()"
    shown = repr(SPADE(n_members=3, learner=ForestLearner(n_trees=9)))
    assert shown == "SPADE(learner=ForestLearner(n_trees=9), n_members=3)"


def test_learners_by_name_are_the_default_learners(table):
    X, y, _ = table
    named = SPADE(learner="forest", random_state=0).fit(X, y)
    given = SPADE(learner=ForestLearner(), random_state=0).fit(X, y)
    np.testing.assert_array_equal(named.anomaly_score(X), given.anomaly_score(X))


def test_fitting_leaves_the_learner_object_as_it_was(table):
    X, y, _ = table
    learner = ForestLearner(n_trees=5)
    before = dict(vars(learner))
    SPADE(learner=learner, random_state=0).fit(X, y)
    assert vars(learner) == before


def test_a_generator_as_random_state_moves_on_between_fits(table):
    X, y, _ = table
    detector = forest().set_params(random_state=np.random.default_rng(0))
    first = detector.fit(X, y).anomaly_score(X)
    assert (detector.fit(X, y).anomaly_score(X) != first).any()


def test_without_a_seed_two_fits_differ(table):
    X, y, _ = table
    one, two = (forest().set_params(random_state=None).fit(X, y) for _ in range(2))
    assert (one.anomaly_score(X) != two.anomaly_score(X)).any()


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


def test_trees_on_labels_alone_learn_nothing_from_unlabeled_rows(table):
    X, y, _ = table
    other = X.copy()
    unlabeled = y == -1
    other[unlabeled] = np.random.default_rng(1).normal(50, 9, other[unlabeled].shape)
    learner = ForestLearner(n_trees=20, readings=["labels"])
    one, two = (
        SPADE(learner=learner, random_state=0)
        .fit(x, y)
        .model_.readings[0]
        .scorer.score(X)
        for x in (X, other)
    )
    np.testing.assert_array_equal(one, two)


def test_with_pseudo_label_weights_unlabeled_rows_say_something(table):
    X, y, _ = table
    other = X.copy()
    unlabeled = y == -1
    other[unlabeled] = np.random.default_rng(1).normal(50, 9, other[unlabeled].shape)
    one, two = (forest().fit(x, y) for x in (X, other))
    assert (one.anomaly_score(X) != two.anomaly_score(X)).any()


def test_pseudo_labels_find_the_kind_of_anomaly_that_nobody_labeled():
    X, y, _ = mismatch_data(1_500, seed=0)
    fresh, _, truth = mismatch_data(600, seed=1)
    missed = fresh[:, 4:7].mean(axis=1) < -2.5
    rows = missed | (truth == 0)
    found = forest().set_params(learner__readings=["pseudo"])
    blind = clone(found).set_params(learner__anomaly_weight=0, learner__normal_weight=0)
    with_it, without = (
        roc_auc_score(missed[rows], detector.fit(X, y).anomaly_score(fresh[rows]))
        for detector in (found, blind)
    )
    assert with_it > 0.9
    assert with_it > without + 0.03


# scikit-learn's tools


def test_grid_search_over_nested_parameters_takes_unlabeled_rows(table):
    X, y, _ = table
    grid = {"learner__n_trees": [5, 20], "n_members": [2, 3]}
    search = GridSearchCV(forest(), grid, cv=2, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.9
    assert set(search.best_params_) == set(grid)
    assert search.score(X, y) > 0.9
    assert search.predict(X).shape == (len(X),)


def test_pipeline_with_a_scaler_scores_like_the_detector_on_scaled_rows(table):
    X, y, _ = table
    pipeline = make_pipeline(StandardScaler(), forest()).fit(X, y)
    scaled = StandardScaler().fit_transform(X)
    expected = forest().fit(scaled, y).decision_function(scaled)
    np.testing.assert_array_equal(pipeline.decision_function(X), expected)
    assert pipeline.score(X, y) > 0.9


def test_pipeline_with_an_imputer_takes_missing_values(table):
    X, y, _ = table
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    pipeline = make_pipeline(SimpleImputer(), forest()).fit(holes, y)
    assert pipeline.score(holes, y) > 0.9
    assert np.isfinite(pipeline.predict_proba(holes)).all()


def test_cross_validation_by_auc_takes_fully_labeled_rows():
    X, truth = fully_labeled()
    scores = cross_val_score(
        forest(label_map=STATED), X, truth, scoring="roc_auc", cv=3, error_score="raise"
    )
    assert scores.min() > 0.9
