"""Networks side by side are networks of their own, as far as rows and columns go."""

from itertools import pairwise

import numpy as np
import pytest
import torch
from torch import nn

from spadework.core import perceptrons
from spadework.core.perceptrons import Layers, predict_probabilities, train_perceptrons

COLUMNS = np.array([[0, 1], [1, 2], [2, 3]])


def drawn(rng, *shape):
    """Normal numbers as torch takes them."""
    return torch.from_numpy(rng.normal(size=shape).astype(np.float32))


def stacked(n_networks, widths, seed=0):
    """Layers of networks with weights at random."""
    rng = np.random.default_rng(seed)
    weights = (drawn(rng, n_networks, *pair) for pair in pairwise(widths))
    biases = (drawn(rng, n_networks, 1, width) for width in widths[1:])
    return Layers(tuple(weights), tuple(biases))


def alone(layers, member):
    """Make one of the networks as torch writes it."""
    parts = []
    for weight, bias in zip(layers.weights, layers.biases, strict=True):
        linear = nn.Linear(*weight.shape[1:])
        linear.weight.data, linear.bias.data = weight[member].T, bias[member, 0]
        parts += [linear, nn.ReLU()]
    return nn.Sequential(*parts[:-1])


@pytest.fixture(scope="module")
def trained():
    """Rows, bags of 30 normal and 10 anomalous rows, and layers trained on these."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4)).astype(np.float32)
    X[:40, 1] += 6.0
    anomalous, normal = np.arange(40), np.arange(40, 120)
    bags = {
        0: [rng.choice(normal, size) for size in (30, 20, 30)],
        1: [rng.choice(anomalous, 10) for _ in range(3)],
    }
    return torch.from_numpy(X), bags, train(torch.from_numpy(X), bags)


def train(X, bags):
    return train_perceptrons(X, COLUMNS, bags, np.random.default_rng(1))


def test_logits_are_those_of_each_network_alone():
    layers = stacked(3, (2, 5, 4, 1))
    x = drawn(np.random.default_rng(1), 3, 7, 2)
    for member, logits in enumerate(layers.logits(x)):
        expected = alone(layers, member)(x[member])[:, 0]
        np.testing.assert_allclose(logits, expected.detach(), rtol=1e-4, atol=1e-5)


def test_probabilities_are_those_of_the_columns_of_each_network(monkeypatch):
    layers, X = stacked(3, (2, 5, 1)), drawn(np.random.default_rng(1), 20, 4)
    monkeypatch.setattr(perceptrons, "_SCORE_ROWS", 6)
    found = predict_probabilities(layers, COLUMNS, X)
    for member, columns in enumerate(COLUMNS):
        expected = torch.sigmoid(alone(layers, member)(X[:, columns])[:, 0])
        np.testing.assert_allclose(found[member], expected.detach(), rtol=1e-5)


def test_networks_that_see_the_column_learn_what_it_tells(trained):
    X, _, layers = trained
    told = predict_probabilities(layers, COLUMNS, X)
    assert told[:2, :40].mean() > 0.9 > 0.1 > told[:2, 40:].mean()
    assert np.isfinite(told[2]).all()


def test_a_network_learns_from_its_own_bags_and_columns_alone(trained):
    X, bags, layers = trained
    other = X.clone()
    used = np.concatenate([bags[0][0], bags[1][0]])
    other[np.setdiff1d(np.arange(120), used)] = 9.0
    other[:, 2:] = 0.0
    found, expected = (each.weights[0][0] for each in (train(other, bags), layers))
    np.testing.assert_array_equal(found.detach(), expected.detach())
