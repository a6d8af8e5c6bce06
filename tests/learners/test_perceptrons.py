"""Small networks of few columns each: held-out scores, and alarms of single columns."""

import numpy as np
import pytest
import torch
from sklearn.metrics import roc_auc_score

from spadework.core.scaling import fit_scaler
from spadework.errors import InputError
from spadework.learners import perceptrons
from spadework.learners.contract import Task
from spadework.learners.perceptrons import (
    COLUMN_SHARE,
    N_NETWORKS,
    Perceptrons,
    learn_reading,
)
from spadework.learners.readings import Draws, Reading


def learn(X, normal, anomalous, seed=0):
    rng = np.random.default_rng(seed)
    scaler = fit_scaler(X, "asinh", rng)
    sides = [Draws(rows, None, len(rows)) for rows in (normal, anomalous)]
    scaled = torch.from_numpy(scaler.transform(X))
    task = Task(X, None, scaler, np.arange(len(X)), rng)
    return learn_reading(scaled, Reading(*sides, 1), task)


@pytest.fixture(scope="module")
def table():
    """Noise, 400 rows of 10 columns, and targets that nothing in it tells."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 10)).astype(np.float32)
    return X, *np.split(rng.permutation(400), [300])


@pytest.fixture(scope="module")
def grown(table):
    return learn(*table)


def test_every_network_sees_its_share_of_the_columns_each_once(grown):
    columns = grown.scorer.columns
    assert columns.shape == (N_NETWORKS, round(COLUMN_SHARE * 10))
    assert all(len(set(row)) == len(row) for row in columns.tolist())
    assert set(columns.ravel()) == set(range(10))


def test_held_out_scores_do_not_know_what_networks_have_memorised(table, grown):
    X, _, anomalous = table
    target = np.isin(np.arange(len(X)), anomalous)
    assert roc_auc_score(target, grown.scorer.score(X)) > 0.8
    assert 0.35 < roc_auc_score(target, grown.held_out) < 0.65


def test_fewer_columns_each_find_more_of_what_is_odd_in_one_alone(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000, 12)).astype(np.float32)
    X[:20, :4] += 4.0  # labeled anomalies are high in four columns
    X[20:120, 0] += 4.0  # new ones in one of these only

    def auc_of_new():
        scores = learn(X, np.arange(200, 400), np.arange(20)).scorer.score(X)
        return roc_auc_score(np.arange(20, 1_000) < 120, scores[20:])

    few = auc_of_new()
    monkeypatch.setattr(perceptrons, "COLUMN_SHARE", 1.0)
    assert few > auc_of_new()


def test_a_score_does_not_depend_on_the_rows_beside_it(table, grown):
    X, scorer = table[0], grown.scorer
    np.testing.assert_allclose(
        scorer.score(X)[7:8], scorer.score(X[7:8]), rtol=1e-12, atol=0
    )


def test_the_same_seed_gives_the_same_scores(table, grown):
    again, other = (learn(*table, seed=seed).held_out for seed in (0, 1))
    np.testing.assert_array_equal(again, grown.held_out)
    assert not np.allclose(other, grown.held_out)


def test_layers_that_do_not_fit_are_refused(grown):
    sound = grown.scorer
    weights, biases = sound.weights, sound.biases
    for broken in (
        (sound.columns + 10, weights, biases),
        (sound.columns[:, 1:], weights, biases),
        (sound.columns, weights[:-1], biases[:-1]),
        (sound.columns, weights, biases[::-1]),
    ):
        with pytest.raises(InputError, match="small networks"):
            Perceptrons(*broken, sound.scaler)
