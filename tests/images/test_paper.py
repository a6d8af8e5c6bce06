"""The paper's learner of photos finds defects and brings what it has learnt."""

import numpy as np
import pytest
from made_photos import made_photos, partly_labeled
from sklearn.metrics import roc_auc_score

from spadework.images.paper import PaperLearner
from spadework.images.training import ImageTraining

FEW = ImageTraining(batch_size=8, max_epochs=2, epoch_steps=5)
BRIEF = ImageTraining(batch_size=8, max_epochs=1, epoch_steps=1)
TRAIN = made_photos(30, 9, seed=0)


def learn(options, labels):
    learner = PaperLearner(options=options)
    return learner.learn(TRAIN[0], labels, np.random.default_rng(0), verbose=False)


def test_a_planted_defect_is_found_in_unseen_photos():
    pixels, truth = TRAIN
    before = pixels.copy()
    learnt = learn(FEW, partly_labeled(truth))
    unseen, new_truth = made_photos(40, 12, seed=1)
    scores = learnt.model.score(unseen)
    assert scores.dtype == np.float64
    assert roc_auc_score(new_truth, scores) > 0.75
    assert learnt.train_scores.shape == (30,)
    assert np.isfinite(learnt.train_scores).all()
    assert 1 <= len(learnt.history) <= 2
    np.testing.assert_array_equal(pixels, before)


def test_it_brings_its_pseudo_labels_codes_and_losses_again_with_the_same_seed():
    pixels, truth = TRAIN
    labels = partly_labeled(truth)
    learnt, again = (learn(BRIEF, labels) for _ in range(2))
    np.testing.assert_array_equal(learnt.train_scores, again.train_scores)
    assert learnt.history == again.history
    codes = learnt.model.represent(pixels)
    assert codes.shape == (30, 512)
    assert codes.dtype == np.float32
    assert learnt.pseudo_labels.labels.shape == ((labels == -1).sum(),)
    np.testing.assert_array_equal(
        learnt.pseudo_labeler.label(codes[labels == -1]).labels,
        learnt.pseudo_labels.labels,
    )
    epoch = learnt.history[0]
    parts = epoch["labeled"] + epoch["pseudo"] + epoch["cutpaste"]
    assert epoch["loss"] == pytest.approx(parts, rel=1e-5)


def test_without_unlabeled_photos_there_are_no_pseudo_labels():
    learnt = learn(BRIEF, TRAIN[1])
    assert learnt.pseudo_labels is None
    assert learnt.history[0]["pseudo"] == 0
