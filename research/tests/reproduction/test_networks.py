"""Gradients that are written out are those of torch's own differentiation."""

import pytest
import torch

from spadework_research.reproduction.networks import (
    ACTIVATIONS,
    code_moments,
    encode,
    end_encoder,
    end_encoder_back,
    new_networks,
    predict,
    run,
    run_back,
)
from spadework_research.reproduction.options import READINGS, complete

DEEP = {"layers": (3, 2, 2)}


def generators(*seeds):
    return [torch.Generator().manual_seed(seed) for seed in seeds]


def made(setting, n_features=6):
    networks = new_networks(n_features, setting, generators(0, 1))
    return networks.replace(networks.values.double())


def rows(n_features=6):
    return torch.randn(2, 40, n_features, generator=generators(2)[0]).double()


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_gradients_of_layers_are_those_of_torch(activation):
    setting = complete({**DEEP, "activation": activation, "init": "torch"})
    networks, x = made(setting), rows()
    slope = rows(3)
    gradients = networks.replace(torch.zeros_like(networks.values))
    run_back(
        networks.encoder, run(networks.encoder, x, setting), slope, gradients.encoder
    )
    values = networks.values.clone().requires_grad_()
    out = run(networks.replace(values).encoder, x, setting).out
    (expected,) = torch.autograd.grad((out * slope).sum(), values)
    torch.testing.assert_close(gradients.values, expected)


@pytest.mark.parametrize("last", READINGS["last"])
def test_gradients_of_what_the_encoder_ends_in_are_those_of_torch(last):
    setting = complete({"last": last})
    before, slope = rows().requires_grad_(), rows(6).flip(1)
    code = end_encoder(before, setting)
    (expected,) = torch.autograd.grad((code * slope).sum(), before)
    found = end_encoder_back(slope, before.detach(), code.detach(), last)
    torch.testing.assert_close(found, expected)


def test_a_network_among_others_is_what_it_is_alone():
    setting, x = complete({}), rows().float()
    both = new_networks(6, setting, generators(0, 1))
    alone = new_networks(6, setting, generators(1))
    torch.testing.assert_close(both.values[1:], alone.values)
    scores = predict(both, encode(both, x, setting), setting)
    expected = predict(alone, encode(alone, x[1:], setting), setting)
    torch.testing.assert_close(scores[1:], expected)


def test_batch_normalisation_gives_codes_without_mean_and_of_unit_variance():
    code = end_encoder(5 * rows() + 3, complete({"last": "batch_norm"}))
    mean, spread = code_moments(code)
    torch.testing.assert_close(mean, torch.zeros_like(mean))
    torch.testing.assert_close(spread, torch.ones_like(spread), rtol=1e-3, atol=1e-3)


def test_dropout_leaves_the_mean_as_it_was_and_drops_its_share():
    setting = complete({"layers": (2, 1, 1), "activation": "sigmoid"})
    networks = made(setting, 200)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        done = run(networks.encoder, rows(200), setting, dropout=0.2)
    whole = run(networks.encoder, rows(200), setting)
    dropped = done.inputs[1] == 0
    assert dropped.double().mean() == pytest.approx(0.2, abs=0.02)
    assert done.inputs[1].mean() == pytest.approx(float(whole.inputs[1].mean()), abs=0.02)
