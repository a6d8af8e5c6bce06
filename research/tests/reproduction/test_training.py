"""The batched method against the library's own parts."""

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score
from sklearn.mixture import GaussianMixture

from spadework.core.matching import match_threshold, otsu_threshold
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework_research.reproduction import pseudo
from spadework_research.reproduction.options import READINGS, complete
from spadework_research.reproduction.training import fit_all

N_NETWORKS, N_ROWS, N_FEATURES = 2, 300, 6


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_NETWORKS, N_ROWS, N_FEATURES))
    truth = np.zeros((N_NETWORKS, N_ROWS), dtype=np.int8)
    truth[:, :40] = ANOMALY
    X[truth == ANOMALY] += 2.0
    labels = np.full_like(truth, UNLABELED)
    labels[:, :10], labels[:, 100:130] = ANOMALY, NORMAL
    return torch.from_numpy(X).float(), torch.from_numpy(labels), truth


def test_scores_are_those_of_gaussian_mixtures(rows):
    X, _, _ = rows
    weights = torch.ones(N_NETWORKS, 1, N_ROWS, dtype=torch.float64)
    scores = pseudo._gaussian_scores(X.double(), weights, complete({}))
    for i in range(N_NETWORKS):
        expected = (
            -GaussianMixture(1).fit(X[i].double().numpy()).score_samples(X[i].numpy())
        )
        constant = N_FEATURES / 2 * np.log(2 * np.pi)
        np.testing.assert_allclose(scores[i, 0] + constant, expected, rtol=1e-5)


def test_thresholds_are_near_those_of_every_candidate(rows):
    _, labels, truth = rows
    rng = np.random.default_rng(1)
    raw = torch.from_numpy(rng.normal(size=(N_NETWORKS, 1, N_ROWS)) + 4 * truth[:, None])
    below, above = pseudo._thresholds(pseudo._order(raw, labels), complete({}))
    for i in range(N_NETWORKS):
        score, label = raw[i, 0].numpy(), labels[i].numpy()
        unlabeled = np.sort(score[label == UNLABELED])
        for found, kind, tail in ((below, NORMAL, "lower"), (above, ANOMALY, "upper")):
            exact = match_threshold(score[label == kind], unlabeled, tail=tail)
            cut = [np.mean(unlabeled > eta) for eta in (float(found[i, 0]), exact)]
            assert abs(cut[0] - cut[1]) < 0.03


def test_otsu_is_that_of_the_library(rows):
    _, labels, _ = rows
    raw = torch.from_numpy(
        np.random.default_rng(2).exponential(size=(N_NETWORKS, 3, N_ROWS))
    )
    found = pseudo._otsu(pseudo._order(raw, labels))
    for i, k in np.ndindex(N_NETWORKS, 3):
        unlabeled = raw[i, k][labels[i] == UNLABELED].numpy()
        assert float(found[i, k]) == pytest.approx(otsu_threshold(unlabeled))


QUICK = {
    "layers": (1, 1, 1),
    "last": "linear",
    "learning_rate": 1e-2,
    "batch": 64,
    "patience_on": "never",
    "max_epochs": 15,
}


@pytest.mark.parametrize(
    ("option", "reading"),
    [
        (option, reading)
        for option, readings in READINGS.items()
        for reading in readings[1:]
        if option not in ("learning_rate", "max_epochs")  # they are kept short
    ],
)
def test_every_reading_learns(rows, option, reading):
    X, labels, truth = rows
    fitted = fit_all(X, labels, X, complete(QUICK | {option: reading}), [0, 1])
    for one, kind in zip(fitted, truth, strict=True):
        assert roc_auc_score(kind, one.scores) > 0.7


def test_without_pseudo_labels_no_row_is_pseudo_labeled(rows):
    X, labels, _ = rows
    setting = complete({"max_epochs": 3, "alpha": 0.0})
    assert [one.pseudo for one in fit_all(X, labels, X, setting, [0, 1])] == [(0, 0)] * 2
