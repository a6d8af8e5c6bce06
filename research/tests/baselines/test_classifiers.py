"""Classifiers learn what labels say, and a library that is absent is named."""

import pytest
from sklearn.metrics import roc_auc_score
from threadpoolctl import threadpool_limits

from contract import twin_blobs
from spadework.errors import InputError
from spadework_research.baselines.classifiers import CLASSIFIERS
from spadework_research.baselines.supervised import Supervised


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Keep boosting from waiting for cores that are busy with other tests."""
    with threadpool_limits(1):
        yield


OFFLINE = [name for name in CLASSIFIERS if name != "tabpfn"]  # it needs weights


@pytest.mark.parametrize("classifier", OFFLINE)
def test_every_classifier_learns_what_labels_say(classifier):
    X, truth = twin_blobs(100, seed=0, side=1)
    fresh, fresh_truth = twin_blobs(100, seed=1, side=1)
    made = Supervised(classifier=classifier, label_map={1: 1, 0: 0}, random_state=0)
    assert roc_auc_score(fresh_truth, made.fit(X, truth).anomaly_score(fresh)) > 0.9


def test_an_unknown_classifier_lists_the_known_ones(table):
    X, y, _ = table
    known = ", ".join(CLASSIFIERS)
    with pytest.raises(InputError, match=f"'oracle'; known are {known}"):
        Supervised(classifier="oracle").fit(X, y)
