"""The image network is drawn from our own generator and comes back from its weights."""

import numpy as np
import pytest
import torch

from spadework.images.network import (
    DevicePixels,
    PredictorModel,
    network_weights,
    new_network,
    place,
    restore_network,
)

CPU = torch.device("cpu")
PIXELS = np.random.default_rng(0).integers(0, 256, (5, 32, 48, 3), dtype=np.uint8)


@pytest.fixture(scope="module")
def weights():
    return network_weights(new_network(np.random.default_rng(0)))


def test_the_same_generator_draws_the_same_network_and_no_other_is_touched(weights):
    state = torch.get_rng_state()
    again, other = (
        network_weights(new_network(np.random.default_rng(seed))) for seed in (0, 1)
    )
    assert torch.equal(torch.get_rng_state(), state)
    for name, weight in weights.items():
        np.testing.assert_array_equal(again[name], weight)
    name = "encoder.conv1.weight"
    assert not np.array_equal(other[name], weights[name])


def test_a_network_comes_back_from_its_weights(weights):
    again = network_weights(restore_network(weights))
    assert again.keys() == weights.keys()
    for name, weight in weights.items():
        np.testing.assert_array_equal(again[name], weight)


def test_photos_are_taken_as_floats_with_channels_first():
    photos = DevicePixels(PIXELS, CPU)
    rows = np.array([3, 0])
    taken = photos.take(rows)
    assert taken.dtype == torch.float32
    expected = PIXELS[rows].transpose(0, 3, 1, 2) / np.float32(255)
    np.testing.assert_allclose(taken, expected, rtol=1e-6)
    np.testing.assert_array_equal(photos.take(slice(3, 5)), photos.take(np.array([3, 4])))


def test_scores_are_the_logits_of_the_codes(weights):
    model = PredictorModel(weights)
    codes, scores = model.represent(PIXELS), model.score(PIXELS)
    network = place(restore_network(weights), CPU)
    with torch.no_grad():
        expected = network.predict(torch.from_numpy(codes))
    assert codes.shape == (5, 512)
    assert scores.dtype == np.float64
    np.testing.assert_allclose(scores, expected, rtol=1e-4, atol=1e-5)


def test_the_heads_answer_for_every_photo(weights):
    network, codes = restore_network(weights), torch.zeros(4, 512)
    with torch.no_grad():
        assert network.predict(codes).shape == (4,)
        assert network.tell_kinds(codes).shape == (4, 3)
