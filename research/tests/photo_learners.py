"""What every baseline for photos keeps to."""

import numpy as np
from made_photos import partly_labeled
from sklearn.metrics import roc_auc_score

from spadework.images.training import ImageTraining

BRIEF = ImageTraining(batch_size=8, max_epochs=1, epoch_steps=1)


def learn(learner, pixels, labels):
    """Fit a learner with a seed."""
    return learner.learn(pixels, labels, np.random.default_rng(0), verbose=False)


def check_finds_a_planted_defect(learner, train, unseen):
    """Some labels are enough, photos stay as they are, and losses are told."""
    pixels, truth = train
    before = pixels.copy()
    learnt = learn(learner, pixels, partly_labeled(truth))
    scores = learnt.model.score(unseen[0])
    assert scores.dtype == np.float64
    assert roc_auc_score(unseen[1], scores) > 0.75
    assert learnt.train_scores.shape == (40,)
    assert np.isfinite(learnt.train_scores).all()
    assert 1 <= len(learnt.history) <= 3
    np.testing.assert_array_equal(pixels, before)


def check_the_same_seed_gives_the_same_scores(learner, train):
    """Nothing is drawn but from the seed."""
    pixels, truth = train
    first, again = (learn(learner, pixels, partly_labeled(truth)) for _ in range(2))
    np.testing.assert_array_equal(first.train_scores, again.train_scores)
    assert first.history == again.history
