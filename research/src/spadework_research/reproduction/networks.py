"""Encoder, predictor and decoder of many networks, which are an axis of every tensor."""

from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from spadework_research.reproduction.options import Setting

ACTIVATIONS = {"relu": torch.relu, "tanh": torch.tanh, "sigmoid": torch.sigmoid}


class Layer(NamedTuple):
    """One layer: weight (n_networks, n_in, n_out), bias (n_networks, 1, n_out)."""

    weight: Tensor
    bias: Tensor

    def __call__(self, x: Tensor) -> Tensor:
        """Map rows, (n_networks, n_rows, n_in)."""
        return torch.baddbmm(self.bias, x, self.weight)


class Networks(NamedTuple):
    """The layers of the three parts of all networks."""

    encoder: list[Layer]
    predictor: list[Layer]
    decoder: list[Layer]

    @property
    def parameters(self) -> list[Tensor]:
        """All weights and biases."""
        layers = [*self.encoder, *self.predictor, *self.decoder]
        return [tensor for layer in layers for tensor in layer]

    def replace(self, parameters: list[Tensor]) -> "Networks":
        """Return networks of the same layers with other weights."""
        left = iter(parameters)
        parts = [[Layer(next(left), next(left)) for _ in part] for part in self]
        return Networks(*parts)


def new_networks(
    n_features: int, setting: Setting, generators: list[torch.Generator]
) -> Networks:
    """Draw the weights of networks, each from its own generator."""
    n_hidden = max(1, n_features // 2)
    parts = []
    for n_layers, n_in, n_out in zip(
        setting["layers"],
        (n_features, n_hidden, n_hidden),
        (n_hidden, 1, n_features),
        strict=True,
    ):
        widths = [n_in, *[n_hidden] * (n_layers - 1), n_out]
        parts.append(
            [_draw(a, b, setting["init"], generators) for a, b in pairwise(widths)]
        )
    return Networks(*parts)


def encode(
    networks: Networks,
    x: Tensor,
    setting: Setting,
    *,
    moments: tuple[Tensor, Tensor] | None = None,
    dropout: float = 0.0,
) -> Tensor:
    """Codes of rows, (n_networks, n_rows, n_hidden).

    Batch normalisation takes the rows' own moments where none are given.
    """
    code = _run(networks.encoder, x, setting, dropout)
    last = setting["last"]
    if last == "batch_norm":
        mean, spread = moments or code_moments(code)
        return (code - mean) / spread
    return ACTIVATIONS[last](code) if last in ACTIVATIONS else code


def code_moments(code: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and spread of each dimension, (n_networks, 1, n_hidden) each."""
    mean = code.mean(dim=1, keepdim=True)
    variance = code.var(dim=1, keepdim=True, correction=0)
    return mean, (variance + 1e-3).sqrt()


def predict(
    networks: Networks, code: Tensor, setting: Setting, dropout: float = 0.0
) -> Tensor:
    """Logits of rows, (n_networks, n_rows)."""
    return _run(networks.predictor, code, setting, dropout).squeeze(-1)


def decode(networks: Networks, code: Tensor, setting: Setting) -> Tensor:
    """Reconstructions of rows, (n_networks, n_rows, n_features)."""
    return _run(networks.decoder, code, setting, 0.0)


def _run(layers: list[Layer], x: Tensor, setting: Setting, dropout: float) -> Tensor:
    """Run layers with activations, and dropout, between them."""
    activation = ACTIVATIONS[setting["activation"]]
    for position, layer in enumerate(layers):
        if position:
            x = activation(x)
            if dropout:
                x = torch.nn.functional.dropout(x, dropout)
        x = layer(x)
    return x


def _draw(n_in: int, n_out: int, init: str, generators: list[torch.Generator]) -> Layer:
    """Draw a layer: Glorot and zeros as Keras does, or uniform as torch does."""
    weights, biases = [], []
    for generator in generators:
        weight = 2 * torch.rand(n_in, n_out, generator=generator) - 1
        bias = 2 * torch.rand(1, n_out, generator=generator) - 1
        if init == "keras":
            weight, bias = weight * (6 / (n_in + n_out)) ** 0.5, torch.zeros_like(bias)
        else:
            weight, bias = weight * n_in**-0.5, bias * n_in**-0.5
        weights.append(weight)
        biases.append(bias)
    return Layer(torch.stack(weights), torch.stack(biases))
