"""One ONNX graph from a fitted model: encoding, learner and threshold in one file.

The graph computes in double precision, as the detector does. Trees are `TreeEnsemble`
operators of ``ai.onnx.ml``, the first that answer in double.
"""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from spadework.arrays import Floats
from spadework.detector import SPADE
from spadework.errors import ExportError
from spadework.export.graph import DOUBLE, FLOAT, INT64, UINT8, Graph
from spadework.export.parts import add_answers, add_detector
from spadework.export.tables import add_encoder, table_feed, table_inputs
from spadework.files import write_whole
from spadework.lazy import LazyModule
from spadework.table_model import TableModel
from spadework.tables.frames import frame_to_table
from spadework.validation import check_rows
from spadework.version import __version__

if TYPE_CHECKING:
    from onnx import ModelProto

    from spadework.export import photos as photo_graphs
    from spadework.images import detector as image_detector
    from spadework.images.detector import ImageSPADE
else:
    photo_graphs = LazyModule("spadework.export.photos")  # these load torch
    image_detector = LazyModule("spadework.images.detector")

Feed = dict[str, NDArray[Any]]

TOLERANCE = 1e-5
"""How far an exported score may lie from the model's, times the score if over 1."""

PHOTO_TOLERANCE = 1e-3
"""The same for photos, whose network sums thousands of float32 in another order; measured
are 0.0001 at most."""

OPSET, ML_OPSET, IR_VERSION = 21, 5, 10
"""Versions of ONNX that the graph is written in; the trees need ai.onnx.ml 5."""

PRODUCER = "spadework"

_MAX_BYTES = 2**31 - 1


def export_onnx(
    model: "SPADE | TableModel | ImageSPADE", path: str | os.PathLike[str], *, sample: Any
) -> float:
    """Write a fitted model as one ONNX graph, once it scores a sample the same.

    The graph of a detector takes ``X``, float32 of shape (batch, n_features). That of
    a table model takes one input a column, each of shape (batch,): numbers as doubles
    and dates as days since 1970 in doubles, both NaN where missing, and categories as
    text, empty where missing. That of an `ImageSPADE` takes ``pixels``, uint8 of shape
    (batch, size, size, 3): resizing is left to who reads the files. All give ``score``
    and ``probability``, float64, and ``anomaly``, int64, all of shape (batch,).
    Rows of a detector with missing or infinite values, which it refuses, get NaN, NaN
    and -1. The file names the version of spadework, the threshold and the features in
    its metadata.

    Parameters
    ----------
    model : SPADE, TableModel or ImageSPADE
        Fitted, with any learner but objects of your own.
    path : path of the file, ``.onnx`` by custom
        A file that is not an exported model is never replaced.
    sample : array-like of shape (n_samples, n_features), or a frame for a TableModel
        Real rows, at least one, that the graph and the model are compared on; for an
        ImageSPADE photos in any form it takes.

    Returns
    -------
    difference : float
        The largest difference of a score from the model's own.

    Raises
    ------
    ExportError
        If onnx or onnxruntime is not installed, if the detector has parts that ONNX
        cannot express, or if a score differs by more than ``TOLERANCE``, or
        ``PHOTO_TOLERANCE`` for photos. Nothing is written then.
    """
    _require_tools()
    of_photos = _is_of_photos(model)
    if not isinstance(model, (SPADE, TableModel)) and not of_photos:
        raise ExportError(f"only fitted SPADE models can be exported; got {model!r}")
    detector = model.detector if isinstance(model, TableModel) else model
    check_is_fitted(detector)
    target = Path(path)
    _refuse_to_replace(target)
    content = build_onnx(model).SerializeToString()
    native, feed = _native(model, sample)
    tolerance = PHOTO_TOLERANCE if of_photos else TOLERANCE
    difference = _check_parity(content, feed, native, detector.threshold_, tolerance)
    write_whole(target, content)
    return difference


def _is_of_photos(model: Any) -> bool:
    """Tell a detector of photos, by its name first: its class loads torch."""
    named = type(model).__name__ == "ImageSPADE"
    return named and isinstance(model, image_detector.ImageSPADE)


def build_onnx(model: "SPADE | TableModel | ImageSPADE") -> "ModelProto":
    """Build the graph of a fitted model, with its metadata."""
    from onnx import helper

    graph = Graph()
    if isinstance(model, TableModel):
        detector = model.detector
        rows = add_encoder(graph, model.encoder)
        inputs = {name: (kind, ["batch"]) for name, kind in _table_types(model).items()}
        scores = add_detector(graph, detector, rows)
    elif isinstance(model, SPADE):
        detector = model
        inputs = {"X": (FLOAT, ["batch", detector.n_features_in_])}
        scores = add_detector(graph, detector, "X")
    else:
        detector, size = model, model.size
        inputs = {"pixels": (UINT8, ["batch", size, size, 3])}
        photo_model = photo_graphs.photo_model(model)
        scores = photo_graphs.add_photos(graph, photo_model, "pixels", size)
    log_odds = isinstance(detector, SPADE) and detector.model_.gives_log_odds
    add_answers(graph, scores, detector.threshold_, log_odds=log_odds)
    if graph.n_bytes > _MAX_BYTES:
        raise ExportError(
            f"the detector takes {graph.n_bytes / 1e9:.1f} GB as a graph, and an ONNX "
            f"file holds 2. Fit on fewer columns, or with fewer trees or networks"
        )
    answers = {"score": DOUBLE, "probability": DOUBLE, "anomaly": INT64}
    outputs = {name: (kind, ["batch"]) for name, kind in answers.items()}
    takes, gives = (
        [helper.make_tensor_value_info(name, *each) for name, each in values.items()]
        for values in (inputs, outputs)
    )
    versions = {"": OPSET, "ai.onnx.ml": ML_OPSET}
    proto = helper.make_model(
        helper.make_graph(graph.nodes, PRODUCER, takes, gives, graph.constants),
        opset_imports=[helper.make_opsetid(*each) for each in versions.items()],
        ir_version=IR_VERSION,
        producer_name=PRODUCER,
        producer_version=__version__,
    )
    helper.set_model_props(proto, _metadata(model))
    return proto


def _table_types(model: TableModel) -> dict[str, int]:
    """Return the inputs of a table model, none of which may be named like an output."""
    inputs = table_inputs(model.encoder)
    taken = {"score", "probability", "anomaly"} & set(inputs)
    if taken:
        raise ExportError(
            f"columns must not be named like the outputs of the graph: "
            f"{', '.join(sorted(taken))}. Rename them and fit again"
        )
    return inputs


def _metadata(model: "SPADE | TableModel | ImageSPADE") -> dict[str, str]:
    """Say what the graph was made from."""
    detector = model.detector if isinstance(model, TableModel) else model
    metadata = {
        "spadework_version": __version__,
        "threshold": repr(float(detector.threshold_)),
    }
    names = getattr(detector, "feature_names_in_", None)
    if isinstance(model, TableModel):
        names = model.encoder.features
    if names is not None:
        metadata["feature_names"] = json.dumps([str(name) for name in names])
    return metadata


def _native(model: "SPADE | TableModel | ImageSPADE", sample: Any) -> tuple[Floats, Feed]:
    """Return the model's own scores of a sample, and the sample as inputs of a graph."""
    if isinstance(model, TableModel):
        table = frame_to_table(sample)
        if not table.num_rows:
            raise ExportError("the sample has no rows; give real ones to compare on")
        scores = model.detector.anomaly_score(model.encoder.encode(table))
        return scores, table_feed(model.encoder, table)
    if not isinstance(model, SPADE):
        pixels = model.read(sample)
        return model.anomaly_score(pixels), {"pixels": pixels}
    rows = check_rows(model, sample, fitting=False)
    return model.anomaly_score(sample), {"X": rows}


def _check_parity(
    content: bytes, feed: Feed, native: Floats, threshold: float, tolerance: float
) -> float:
    """Return the largest difference of scores on a sample, or raise if it is large."""
    scores, flags = _run(content, feed)
    limits = tolerance * np.maximum(1, np.abs(native))
    differences = np.abs(scores - native)
    wrong = ~(differences <= limits)
    clear = np.abs(native - threshold) > limits
    wrong |= clear & (flags != (native > threshold))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ExportError(
            f"the graph does not score as the model does on {wrong.sum():,} of "
            f"{len(native):,} rows of the sample, and nothing was written: row {row} "
            f"scores {scores[row]!r} (anomaly {flags[row]}) instead of {native[row]!r}, "
            f"and {limits[row]:.1e} is allowed. Report it with the version of "
            f"onnxruntime"
        )
    return float(differences.max())


def _run(content: bytes, feed: Feed) -> tuple[Floats, NDArray[np.int64]]:
    """Scores and flags of rows by the graph, both (n_samples,)."""
    import onnxruntime

    try:
        session = onnxruntime.InferenceSession(
            content, providers=["CPUExecutionProvider"]
        )
        answers: Any = session.run(["score", "anomaly"], feed)
    except Exception as error:
        raise ExportError(
            f"onnxruntime {onnxruntime.__version__} does not run the graph, which needs "
            f"the operators of ai.onnx.ml {ML_OPSET}; update it with "
            f"pip install -U 'spadework[export]' ({error})"
        ) from error
    return answers[0], answers[1]


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
