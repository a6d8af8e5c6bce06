"""The in-context detector calls as many rows as it predicts, with any weights."""

from functools import cache
from tempfile import mkdtemp

import numpy as np
import pytest
from scipy.special import expit

import contract
from mismatch import in_setting, mismatch_data
from spadework import load, save
from spadework.errors import InputError, ModelFileError
from spadework.in_context.detector import InContextDetector
from spadework.in_context.weights import Weights
from tiny_context import tiny_model


@cache
def weights():
    """A file of tiny random weights."""
    path = f"{mkdtemp()}/weights"
    Weights.of(tiny_model()).write(path)
    return path


def detector(**parameters):
    defaults = {"weights": weights(), "n_members": 2, "random_state": 0, "device": "cpu"}
    return InContextDetector(**{**defaults, **parameters})


@pytest.mark.parametrize("setting", ["PNU", "PU", "NU"])
def test_as_many_unlabeled_rows_are_called_as_there_should_be_anomalies(setting):
    X, y, _ = mismatch_data(400, seed=0)
    y = in_setting(y, setting)
    fitted = detector().fit(X, y)
    called = fitted.predict(X[y == -1]).mean()
    assert called == pytest.approx(fitted.share_, abs=2 / len(X))


def test_where_all_is_labeled_rows_more_likely_than_not_are_called():
    X, _, truth = mismatch_data(100, seed=0)
    fitted = detector(label_map={1: 1, 0: 0}).fit(X, truth)
    assert fitted.setting_ == "PN"
    assert fitted.threshold_ == 0.0


def test_probabilities_are_those_of_the_log_odds_not_of_the_threshold():
    X, y, _ = mismatch_data(100, seed=0)
    fitted = detector().fit(X, y)
    likely = expit(fitted.anomaly_score(X))
    np.testing.assert_allclose(fitted.predict_proba(X)[:, 1], likely)


def test_columns_in_another_order_give_the_same_scores():
    X, y, _ = mismatch_data(100, seed=0)
    order = [5, 2, 0, 7, 1, 3, 6, 4]
    scores = detector().fit(X, y).anomaly_score(X)
    moved = detector().fit(X[:, order], y).anomaly_score(X[:, order])
    np.testing.assert_allclose(moved, scores, rtol=1e-4, atol=1e-4)


def test_more_rows_and_columns_than_a_context_holds_are_sampled():
    X, y, _ = mismatch_data(4000, seed=0)
    wide = np.hstack([X + shift for shift in range(13)])
    fitted = detector(n_members=1).fit(wide, y)
    assert {len(c.columns) for c in fitted.model_.contexts} == {96}
    assert {(c.labels == -1).sum() for c in fitted.model_.contexts} == {3000}
    assert np.isfinite(fitted.anomaly_score(wide[:5])).all()


def test_a_saved_detector_scores_the_same_wherever_its_weights_went(tmp_path):
    X, y, _ = mismatch_data(100, seed=0)
    own = tmp_path / "weights"
    Weights.of(tiny_model(seed=1)).write(own)
    fitted = detector(weights=str(own)).fit(X, y)
    save(fitted, tmp_path / "model.spade")
    own.unlink()
    again = load(tmp_path / "model.spade")
    for method in contract.METHODS:
        expected = getattr(fitted, method)(X)
        np.testing.assert_array_equal(getattr(again, method)(X), expected)
    assert again.share_ == fitted.share_


def test_a_file_whose_contexts_name_columns_that_are_not_there_is_refused(tmp_path):
    X, y, _ = mismatch_data(100, seed=0)
    fitted = detector().fit(X, y)
    fitted.n_features_in_ = 3
    save(fitted, tmp_path / "model.spade")
    with pytest.raises(ModelFileError, match="do not fit together"):
        load(tmp_path / "model.spade")


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"device": "gpu"}, "device must be one of .*got 'gpu'"),
        ({"n_members": 0}, "n_members must be a positive integer; got 0"),
    ],
)
def test_parameters_without_meaning_are_refused(parameters, message):
    X, y, _ = mismatch_data(100, seed=0)
    with pytest.raises(InputError, match=message):
        detector(**parameters).fit(X, y)
