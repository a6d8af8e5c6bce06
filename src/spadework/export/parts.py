"""The parts of a detector as nodes of a graph.

All names stand for double tensors of shape (batch, columns), unless said otherwise.
"""

from collections.abc import Iterable

import numpy as np

from spadework.arrays import Numbers
from spadework.core.scaling import LIMIT, SPREAD, MinMaxScaler
from spadework.detector import SPADE
from spadework.errors import ExportError
from spadework.export.graph import DOUBLE, FLOAT, INT64, Graph
from spadework.export.trees import add_forest, add_symmetric_trees
from spadework.labels import UNLABELED
from spadework.learners.contract import Scaler
from spadework.learners.forest import ForestModel
from spadework.learners.network import NetworkModel
from spadework.learners.trees import TreeModel


def add_detector(graph: Graph, detector: SPADE, rows: str) -> str:
    """Score rows, (batch, n_features), float32; return the name of scores, (batch,)."""
    cells = graph.add("Cast", rows, to=DOUBLE)
    model = detector.model_
    if isinstance(model, TreeModel):
        scores = add_symmetric_trees(graph, model.trees, cells)
    elif isinstance(model, NetworkModel):
        scores = _add_network_model(graph, model, cells)
    elif isinstance(model, ForestModel):
        scores = add_forest(graph, model.forest, cells)
    else:
        raise ExportError(
            f"a {type(model).__name__} of your own cannot be exported; fit with "
            f"learner='trees', 'network' or 'forest'"
        )
    # Zero for finite rows; NaN for all others, which trees would pass over.
    total = graph.add("ReduceSum", cells, np.array([1]))
    guarded = graph.add("Add", scores, graph.add("Mul", total, 0.0))
    return graph.add("Squeeze", guarded, np.array([1]))


def add_answers(graph: Graph, scores: str, threshold: float, *, log_odds: bool) -> None:
    """Add the outputs of the graph, given its scores, (batch,), and what they are."""
    graph.add("Identity", scores, output="score")
    excess = graph.add("Sub", scores, threshold)
    graph.add("Sigmoid", scores if log_odds else excess, output="probability")
    called = graph.add("Cast", graph.add("Greater", excess, 0.0), to=INT64)
    unknown = graph.add("IsNaN", scores)
    graph.add("Where", unknown, np.array([UNLABELED]), called, output="anomaly")


def _add_network_model(graph: Graph, model: NetworkModel, cells: str) -> str:
    """Average the logits of the networks, (batch, 1)."""
    scaled = _add_scaling(graph, model.scaler, cells)
    logits = []
    for weights in model.weights:
        encoder, predictor = (
            [
                (weights[f"{part}.{i}.weight"].T, weights[f"{part}.{i}.bias"])
                for i in (0, 2)
                if f"{part}.{i}.weight" in weights
            ]
            for part in ("encoder", "predictor")
        )
        code = _add_layers(graph, encoder, scaled)
        if not model.linear_code:
            code = graph.add("Relu", code)
        logits.append(_add_layers(graph, predictor, code))
    return graph.add("ReduceMean", graph.add("Concat", *logits, axis=1), np.array([1]))


def _add_layers(
    graph: Graph, layers: Iterable[tuple[Numbers, Numbers]], cells: str
) -> str:
    """Add layers of weights and biases, with a ReLU between."""
    for number, (matrix, bias) in enumerate(layers):
        if number:
            cells = graph.add("Relu", cells)
        product = graph.add("MatMul", cells, matrix.astype(np.float64))
        cells = graph.add("Add", product, bias.astype(np.float64))
    return cells


def _add_scaling(graph: Graph, scaler: Scaler, cells: str) -> str:
    """Scale rows, and round them to float32 as the scalers do."""
    if isinstance(scaler, MinMaxScaler):
        scaled = graph.add("Div", graph.add("Sub", cells, scaler.low), scaler.span)
        least, most = scaler.limits
        scaled = graph.add("Max", graph.add("Min", scaled, most), least)
    else:
        units = graph.add("Div", graph.add("Sub", cells, scaler.centre), scaler.unit)
        scaled = graph.add("Mul", _add_asinh(graph, units), SPREAD)
        scaled = graph.add("Max", graph.add("Min", scaled, LIMIT), -LIMIT)
    return graph.add("Cast", graph.add("Cast", scaled, to=FLOAT), to=DOUBLE)


def _add_asinh(graph: Graph, cells: str) -> str:
    """Inverse hyperbolic sine in double, which ONNX Runtime's own operator lacks."""
    size = graph.add("Abs", cells)
    root = graph.add("Sqrt", graph.add("Add", graph.add("Mul", size, size), 1.0))
    logarithm = graph.add("Log", graph.add("Add", size, root))
    return graph.add("Mul", graph.add("Sign", cells), logarithm)
