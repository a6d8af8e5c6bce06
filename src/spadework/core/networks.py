"""The network of section 4.2: encoder h, predictor q and projection head g."""

from typing import NamedTuple

import torch
from torch import Tensor, nn


class NetworkOutput(NamedTuple):
    """What one pass gives: r = h(x), the logit q(r), the reconstruction g(r)."""

    latent: Tensor
    logit: Tensor
    reconstruction: Tensor


class SpadeNetwork(nn.Module):
    """Encoder, predictor and projection head, each a two-layer perceptron.

    "We use two-layer perceptron as the base network architecture where the hidden
    dimensions is the half of the original feature dimensions." (appendix B.5)

    Parameters
    ----------
    n_features : int
    n_hidden : int
        Width of every hidden layer and of the latent code.
    linear_code : bool
        Whether the encoder ends in its linear layer. With a ReLU behind it, as
        in a literal reading, dimensions of the code die and covariances of the
        one-class models become singular.

    **Shape**

    - Input: ``(n_rows, n_features)``
    - Output: latent ``(n_rows, n_hidden)``, logit ``(n_rows,)``, reconstruction
      ``(n_rows, n_features)``
    """

    def __init__(self, n_features: int, n_hidden: int, *, linear_code: bool) -> None:
        super().__init__()
        self.encoder = _perceptron(n_features, n_hidden, n_hidden)
        if not linear_code:
            self.encoder.append(nn.ReLU())
        self.predictor = _perceptron(n_hidden, n_hidden, 1)
        self.projection = _perceptron(n_hidden, n_hidden, n_features)

    def forward(self, x: Tensor) -> NetworkOutput:
        """Run all three parts."""
        latent = self.encoder(x)
        logit = self.predictor(latent).squeeze(-1)
        return NetworkOutput(latent, logit, self.projection(latent))


def _perceptron(n_in: int, n_hidden: int, n_out: int) -> nn.Sequential:
    """Two layers with a ReLU between."""
    return nn.Sequential(nn.Linear(n_in, n_hidden), nn.ReLU(), nn.Linear(n_hidden, n_out))


def hidden_width(n_features: int) -> int:
    """Half of the feature dimensions, and at least one."""
    return max(1, n_features // 2)


def best_device() -> torch.device:
    """Return the GPU where there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
