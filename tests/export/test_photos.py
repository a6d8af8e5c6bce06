"""An exported detector of photos takes pixels and scores them as the detector does."""

from functools import cache

import numpy as np
import pytest

from pictures import fitted_detector, made_pictures, partly_labeled
from spadework import ImageSPADE, export
from spadework.errors import ExportError
from spadework.export import export_onnx
from spadework.images.paper import PaperLearner
from spadework.images.training import ImageTraining

pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


@cache
def model(size):
    """A fitted detector; never to be changed."""
    if size == 64:
        return fitted_detector()
    pixels, truth, _ = made_pictures(20, 6, seed=0, side=size)
    return ImageSPADE(size=size, random_state=0).fit(pixels, partly_labeled(truth))


@pytest.mark.parametrize(("size", "side_of_sample"), [(64, 64), (43, 100)])
def test_the_graph_answers_as_the_detector_does(size, side_of_sample, tmp_path):
    """The size may be odd, and pictures of any size may be the sample."""
    path = tmp_path / "model.onnx"
    seen, _, _ = made_pictures(8, 3, seed=1, side=side_of_sample)
    assert export_onnx(model(size), path, sample=seen) < export.PHOTO_TOLERANCE
    new, _, _ = made_pictures(20, 6, seed=2, side=size)
    session = onnxruntime.InferenceSession(path)
    score, probability, anomaly = session.run(
        ["score", "probability", "anomaly"], {"pixels": new}
    )
    expected = model(size).anomaly_score(new)
    np.testing.assert_allclose(score, expected, atol=export.PHOTO_TOLERANCE)
    np.testing.assert_allclose(
        probability, model(size).predict_proba(new)[:, 1], atol=export.PHOTO_TOLERANCE
    )
    clear = np.abs(expected - model(size).threshold_) > 0.01
    assert clear.sum() > 15
    np.testing.assert_array_equal(anomaly[clear], model(size).predict(new)[clear])


def test_nothing_is_written_where_scores_differ(tmp_path, monkeypatch):
    monkeypatch.setattr(export, "PHOTO_TOLERANCE", 0)
    with pytest.raises(ExportError, match="does not score as the model does"):
        export_onnx(
            model(43), tmp_path / "model.onnx", sample=made_pictures(3, 1, seed=1)[0]
        )
    assert not list(tmp_path.iterdir())


def test_the_paper_form_is_refused(tmp_path):
    brief = ImageTraining(batch_size=8, max_epochs=1, epoch_steps=1)
    pixels, truth, _ = made_pictures(12, 4, seed=0, side=32)
    detector = ImageSPADE(learner=PaperLearner(options=brief), size=32, random_state=0)
    detector.fit(pixels, partly_labeled(truth))
    with pytest.raises(ExportError, match="learner='pretrained'"):
        export_onnx(detector, tmp_path / "model.onnx", sample=pixels)
