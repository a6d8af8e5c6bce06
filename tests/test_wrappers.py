"""Wrappers that take unlabeled for a class are refused, with a way that works."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import (
    GridSearchCV,
    TunedThresholdClassifierCV,
    cross_val_predict,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mismatch import in_setting, mismatch_data
from spadework import SPADE, ForestLearner
from spadework.errors import LabelError
from spadework.model_selection import LabeledKFold
from spadework.wrappers import refuse_wrapped

STATED = {1: 1, 0: 0, -1: -1}
NUMBERED = {0: -1, 1: 0, 2: 1}
WRAPPERS = {
    "calibration": lambda inner: CalibratedClassifierCV(inner, cv=2),
    "calibration, together": lambda inner: CalibratedClassifierCV(
        inner, cv=2, ensemble=False
    ),
    "calibration, our folds": lambda inner: CalibratedClassifierCV(
        inner, cv=LabeledKFold(2, label_map=STATED)
    ),
    "bagging": lambda inner: BaggingClassifier(inner, n_estimators=2),
    "votes": lambda inner: VotingClassifier([("one", inner)]),
    "stack": lambda inner: StackingClassifier([("one", inner)], cv=2),
}
REMEDY = r"takes each value of y for a class.*FrozenEstimator.*labeled rows alone"


def detector(**parameters):
    learner = ForestLearner(n_trees=20)
    return SPADE(learner=learner, random_state=0, **parameters)


class Asking(ClassifierMixin, BaseEstimator):
    """Asks about the labels that it is given, and learns nothing."""

    def fit(self, X, y):
        refuse_wrapped(y)
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


@pytest.fixture(scope="module")
def rows():
    X, y, truth = mismatch_data(400, seed=0, missed=0, rate=0.3)
    return X, y, truth


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_a_wrapper_that_takes_unlabeled_for_a_class_is_refused(rows, wrap):
    X, y, _ = rows
    scaled = make_pipeline(StandardScaler(), detector())
    for inner in (detector(), detector(label_map=NUMBERED), scaled):
        with pytest.raises(LabelError, match=f"(?s){REMEDY}"):
            wrap(inner).fit(X, y)


def test_a_wrapper_that_fits_in_threads_is_refused(rows):
    X, y, _ = rows
    with parallel_config(backend="threading"), pytest.raises(LabelError, match=REMEDY):
        CalibratedClassifierCV(detector(), cv=2, n_jobs=2).fit(X, y)


def test_a_wrapper_around_a_search_is_refused(rows):
    X, y, _ = rows
    search = GridSearchCV(
        detector(), {"n_members": [3]}, cv=LabeledKFold(2), error_score="raise"
    )
    with pytest.raises(LabelError, match="CalibratedClassifierCV of scikit-learn takes"):
        CalibratedClassifierCV(search, cv=2).fit(X, y)


@pytest.mark.parametrize("wrapper", [CalibratedClassifierCV, TunedThresholdClassifierCV])
def test_labels_of_anomalies_alone_are_refused_too(rows, wrapper):
    X, y, _ = rows
    with pytest.raises(LabelError, match=f"{wrapper.__name__}.*got -1, 1"):
        wrapper(detector(), cv=2).fit(X, in_setting(y, "PU"))


@pytest.mark.parametrize("wrapper", [CalibratedClassifierCV, TunedThresholdClassifierCV])
def test_the_remedy_works(rows, wrapper):
    X, y, truth = rows
    labeled = np.flatnonzero(y != -1)
    held = labeled[::2]
    fitted = detector().fit(np.delete(X, held, axis=0), np.delete(y, held))
    frozen = FrozenEstimator(fitted)
    more = {"cv": "prefit", "refit": False} if "Tuned" in wrapper.__name__ else {}
    wrapped = wrapper(frozen, **more).fit(X[held], y[held])
    assert set(wrapped.predict(X)) == {0, 1}
    unlabeled = y == -1
    chances = wrapped.predict_proba(X[unlabeled])[:, 1]
    assert roc_auc_score(truth[unlabeled], chances) > 0.9


@pytest.mark.parametrize("wrap", WRAPPERS.values(), ids=WRAPPERS)
def test_wrappers_may_hand_over_labels_of_zero_and_one(rows, wrap):
    X, _, truth = rows
    assert hasattr(wrap(Asking()).fit(X, truth), "classes_")


def test_bags_of_anomalies_and_unlabeled_rows_are_learnt_from(rows):
    X, y, truth = rows
    inner = detector(label_map={1: 1, 0: -1})
    bags = BaggingClassifier(inner, n_estimators=2, random_state=0)
    chances = bags.fit(X, np.where(y == 1, 1, 0)).predict_proba(X)[:, 1]
    assert roc_auc_score(truth, chances) > 0.9


def test_labels_are_left_alone_where_no_wrapper_is_fitting():
    for y in ([1, 0, -1], ["fraud", "ok", ""], [0, 1, 2]):
        refuse_wrapped(y)


def test_predictions_by_folds_that_number_labels_anew_are_refused(rows):
    X, y, _ = rows
    with pytest.raises(LabelError, match="unknown label value 2"):
        cross_val_predict(detector(), X, y, cv=2, method="predict_proba")
