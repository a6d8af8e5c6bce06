"""Deep SAD gathers normal rows at a centre and drives labeled anomalies away."""

import numpy as np
import pytest
import torch

from mismatch import mismatch_data
from spadework_research.baselines.deep_sad import DeepSAD


@pytest.fixture(scope="module")
def fitted():
    X, y, _ = mismatch_data(300, seed=0)
    return DeepSAD(random_state=0).fit(X, y)


def test_labeled_anomalies_end_farther_from_the_centre_than_normals(fitted):
    X, y, _ = mismatch_data(300, seed=0)
    scores = fitted.anomaly_score(X)
    assert scores[y == 1].min() > scores[y == 0].max()
    assert np.median(scores[y == 1]) > 10 * np.median(scores[y == 0])


def test_scores_are_squared_distances_from_the_centre(fitted):
    X = mismatch_data(20, seed=1)[0].astype(np.float32)
    with torch.no_grad():
        rows = torch.from_numpy(fitted.scaler_.transform(X))
        codes = fitted.encoder_.cpu()(rows).numpy()
    expected = ((codes - fitted.centre_.cpu().numpy()) ** 2).sum(axis=1)
    np.testing.assert_allclose(fitted.anomaly_score(X), expected, rtol=1e-4)


def test_the_encoder_has_no_biases_and_the_centre_keeps_off_zero(fitted):
    assert all(name.endswith("weight") for name, _ in fitted.encoder_.named_parameters())
    assert (fitted.centre_.abs() >= 0.1).all()
