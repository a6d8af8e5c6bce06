"""FixMatch learns from labels and from its own sure guesses."""

import numpy as np
import pytest
import torch

from photo_learners import (
    BRIEF,
    check_finds_a_planted_defect,
    check_the_same_seed_gives_the_same_scores,
    learn,
)
from spadework.errors import LabelError
from spadework.images.training import ImageTraining
from spadework_research.photos.fixmatch import CONFIDENCE, FixMatchLearner, sure_guesses


def test_a_planted_defect_is_found_in_unseen_photos(train, unseen):
    options = ImageTraining(batch_size=3, epoch_steps=4, max_epochs=3)
    check_finds_a_planted_defect(FixMatchLearner(options), train, unseen)


def test_the_same_seed_gives_the_same_scores(train):
    check_the_same_seed_gives_the_same_scores(FixMatchLearner(BRIEF), train)


def test_photos_without_an_unlabeled_one_are_refused(train):
    with pytest.raises(LabelError, match="unlabeled"):
        learn(FixMatchLearner(), *train)


def test_guesses_count_from_the_probability_that_the_paper_asks_for():
    probability = np.array([0.0001, 0.049, 0.051, 0.5, 0.949, 0.951, 0.9999])
    guesses = sure_guesses(torch.from_numpy(np.log(probability / (1 - probability))))
    assert guesses.tolist() == [0, 0, -1, -1, -1, 1, 1]
    assert CONFIDENCE == 0.95
