"""The network of section 4.2: encoder h, predictor q and projection head g."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from spadework.arrays import Numbers, Singles
from spadework.core.scaling import AsinhScaler, MinMaxScaler
from spadework.errors import InputError

MIN_WIDTH = 8
"""Least width with a linear code, which is else half of the feature dimensions: layers of
few features die under their ReLU, and scores are constant."""

Weights = dict[str, Singles]
Start = Literal["torch", "glorot"]


class NetworkOutput(NamedTuple):
    """What one pass gives: r = h(x), the logit q(r), the reconstruction g(r)."""

    latent: Tensor
    logit: Tensor
    reconstruction: Tensor


class SpadeNetwork(nn.Module):
    """Encoder, predictor and projection head, each of one or two layers.

    "We use two-layer perceptron as the base network architecture where the hidden
    dimensions is the half of the original feature dimensions." (appendix B.5) With one
    layer each, encoder and predictor are such a perceptron together, as are encoder and
    projection head; with two layers each of the three is one.

    Of rows ``(n_rows, n_features)`` it makes codes ``(n_rows, n_hidden)``, logits
    ``(n_rows,)`` and reconstructions ``(n_rows, n_features)``. With a ReLU behind the
    encoder's linear layer, as in a literal reading, dimensions of the code die and
    covariances of the one-class models become singular; see ``linear_code``.
    """

    def __init__(
        self, n_features: int, n_hidden: int, *, n_layers: int, linear_code: bool
    ) -> None:
        super().__init__()
        hidden = [n_hidden] * (n_layers - 1)
        self.encoder = _perceptron(n_features, *hidden, n_hidden)
        if not linear_code:
            self.encoder.append(nn.ReLU())
        self.predictor = _perceptron(n_hidden, *hidden, 1)
        self.projection = _perceptron(n_hidden, *hidden, n_features)

    def forward(self, x: Tensor) -> NetworkOutput:
        """Run all three parts."""
        latent = self.encoder(x)
        logit = self.predictor(latent).squeeze(-1)
        return NetworkOutput(latent, logit, self.projection(latent))


def _perceptron(*widths: int) -> nn.Sequential:
    """Layers with a ReLU between."""
    layers: list[nn.Module] = []
    for n_in, n_out in pairwise(widths):
        layers += [nn.ReLU(), nn.Linear(n_in, n_out)]
    return nn.Sequential(*layers[1:])


def new_network(
    n_features: int,
    *,
    n_layers: int,
    linear_code: bool,
    start: Start,
    rng: np.random.Generator,
) -> SpadeNetwork:
    """Initialise a network as torch or as Keras does, from our own generator."""
    n_hidden = max(MIN_WIDTH if linear_code else 1, n_features // 2)
    weights: Weights = {}
    bound = 0.0
    blank = _blank_network(
        n_features, n_hidden, n_layers=n_layers, linear_code=linear_code
    )
    for name, shape in _shapes(blank.state_dict()).items():
        if len(shape) == 2:  # a bias follows its weight and shares the bound, or is 0
            bound = shape[1] ** -0.5 if start == "torch" else (6 / sum(shape)) ** 0.5
        elif start == "glorot":
            bound = 0.0
        weights[name] = rng.uniform(-bound, bound, shape).astype(np.float32)
    return restore_network(weights, linear_code=linear_code)


def network_weights(network: SpadeNetwork) -> Weights:
    """Return the weights of a network as plain arrays."""
    state = network.state_dict()
    return {name: tensor.cpu().numpy().copy() for name, tensor in state.items()}


def restore_network(weights: Weights, *, linear_code: bool) -> SpadeNetwork:
    """Build a network from its weights, once all of them are known to fit."""
    n_hidden, n_features = weights["encoder.0.weight"].shape
    n_layers = sum(name.startswith("predictor.") for name in weights) // 2
    network = _blank_network(
        n_features, n_hidden, n_layers=n_layers, linear_code=linear_code
    )
    if _shapes(weights) != _shapes(network.state_dict()):
        raise InputError("the weights are not those of one network")
    state = {name: torch.tensor(array) for name, array in weights.items()}
    network.load_state_dict(state, assign=True)
    return network.requires_grad_()


def _blank_network(
    n_features: int, n_hidden: int, *, n_layers: int, linear_code: bool
) -> SpadeNetwork:
    """Return a network without weights: it takes no memory and draws nothing."""
    with torch.device("meta"):
        return SpadeNetwork(
            n_features, n_hidden, n_layers=n_layers, linear_code=linear_code
        )


def _shapes(weights: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Shape of every weight, each layer's weight before its bias."""
    return {name: tuple(weight.shape) for name, weight in weights.items()}


def to_tensor(X: Numbers, scaler: MinMaxScaler | AsinhScaler) -> Tensor:
    """Scale rows and put them where networks score."""
    return torch.from_numpy(scaler.transform(X)).to(find_device("auto"))


def find_device(name: str) -> torch.device:
    """Resolve a device name; "auto" is the GPU where there is one, else the CPU."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        return torch.empty(0, device=name).device
    except (RuntimeError, AssertionError, TypeError) as error:
        raise InputError(
            f"device must be 'auto' or a torch device that this machine has, such as "
            f"'cpu'; got {name!r} ({error})"
        ) from error
