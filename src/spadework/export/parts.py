"""The parts of a detector as nodes of a graph.

All names stand for double tensors of shape (batch, columns), unless said otherwise.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from spadework.arrays import Floats, Numbers
from spadework.core.gaussian import GaussianEnsemble
from spadework.core.neighbours import SAME, NearestNeighbours, linear_form
from spadework.core.pseudo_labels import Members, whole_unit
from spadework.core.scaling import LIMIT, SPREAD, MinMaxScaler
from spadework.core.trees import FlatForest
from spadework.detector import SPADE
from spadework.errors import ExportError
from spadework.export.graph import DOUBLE, FLOAT, INT64, Graph
from spadework.export.trees import BRANCH_LT, SUM, add_forest, add_trees, bisection_trees
from spadework.labels import UNLABELED
from spadework.learners.blend import BlendedModel
from spadework.learners.contract import Scaler, Scorer
from spadework.learners.directions import ColumnScorer, LinearScorer, ScaledScorer
from spadework.learners.network import NetworkModel
from spadework.learners.oddness import Oddness
from spadework.learners.one_class import IsolationForestMembers, SVMMembers
from spadework.learners.perceptrons import Perceptrons


class Curve(NamedTuple):
    """Points of ``np.interp``, each (n_points,), with x rising strictly."""

    x: Floats
    y: Floats

    def lines(self) -> Floats:
        """Origin, slope and height of all lines, (3, n_points + 1).

        The outer ones are level, and so is one between points too close for a slope.
        """
        with np.errstate(over="ignore"):
            slope = np.diff(self.y) / np.diff(self.x)
        slope = np.pad(np.where(np.isfinite(slope), slope, 0.0), 1)
        origin, height = (np.append(each[:1], each) for each in self)
        return np.stack([origin, slope, height])


def add_detector(graph: Graph, detector: SPADE, rows: str) -> str:
    """Score rows, (batch, n_features), float32; return the name of scores, (batch,)."""
    cells = graph.add("Cast", rows, to=DOUBLE)
    model = detector.model_
    if isinstance(model, BlendedModel):
        scores = add_blend(graph, model, cells)
    elif isinstance(model, NetworkModel):
        scores = _add_network_model(graph, model, cells)
    else:
        raise ExportError(
            f"a {type(model).__name__} of your own cannot be exported; fit with "
            f"learner='forest' or learner='network'"
        )
    # Zero for finite rows; NaN for all others, which trees would pass over.
    total = graph.add("ReduceSum", cells, np.array([1]))
    guarded = graph.add("Add", scores, graph.add("Mul", total, 0.0))
    return graph.add("Squeeze", guarded, np.array([1]))


def add_answers(graph: Graph, scores: str, threshold: float) -> None:
    """Add the outputs of the graph, given its scores, (batch,)."""
    graph.add("Identity", scores, output="score")
    excess = graph.add("Sub", scores, threshold)
    graph.add("Sigmoid", excess, output="probability")
    called = graph.add("Cast", graph.add("Greater", excess, 0.0), to=INT64)
    unknown = graph.add("IsNaN", scores)
    graph.add("Where", unknown, np.array([UNLABELED]), called, output="anomaly")


def add_blend(graph: Graph, model: BlendedModel, cells: str) -> str:
    """Blend the readings: the weighted mean of log-odds of ranks, (batch, 1)."""
    scores = [_add_scorer(graph, reading.scorer, cells) for reading in model.readings]
    curves = [Curve(reading.knots, reading.log_odds) for reading in model.readings]
    ranks = add_interpolation(graph, graph.add("Concat", *scores, axis=1), curves)
    weights = np.array([[reading.weight] for reading in model.readings])
    # Not divided by behind the product: ONNX Runtime would join the two in float32.
    mean = graph.add("MatMul", ranks, weights / weights.sum())
    if model.levels is None:
        return mean
    levels = Curve(model.levels.knots, model.levels.levels)
    return add_interpolation(graph, mean, [levels])


def _add_scorer(graph: Graph, scorer: Scorer, cells: str) -> str:
    """Score rows by what a reading has learnt, (batch, 1)."""
    if isinstance(scorer, FlatForest):
        return add_forest(graph, scorer, cells)
    if isinstance(scorer, Perceptrons):
        return _add_perceptrons(graph, scorer, cells)
    if isinstance(scorer, NetworkModel):
        return _add_network_model(graph, scorer, cells)
    if isinstance(scorer, Oddness):
        return _add_oddness(graph, scorer, cells)
    if isinstance(scorer, ScaledScorer):
        scaled = _add_scaling(graph, scorer.scaler, cells)
        return _add_scorer(graph, scorer.direction, scaled)
    if isinstance(scorer, LinearScorer):
        product = graph.add("MatMul", cells, scorer.weights[:, None])
        return graph.add("Add", product, scorer.intercept)
    if isinstance(scorer, ColumnScorer):
        return graph.add("Gather", cells, np.array([scorer.column]), axis=1)
    raise ExportError(f"a reading by a {type(scorer).__name__} cannot be exported")


def _add_perceptrons(graph: Graph, model: Perceptrons, cells: str) -> str:
    """Average the probabilities of small networks, (batch, 1)."""
    scaled = _add_scaling(graph, model.scaler, cells)
    # Networks first, (n_networks, batch, n_kept), as their weights are.
    picked = graph.add("Gather", scaled, model.columns.astype(np.int64), axis=1)
    cells = graph.add("Transpose", picked, perm=[1, 0, 2])
    cells = _add_layers(graph, zip(model.weights, model.biases, strict=True), cells)
    each = graph.add("Squeeze", graph.add("Sigmoid", cells), np.array([2]))
    return _add_mean(graph, graph.add("Transpose", each, perm=[1, 0]))


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
    return _add_mean(graph, graph.add("Concat", *logits, axis=1))


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


def _add_oddness(graph: Graph, oddness: Oddness, cells: str) -> str:
    """Average the one-class scores on their log scale, (batch, 1)."""
    scaled = _add_scaling(graph, oddness.scaler, cells)
    scores = _add_members(graph, oddness.members, scaled)
    unit = whole_unit(oddness.unit)
    above = graph.add("Relu", graph.add("Sub", scores, oddness.origin))
    scaled = graph.add("Add", graph.add("Div", above, unit), 1.0)
    return _add_mean(graph, graph.add("Log", scaled))


def _add_members(graph: Graph, members: Members, cells: str) -> str:
    """Score scaled rows by every member, (batch, n_members)."""
    if isinstance(members, GaussianEnsemble):
        return _add_gaussians(graph, members, cells)
    if isinstance(members, NearestNeighbours):
        return _add_neighbours(graph, members, cells)
    if isinstance(members, IsolationForestMembers):
        return _add_isolation_forests(graph, members, cells)
    if isinstance(members, SVMMembers):
        return _add_svms(graph, members, cells)
    raise ExportError(
        "one-class classifiers of your own cannot be exported; fit with "
        "one_class='gaussian', 'neighbours', 'isolation_forest' or 'svm', or leave the "
        "reading 'one_class' out of ForestLearner(readings=...)"
    )


def _add_gaussians(graph: Graph, ensemble: GaussianEnsemble, cells: str) -> str:
    """Negative log-likelihoods; one member at a time, or wide rows fill the memory."""
    centre, matrix, log_norms = ensemble.whitening
    centred = graph.add("Sub", cells, centre)
    lengths = []
    for member in np.hsplit(matrix, len(log_norms)):
        white = graph.add("Add", graph.add("MatMul", centred, member[:-1]), member[-1])
        lengths.append(graph.add("ReduceSumSquare", white, np.array([1])))
    lengths = graph.add("Concat", *lengths, axis=1)
    return graph.add("Div", graph.add("Add", lengths, log_norms), 2.0)


def _add_neighbours(graph: Graph, neighbours: NearestNeighbours, cells: str) -> str:
    """Mean distances to the nearest row of a draw; one member at a time."""
    n_members, n_draws, n_points, _ = neighbours.points.shape
    along = graph.add("MatMul", cells, neighbours.axes)
    squares = graph.add("ReduceSumSquare", along, np.array([1]))
    means = []
    parts = (np.split(part, n_members, axis=-1) for part in linear_form(neighbours))
    for directions, lengths in zip(*parts, strict=True):
        others = graph.add("Add", graph.add("MatMul", along, directions), lengths)
        draws = graph.add("Reshape", others, np.array([-1, n_draws, n_points]))
        nearest = graph.add("ReduceMin", draws, np.array([2]), keepdims=0)
        nearest = graph.add("Add", nearest, squares)
        apart = graph.add("GreaterOrEqual", nearest, SAME)
        distances = graph.add("Sqrt", graph.add("Where", apart, nearest, 0.0))
        means.append(_add_mean(graph, distances))
    return graph.add("Concat", *means, axis=1)


def _add_isolation_forests(
    graph: Graph, members: IsolationForestMembers, cells: str
) -> str:
    """2^(-mean path length / c); forests on a single row have length 0 and give 1/2."""
    forests = [add_forest(graph, forest, cells) for forest in members.forests]
    lengths = graph.add("Concat", *forests, axis=1)
    single = members.norms <= 0
    units = graph.add("Div", lengths, np.where(single, 1.0, members.norms))
    exponents = graph.add("Neg", graph.add("Add", units, single.astype(np.float64)))
    return graph.add("Pow", 2.0, exponents)


def _add_svms(graph: Graph, members: SVMMembers, cells: str) -> str:
    """Negative weighted kernel sums."""
    squares = graph.add("ReduceSumSquare", cells, np.array([1]))
    scores = []
    parts = zip(members.vectors, members.weights, members.gammas, strict=True)
    for vectors, weights, gamma in parts:
        products = graph.add("MatMul", cells, -2 * vectors.T)
        sums = graph.add("Add", squares, products)
        distances = graph.add("Add", sums, (vectors**2).sum(axis=1))
        kernel = graph.add("Exp", graph.add("Mul", graph.add("Relu", distances), -gamma))
        scores.append(graph.add("MatMul", kernel, -weights[:, None]))
    return graph.add("Concat", *scores, axis=1)


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


def _add_mean(graph: Graph, columns: str) -> str:
    """Average the columns, (batch, 1)."""
    return graph.add("ReduceMean", columns, np.array([1]))


def add_interpolation(graph: Graph, cells: str, curves: list[Curve]) -> str:
    """Add ``np.interp`` to its last bit, with one curve a column."""
    trees = bisection_trees([curve.x for curve in curves])
    found = add_trees(graph, trees, cells, mode=BRANCH_LT, aggregate=SUM)
    places = graph.add("Cast", found, to=INT64)
    tables = np.hstack([curve.lines() for curve in curves])
    origin, slope, level = (graph.add("Gather", table, places) for table in tables)
    rise = graph.add("Mul", slope, graph.add("Sub", cells, origin))
    return graph.add("Add", rise, level)
