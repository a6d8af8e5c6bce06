"""A detector of photos as nodes of a graph, from pixels to rows.

All names stand for float32 tensors of shape (batch, channels, height, width), unless
said otherwise. The network is the chain of `spadework.images.backbone`; its sums are
float32 there and here, in another order.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from spadework.errors import ExportError
from spadework.export.graph import DOUBLE, FLOAT, Graph
from spadework.images.backbone import BLOCKS, FINE, PATCH, PATCH_WIDTH, SHORTEST, Weights
from spadework.images.detector import ImageSPADE
from spadework.images.patches import ODDEST, PatchBank
from spadework.images.pretrained import PhotoModel
from spadework.images.spotting import LARGEST, Spotter, n_spots

PLACES = np.array([2, 3])
"""Axes of height and width."""


def photo_model(detector: ImageSPADE) -> PhotoModel:
    """Return the model of a detector, or say that it cannot be exported."""
    if isinstance(detector.model_, PhotoModel):
        return detector.model_
    raise ExportError(
        f"only detectors of photos fitted with learner='pretrained' can be exported; "
        f"this one was fitted with {detector.learner!r}"
    )


def add_photos(graph: Graph, model: PhotoModel, pixels: str, size: int) -> str:
    """Score photos by pixels, (batch, size, size, 3), uint8; return the name of scores.

    These are double, of shape (batch,).
    """
    floats = graph.add("Cast", pixels, to=FLOAT)
    x = graph.add("Transpose", floats, perm=[0, 3, 1, 2])
    x = graph.add("Div", graph.add("Sub", x, _number(127)), _number(128))
    fine, patches, coarse = _add_network(graph, model.weights, x, size)
    # Sides are halved upwards: a photo of 65 pixels has maps of 9, 5 and 3.
    pooled = [
        _add_pooling(graph, maps, -(-size // step))
        for maps, step in ((fine, 8), (patches, 16), (coarse, 32))
    ]
    n_positions = (-(-size // 16)) ** 2
    correlations = _add_correlations(graph, patches, n_positions)
    smooth = _add_smoothing(graph, patches)
    scores_of_patches = [_add_oddness(graph, model.bank, smooth, n_positions)]
    if model.spotter is not None:
        spotted = _add_spots(graph, model.spotter, smooth, n_positions)
        scores_of_patches.append(spotted)
    rows = graph.add("Concat", *pooled, correlations, *scores_of_patches, axis=1)
    weights = model.linear.weights[:, None]
    product = graph.add("MatMul", graph.add("Cast", rows, to=DOUBLE), weights)
    scores = graph.add("Add", product, model.linear.intercept)
    return graph.add("Squeeze", scores, np.array([1]))


def _add_network(
    graph: Graph, weights: Weights, x: str, size: int
) -> tuple[str, str, str]:
    """Add the convolutions; return the three maps that are kept, from fine to coarse."""
    x = _add_convolution(graph, weights, "stem", x, size, stride=2)
    size = -(-size // 2)
    kept = {}
    for i, shape in enumerate(BLOCKS):
        came = x
        n_layers = 3 if shape.expansion > 1 else 2
        for j in range(n_layers):
            depthwise = j == n_layers - 2
            x = _add_convolution(
                graph,
                weights,
                f"blocks.{i}.layers.{j}",
                x,
                size,
                stride=shape.stride if depthwise else 1,
                groups=shape.n_in * shape.expansion if depthwise else 1,
                linear=j == n_layers - 1,
            )
        size = -(-size // shape.stride)
        if shape.stride == 1 and shape.n_in == shape.n_out:
            x = graph.add("Add", came, x)
        kept[i] = x
    return kept[FINE], kept[PATCH], _add_convolution(graph, weights, "head", x, size)


def _add_convolution(
    graph: Graph,
    weights: Weights,
    name: str,
    x: str,
    size: int,
    *,
    stride: int = 1,
    groups: int = 1,
    linear: bool = False,
) -> str:
    """Add a convolution that pads as TensorFlow does, with ReLU6 unless it is linear."""
    weight, bias = weights[f"{name}.weight"], weights[f"{name}.bias"]
    kernel = weight.shape[2]
    padding = kernel - 1 if stride == 1 else kernel - 2 + size % 2
    before, after = padding // 2, padding - padding // 2
    x = graph.add(
        "Conv",
        x,
        weight,
        bias,
        kernel_shape=[kernel, kernel],
        strides=[stride, stride],
        pads=[before, before, after, after],
        group=groups,
    )
    return x if linear else graph.add("Min", graph.add("Relu", x), _number(6))


def _add_pooling(graph: Graph, maps: str, side: int) -> str:
    """Mean, maximum and deviation over positions, (batch, 3 * channels)."""
    mean = graph.add("ReduceMean", maps, PLACES, keepdims=1)
    centred = graph.add("Sub", maps, mean)
    squares = graph.add("ReduceSumSquare", centred, PLACES, keepdims=0)
    variance = graph.add("Div", squares, _number(side * side))
    return graph.add(
        "Concat",
        graph.add("Squeeze", mean, PLACES),
        graph.add("ReduceMax", maps, PLACES, keepdims=0),
        graph.add("Sqrt", variance),
        axis=1,
    )


def _add_correlations(graph: Graph, maps: str, n_positions: int) -> str:
    """Correlations of channels over positions, (batch, n_channels choose 2)."""
    patches = _add_patches(graph, maps, PATCH_WIDTH, n_positions)
    mean = graph.add("ReduceMean", patches, np.array([1]), keepdims=1)
    centred = graph.add("Sub", patches, mean)
    lengths = graph.add("ReduceL2", centred, np.array([1]), keepdims=1)
    unit = graph.add("Div", centred, graph.add("Max", lengths, _number(SHORTEST)))
    products = graph.add("MatMul", graph.add("Transpose", unit, perm=[0, 2, 1]), unit)
    flat = graph.add("Reshape", products, np.array([0, PATCH_WIDTH**2]))
    row, column = np.triu_indices(PATCH_WIDTH, 1)
    return graph.add("Gather", flat, row * PATCH_WIDTH + column, axis=1)


def _add_smoothing(graph: Graph, maps: str) -> str:
    """Mean of 3 x 3 positions, same shape."""
    return graph.add(
        "AveragePool", maps, kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=0
    )


def _add_patches(graph: Graph, maps: str, n_channels: int, n_positions: int) -> str:
    """Turn maps into one row a patch, (batch, n_positions, n_channels)."""
    flat = graph.add("Reshape", maps, np.array([0, n_channels, n_positions]))
    return graph.add("Transpose", flat, perm=[0, 2, 1])


def _add_oddness(graph: Graph, bank: PatchBank, smooth: str, n_positions: int) -> str:
    """Mean distance of a photo's oddest patches to those of the bank, (batch, 1)."""
    scaled = graph.add("Div", smooth, bank.scale[:, None, None])
    queries = _add_patches(graph, scaled, len(bank.scale), n_positions)
    products = graph.add("MatMul", queries, 2 * np.ascontiguousarray(bank.patches.T))
    squares = graph.add("Sub", (bank.patches**2).sum(axis=1), products)
    nearest = graph.add("ReduceMin", squares, np.array([2]), keepdims=0)
    lengths = graph.add("ReduceSumSquare", queries, np.array([2]), keepdims=0)
    positive = graph.add("Relu", graph.add("Add", nearest, lengths))
    distances = graph.add("Sqrt", positive)
    oddest = graph.add("TopK", distances, np.array([min(ODDEST, n_positions)]), axis=1)
    return graph.add("ReduceMean", oddest, np.array([1]), keepdims=1)


def _add_spots(graph: Graph, spotter: Spotter, smooth: str, n_positions: int) -> str:
    """Mean score of a photo's most anomalous patches, (batch, 1)."""
    patches = _add_patches(graph, smooth, len(spotter.mean), n_positions)
    z = graph.add("Div", graph.add("Sub", patches, spotter.mean), spotter.spread)
    squares = graph.add("Sub", graph.add("Mul", z, z), _number(1))
    cut = graph.add("Min", squares, _number(LARGEST))
    traits = graph.add("Concat", z, graph.add("Div", cut, _number(3)), axis=2)
    scores = graph.add("MatMul", traits, spotter.weights)
    spots = graph.add("TopK", scores, np.array([n_spots(n_positions)]), axis=1)
    by_model = graph.add("ReduceMean", spots, np.array([1]), keepdims=0)
    return graph.add("ReduceMean", by_model, np.array([1]), keepdims=1)


def _number(value: float) -> NDArray[Any]:
    """Return a number that float32 tensors can be worked with."""
    return np.array([value], dtype=np.float32)
