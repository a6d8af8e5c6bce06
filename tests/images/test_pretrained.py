"""The learner of photos adds up the parts that it is told and that labels allow."""

import numpy as np
import pytest
from made_photos import made_photos, partly_labeled
from sklearn.metrics import roc_auc_score

from spadework.errors import InputError
from spadework.images import pretrained
from spadework.images.linear import LinearModel
from spadework.images.pretrained import PARTS, SHARES, UNIT, Part, PretrainedLearner


def large_photos(n_photos, n_defects, seed):
    """Twice the width and height, so that every map has several positions."""
    pixels, truth = made_photos(n_photos, n_defects, seed)
    return pixels.repeat(2, axis=1).repeat(2, axis=2), truth


def learn(parts, labels, pixels):
    learner = PretrainedLearner(parts=parts)
    return learner.learn(pixels, labels, np.random.default_rng(0), verbose=False)


@pytest.mark.parametrize("parts", [("patches",), ("linear",), ("linear", "spots"), PARTS])
def test_every_choice_of_parts_finds_defects(parts):
    pixels, truth = large_photos(30, 9, seed=0)
    learnt = learn(parts, partly_labeled(truth), pixels)
    assert (learnt.model.spotter is not None) == ("spots" in parts)
    unseen, new_truth = large_photos(40, 12, seed=1)
    assert roc_auc_score(new_truth, learnt.model.score(unseen)) > 0.75


def test_patches_alone_score_by_their_distance():
    pixels, truth = large_photos(30, 9, seed=0)
    model = learn(("patches",), partly_labeled(truth), pixels).model
    distances = model.rows(pixels)[:, -1]
    assert np.corrcoef(model.score(pixels), distances)[0, 1] == pytest.approx(1)


def test_without_labels_of_a_class_no_spots_are_learnt():
    pixels, truth = large_photos(30, 9, seed=0)
    labels = np.where(truth == 1, -1, partly_labeled(truth)).astype(np.int8)
    learnt = learn(PARTS, labels, pixels)
    assert learnt.model.spotter is None
    with pytest.raises(InputError, match="do not allow the parts spots"):
        learn(("spots",), labels, pixels)


def test_parts_count_by_their_shares_of_the_spread_among_unlabeled_photos():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(50, 2)), np.repeat([0, 1, -1], [5, 5, 40])
    X[:, 1] *= 100
    X[labels == 1] += 1000  # what is labeled does not count for the spread
    parts = [
        Part(SHARES[name], model, model.score(X))
        for name, model in (
            ("linear", LinearModel(np.array([1.0, 0.0]), 7.0)),
            ("spots", LinearModel(np.array([0.0, 1.0]), 0.0)),
        )
    ]
    model, held_out = pretrained._add_up(parts, labels)
    np.testing.assert_allclose(model.score(X), held_out)
    unlabeled = X[labels == -1]
    z = (unlabeled - unlabeled.mean(axis=0)) / unlabeled.std(axis=0)
    expected = UNIT * z @ [7 / 9, 2 / 9]
    np.testing.assert_allclose(model.score(unlabeled), expected)


def test_a_part_that_tells_no_photos_apart_counts_nothing():
    X, labels = np.ones((6, 1)), np.repeat([0, 1, -1], 2)
    same = LinearModel(np.array([1.0]), 0.0)
    model, held_out = pretrained._add_up([Part(1.0, same, same.score(X))], labels)
    np.testing.assert_array_equal(held_out, 0)
    np.testing.assert_array_equal(model.score(X), 0)


@pytest.mark.parametrize("parts", [("oracle",), "linear", ()])
def test_parts_that_are_none_are_refused(parts):
    with pytest.raises(InputError, match="names among linear, spots, patches"):
        PretrainedLearner(parts=parts)


def turned(pixels, which):
    """A copy in which some photos lie on their side."""
    lying = pixels.copy()
    lying[which] = np.rot90(pixels[which], axes=(1, 2))
    return lying


def test_how_photos_happen_to_lie_is_not_learnt():
    pixels, truth = large_photos(30, 9, seed=0)
    by_chance = turned(pixels, truth == 1)  # all defects on their side
    model = learn(("linear",), partly_labeled(truth), by_chance).model
    unseen, new_truth = large_photos(40, 12, seed=1)
    normal = new_truth == 0
    upright = model.score(unseen)
    lying = model.score(turned(unseen, normal))
    gap = np.median(upright[~normal]) - np.median(upright[normal])
    assert abs(np.median(lying[normal]) - np.median(upright[normal])) < 0.2 * gap


def test_of_many_unlabeled_photos_some_are_learnt_and_all_are_judged(monkeypatch):
    monkeypatch.setattr(pretrained, "MAX_UNLABELED", 12)
    pixels, truth = large_photos(40, 12, seed=0)
    labels = partly_labeled(truth)
    learnt = learn(PARTS, labels, pixels)
    assert len(learnt.train_scores) == 40
    assert len(learnt.pseudo_labels.labels) == (labels == -1).sum() > 12
    unseen, new_truth = large_photos(40, 12, seed=1)
    assert roc_auc_score(new_truth, learnt.model.score(unseen)) > 0.9
