"""Every part of a detector answers in a graph as it does by itself."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper

from exported import FRESH, KINDS, ROWS, X, Y, assert_same, forest, model, run
from mismatch import N_FEATURES
from spadework import ForestLearner, export
from spadework.errors import ExportError
from spadework.export import export_onnx
from spadework.export.graph import Graph
from spadework.export.parts import Curve, add_interpolation


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.onnx"


@pytest.mark.parametrize("kind", KINDS)
def test_the_graph_answers_as_the_detector_does(path, kind):
    difference = export_onnx(model(kind), path, sample=FRESH[:20])
    assert 0 <= difference < 1e-9
    assert_same(run(path, ROWS), model(kind), ROWS)


@pytest.mark.parametrize("kind", ["PNU", "isolation_forest", "network_PNU"])
def test_rows_alone_are_scored_as_among_others(path, kind):
    export_onnx(model(kind), path, sample=X[:1])
    together = run(path, ROWS)["score"]
    alone = [run(path, row[None])["score"] for row in ROWS[::80]]
    np.testing.assert_allclose(np.concatenate(alone), together[::80], rtol=1e-10)


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
    detector = deepcopy(model())
    readings = (replace(each, weight=0.1) for each in detector.model_.readings[:3])
    detector.model_ = replace(detector.model_, readings=tuple(readings))
    assert export_onnx(detector, path, sample=ROWS) < 1e-12


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


class MeanDistance:
    def fit(self, X):
        self.mean = X.mean(axis=0)

    def score(self, X):
        return np.abs(X - self.mean).sum(axis=1)


def test_one_class_classifiers_of_your_own_are_refused(path):
    detector = forest(one_class=MeanDistance()).fit(X, Y)
    with pytest.raises(ExportError, match="of your own cannot be exported; fit with"):
        export_onnx(detector, path, sample=X)


def test_one_class_classifiers_that_only_pseudo_label_need_not_be_exported(path):
    learner = ForestLearner(n_trees=3, readings=["labels", "pseudo"])
    detector = forest(one_class=MeanDistance(), learner=learner).fit(X, Y)
    export_onnx(detector, path, sample=X)
    assert_same(run(path, ROWS), detector, ROWS)


def test_learners_of_your_own_are_refused(path):
    detector = deepcopy(model())
    detector.model_ = MeanDistance()
    with pytest.raises(ExportError, match="MeanDistance of your own"):
        export_onnx(detector, path, sample=X)
