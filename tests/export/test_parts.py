"""Every part of a detector answers in a graph as it does by itself."""

from copy import deepcopy

import numpy as np
import pytest

from exported import FRESH, KINDS, ROWS, X, Y, assert_same, model, network, run, trees
from mismatch import N_FEATURES
from spadework.errors import ExportError
from spadework.export import export_onnx


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.onnx"


@pytest.mark.parametrize("kind", KINDS)
def test_the_graph_answers_as_the_detector_does(path, kind):
    difference = export_onnx(model(kind), path, sample=FRESH[:20])
    assert 0 <= difference < 1e-9
    assert_same(run(path, ROWS), model(kind), ROWS)


@pytest.mark.parametrize("kind", ["trees", "network", "forest"])
def test_rows_alone_are_scored_as_among_others(path, kind):
    export_onnx(model(kind), path, sample=X[:1])
    together = run(path, ROWS)["score"]
    alone = [run(path, row[None])["score"] for row in ROWS[::80]]
    np.testing.assert_allclose(np.concatenate(alone), together[::80], rtol=1e-10)


@pytest.mark.parametrize("fit", [trees, network])
def test_binary_and_constant_columns_are_read_as_in_the_detector(path, fit):
    table = np.column_stack([X, X[:, 0] > 0, np.full(len(X), 3.0)])
    detector = fit().fit(table, Y)
    export_onnx(detector, path, sample=table)
    shifted = table + np.array([0.0] * N_FEATURES + [0.5, 7.0])
    assert_same(run(path, shifted), detector, shifted)


def test_learners_of_your_own_are_refused(path):
    class MeanDistance:
        gives_log_odds = False

    detector = deepcopy(model())
    detector.model_ = MeanDistance()
    with pytest.raises(ExportError, match="MeanDistance of your own"):
        export_onnx(detector, path, sample=X)
