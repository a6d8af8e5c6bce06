"""The image network: encoder h, predictor q and projection head g, and its weights."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from spadework.arrays import Floats, Pixels, Positions, Singles
from spadework.core.networks import find_device
from spadework.images.contract import check_pixels
from spadework.images.cutpaste import N_KINDS
from spadework.images.resnet import CODE_WIDTH, ResNet18

Weights = dict[str, NDArray[np.generic]]

PROJECTION_WIDTH = 128
_SCORE_IMAGES = 256


class PixelNetwork(nn.Module):
    """ResNet-18 with a two-layer predictor and CutPaste's projection head.

    Methods that use one of the two heads train that one and leave the other as it
    was drawn.
    """

    def __init__(self) -> None:
        super().__init__()
        self.encoder = ResNet18()
        self.predictor = nn.Sequential(
            nn.Linear(CODE_WIDTH, CODE_WIDTH), nn.ReLU(), nn.Linear(CODE_WIDTH, 1)
        )
        self.projection = nn.Sequential(
            nn.Linear(CODE_WIDTH, CODE_WIDTH, bias=False),
            nn.BatchNorm1d(CODE_WIDTH),
            nn.ReLU(),
            nn.Linear(CODE_WIDTH, PROJECTION_WIDTH, bias=False),
            nn.BatchNorm1d(PROJECTION_WIDTH),
            nn.ReLU(),
            nn.Linear(PROJECTION_WIDTH, N_KINDS),
        )

    def encode(self, images: Tensor) -> Tensor:
        """Codes r = h(x) of photos 0 to 1, (n_images, 512), in float32."""
        return self.encoder(images)

    def predict(self, codes: Tensor) -> Tensor:
        """Logit q(r) of anomaly, (n_images,)."""
        return self.predictor(codes).squeeze(-1)

    def tell_kinds(self, codes: Tensor) -> Tensor:
        """Logits g(r) of as is, CutPaste and scar, (n_images, 3)."""
        return self.projection(codes)


def new_network(rng: np.random.Generator) -> PixelNetwork:
    """Initialise a network as torchvision and torch do, from our own generator."""
    network = _blank_network().to_empty(device="cpu")
    generator = torch.Generator().manual_seed(int(rng.integers(2**63)))
    for module in network.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", generator=generator)
        elif isinstance(module, nn.Linear):
            bound = module.in_features**-0.5
            for weight in module.parameters():
                nn.init.uniform_(weight, -bound, bound, generator=generator)
        elif isinstance(module, (nn.BatchNorm1d, nn.BatchNorm2d)):
            module.reset_parameters()
    return network


def network_weights(network: PixelNetwork) -> Weights:
    """Return the weights of a network as plain arrays."""
    state = network.state_dict()
    return {name: tensor.cpu().numpy().copy() for name, tensor in state.items()}


def restore_network(weights: Weights) -> PixelNetwork:
    """Build a network from its weights, ready to score."""
    network = _blank_network()
    state = {name: torch.tensor(array) for name, array in weights.items()}
    network.load_state_dict(state, assign=True)
    return network.eval()


def _blank_network() -> PixelNetwork:
    """Return a network without weights: it takes no memory and draws nothing."""
    with torch.device("meta"):
        return PixelNetwork()


def place(network: PixelNetwork, device: torch.device) -> PixelNetwork:
    """Move a network to a device, its filters laid out as photos are: colours last."""
    network = network.to(device)
    for weight in network.parameters():
        if weight.ndim == 4:
            weight.data = weight.data.contiguous(memory_format=torch.channels_last)
    return network


class DevicePixels:
    """Photos as a network reads them: on the device at once where they fit.

    Pixels, uint8 of shape (n_samples, height, width, 3), may be a memory map.
    """

    def __init__(self, pixels: Pixels, device: torch.device) -> None:
        self._pixels, self.device = pixels, device
        self._resident: Tensor | None = None
        on_gpu = device.type == "cuda"
        if on_gpu and pixels.nbytes < torch.cuda.mem_get_info(device)[0] / 2:
            self._resident = torch.empty(pixels.shape, dtype=torch.uint8, device=device)
            for rows in self._parts():
                self._resident[rows] = torch.from_numpy(np.array(pixels[rows])).to(device)

    def take(self, rows: Positions | slice) -> Tensor:
        """Photos at these positions, (n_rows, 3, height, width), floats from 0 to 1."""
        if self._resident is None:
            chosen = torch.from_numpy(np.array(self._pixels[rows])).to(self.device)
        elif isinstance(rows, slice):
            chosen = self._resident[rows]
        else:
            chosen = self._resident[torch.from_numpy(rows).to(self.device)]
        return chosen.permute(0, 3, 1, 2).float() / 255

    def encode(self, network: PixelNetwork) -> Tensor:
        """Codes of all photos, (n_samples, 512), by a network in its scoring mode."""
        with torch.no_grad():
            return torch.cat([network.encode(self.take(rows)) for rows in self._parts()])

    def _parts(self) -> Iterator[slice]:
        """Positions of the photos, a few at a time."""
        for start in range(0, len(self._pixels), _SCORE_IMAGES):
            yield slice(start, start + _SCORE_IMAGES)


def half_precision(device: torch.device) -> contextlib.AbstractContextManager[object]:
    """Let convolutions run in bfloat16 on a GPU; elsewhere change nothing."""
    if device.type == "cuda":
        return torch.autocast("cuda", dtype=torch.bfloat16)
    return contextlib.nullcontext()


@dataclass(frozen=True)
class PredictorModel:
    """A trained `PixelNetwork` by its weights; scores are log-odds of anomaly."""

    weights: Weights

    def score(self, pixels: Pixels) -> Floats:
        """Logit q(h(x)) of each photo, (n_samples,)."""
        network, codes = encode(self.weights, pixels)
        with torch.no_grad():
            return network.predict(codes).cpu().numpy().astype(np.float64)

    def represent(self, pixels: Pixels) -> Singles:
        """Codes h(x), (n_samples, 512)."""
        return encode(self.weights, pixels)[1].cpu().numpy()


def encode(weights: Weights, pixels: Pixels) -> tuple[PixelNetwork, Tensor]:
    """Build the network where scoring is fastest, and encode photos in float32."""
    check_pixels(pixels)
    device = find_device("auto")
    network = place(restore_network(weights), device)
    return network, DevicePixels(pixels, device).encode(network)
