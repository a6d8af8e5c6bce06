"""A plain forest learns labels and the consensus of one-class classifiers, once."""

from functools import cache

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score

from labelers import new_labeler
from mismatch import in_setting, mismatch_data
from spadework import ForestLearner
from spadework.core.matching import decide_threshold
from spadework.core.scaling import fit_scaler
from spadework.errors import InputError, LabelError
from spadework.learners import forest


def rows(n=300, seed=0):
    X, y, truth = mismatch_data(n, seed)
    return X.astype(np.float32), y.astype(np.int8), truth.astype(np.int8)


def learn(X, labels, labeler=None, **parameters):
    """Learn from rows with a seed, in few trees."""
    rng = np.random.default_rng(0)
    scaler = fit_scaler(X, "asinh", rng)
    learner = ForestLearner(**({"n_trees": 9} | parameters))
    labeler = labeler or new_labeler(thresholds=(60, 90))
    return learner.learn(X, labels, scaler, labeler, rng, verbose=False)


@cache
def learnt(setting):
    X, y, truth = rows()
    return learn(X, truth if setting == "PN" else in_setting(y, setting))


@pytest.fixture
def grown(monkeypatch):
    """Return the forests of scikit-learn that are grown, and what on."""
    kept = []

    class Kept(RandomForestClassifier):
        def fit(self, X, y, sample_weight):
            kept.append((self, X, y, sample_weight))
            return super().fit(X, y, sample_weight)

    monkeypatch.setattr(forest, "RandomForestClassifier", Kept)
    return kept


def test_it_learns_labels_and_pseudo_labels_and_leaves_out_all_other_rows(grown):
    X, y, _ = rows()
    found = learn(X, y, alpha=0.3)
    known = y.copy()
    known[y == -1] = found.pseudo_labels.labels
    ((_, seen, targets, weights),) = grown
    np.testing.assert_array_equal(seen, X[known != -1])
    np.testing.assert_array_equal(targets, known[known != -1])
    expected = np.where(y == -1, 0.3, 1.0)[known != -1]
    np.testing.assert_array_equal(weights, expected)


def test_scores_are_the_mean_shares_of_anomalies_that_the_trees_found(grown):
    X, y, _ = rows()
    fresh, _, _ = rows(200, seed=1)
    found = learn(X, y)
    expected = grown[0][0].predict_proba(fresh)[:, 1]
    np.testing.assert_allclose(found.model.score(fresh), expected)


def test_training_scores_are_of_trees_that_have_not_drawn_a_row(grown):
    X, y, _ = rows()
    found = learn(X, y)
    ((kept, _, _, _),) = grown
    known = y.copy()
    known[y == -1] = found.pseudo_labels.labels
    learnt, expected = known != -1, found.model.score(X)
    drawn = kept.estimators_samples_
    for place, row in enumerate(np.flatnonzero(learnt)):
        held_out = [
            tree.predict_proba(X[[row]])[0, 1]
            for tree, its in zip(kept.estimators_, drawn, strict=True)
            if place not in its
        ]
        expected[row] = np.mean(held_out) if held_out else expected[row]
    np.testing.assert_allclose(found.train_scores, expected)


def test_no_more_normal_rows_are_called_in_nu_than_a_few():
    X, y, _ = rows(600)
    fresh, _, truth = rows(600, seed=1)
    found = learn(X, in_setting(y, "NU"), n_trees=50)
    threshold = decide_threshold(found.train_scores, in_setting(y, "NU"))
    assert (found.model.score(fresh) > threshold)[truth == 0].mean() < 0.15


def test_a_row_that_every_tree_has_drawn_keeps_its_score():
    X, y, _ = rows(60)
    found = learn(X, y, n_trees=1)
    assert np.isfinite(found.train_scores).all()


def test_pseudo_labels_are_those_of_the_fitted_one_class_classifiers():
    X, y, _ = rows()
    found = learnt("PNU")
    again = found.pseudo_labeler.label(found.model.represent(X[y == -1]))
    np.testing.assert_array_equal(again.labels, found.pseudo_labels.labels)


def test_pseudo_labels_without_weight_are_not_learnt(grown):
    X, y, _ = rows()
    learn(X, y, alpha=0.0)
    np.testing.assert_array_equal(grown[0][1], X[y != -1])


@pytest.mark.parametrize(("setting", "missing"), [("PU", 0), ("NU", 1)])
def test_rows_without_consensus_stand_in_for_a_class_without_labels(
    grown, setting, missing
):
    X, y, _ = rows()
    y = in_setting(y, setting)
    pseudo = learn(X, y).pseudo_labels.labels
    learn(X, y, new_labeler(thresholds=(60, 90), stand_in=False))
    (_, seen, targets, _), (_, fewer, _, _) = grown
    assert len(seen) == len(X)
    assert len(fewer) == len(X) - (pseudo == -1).sum()
    assert (targets == missing).sum() == np.isin(pseudo, (missing, -1)).sum()


def test_the_kind_of_anomaly_that_nobody_labeled_is_found_by_pseudo_labels():
    X, y, _ = rows(1_000)
    fresh, _, truth = rows(600, seed=1)
    missed = fresh[:, 4:7].mean(axis=1) < -2.5
    judged = missed | (truth == 0)
    with_it, without = (
        roc_auc_score(missed[judged], learn(X, y, alpha=alpha).model.score(fresh)[judged])
        for alpha in (1.0, 0.0)
    )
    assert with_it > 0.9
    assert with_it > without + 0.2


def test_without_unlabeled_rows_nothing_is_pseudo_labeled():
    found = learnt("PN")
    assert found.pseudo_labels is found.pseudo_labeler is None
    assert found.history == [{"pseudo_anomalies": 0, "pseudo_normals": 0, "n_trees": 9}]


def test_history_counts_pseudo_labels_and_trees():
    found = learnt("PNU")
    counts = [(found.pseudo_labels.labels == kind).sum() for kind in (1, 0)]
    assert list(found.history[0].values()) == [*counts, 9]


def test_it_judges_no_labels_and_predicts_no_share():
    assert learnt("PNU").trust is learnt("PNU").share is None
    assert not learnt("PNU").model.gives_log_odds


def test_learning_leaves_the_parameters_as_they_were():
    X, y, _ = rows(60)
    learner = ForestLearner(n_trees=2)
    before, rng = dict(vars(learner)), np.random.default_rng(0)
    scaler = fit_scaler(X, "asinh", rng)
    learner.learn(X, y, scaler, new_labeler(), rng, verbose=False)
    assert vars(learner) == before


@pytest.mark.parametrize(
    "wrong",
    [{"n_trees": 0}, {"alpha": -1.0}, {"alpha": "much"}, {"alpha": float("nan")}],
    ids=str,
)
def test_parameters_without_meaning_are_refused(wrong):
    X, y, _ = rows(20)
    with pytest.raises(InputError, match=f"{next(iter(wrong))} must be"):
        learn(X, y, **wrong)


@pytest.mark.parametrize(("setting", "name"), [("NU", "anomaly"), ("PU", "normal row")])
def test_a_class_of_no_rows_is_refused_by_name_and_with_a_way_out(setting, name):
    X, y, _ = rows(60)
    labeler = new_labeler(thresholds=(0, 100), stand_in=False)
    with pytest.raises(LabelError, match=f"no {name} was labeled or.*stand_in=True"):
        learn(X, in_setting(y, setting), labeler)
