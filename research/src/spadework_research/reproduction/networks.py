"""Encoder, predictor and decoder of many networks, which are an axis of every tensor.

Gradients are written out: steps on few rows take a third of the time of torch's own.
"""

from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from spadework_research.reproduction.options import Setting

ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh, "sigmoid": torch.sigmoid}
BATCH_NORM_FLOOR = 1e-3


class Layer(NamedTuple):
    """One layer: weight (n_networks, n_in, n_out), bias (n_networks, 1, n_out)."""

    weight: Tensor
    bias: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        """Map rows, (n_networks, n_rows, n_in)."""
        return torch.baddbmm(self.bias, x, self.weight)


class Networks:
    """Layers of the three parts of all networks, which look into one tensor.

    Parameters
    ----------
    values : Tensor of shape (n_networks, n_weights)
        All weights and biases.
    widths : three lists of int
        Of encoder, predictor and decoder.
    """

    def __init__(self, values: Tensor, widths: list[list[int]]) -> None:
        self.values, self.widths = values, widths
        at = 0
        parts: list[list[Layer]] = []
        for part in widths:
            parts.append([])
            for n_in, n_out in pairwise(part):
                weight = values[:, at : at + n_in * n_out].unflatten(1, (n_in, n_out))
                at += n_in * n_out
                parts[-1].append(Layer(weight, values[:, None, at : at + n_out]))
                at += n_out
        self.encoder, self.predictor, self.decoder = parts

    def replace(self, values: Tensor) -> "Networks":
        """Return networks of the same widths with other weights."""
        return Networks(values, self.widths)


class Pass(NamedTuple):
    """What a part of the networks did with rows, as its gradient needs it.

    Attributes
    ----------
    inputs : list of Tensor
        What each layer read.
    slopes : list of Tensor
        Of what lies before each layer but the first.
    out : Tensor
    """

    inputs: list[Tensor]
    slopes: list[Tensor]
    out: Tensor


def new_networks(
    n_features: int, setting: Setting, generators: list[torch.Generator]
) -> Networks:
    """Draw the weights of networks, each from its own generator."""
    n_hidden = max(1, n_features // 2)
    widths = [
        [n_in, *[n_hidden] * (n_layers - 1), n_out]
        for n_layers, n_in, n_out in zip(
            setting["layers"],
            (n_features, n_hidden, n_hidden),
            (n_hidden, 1, n_features),
            strict=True,
        )
    ]
    drawn = [
        _draw(n_in, n_out, setting["init"], generators)
        for part in widths
        for n_in, n_out in pairwise(part)
    ]
    return Networks(torch.cat(drawn, dim=1), widths)


def run(layers: list[Layer], x: Tensor, setting: Setting, dropout: float = 0.0) -> Pass:
    """Run layers with activations, and dropout, between them."""
    inputs, slopes = [], []
    for position, layer in enumerate(layers):
        if position:
            x = ACTIVATIONS[setting["activation"]](x)
            slope = _slope(x, setting["activation"])
            if dropout:
                kept = (torch.rand_like(x) >= dropout) / (1 - dropout)
                x, slope = x * kept, slope * kept
            slopes.append(slope)
        inputs.append(x)
        x = layer(x)
    return Pass(inputs, slopes, x)


def run_back(
    layers: list[Layer], done: Pass, slope: Tensor, gradients: list[Layer]
) -> Tensor:
    """Add the gradients of layers, given that of what they gave; return that of codes.

    In layers that read rows themselves, what is returned means nothing.
    """
    for position in reversed(range(len(layers))):
        gradients[position].weight.baddbmm_(done.inputs[position].mT, slope)
        gradients[position].bias.add_(slope.sum(dim=1, keepdim=True))
        if position:
            slope = slope @ layers[position].weight.mT * done.slopes[position - 1]
    return slope


def to_code(slope: Tensor, layers: list[Layer]) -> Tensor:
    """Gradient of what the first layer reads, given that of what it gives."""
    return slope @ layers[0].weight.mT


def end_encoder(
    code: Tensor, setting: Setting, moments: tuple[Tensor, Tensor] | None = None
) -> Tensor:
    """Put codes through what the encoder ends in.

    Batch normalisation takes the rows' own moments where none are given.
    """
    last = setting["last"]
    if last == "batch_norm":
        mean, spread = moments or code_moments(code)
        return (code - mean) / spread
    return ACTIVATIONS[last](code) if last in ACTIVATIONS else code


def end_encoder_back(slope: Tensor, before: Tensor, code: Tensor, last: str) -> Tensor:
    """Gradient of codes before what the encoder ends in, given that behind it."""
    if last != "batch_norm":
        return slope * _slope(code, last) if last in ACTIVATIONS else slope
    along = (slope * code).mean(dim=1, keepdim=True)
    slope = slope - slope.mean(dim=1, keepdim=True) - code * along
    return slope / code_moments(before)[1]


def encode(
    networks: Networks,
    x: Tensor,
    setting: Setting,
    moments: tuple[Tensor, Tensor] | None = None,
) -> Tensor:
    """Codes of rows, (n_networks, n_rows, n_hidden)."""
    return end_encoder(run(networks.encoder, x, setting).out, setting, moments)


def code_moments(code: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and spread of each dimension, (n_networks, 1, n_hidden) each."""
    mean = code.mean(dim=1, keepdim=True)
    variance = code.var(dim=1, keepdim=True, correction=0)
    return mean, (variance + BATCH_NORM_FLOOR).sqrt()


def predict(networks: Networks, code: Tensor, setting: Setting) -> Tensor:
    """Logits of rows, (n_networks, n_rows)."""
    return run(networks.predictor, code, setting).out.squeeze(-1)


def _slope(value: Tensor, activation: str) -> Tensor:
    """Slope of an activation where it has a value."""
    if activation == "relu":
        return (value > 0).to(value.dtype)
    return 1 - value**2 if activation == "tanh" else value * (1 - value)


def _draw(n_in: int, n_out: int, init: str, generators: list[torch.Generator]) -> Tensor:
    """Draw a layer: Glorot and zeros as Keras does, or uniform as torch does."""
    layers = []
    for generator in generators:
        weight = 2 * torch.rand(n_in * n_out, generator=generator) - 1
        bias = 2 * torch.rand(n_out, generator=generator) - 1
        if init == "keras":
            weight, bias = weight * (6 / (n_in + n_out)) ** 0.5, torch.zeros_like(bias)
        else:
            weight, bias = weight * n_in**-0.5, bias * n_in**-0.5
        layers.append(torch.cat([weight, bias]))
    return torch.stack(layers)
