"""Save and load fitted models without pickle.

A model file is a safetensors file: all arrays, and a JSON header that says how they make
up the model. Loading builds only the classes named below, and executes nothing.
"""

import dataclasses
import hashlib
import json
import math
import os
from collections.abc import Collection
from inspect import get_annotations
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load as parse_tensors
from safetensors.numpy import save as pack_tensors
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from spadework.errors import ModelFileError
from spadework.files import model_file, write_whole
from spadework.lazy import LazyModule
from spadework.table_model import TableModel
from spadework.version import __version__

if TYPE_CHECKING:
    from spadework.detector import SPADE
    from spadework.images.detector import ImageSPADE
    from spadework.in_context.detector import InContextDetector

FORMAT_VERSION = 4

_CLASSES = {
    "calls": ["Calls", "Expected"],
    "core.gaussian": ["GaussianEnsemble"],
    "core.neighbours": ["NearestNeighbours"],
    "core.pseudo_labels": [
        "FittedPseudoLabeler",
        "PseudoLabeler",
        "PseudoLabels",
        "Thresholds",
    ],
    "core.scaling": [
        "AsinhScaler",
        "ClippedScaler",
        "MinMaxScaler",
        "PrincipalScaler",
    ],
    "core.trees": ["FlatForest"],
    "detector": ["SPADE"],
    "images.density": ["CodeGaussians"],
    "images.detector": ["ImageSPADE"],
    "images.linear": ["LinearModel"],
    "images.network": ["PredictorModel"],
    "images.paper": ["PaperLearner"],
    "images.patches": ["PatchBank"],
    "images.pretrained": ["PhotoModel", "PretrainedLearner"],
    "images.spotting": ["Spotter"],
    "images.training": ["ImageTraining"],
    "in_context.detector": ["InContextDetector"],
    "in_context.members": ["ContextRows", "InContextEnsemble"],
    "in_context.modules": ["ModelConfig"],
    "in_context.weights": ["Weights"],
    "labels": ["LabelCensus"],
    "learners.forest": ["ForestLearner", "ForestModel"],
    "learners.label_trust": ["LabelTrust"],
    "learners.network": ["NetworkLearner", "NetworkModel"],
    "learners.one_class": ["IsolationForestMembers", "SVMMembers"],
    "learners.trees": ["TreeLearner", "TreeModel"],
    "predictor.trees": ["SymmetricTrees"],
    "reference": ["Reference"],
    "table_model": ["TableModel"],
    "tables.columns": ["CategoryColumn", "DateColumn", "NumberColumn", "TimeColumn"],
    "tables.encoding": ["TableEncoder"],
    "tables.recognition": ["Ignored"],
}
"""All that a file may name, by module; those of photos and contexts load torch."""

_HOMES = {
    name: LazyModule(f"spadework.{module}")
    for module, names in _CLASSES.items()
    for name in names
}
_MODELS = ("ImageSPADE", "InContextDetector", "SPADE", "TableModel")
_GREY = 127

_HEADER_KEY, _DIGEST_KEY = "spadework", "sha256"

Model: TypeAlias = "SPADE | TableModel | ImageSPADE | InContextDetector"
Arrays = dict[str, NDArray[Any]]


def save(model: Model, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file, whole or not at all.

    A file that is not a spadework model is never replaced.

    Parameters
    ----------
    model : SPADE, TableModel, ImageSPADE or InContextDetector
        Fitted. A ``one_class`` object of your own cannot be written as plain data. A
        model of photos holds the weights of its network, 13 MB or more.
    path : path of the file, ``.spade`` by custom
    """
    if type(model).__name__ not in _MODELS:
        raise ModelFileError(
            f"only fitted {_listed(_MODELS)} models can be saved; got {model!r}"
        )
    check_is_fitted(_detector_of(model))
    target = Path(path)
    refuse_other_file(target)
    arrays: Arrays = {}
    header = {
        "format_version": FORMAT_VERSION,
        "spadework_version": __version__,
        "model": _encode(model, "model", arrays),
    }
    text = json.dumps(header, allow_nan=False)
    metadata = {_HEADER_KEY: text, _DIGEST_KEY: _digest(text, arrays)}
    write_whole(target, _in_order(pack_tensors(arrays, metadata)))


def load(path: str | os.PathLike[str]) -> Model:
    """Read a model file, or the one in a folder; nothing in it is executed.

    Raises
    ------
    ModelFileError
        If the file is no spadework model, is cut off or changed, or has another version
        of the format.
    """
    path = model_file(Path(path))
    header, arrays = _unpack(path.read_bytes(), path)
    version = header.get("format_version")
    if version != FORMAT_VERSION:
        raise ModelFileError(
            f"{path} has model format {version!r}; this spadework "
            f"({__version__}) reads format {FORMAT_VERSION}. It was written by "
            f"spadework {header.get('spadework_version')}: use that version, or fit the "
            f"model again"
        )
    try:
        model = _decode(header["model"], arrays)
        if type(model).__name__ not in _MODELS:
            raise ModelFileError(f"expected a model; got {type(model).__name__}")
        if arrays:
            raise ModelFileError(f"nothing needs {min(arrays)}")
        _check_whole(_detector_of(model))
    except Exception as error:
        raise ModelFileError(
            f"the parts of {path} do not fit together: {error}"
        ) from error
    return model


def _in_order(content: bytes) -> bytes:
    """Sort the metadata, which safetensors writes in random order."""
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + content[8 + length :]


def _unpack(content: bytes, path: Any) -> tuple[dict[str, Any], Arrays]:
    """Split a file into its JSON header and its arrays, and check both are whole."""
    try:
        length = int.from_bytes(content[:8], "little")
        metadata = json.loads(content[8 : 8 + length])["__metadata__"]
        text, digest = metadata[_HEADER_KEY], metadata[_DIGEST_KEY]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelFileError(
            f"{path} is not a spadework model file, or it is cut off in its header "
            f"({len(content):,} bytes)"
        ) from error
    try:
        arrays = parse_tensors(content)
    except (SafetensorError, KeyError, ValueError) as error:
        raise ModelFileError(f"{path} is cut off or damaged: {error}") from error
    if _digest(text, arrays) != digest:
        raise ModelFileError(
            f"{path} has changed since it was saved (its checksum does not match); "
            f"get a fresh copy or fit again"
        )
    try:
        header = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"{path} has a header that cannot be read") from error
    if not isinstance(header, dict):
        raise ModelFileError(f"{path} has a header that is not a table of values")
    return header, arrays


def _encode(value: Any, place: str, arrays: Arrays) -> Any:
    """Turn a value into JSON, with arrays put aside under a key."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else {"$float": repr(value)}
    if isinstance(value, np.ndarray):
        return _encode_array(value, place, arrays)
    name = type(value).__name__
    if type(value) is _class_named(name):
        state = _state(value).items()
        encoded = {key: _encode(item, f"{place}.{key}", arrays) for key, item in state}
        return {"$class": name, "state": encoded}
    if isinstance(value, (list, tuple)):
        items = [_encode(item, f"{place}[{i}]", arrays) for i, item in enumerate(value)]
        return items if isinstance(value, list) else {"$tuple": items}
    if isinstance(value, dict):
        pairs = [
            [_encode(key, place, arrays), _encode(item, f"{place}[{key!r}]", arrays)]
            for key, item in value.items()
        ]
        return {"$dict": pairs}
    raise ModelFileError(
        f"{place} is a {type(value).__module__}.{name}, which cannot be written as plain "
        f"data. Models with objects of your own, or with a Generator as random_state, "
        f"cannot be saved"
    )


def _encode_array(value: NDArray[Any], place: str, arrays: Arrays) -> Any:
    """Put a numeric array aside; write an array of text out."""
    if value.dtype.kind in "OU":
        return {"$text": [str(item) for item in value]}
    if value.dtype.kind not in "biuf":
        raise ModelFileError(f"{place} has dtype {value.dtype}, which cannot be saved")
    key = f"{len(arrays)}:{place}"
    arrays[key] = np.ascontiguousarray(value).reshape(value.shape)
    return {"$array": key}


def _decode(value: Any, arrays: Arrays) -> Any:
    """Rebuild a value from JSON; classes only from the lists above."""
    if isinstance(value, list):
        return [_decode(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if "$class" in value:
        state = {key: _decode(item, arrays) for key, item in value["state"].items()}
        return _build(value["$class"], state)
    ((kind, content),) = value.items()
    if kind == "$float":
        return float(content)
    if kind == "$array":
        return arrays.pop(content)  # each is written once
    if kind == "$text":
        return np.array(content, dtype=object)
    if kind == "$tuple":
        return tuple(_decode(item, arrays) for item in content)
    if kind == "$dict":
        return {_decode(key, arrays): _decode(item, arrays) for key, item in content}
    raise ModelFileError(f"unknown kind of value {kind!r}")


def _state(value: Any) -> dict[str, Any]:
    """Return the attributes that make up an estimator or a record."""
    if isinstance(value, BaseEstimator):
        _refuse_unknown(value, vars(value))
        return dict(vars(value))
    if isinstance(value, tuple):
        return value._asdict()  # type: ignore[attr-defined]
    fields = dataclasses.fields(value)
    return {field.name: getattr(value, field.name) for field in fields}


def _build(name: str, state: dict[str, Any]) -> Any:
    """Build an allowed class from its attributes."""
    cls = _class_named(name)
    if cls is None:
        raise ModelFileError(f"class {name!r} is not one of {_listed(_HOMES)}")
    if not issubclass(cls, BaseEstimator):
        return cls(**state)
    estimator = cls()
    _refuse_unknown(estimator, state)
    for key, item in state.items():
        setattr(estimator, key, item)
    return estimator


def _refuse_unknown(estimator: BaseEstimator, state: Collection[str]) -> None:
    """Refuse attributes that are neither parameters nor set by ``fit``."""
    known = set(estimator.get_params(deep=False)) | _fitted_names(type(estimator))
    if not set(state) <= known:
        raise ModelFileError(
            f"{type(estimator).__name__} has no attribute {_listed(set(state) - known)} "
            f"of its own; keep what you add to a model elsewhere"
        )


def _class_named(name: str) -> type[Any] | None:
    """Return an allowed class, None for all others."""
    return getattr(_HOMES[name], name) if name in _HOMES else None


def _fitted_names(cls: type) -> set[str]:
    """Attributes that ``fit`` sets, as the class and its parents declare them."""
    declared = {name for each in cls.__mro__ for name in get_annotations(each)}
    return {name for name in declared if name.endswith("_")}


def _detector_of(model: Any) -> Any:
    """Return the detector that a model is, or holds."""
    return model.detector if isinstance(model, TableModel) else model


def _check_whole(detector: Any) -> None:
    """Check that the file held a fitted detector whose parts agree with each other.

    Every part is used once, on a row of zeros or on a grey photo.
    """
    of_photos = type(detector).__name__ == "ImageSPADE"
    optional = {"feature_names_in_", *(["n_features_in_"] * of_photos)}
    optional |= {"calls_", "likely_shares_"}  # files of before had none
    missing = _fitted_names(type(detector)) - set(vars(detector)) - optional
    if missing:
        raise ModelFileError(f"the model lacks {_listed(missing)}")
    detector._check_parameters()
    if type(detector).__name__ == "SPADE":
        width = detector.model_.scaler.n_features  # of all learners that can be saved
        if detector.n_features_in_ != width:
            raise ModelFileError(
                f"{detector.n_features_in_} columns do not fit scales of {width}"
            )
    if of_photos:
        rows = np.full((1, detector.size, detector.size, 3), _GREY, dtype=np.uint8)
    else:
        rows = np.zeros((1, detector.n_features_in_), dtype=np.float32)
    if not np.isfinite(detector._score(rows)).all():
        raise ModelFileError("the model does not score a row with a number")
    if hasattr(detector, "pseudo_labeler_"):
        codes = detector.model_.represent(rows)
        if detector.pseudo_labeler_ is not None:
            detector.pseudo_labeler_.label(codes)
    census, classes = detector.census_, detector.classes_
    if detector.setting_ != census.setting or classes.tolist() != [0, 1]:
        raise ModelFileError("labels and setting do not agree")
    if not math.isfinite(detector.threshold_):
        raise ModelFileError(f"threshold_ is {detector.threshold_!r}")


def _digest(header: str, arrays: Arrays) -> str:
    """Checksum of the header and of every array's name, type, shape and bytes."""
    digest = hashlib.sha256(header.encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def refuse_other_file(target: Path) -> None:
    """Raise unless the place is free or holds a spadework model."""
    if not target.parent.is_dir():
        raise ModelFileError(f"there is no folder {target.parent}; make it first")
    if target.is_dir():
        raise ModelFileError(f"{target} is a folder; name a file in it")
    if not target.exists():
        return
    with target.open("rb") as file:
        start = file.read(4096)[8:]
    keys = (_HEADER_KEY, _DIGEST_KEY)
    if not start.startswith(tuple(f'{{"__metadata__":{{"{k}":'.encode() for k in keys)):
        raise ModelFileError(
            f"{target} exists and is not a spadework model; it is left as it is. "
            f"Choose another name"
        )


def _listed(names: Any) -> str:
    """Names in order, for a message."""
    return ", ".join(sorted(names))
