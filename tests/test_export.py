"""An exported graph scores as the detector does, or it is not written."""

import json
import os
import sys
from copy import deepcopy

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from exported import ROWS, TRUTH, X, Y, assert_same, model, run, trees
from mismatch import N_FEATURES
from spadework import SPADE, __version__, export
from spadework.errors import ExportError, InputError
from spadework.export import export_onnx


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.onnx"


# Answers


def test_no_rows_get_no_answers(path):
    export_onnx(model(), path, sample=X)
    answers = run(path, np.empty((0, N_FEATURES)))
    assert [answer.shape for answer in answers.values()] == [(0,)] * 3


def test_answers_come_in_the_types_that_are_promised(path):
    export_onnx(model(), path, sample=X)
    types = {name: answer.dtype for name, answer in run(path, X).items()}
    assert types == {"score": float, "probability": float, "anomaly": np.int64}


def test_the_returned_difference_is_the_largest_on_the_sample(path):
    difference = export_onnx(model(), path, sample=ROWS)
    scores = run(path, ROWS)["score"]
    found = np.abs(scores - model().anomaly_score(ROWS)).max()
    assert difference == pytest.approx(found, abs=1e-12)


@pytest.mark.parametrize("kind", ["trees", "network"])
def test_rows_that_the_detector_refuses_are_not_judged(path, kind):
    export_onnx(model(kind), path, sample=X)
    rows = X[:7].copy()
    rows[[1, 3, 5], 4] = [np.nan, np.inf, -np.inf]
    answers = run(path, rows)
    refused = [False, True] * 3 + [False]
    assert np.isnan(answers["score"]).tolist() == refused
    assert np.isnan(answers["probability"]).tolist() == refused
    assert (answers["anomaly"][1::2] == -1).all()
    assert_same({k: v[::2] for k, v in answers.items()}, model(kind), rows[::2])


# The file


@pytest.mark.parametrize("kind", ["trees", "paper"])
def test_the_file_is_sound_onnx(path, kind):
    export_onnx(model(kind), path, sample=X)
    onnx.checker.check_model(onnx.load(path), full_check=True)


def test_the_file_says_what_it_was_made_from(path):
    names = list("abcdéfg ")
    table = pd.DataFrame(X, columns=names)
    detector = trees().fit(table, Y)
    export_onnx(detector, path, sample=table)
    metadata = onnxruntime.InferenceSession(path).get_modelmeta().custom_metadata_map
    assert metadata["spadework_version"] == __version__
    assert float(metadata["threshold"]) == detector.threshold_
    assert json.loads(metadata["feature_names"]) == names


def test_features_without_names_are_not_named(path):
    export_onnx(model(), path, sample=X)
    metadata = onnxruntime.InferenceSession(path).get_modelmeta().custom_metadata_map
    assert set(metadata) == {"spadework_version", "threshold"}


def test_an_older_export_is_replaced(path):
    export_onnx(model("network"), path, sample=X)
    export_onnx(model(), path, sample=X)
    assert_same(run(path, X), model(), X)
    assert os.listdir(path.parent) == ["model.onnx"]


def test_the_same_detector_is_exported_to_the_same_bytes(tmp_path):
    files = [tmp_path / "a.onnx", tmp_path / "b.onnx"]
    for file in files:
        export_onnx(model(), file, sample=X)
    assert files[0].read_bytes() == files[1].read_bytes()


# What is not written


def assert_refused(detector, path, match, sample=X, error=ExportError):
    before = {file: file.read_bytes() for file in path.parent.iterdir()}
    with pytest.raises(error, match=match):
        export_onnx(detector, path, sample=sample)
    assert {file: file.read_bytes() for file in path.parent.iterdir()} == before


@pytest.mark.parametrize("change", [2e-5, np.nan])
def test_a_graph_that_scores_otherwise_is_refused(path, monkeypatch, change):
    native = SPADE.anomaly_score

    def off_by_one_row(self, rows):
        scores = native(self, rows)
        scores[3] += change * max(1, abs(scores[3]))
        return scores

    export_onnx(model("labels_alone"), path, sample=X)
    monkeypatch.setattr(SPADE, "anomaly_score", off_by_one_row)
    assert_refused(model(), path, r"1 of 160 rows.*row 3 scores")
    path.unlink()
    assert_refused(model(), path, "nothing was written")


def test_a_difference_within_the_tolerance_is_told(path, monkeypatch):
    native = SPADE.anomaly_score
    monkeypatch.setattr(
        SPADE, "anomaly_score", lambda self, rows: native(self, rows) + 5e-6
    )
    assert export_onnx(model(), path, sample=X) == pytest.approx(5e-6, rel=1e-3)


def test_a_graph_that_calls_otherwise_is_refused(path, monkeypatch):
    right = export._run

    def other_call(content, rows):
        scores, flags = right(content, rows)
        return scores, 1 - flags

    monkeypatch.setattr(export, "_run", other_call)
    assert_refused(model("network"), path, "160 of 160 rows")


def test_calls_at_the_threshold_may_differ(path, monkeypatch):
    right = export._run
    detector = deepcopy(model())
    detector.threshold_ = detector.anomaly_score(X[:1])[0]

    def other_call(content, rows):
        scores, flags = right(content, rows)
        return scores, 1 - flags

    monkeypatch.setattr(export, "_run", other_call)
    assert export_onnx(detector, path, sample=X[:1]) < 1e-9


def test_other_estimators_are_refused(path):
    other = LogisticRegression().fit(X, TRUTH)
    assert_refused(other, path, "only fitted SPADE models")


def test_unfitted_detectors_are_refused(path):
    assert_refused(SPADE(), path, "not fitted", error=NotFittedError)


@pytest.mark.parametrize(
    ("sample", "error"),
    [
        (X[:0], ValueError),
        (X[:, :3], ValueError),
        (np.full((2, N_FEATURES), np.nan), InputError),
    ],
    ids=["no_rows", "other_columns", "missing"],
)
def test_samples_that_the_detector_refuses_are_refused(path, sample, error):
    assert_refused(model(), path, None, sample=sample, error=error)


def test_detectors_beyond_the_size_of_a_file_are_refused(path, monkeypatch):
    monkeypatch.setattr(export, "_MAX_BYTES", 10_000)
    assert_refused(model(), path, "an ONNX file holds 2")


def test_a_runtime_that_cannot_run_the_graph_is_named(path, monkeypatch):
    monkeypatch.setattr(export, "ML_OPSET", 4)
    assert_refused(model(), path, f"onnxruntime {onnxruntime.__version__} does not run")


@pytest.mark.parametrize(
    "content", [b"my only copy of the data\n", b"", b"\x08\x0a\x12\x07pytorch\x1a\x00"]
)
def test_a_file_that_is_no_export_is_left_as_it_is(path, content):
    path.write_bytes(content)
    assert_refused(model(), path, "is not an exported detector")


def test_folders_are_neither_replaced_nor_made(tmp_path):
    with pytest.raises(ExportError, match="is a folder"):
        export_onnx(model(), tmp_path, sample=X)
    with pytest.raises(ExportError, match="there is no folder"):
        export_onnx(model(), tmp_path / "not there" / "model.onnx", sample=X)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["onnx", "onnxruntime"])
def test_a_missing_library_is_told_how_to_install(path, monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    assert_refused(model(), path, r"pip install 'spadework\[export\]'")
