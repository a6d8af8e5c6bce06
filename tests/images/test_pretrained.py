"""The learner of photos uses the readings it is told, and refuses what is none."""

import numpy as np
import pytest
from made_photos import made_photos, partly_labeled
from sklearn.metrics import roc_auc_score

from spadework.errors import InputError
from spadework.images import pretrained
from spadework.images.pretrained import PretrainedLearner


def large_photos(n_photos, n_defects, seed):
    """Twice the width and height, so that every map has several positions."""
    pixels, truth = made_photos(n_photos, n_defects, seed)
    return pixels.repeat(2, axis=1).repeat(2, axis=2), truth


def learn(readings, labels, pixels):
    learner = PretrainedLearner(readings=readings)
    return learner.learn(pixels, labels, np.random.default_rng(0), verbose=False)


@pytest.mark.parametrize("readings", [("patches",), ("labels", "pseudo")])
def test_only_the_readings_that_are_wanted_are_weighed(readings):
    pixels, truth = large_photos(30, 9, seed=0)
    learnt = learn(readings, partly_labeled(truth), pixels)
    assert set(learnt.trust.weights) == set(readings)
    assert sum(learnt.trust.weights.values()) == pytest.approx(1)
    unseen, new_truth = large_photos(40, 12, seed=1)
    assert roc_auc_score(new_truth, learnt.model.score(unseen)) > 0.75


def test_readings_that_the_labels_do_not_allow_are_refused():
    pixels, truth = large_photos(8, 2, seed=0)
    labels = np.where(truth == 1, -1, truth).astype(np.int8)
    with pytest.raises(InputError, match="do not allow the readings labels"):
        learn(("labels",), labels, pixels)


@pytest.mark.parametrize("readings", [("oracle",), "labels"])
def test_readings_that_are_none_are_refused(readings):
    with pytest.raises(InputError, match="names among labels, as_normal"):
        PretrainedLearner(readings=readings)


def turned(pixels, which):
    """A copy in which some photos lie on their side."""
    lying = pixels.copy()
    lying[which] = np.rot90(pixels[which], axes=(1, 2))
    return lying


def test_how_photos_happen_to_lie_is_not_learnt():
    pixels, truth = large_photos(30, 9, seed=0)
    by_chance = turned(pixels, truth == 1)  # all defects on their side
    model = learn(("labels",), partly_labeled(truth), by_chance).model
    unseen, new_truth = large_photos(40, 12, seed=1)
    normal = new_truth == 0
    upright = model.blend.readings[0].scorer.score(model.rows(unseen))
    lying = model.blend.readings[0].scorer.score(model.rows(turned(unseen, normal)))
    gap = np.median(upright[~normal]) - np.median(upright[normal])
    assert abs(np.median(lying[normal]) - np.median(upright[normal])) < 0.2 * gap


def test_of_many_unlabeled_photos_some_are_learnt_and_all_are_judged(monkeypatch):
    monkeypatch.setattr(pretrained, "MAX_UNLABELED", 12)
    pixels, truth = large_photos(40, 12, seed=0)
    labels = partly_labeled(truth)
    learnt = learn(None, labels, pixels)
    assert len(learnt.train_scores) == 40
    assert len(learnt.pseudo_labels.labels) == (labels == -1).sum() > 12
    unseen, new_truth = large_photos(40, 12, seed=1)
    assert roc_auc_score(new_truth, learnt.model.score(unseen)) > 0.9
