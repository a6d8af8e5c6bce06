"""An exported graph scores as the detector does, or it is not written."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from functools import cache

import numpy as np
import onnx
import onnxruntime
import pandas as pd
import pytest
from onnx import helper
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from mismatch import N_FEATURES, in_setting, mismatch_data
from spadework import SPADE, ForestLearner, NetworkLearner, __version__, export
from spadework.core.trees import FlatForest
from spadework.errors import ExportError, InputError
from spadework.export import export_onnx
from spadework.export.graph import Graph
from spadework.export.parts import Curve, add_interpolation

X, Y, TRUTH = mismatch_data(160, seed=0)
FRESH = mismatch_data(150, seed=1)[0]
FAR = np.vstack([FRESH[:40] * 1e6, FRESH[:40] * -1e6, np.zeros((1, N_FEATURES))])
ROWS = np.vstack([X, FRESH, FAR])


def forest(**parameters):
    """A small forest in which every reading counts, the one-class scores too."""
    learner = ForestLearner(n_trees=8, max_depth=5, judge=False)
    return SPADE(**{"learner": learner, "random_state": 0, **parameters})


def network(*, judge=True, **parameters):
    learner = NetworkLearner(
        n_networks=2, max_epochs=2, warmup_epochs=1, batch_size=64, judge=judge
    )
    return SPADE(**{"learner": learner, "random_state": 0, **parameters})


STATED = {"label_map": {1: 1, 0: 0}}
KINDS = {
    "PNU": lambda: forest().fit(X, Y),
    "PU": lambda: forest().fit(X, in_setting(Y, "PU")),
    "NU": lambda: forest().fit(X, in_setting(Y, "NU")),
    "PN": lambda: forest(**STATED).fit(X, TRUTH),
    "minmax": lambda: forest(scaling="minmax").fit(X, Y),
    "isolation_forest": lambda: forest(one_class="isolation_forest").fit(X, Y),
    "isolation_forest_minmax": lambda: forest(
        one_class="isolation_forest", scaling="minmax"
    ).fit(X, in_setting(Y, "NU")),
    "neighbours": lambda: forest(one_class="neighbours").fit(X, Y),
    "beside_neighbours": lambda: forest(
        learner=ForestLearner(n_trees=3, neighbours=True)
    ).fit(X, Y),
    "svm": lambda: forest(one_class="svm", n_members=2).fit(X, Y),
    "one_reading": lambda: forest(
        learner=ForestLearner(n_trees=3, readings=["as_normal"])
    ).fit(X, Y),
    "judged": lambda: SPADE(random_state=0).fit(X, Y),
    "judged_NU": lambda: SPADE(random_state=0).fit(X, in_setting(Y, "NU")),
    "network_PNU": lambda: network().fit(X, Y),
    "network_PU": lambda: network().fit(X, in_setting(Y, "PU")),
    "network_NU": lambda: network().fit(X, in_setting(Y, "NU")),
    "network_PN": lambda: network(**STATED).fit(X, TRUTH),
    "network_alone": lambda: network(judge=False).fit(X, Y),
    "network_minmax": lambda: network(scaling="minmax").fit(X, Y),
    "paper": lambda: SPADE.paper(learner__max_epochs=2, random_state=0).fit(X, Y),
}


@cache
def model(kind="PNU"):
    """A fitted detector of a kind; never to be changed."""
    return KINDS[kind]()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.onnx"


def run(path, rows):
    """Answers of an exported graph by name."""
    session = onnxruntime.InferenceSession(path)
    names = [output.name for output in session.get_outputs()]
    rows = np.asarray(rows, dtype=np.float32)
    return dict(zip(names, session.run(names, {"X": rows}), strict=True))


def assert_same(answers, detector, rows):
    score, native = answers["score"], detector.anomaly_score(rows)
    np.testing.assert_array_less(
        np.abs(score - native), 1e-5 * np.maximum(1, np.abs(native))
    )
    belief = detector.predict_proba(rows)[:, 1]
    np.testing.assert_allclose(answers["probability"], belief, atol=1e-5)
    clear = np.abs(native - detector.threshold_) > 1e-5
    calls = detector.predict(rows)
    np.testing.assert_array_equal(answers["anomaly"][clear], calls[clear])


# Parity


@pytest.mark.parametrize("kind", KINDS)
def test_the_graph_answers_as_the_detector_does(path, kind):
    difference = export_onnx(model(kind), path, sample=FRESH[:20])
    assert 0 <= difference < 1e-9
    assert_same(run(path, ROWS), model(kind), ROWS)


@pytest.mark.parametrize("kind", ["PNU", "minmax", "isolation_forest", "network_PNU"])
def test_rows_alone_are_scored_as_among_others(path, kind):
    export_onnx(model(kind), path, sample=X[:1])
    together = run(path, ROWS)["score"]
    alone = [run(path, row[None])["score"] for row in ROWS[::80]]
    np.testing.assert_allclose(np.concatenate(alone), together[::80], rtol=1e-10)


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


def test_binary_and_constant_columns_are_scaled_as_in_the_detector(path):
    table = np.column_stack([X, X[:, 0] > 0, np.full(len(X), 3.0)])
    detector = forest().fit(table, Y)
    export_onnx(detector, path, sample=table)
    shifted = table + np.array([0.0] * N_FEATURES + [0.5, 7.0])
    assert_same(run(path, shifted), detector, shifted)


def test_one_class_classifiers_of_a_single_row_are_exported(path):
    labels = np.where(np.arange(len(X)) < len(X) - 6, 1, -1)
    as_stated = {1: 1, -1: -1}
    detector = forest(one_class="isolation_forest", n_members=6, label_map=as_stated)
    detector.fit(X, labels)
    export_onnx(detector, path, sample=ROWS)
    assert_same(run(path, ROWS), detector, ROWS)


def test_weights_that_do_not_sum_to_one_are_exported_in_double(path):
    detector = forest().fit(X, Y)
    readings = (replace(each, weight=0.1) for each in detector.model_.readings[:3])
    detector.model_ = replace(detector.model_, readings=tuple(readings))
    assert export_onnx(detector, path, sample=ROWS) < 1e-12


def test_trees_of_a_single_leaf_are_exported(path):
    trees = FlatForest(
        n_features=N_FEATURES,
        roots=np.array([0, 1, 4]),
        feature=np.array([0, 2, 0, 0, 0]),
        threshold=np.array([np.inf, 0.5, np.inf, np.inf, np.inf], dtype=np.float32),
        left=np.array([0, 2, 2, 3, 4]),
        value=np.array([0.25, 0.0, 0.125, 0.75, 1.0]),
    )
    detector = forest().fit(X, Y)
    reading = replace(detector.model_.readings[0], scorer=trees)
    detector.model_ = replace(detector.model_, readings=(reading,))
    on_the_split = np.full((1, N_FEATURES), 0.5)
    rows = np.vstack([ROWS, on_the_split])
    export_onnx(detector, path, sample=rows)
    assert len(np.unique(run(path, rows)["score"])) == 2


@pytest.mark.parametrize("sizes", [(1,), (2,), (3, 1, 257), (259,) * 5])
def test_interpolation_is_that_of_numpy_to_the_last_bit(path, sizes):
    rng = np.random.default_rng(len(sizes))
    curves = [
        Curve(np.unique(rng.normal(size=n) ** 3), np.sort(rng.normal(size=n)))
        for n in sizes
    ]
    columns = []
    for knots in (curve.x for curve in curves):
        near = [knots, np.nextafter(knots, -9), np.nextafter(knots, 9)]
        others = rng.normal(scale=3, size=800 - 3 * len(knots))
        columns.append(np.concatenate([*near, others, [-1e30, 1e30]]))
    values = np.stack(columns, axis=1)
    graph = Graph()
    levels = add_interpolation(graph, "values", curves)
    double = onnx.TensorProto.DOUBLE
    made = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "interpolation",
            [helper.make_tensor_value_info("values", double, ["n", len(curves)])],
            [helper.make_tensor_value_info(levels, double, ["n", len(curves)])],
            graph.constants,
        ),
        opset_imports=[
            helper.make_opsetid("", export.OPSET),
            helper.make_opsetid("ai.onnx.ml", export.ML_OPSET),
        ],
        ir_version=export.IR_VERSION,
    )
    session = onnxruntime.InferenceSession(made.SerializeToString())
    (found,) = session.run(None, {"values": values})
    expected = [np.interp(values[:, i], each.x, each.y) for i, each in enumerate(curves)]
    np.testing.assert_array_equal(found, np.stack(expected, axis=1))


@pytest.mark.parametrize("kind", ["PNU", "network_PNU"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_rows_that_the_detector_refuses_are_not_judged(path, kind, value):
    export_onnx(model(kind), path, sample=X)
    rows = X[:3].copy()
    rows[1, 4] = value
    answers = run(path, rows)
    assert np.isnan(answers["score"]).tolist() == [False, True, False]
    assert np.isnan(answers["probability"]).tolist() == [False, True, False]
    assert answers["anomaly"][1] == -1
    assert_same({k: v[::2] for k, v in answers.items()}, model(kind), rows[::2])


# The file


@pytest.mark.parametrize("kind", ["isolation_forest", "paper"])
def test_the_file_is_sound_onnx(path, kind):
    export_onnx(model(kind), path, sample=X)
    onnx.checker.check_model(onnx.load(path), full_check=True)


def test_the_file_says_what_it_was_made_from(path):
    names = list("abcdéfg ")
    table = pd.DataFrame(X, columns=names)
    detector = forest().fit(table, Y)
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
    export_onnx(model("network_PNU"), path, sample=X)
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


@pytest.mark.parametrize("change", [2e-5, -1.0, np.nan])
def test_a_graph_that_scores_otherwise_is_refused(path, monkeypatch, change):
    native = SPADE.anomaly_score

    def off_by_one_row(self, rows):
        scores = native(self, rows)
        scores[3] += change * max(1, abs(scores[3]))
        return scores

    export_onnx(model("PU"), path, sample=X)
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
    assert_refused(model(), path, "160 of 160 rows")


def test_calls_at_the_threshold_may_differ(path, monkeypatch):
    right = export._run
    detector = forest().fit(X, Y)
    detector.threshold_ = detector.anomaly_score(X[:1])[0]

    def other_call(content, rows):
        scores, flags = right(content, rows)
        return scores, 1 - flags

    monkeypatch.setattr(export, "_run", other_call)
    assert export_onnx(detector, path, sample=X[:1]) < 1e-9


class MeanDistance:
    def fit(self, X):
        self.mean = X.mean(axis=0)

    def score(self, X):
        return np.abs(X - self.mean).sum(axis=1)


def test_one_class_classifiers_of_your_own_are_refused(path):
    detector = forest(one_class=MeanDistance()).fit(X, Y)
    assert_refused(detector, path, "of your own cannot be exported; fit with")


def test_one_class_classifiers_that_only_pseudo_label_need_not_be_exported(path):
    learner = ForestLearner(n_trees=3, readings=["labels", "pseudo"])
    detector = forest(one_class=MeanDistance(), learner=learner).fit(X, Y)
    export_onnx(detector, path, sample=X)
    assert_same(run(path, ROWS), detector, ROWS)


def test_learners_of_your_own_are_refused(path):
    detector = forest().fit(X, Y)
    detector.model_ = MeanDistance()
    assert_refused(detector, path, "MeanDistance of your own")


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


def test_libraries_of_others_load_only_when_they_are_used():
    code = (
        "import sys, spadework.adapters, spadework.export\n"
        "absent = ('onnx', 'onnxruntime', 'pyod')\n"
        "print([name for name in absent if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.strip() == "[]", run.stderr
