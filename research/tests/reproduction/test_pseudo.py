"""Scores, thresholds and Otsu's split of many networks are those of one at a time."""

import numpy as np
import pytest
import torch
from sklearn.mixture import GaussianMixture

from spadework.core.matching import match_threshold, otsu_threshold
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework_research.reproduction import pseudo
from spadework_research.reproduction.options import complete


def test_scores_are_those_of_gaussian_mixtures(rows):
    X, _, _ = rows
    n_networks, n_rows, n_features = X.shape
    weights = torch.ones(n_networks, 1, n_rows, dtype=torch.float64)
    scores = pseudo._gaussian_scores(X.double(), weights, complete({}))
    for i in range(n_networks):
        expected = (
            -GaussianMixture(1).fit(X[i].double().numpy()).score_samples(X[i].numpy())
        )
        constant = n_features / 2 * np.log(2 * np.pi)
        np.testing.assert_allclose(scores[i, 0] + constant, expected, rtol=1e-5)


def test_thresholds_are_near_those_of_every_candidate(rows):
    _, labels, truth = rows
    rng = np.random.default_rng(1)
    raw = torch.from_numpy(rng.normal(size=(2, 1, 300)) + 4 * truth[:, None])
    below, above = pseudo._thresholds(pseudo._order(raw, labels), complete({}))
    for i in range(2):
        score, label = raw[i, 0].numpy(), labels[i].numpy()
        unlabeled = np.sort(score[label == UNLABELED])
        for found, kind, tail in ((below, NORMAL, "lower"), (above, ANOMALY, "upper")):
            exact = match_threshold(score[label == kind], unlabeled, tail=tail)
            cut = [np.mean(unlabeled > eta) for eta in (float(found[i, 0]), exact)]
            assert abs(cut[0] - cut[1]) < 0.03


def test_otsu_is_that_of_the_library(rows):
    _, labels, _ = rows
    raw = torch.from_numpy(np.random.default_rng(2).exponential(size=(2, 3, 300)))
    found = pseudo._otsu(pseudo._order(raw, labels))
    for i, k in np.ndindex(2, 3):
        unlabeled = raw[i, k][labels[i] == UNLABELED].numpy()
        assert float(found[i, k]) == pytest.approx(otsu_threshold(unlabeled))
