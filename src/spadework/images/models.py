"""A fitted network of photos as plain arrays."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from spadework.core.networks import find_device
from spadework.images.contract import Floats, Pixels, check_pixels
from spadework.images.network import (
    DevicePixels,
    PixelNetwork,
    Weights,
    place,
    restore_network,
)


@dataclass(frozen=True)
class PredictorModel:
    """A trained network; the score is the predictor's log-odds of anomaly.

    Attributes
    ----------
    weights : dict of ndarray
        The state of a `PixelNetwork`.
    """

    weights: Weights

    def score(self, pixels: Pixels) -> Floats:
        """Logit q(h(x)) of each photo, (n_samples,)."""
        network, codes = encode(self.weights, pixels)
        with torch.no_grad():
            return network.predict(codes).cpu().numpy().astype(np.float64)

    def represent(self, pixels: Pixels) -> NDArray[np.float32]:
        """Codes h(x), (n_samples, 512)."""
        return encode(self.weights, pixels)[1].cpu().numpy()


def encode(weights: Weights, pixels: Pixels) -> tuple[PixelNetwork, torch.Tensor]:
    """Build the network where scoring is fastest, and encode photos in float32."""
    check_pixels(pixels)
    device = find_device("auto")
    network = place(restore_network(weights), device)
    return network, DevicePixels(pixels, device).encode(network)
