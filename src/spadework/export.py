"""One ONNX graph from a fitted detector: scaling, learner and threshold in one file.

The graph computes in double precision, as the detector does: maps from scores to
ranks can be steep, and what float32 rounds away would show. Two things carry it.

- Trees are `TreeEnsemble` operators of ``ai.onnx.ml``, the first that answer in
  double (`TreeEnsembleRegressor` answers in float32).
- ``np.interp`` is a tree too: a bisection of the knots, whose leaf is the place of a
  row's segment in a table. All columns are looked up by one operator, in as many
  steps as bisection takes and without an array of rows by knots.
"""

import json
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from spadework.core.gaussian import GaussianEnsemble, whiten
from spadework.core.pseudo_labels import Members
from spadework.core.scaling import MinMaxScaler
from spadework.core.trees import FlatForest
from spadework.detector import SPADE
from spadework.errors import ExportError
from spadework.files import write_whole
from spadework.labels import UNLABELED
from spadework.learners.blend import ForestModel, Oddness
from spadework.learners.contract import Scaler
from spadework.learners.network import NetworkModel
from spadework.learners.one_class import IsolationForestMembers, SVMMembers
from spadework.validation import check_rows
from spadework.version import __version__

if TYPE_CHECKING:
    from onnx import ModelProto, NodeProto, TensorProto

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]

TOLERANCE = 1e-5
"""How far an exported score may lie from the detector's, times the score if over 1."""

OPSET, ML_OPSET, IR_VERSION = 21, 5, 10
"""Versions of ONNX that the graph is written in; the trees need ai.onnx.ml 5."""

PRODUCER = "spadework"

_MAX_BYTES = 2**31 - 1
_NODE_BYTES = 40  # what a node of a tree and a leaf take together, at most
_BRANCH_LEQ, _BRANCH_LT = 0, 1
_AVERAGE, _SUM = 0, 1
_FLOAT, _INT64, _DOUBLE = 1, 7, 11  # codes of onnx.TensorProto


def export_onnx(
    model: SPADE, path: str | os.PathLike[str], *, sample: ArrayLike
) -> float:
    """Write a fitted detector as one ONNX graph, once it scores a sample the same.

    The graph takes ``X``, float32 of shape (batch, n_features), and gives ``score``
    and ``probability``, both float64, and ``anomaly``, int64, all of shape (batch,).
    These are `SPADE.anomaly_score`, the second column of `SPADE.predict_proba`, and
    `SPADE.predict`. Rows with missing or infinite values, which the detector refuses,
    get NaN, NaN and -1. The file names the version of spadework, the threshold and,
    where the detector knows them, the features, in its metadata.

    Parameters
    ----------
    model : SPADE
        Fitted, with any learner and one-class classifier but objects of your own.
    path : path of the file, ``.onnx`` by custom
        A file that is not an exported detector is never replaced.
    sample : array-like of shape (n_samples, n_features)
        Real rows, at least one, that the graph and the detector are compared on.

    Returns
    -------
    difference : float
        The largest difference of a score from the detector's own.

    Raises
    ------
    ExportError
        If onnx or onnxruntime is not installed, if the detector has parts that ONNX
        cannot express, or if a score differs by more than ``TOLERANCE``. Nothing is
        written then.
    """
    _require_tools()
    check_is_fitted(model)
    if not isinstance(model, SPADE):
        raise ExportError(f"only fitted SPADE models can be exported; got {model!r}")
    target = Path(path)
    _refuse_to_replace(target)
    content = build_onnx(model).SerializeToString()
    difference = _check_parity(model, content, sample)
    write_whole(target, content)
    return difference


def build_onnx(model: SPADE) -> "ModelProto":
    """Build the graph of a fitted detector, with its metadata."""
    from onnx import helper

    graph = Graph()
    scores = add_detector(graph, model, "X")
    add_answers(graph, scores, model.threshold_)
    if graph.n_bytes > _MAX_BYTES:
        raise ExportError(
            f"the detector takes {graph.n_bytes / 1e9:.1f} GB as a graph, and an ONNX "
            f"file holds 2. Fit on fewer columns, or with fewer one-class classifiers"
        )
    rows = helper.make_tensor_value_info("X", _FLOAT, ["batch", model.n_features_in_])
    answers = {"score": _DOUBLE, "probability": _DOUBLE, "anomaly": _INT64}
    proto = helper.make_model(
        helper.make_graph(
            graph.nodes,
            PRODUCER,
            [rows],
            [
                helper.make_tensor_value_info(name, kind, ["batch"])
                for name, kind in answers.items()
            ],
            graph.constants,
        ),
        opset_imports=[
            helper.make_opsetid("", OPSET),
            helper.make_opsetid("ai.onnx.ml", ML_OPSET),
        ],
        ir_version=IR_VERSION,
        producer_name=PRODUCER,
        producer_version=__version__,
    )
    helper.set_model_props(proto, _metadata(model))
    return proto


class Graph:
    """The nodes and constants of an ONNX graph, as they are added.

    Attributes
    ----------
    nodes : list of NodeProto
    constants : list of TensorProto
    n_bytes : int
        What constants and trees take in a file, about.
    """

    def __init__(self) -> None:
        self.nodes: list[NodeProto] = []
        self.constants: list[TensorProto] = []
        self.n_bytes = 0

    def add(
        self,
        operator: str,
        *inputs: "str | float | NDArray[Any]",
        output: str | None = None,
        **attributes: Any,
    ) -> str:
        """Add a node; return the name of its output.

        Inputs are names, or numbers and arrays, which become constants.
        """
        from onnx import helper

        names = [
            each if isinstance(each, str) else self._constant(each) for each in inputs
        ]
        output = output or f"{operator}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, names, [output], **attributes))
        return output

    def _constant(self, values: float | NDArray[Any]) -> str:
        """Add an array as it is, or a number in double; return its name."""
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        array = np.ascontiguousarray(values) if np.ndim(values) else np.float64(values)
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        self.n_bytes += array.nbytes
        return name


def add_detector(graph: Graph, detector: SPADE, rows: str) -> str:
    """Add what scores rows.

    Parameters
    ----------
    graph : Graph
    detector : SPADE
        Fitted.
    rows : str
        Name of a tensor of shape (batch, n_features), float32.

    Returns
    -------
    scores : str
        Name of the anomaly scores, (batch,), double.
    """
    cells = graph.add("Cast", rows, to=_DOUBLE)
    model = detector.model_
    if isinstance(model, ForestModel):
        scores = _add_forest_model(graph, model, cells)
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
    called = graph.add("Cast", graph.add("Greater", excess, 0.0), to=_INT64)
    unknown = graph.add("IsNaN", scores)
    graph.add("Where", unknown, np.array([UNLABELED]), called, output="anomaly")


# The parts of a detector; all names stand for double tensors of shape (batch, columns).


def _add_forest_model(graph: Graph, model: ForestModel, cells: str) -> str:
    """Blend the readings: the weighted mean of log-odds of ranks, (batch, 1)."""
    scores = [
        _add_forest(graph, reading.scorer, cells)
        if isinstance(reading.scorer, FlatForest)
        else _add_oddness(graph, reading.scorer, cells)
        for reading in model.readings
    ]
    curves = [(reading.knots, reading.log_odds) for reading in model.readings]
    ranks = _add_interpolation(graph, graph.add("Concat", *scores, axis=1), curves)
    weights = np.array([[reading.weight] for reading in model.readings])
    return graph.add("Div", graph.add("MatMul", ranks, weights), weights.sum())


def _add_network_model(graph: Graph, model: NetworkModel, cells: str) -> str:
    """Average the logits of the networks, (batch, 1)."""
    scaled = _add_scaling(graph, model.scaler, cells)
    logits = []
    for weights in model.weights:
        code = _add_perceptron(graph, weights, "encoder", scaled)
        if not model.linear_code:
            code = graph.add("Relu", code)
        logits.append(_add_perceptron(graph, weights, "predictor", code))
    return _add_mean(graph, graph.add("Concat", *logits, axis=1))


def _add_perceptron(
    graph: Graph, weights: dict[str, NDArray[np.float32]], part: str, cells: str
) -> str:
    """Add two layers with a ReLU between."""
    for layer in (0, 2):
        if layer:
            cells = graph.add("Relu", cells)
        matrix = weights[f"{part}.{layer}.weight"].T.astype(np.float64)
        bias = weights[f"{part}.{layer}.bias"].astype(np.float64)
        cells = graph.add("Add", graph.add("MatMul", cells, matrix), bias)
    return cells


def _add_oddness(graph: Graph, oddness: Oddness, cells: str) -> str:
    """Average the one-class scores on their log scale, (batch, 1)."""
    scaled = _add_scaling(graph, oddness.scaler, cells)
    scores = _add_members(graph, oddness.members, scaled)
    unit = np.where(oddness.unit > 0, oddness.unit, 1.0)
    above = graph.add("Relu", graph.add("Sub", scores, oddness.origin))
    return _add_mean(
        graph, graph.add("Log", graph.add("Add", graph.add("Div", above, unit), 1.0))
    )


def _add_members(graph: Graph, members: Members, cells: str) -> str:
    """Score scaled rows by every member, (batch, n_members)."""
    if isinstance(members, GaussianEnsemble):
        return _add_gaussians(graph, members, cells)
    if isinstance(members, IsolationForestMembers):
        return _add_isolation_forests(graph, members, cells)
    if isinstance(members, SVMMembers):
        return _add_svms(graph, members, cells)
    raise ExportError(
        "one-class classifiers of your own cannot be exported; fit with "
        "one_class='gaussian', 'isolation_forest' or 'svm', or leave the reading "
        "'one_class' out of ForestLearner(readings=...)"
    )


def _add_gaussians(graph: Graph, ensemble: GaussianEnsemble, cells: str) -> str:
    """Negative log-likelihoods; one member at a time, or wide rows fill the memory."""
    centre, matrix, log_norms = whiten(ensemble)
    centred = graph.add("Sub", cells, centre)
    lengths = []
    for member in np.hsplit(matrix, len(log_norms)):
        white = graph.add("Add", graph.add("MatMul", centred, member[:-1]), member[-1])
        lengths.append(graph.add("ReduceSumSquare", white, np.array([1])))
    lengths = graph.add("Concat", *lengths, axis=1)
    return graph.add("Div", graph.add("Add", lengths, log_norms), 2.0)


def _add_isolation_forests(
    graph: Graph, members: IsolationForestMembers, cells: str
) -> str:
    """2^(-mean path length / c); forests on a single row have length 0 and give 1/2."""
    lengths = [_add_forest(graph, forest, cells) for forest in members.forests]
    single = members.norms <= 0
    units = graph.add(
        "Div",
        graph.add("Concat", *lengths, axis=1),
        np.where(single, 1.0, members.norms),
    )
    exponents = graph.add("Neg", graph.add("Add", units, single.astype(np.float64)))
    return graph.add("Pow", 2.0, exponents)


def _add_svms(graph: Graph, members: SVMMembers, cells: str) -> str:
    """Negative weighted kernel sums."""
    squares = graph.add("ReduceSumSquare", cells, np.array([1]))
    scores = []
    for vectors, weights, gamma in zip(
        members.vectors, members.weights, members.gammas, strict=True
    ):
        products = graph.add("MatMul", cells, -2 * vectors.T)
        distances = graph.add(
            "Add", graph.add("Add", squares, products), (vectors**2).sum(axis=1)
        )
        kernel = graph.add("Exp", graph.add("Mul", graph.add("Relu", distances), -gamma))
        scores.append(graph.add("MatMul", kernel, -weights[:, None]))
    return graph.add("Concat", *scores, axis=1)


def _add_scaling(graph: Graph, scaler: Scaler, cells: str) -> str:
    """Scale rows, and round them to float32 as the scalers do."""
    if isinstance(scaler, MinMaxScaler):
        scaled = graph.add("Div", graph.add("Sub", cells, scaler.low), scaler.span)
    else:
        curves = [scaler.curve(column) for column in range(scaler.n_features)]
        scaled = _add_interpolation(graph, cells, curves)
    return graph.add("Cast", graph.add("Cast", scaled, to=_FLOAT), to=_DOUBLE)


def _add_mean(graph: Graph, columns: str) -> str:
    """Average the columns, (batch, 1)."""
    return graph.add("ReduceMean", columns, np.array([1]))


def _add_interpolation(
    graph: Graph, cells: str, curves: list[tuple[Floats, Floats]]
) -> str:
    """Add ``np.interp`` to its last bit, with one curve of (knots, levels) a column."""
    knots = [curve[0] for curve in curves]
    places = _add_trees(
        graph, _bisection_trees(knots), cells, mode=_BRANCH_LT, aggregate=_SUM
    )
    places = graph.add("Cast", places, to=_INT64)
    origin, slope, level = (
        graph.add("Gather", table, places)
        for table in np.hstack([_segments(*curve) for curve in curves])
    )
    rise = graph.add("Mul", slope, graph.add("Sub", cells, origin))
    return graph.add("Add", rise, level)


def _segments(knots: Floats, levels: Floats) -> Floats:
    """Origin, slope and level of all segments, flat at both ends, (3, n_knots + 1)."""
    slopes = np.diff(levels) / np.diff(knots)
    return np.stack(
        [
            np.append(knots[0], knots),
            np.concatenate([[0.0], slopes, [0.0]]),
            np.append(levels[0], levels),
        ]
    )


# Trees as the operator has them


class _Trees(NamedTuple):
    """Trees whose inner nodes and leaves are numbered apart.

    Attributes
    ----------
    roots : ndarray of shape (n_trees,)
    feature, split : ndarray of shape (n_nodes,)
    low, high : ndarray of shape (n_nodes,)
        Node or leaf where smaller values lead to, and larger ones.
    low_ends, high_ends : ndarray of shape (n_nodes,)
        Whether these are leaves.
    value, column : ndarray of shape (n_leaves,)
        What a leaf adds to which column of the output.
    """

    roots: Indices
    feature: Indices
    split: Floats
    low: Indices
    low_ends: Flags
    high: Indices
    high_ends: Flags
    value: Floats
    column: Indices


def _add_forest(graph: Graph, forest: FlatForest, cells: str) -> str:
    """Mean leaf value of each row, (batch, 1)."""
    trees = _split_forest(forest)
    return _add_trees(graph, trees, cells, mode=_BRANCH_LEQ, aggregate=_AVERAGE)


def _add_trees(
    graph: Graph, trees: _Trees, cells: str, *, mode: int, aggregate: int
) -> str:
    """Add trees; low branches are taken where ``mode`` holds of value and split."""
    from onnx import numpy_helper

    modes = np.full(len(trees.split), mode, dtype=np.uint8)
    graph.n_bytes += _NODE_BYTES * len(trees.split)
    return graph.add(
        "TreeEnsemble",
        cells,
        domain="ai.onnx.ml",
        aggregate_function=aggregate,
        n_targets=int(trees.column.max()) + 1,
        tree_roots=trees.roots.tolist(),
        nodes_modes=numpy_helper.from_array(modes),
        nodes_featureids=trees.feature.tolist(),
        nodes_splits=numpy_helper.from_array(trees.split),
        nodes_truenodeids=trees.low.tolist(),
        nodes_trueleafs=trees.low_ends.astype(int).tolist(),
        nodes_falsenodeids=trees.high.tolist(),
        nodes_falseleafs=trees.high_ends.astype(int).tolist(),
        leaf_targetids=trees.column.tolist(),
        leaf_weights=numpy_helper.from_array(trees.value),
    )


def _split_forest(forest: FlatForest) -> _Trees:
    """Give the inner nodes and the leaves of a forest numbers of their own.

    A tree must begin with a node: a lone leaf gets one that leads to it either way.
    """
    is_leaf = forest.left == np.arange(len(forest.left))
    number = np.where(is_leaf, np.cumsum(is_leaf), np.cumsum(~is_leaf)) - 1
    inner = np.flatnonzero(~is_leaf)
    lone = is_leaf[forest.roots]
    lone_leaves = forest.roots[lone]
    roots = number[forest.roots]
    roots[lone] = len(inner) + np.arange(len(lone_leaves))
    low = np.append(forest.left[inner], lone_leaves)
    high = np.append(forest.left[inner] + 1, lone_leaves)
    nothing = np.zeros(len(lone_leaves), dtype=np.intp)
    return _Trees(
        roots=roots,
        feature=np.append(forest.feature[inner], nothing),
        split=np.append(forest.threshold[inner], nothing).astype(np.float64),
        low=number[low],
        low_ends=is_leaf[low],
        high=number[high],
        high_ends=is_leaf[high],
        value=forest.value[is_leaf],
        column=np.zeros(is_leaf.sum(), dtype=np.intp),
    )


def _bisection_trees(knots: list[Floats]) -> _Trees:
    """One tree a column, which counts the knots up to a value.

    Leaves hold the places of segments in a table of all columns, one behind the
    other, of which each has one segment more than it has knots.
    """
    n_knots = np.array([len(each) for each in knots])
    first_node = np.cumsum(n_knots) - n_knots
    first_leaf = np.cumsum(n_knots + 1) - (n_knots + 1)
    low, low_ends, high, high_ends = np.hstack([_bisection(n) for n in n_knots])
    node_shift = np.repeat(first_node, n_knots)
    leaf_shift = np.repeat(first_leaf, n_knots)
    columns = np.arange(len(knots))
    return _Trees(
        roots=first_node + n_knots // 2,
        feature=np.repeat(columns, n_knots),
        split=np.concatenate(knots),
        low=low + np.where(low_ends, leaf_shift, node_shift),
        low_ends=low_ends.astype(bool),
        high=high + np.where(high_ends, leaf_shift, node_shift),
        high_ends=high_ends.astype(bool),
        value=np.arange((n_knots + 1).sum(), dtype=np.float64),
        column=np.repeat(columns, n_knots + 1),
    )


@cache
def _bisection(n_knots: int) -> Indices:
    """Rows ``low``, ``low_ends``, ``high`` and ``high_ends`` of one tree, (4, n_knots).

    Node i splits at knot i; leaf i lies below it, and the last leaf above all.
    """
    tree = np.empty((4, n_knots), dtype=np.intp)
    spans = [(0, n_knots)]
    while spans:
        first, last = spans.pop()  # leaves, of which there are at least two
        node = (first + last) // 2
        for row, (start, end) in ((0, (first, node)), (2, (node + 1, last))):
            tree[row : row + 2, node] = (start + end) // 2, start == end
            if start < end:
                spans.append((start, end))
    return tree


# Checks


def _require_tools() -> None:
    """Raise unless onnx and onnxruntime are installed."""
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
    except ImportError as error:
        raise ExportError(
            f"export needs onnx and onnxruntime ({error}); install them with "
            f"pip install 'spadework[export]'"
        ) from error


def _metadata(model: SPADE) -> dict[str, str]:
    """Say what the graph was made from."""
    metadata = {
        "spadework_version": __version__,
        "threshold": repr(float(model.threshold_)),
    }
    names = getattr(model, "feature_names_in_", None)
    if names is not None:
        metadata["feature_names"] = json.dumps([str(name) for name in names])
    return metadata


def _check_parity(model: SPADE, content: bytes, sample: ArrayLike) -> float:
    """Return the largest difference of scores on a sample, or raise if it is large."""
    rows = check_rows(model, sample, fitting=False)
    native = model.anomaly_score(sample)
    scores, flags = _run(content, rows)
    limits = TOLERANCE * np.maximum(1, np.abs(native))
    differences = np.abs(scores - native)
    wrong = ~(differences <= limits)
    clear = np.abs(native - model.threshold_) > limits
    wrong |= clear & (flags != (native > model.threshold_))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ExportError(
            f"the graph does not score as the detector does on {wrong.sum():,} of "
            f"{len(rows):,} rows of the sample, and nothing was written: row {row} "
            f"scores {scores[row]!r} (anomaly {flags[row]}) instead of {native[row]!r}, "
            f"and {limits[row]:.1e} is allowed. Report it with the version of "
            f"onnxruntime"
        )
    return float(differences.max())


def _run(content: bytes, rows: NDArray[np.float32]) -> tuple[Floats, NDArray[np.int64]]:
    """Scores and flags of rows by the graph, both (n_samples,)."""
    import onnxruntime

    try:
        session = onnxruntime.InferenceSession(
            content, providers=["CPUExecutionProvider"]
        )
        answers: Any = session.run(["score", "anomaly"], {"X": rows})
    except Exception as error:
        raise ExportError(
            f"onnxruntime {onnxruntime.__version__} does not run the graph, which needs "
            f"the operators of ai.onnx.ml {ML_OPSET}; update it with "
            f"pip install -U 'spadework[export]' ({error})"
        ) from error
    return answers[0], answers[1]


def _refuse_to_replace(target: Path) -> None:
    """Raise unless the place is free or holds an exported detector."""
    if not target.parent.is_dir():
        raise ExportError(f"there is no folder {target.parent}; make it first")
    if target.is_dir():
        raise ExportError(f"{target} is a folder; name a file in it")
    if not target.exists():
        return
    with target.open("rb") as file:
        start = file.read(4 + len(PRODUCER))
    # The format's version takes two bytes; the producer's name and its length follow.
    if start[2:] != bytes([0x12, len(PRODUCER)]) + PRODUCER.encode():
        raise ExportError(
            f"{target} exists and is not an exported detector; it is left as it is. "
            f"Choose another name"
        )
