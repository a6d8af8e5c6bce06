"""Networks start from a seed, have the widths of the paper, and come back to the bit."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from spadework.core.networks import (
    MIN_WIDTH,
    find_device,
    network_weights,
    new_network,
    restore_network,
)
from spadework.errors import InputError


def started(n_features=8, *, n_layers=2, linear_code=True, start="torch", seed=0):
    return new_network(
        n_features,
        n_layers=n_layers,
        linear_code=linear_code,
        start=start,
        rng=np.random.default_rng(seed),
    )


def test_the_published_network_has_half_as_many_hidden_units_as_features():
    weights = network_weights(started(8, linear_code=False))
    assert {name: each.shape for name, each in weights.items() if "weight" in name} == {
        "encoder.0.weight": (4, 8),
        "encoder.2.weight": (4, 4),
        "predictor.0.weight": (4, 4),
        "predictor.2.weight": (1, 4),
        "projection.0.weight": (4, 4),
        "projection.2.weight": (8, 4),
    }


def test_of_one_layer_each_encoder_and_predictor_are_a_perceptron_together():
    network = started(8, n_layers=1, linear_code=False)
    weights = network_weights(network)
    assert {name: each.shape for name, each in weights.items() if "weight" in name} == {
        "encoder.0.weight": (4, 8),
        "predictor.0.weight": (1, 4),
        "projection.0.weight": (8, 4),
    }
    again = restore_network(weights, linear_code=False)
    X = torch.from_numpy(np.random.default_rng(0).normal(size=(50, 8))).float()
    assert torch.equal(again(X).logit, network(X).logit)
    assert network(X).latent.min() == 0


@given(st.integers(1, 40), st.sampled_from([1, 2]), st.booleans())
@examples(20)
def test_of_rows_a_network_makes_codes_logits_and_reconstructions(
    n_features, n_layers, linear_code
):
    network = started(n_features, n_layers=n_layers, linear_code=linear_code)
    output = network(torch.zeros(3, n_features))
    n_hidden = max(MIN_WIDTH if linear_code else 1, n_features // 2)
    assert output.latent.shape == (3, n_hidden)
    assert output.logit.shape == (3,)
    assert output.reconstruction.shape == (3, n_features)


def test_weights_by_glorots_rule_lie_within_its_bound_and_biases_are_zero():
    for name, each in network_weights(started(40, start="glorot")).items():
        if name.endswith("bias"):
            assert not each.any()
        else:
            bound = (6 / sum(each.shape)) ** 0.5
            assert 0.8 * bound < np.abs(each).max() <= bound


def test_only_a_linear_code_has_values_below_zero():
    X = torch.from_numpy(np.random.default_rng(0).normal(size=(50, 8))).float()
    linear, literal = (started(linear_code=each)(X).latent for each in (True, False))
    assert linear.min() < 0 == literal.min()


def test_a_network_starts_the_same_from_a_seed_and_leaves_that_of_torch_alone():
    state = torch.random.get_rng_state()
    first, again, other = (network_weights(started(seed=seed)) for seed in (0, 0, 1))
    assert torch.equal(torch.random.get_rng_state(), state)
    for name, each in first.items():
        np.testing.assert_array_equal(each, again[name])
        assert not np.array_equal(each, other[name])


def test_weights_and_biases_lie_within_the_bound_of_torch():
    weights = network_weights(started(100))
    for layer in ("encoder.0", "encoder.2", "projection.2"):
        bound = weights[f"{layer}.weight"].shape[1] ** -0.5
        for each in (weights[f"{layer}.weight"], weights[f"{layer}.bias"]):
            assert 0.8 * bound < np.abs(each).max() <= bound


@pytest.mark.parametrize("linear_code", [True, False])
def test_a_restored_network_gives_the_same_and_can_be_trained(linear_code):
    network = started(linear_code=linear_code)
    again = restore_network(network_weights(network), linear_code=linear_code)
    X = torch.ones(2, 8)
    for one, other in zip(network(X), again(X), strict=True):
        assert torch.equal(one, other)
    assert all(parameter.requires_grad for parameter in again.parameters())


def test_weights_are_a_copy_of_those_of_the_network():
    network = started()
    weights = network_weights(network)
    weights["encoder.0.weight"][:] = 0
    assert network.encoder[0].weight.abs().min() > 0


@pytest.mark.parametrize("change", ["missing", "shape"])
def test_weights_of_no_one_network_are_refused(change):
    weights = network_weights(started())
    if change == "missing":
        del weights["predictor.2.bias"]
    else:
        weights["predictor.2.bias"] = np.zeros(2, np.float32)
    with pytest.raises(InputError, match="not those of one network"):
        restore_network(weights, linear_code=True)


def test_a_device_is_found_by_its_name_or_chosen():
    assert find_device("cpu") == torch.device("cpu")
    assert find_device("auto").type == ("cuda" if torch.cuda.is_available() else "cpu")


@pytest.mark.parametrize("device", ["gpu0", "cuda:99", "", 7])
def test_a_device_that_is_not_there_is_refused(device):
    with pytest.raises(InputError, match="device must be 'auto' or"):
        find_device(device)
