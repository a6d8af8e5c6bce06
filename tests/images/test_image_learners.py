import numpy as np
import pytest
from made_photos import made_photos, partly_labeled
from sklearn.metrics import roc_auc_score

from spadework.errors import InputError
from spadework.images.paper import PaperLearner
from spadework.images.training import ImageTraining

FEW = ImageTraining(batch_size=8, max_epochs=3, epoch_steps=5)
BRIEF = ImageTraining(batch_size=8, max_epochs=1, epoch_steps=1)


@pytest.fixture(scope="module")
def train():
    pixels, truth = made_photos(40, 12, seed=0)
    pixels.setflags(write=False)
    return pixels, truth


@pytest.fixture(scope="module")
def unseen():
    return made_photos(40, 12, seed=1)


def learn(learner, pixels, labels, seed=0):
    return learner.learn(pixels, labels, np.random.default_rng(seed), verbose=False)


def test_a_planted_defect_is_found_in_unseen_photos(train, unseen):
    pixels, truth = train
    before = pixels.copy()
    learnt = learn(PaperLearner(options=FEW), pixels, partly_labeled(truth))
    scores = learnt.model.score(unseen[0])
    assert scores.dtype == np.float64
    assert roc_auc_score(unseen[1], scores) > 0.75
    assert learnt.train_scores.shape == (40,)
    assert np.isfinite(learnt.train_scores).all()
    assert 1 <= len(learnt.history) <= 3
    np.testing.assert_array_equal(pixels, before)


def test_the_same_seed_gives_the_same_scores(train):
    pixels, truth = train
    first, again = (
        learn(PaperLearner(options=BRIEF), pixels, partly_labeled(truth))
        for _ in range(2)
    )
    np.testing.assert_array_equal(first.train_scores, again.train_scores)
    assert first.history == again.history


def test_the_paper_form_brings_its_pseudo_labels_codes_and_losses(train):
    pixels, truth = train
    labels = partly_labeled(truth)
    learnt = learn(PaperLearner(options=BRIEF), pixels, labels)
    codes = learnt.model.represent(pixels)
    assert codes.shape == (40, 512)
    assert codes.dtype == np.float32
    assert learnt.pseudo_labels.labels.shape == ((labels == -1).sum(),)
    np.testing.assert_array_equal(
        learnt.pseudo_labeler.label(codes[labels == -1]).labels,
        learnt.pseudo_labels.labels,
    )
    epoch = learnt.history[0]
    parts = epoch["labeled"] + epoch["pseudo"] + epoch["cutpaste"]
    assert epoch["loss"] == pytest.approx(parts, rel=1e-5)


def test_without_unlabeled_photos_there_are_no_pseudo_labels(train):
    learnt = learn(PaperLearner(options=BRIEF), *train)
    assert learnt.pseudo_labels is None
    assert learnt.history[0]["pseudo"] == 0


def test_training_stops_when_the_loss_no_longer_improves(train):
    still = ImageTraining(
        batch_size=8, epoch_steps=1, learning_rate=1e-12, max_epochs=9, patience=1
    )
    assert len(learn(PaperLearner(options=still), *train).history) < 9


def test_pixels_that_are_no_bytes_are_refused(train):
    pixels, truth = train
    with pytest.raises(InputError, match="uint8"):
        learn(PaperLearner(), pixels.astype(np.float32), truth)
