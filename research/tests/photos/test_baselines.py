"""Photo baselines find planted defects from the labels each of them learns from."""

import numpy as np
import pytest
from made_photos import partly_labeled
from sklearn.metrics import roc_auc_score

from photo_learners import (
    BRIEF,
    check_finds_a_planted_defect,
    check_the_same_seed_gives_the_same_scores,
    learn,
)
from spadework.errors import LabelError
from spadework.images.training import ImageTraining
from spadework_research.photos.baselines import OneClassLearner, SupervisedLearner

FEW = ImageTraining(batch_size=8, max_epochs=3, epoch_steps=5)
TWO = ImageTraining(batch_size=8, max_epochs=2, epoch_steps=5)
LEARNERS = {
    "supervised": SupervisedLearner(options=FEW),
    "negative supervised": SupervisedLearner("normal", options=FEW),
    "negative one-class": OneClassLearner(options=TWO),
    "unsupervised one-class": OneClassLearner(refined=True, options=TWO),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_a_planted_defect_is_found_in_unseen_photos(name, train, unseen):
    check_finds_a_planted_defect(LEARNERS[name], train, unseen)


def test_labels_that_are_turned_round_turn_the_scores_round(train, unseen):
    pixels, truth = train
    learnt = learn(LEARNERS["supervised"], pixels, partly_labeled(1 - truth))
    assert roc_auc_score(unseen[1], learnt.model.score(unseen[0])) < 0.25


@pytest.mark.parametrize(
    "learner",
    [
        SupervisedLearner(options=BRIEF),
        OneClassLearner(refined=True, options=BRIEF),
    ],
)
def test_the_same_seed_gives_the_same_scores(learner, train):
    check_the_same_seed_gives_the_same_scores(learner, train)


def test_training_stops_when_the_loss_no_longer_improves(train):
    still = ImageTraining(
        batch_size=8, epoch_steps=1, learning_rate=1e-12, max_epochs=9, patience=1
    )
    assert len(learn(SupervisedLearner(options=still), *train).history) < 9


def test_what_cannot_be_learnt_from_is_refused(train):
    pixels, truth = train
    with pytest.raises(LabelError, match="both classes"):
        learn(SupervisedLearner(), pixels, np.where(truth == 1, -1, 0).astype(np.int8))
