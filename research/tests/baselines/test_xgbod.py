"""XGBOD appends what outlier detectors think of a row to its features."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from mismatch import in_setting, mismatch_data
from spadework.errors import InputError
from spadework_research.baselines.xgbod import OUTLIER_MODELS, XGBOD


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Keep boosting from waiting for cores that are busy with other tests."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def fitted():
    X, y, _ = mismatch_data(300, seed=0)
    return XGBOD(random_state=0).fit(X, y)


def test_one_column_per_detector_is_appended(fitted):
    X = mismatch_data(40, seed=1)[0].astype(np.float32)
    widened = fitted._with_scores(X)
    assert widened.shape == (40, 8 + len(OUTLIER_MODELS))
    np.testing.assert_array_equal(widened[:, :8], X)
    scaled = fitted.scaler_.transform(X)
    for column, detector in zip(widened[:, 8:].T, fitted.detectors_, strict=True):
        np.testing.assert_allclose(column, detector.score(scaled)[:, 0], rtol=1e-6)
    assert fitted.model_.n_features_in_ == widened.shape[1]


def test_detectors_learn_from_all_rows_labeled_or_not(fitted):
    X, y, _ = mismatch_data(300, seed=0)
    negative = XGBOD(unlabeled="normal", random_state=0).fit(X, in_setting(y, "PU"))
    one, other = (each._with_scores(X.astype(np.float32)) for each in (fitted, negative))
    np.testing.assert_array_equal(one, other)


def test_an_unknown_treatment_of_unlabeled_rows_is_refused(table):
    X, y, _ = table
    with pytest.raises(InputError, match="'ignore' or 'normal'; got 'all'"):
        XGBOD(unlabeled="all").fit(X, y)
