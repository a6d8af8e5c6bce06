"""Photo baselines find planted defects from the labels each of them learns from."""

import numpy as np
import pytest
from made_photos import made_photos, partly_labeled
from sklearn.metrics import roc_auc_score

from spadework.errors import LabelError
from spadework.images.training import ImageTraining
from spadework_research.photos.baselines import OneClassLearner, SupervisedLearner
from spadework_research.photos.fixmatch import FixMatchLearner

FEW = ImageTraining(batch_size=8, max_epochs=3, epoch_steps=5)
TWO = ImageTraining(batch_size=8, max_epochs=2, epoch_steps=5)
BRIEF = ImageTraining(batch_size=8, max_epochs=1, epoch_steps=1)
LEARNERS = {
    "supervised": SupervisedLearner(options=FEW),
    "negative supervised": SupervisedLearner("normal", options=FEW),
    "negative one-class": OneClassLearner(options=TWO),
    "unsupervised one-class": OneClassLearner(refined=True, options=TWO),
    "fixmatch": FixMatchLearner(ImageTraining(batch_size=3, epoch_steps=4, max_epochs=3)),
}


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


@pytest.mark.parametrize("name", LEARNERS)
def test_a_planted_defect_is_found_in_unseen_photos(name, train, unseen):
    pixels, truth = train
    before = pixels.copy()
    learnt = learn(LEARNERS[name], pixels, partly_labeled(truth))
    scores = learnt.model.score(unseen[0])
    assert scores.dtype == np.float64
    assert roc_auc_score(unseen[1], scores) > 0.75
    assert learnt.train_scores.shape == (40,)
    assert np.isfinite(learnt.train_scores).all()
    assert 1 <= len(learnt.history) <= 3
    np.testing.assert_array_equal(pixels, before)


def test_labels_that_are_turned_round_turn_the_scores_round(train, unseen):
    pixels, truth = train
    learnt = learn(LEARNERS["supervised"], pixels, partly_labeled(1 - truth))
    assert roc_auc_score(unseen[1], learnt.model.score(unseen[0])) < 0.25


@pytest.mark.parametrize(
    "learner",
    [
        SupervisedLearner(options=BRIEF),
        OneClassLearner(refined=True, options=BRIEF),
        FixMatchLearner(BRIEF),
    ],
)
def test_the_same_seed_gives_the_same_scores(learner, train):
    pixels, truth = train
    first, again = (learn(learner, pixels, partly_labeled(truth)) for _ in range(2))
    np.testing.assert_array_equal(first.train_scores, again.train_scores)
    assert first.history == again.history


def test_training_stops_when_the_loss_no_longer_improves(train):
    still = ImageTraining(
        batch_size=8, epoch_steps=1, learning_rate=1e-12, max_epochs=9, patience=1
    )
    assert len(learn(SupervisedLearner(options=still), *train).history) < 9


def test_what_cannot_be_learnt_from_is_refused(train):
    pixels, truth = train
    with pytest.raises(LabelError, match="both classes"):
        learn(SupervisedLearner(), pixels, np.where(truth == 1, -1, 0).astype(np.int8))
    with pytest.raises(LabelError, match="unlabeled"):
        learn(FixMatchLearner(), pixels, truth)
