"""Models of patches, learnt from labels of whole photos."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from spadework.errors import InputError
from spadework.images.spotting import (
    MAX_VIEWS,
    Spotter,
    choose_views,
    fit_spotter,
    n_spots,
)

CPU = torch.device("cpu")


def made_maps(n_normal=60, n_anomalous=30, seed=0, shift=4.0):
    """Maps, (1, n_photos, 12, 64): two channels of a few patches of anomalies differ.

    They are as often too low as too high.
    """
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1], [n_normal, n_anomalous]).astype(np.int8)
    maps = rng.normal(size=(1, len(truth), 12, 64)).astype(np.float32)
    for photo in np.flatnonzero(truth):
        where = rng.choice(64, 4, replace=False)
        maps[0, photo, :2, where] += shift * rng.choice([-1, 1], (4, 1))
    return maps, truth


def spot(spotter, maps):
    return spotter.spot(torch.from_numpy(maps[0]).unflatten(2, (8, 8))).numpy()


def test_a_few_odd_patches_are_found_in_new_photos_from_labels_of_whole_ones():
    maps, labels = made_maps()
    spotter, held_out = fit_spotter(maps, labels, np.random.default_rng(0), CPU)
    fresh, truth = made_maps(seed=1)
    assert roc_auc_score(truth, fresh[0].mean(axis=2)[:, :2].sum(axis=1)) < 0.9
    assert roc_auc_score(truth, spot(spotter, fresh)) > 0.97
    assert roc_auc_score(labels, held_out) > 0.97


def test_odd_patches_are_told_by_labels_where_distance_does_not_tell_them():
    """Channels of normal photos vary in ways that no label speaks of."""
    maps, labels = made_maps()
    fresh, truth = made_maps(seed=1)
    rng = np.random.default_rng(2)
    for each in (maps, fresh):
        each[0, :, 6:, :8] *= 1 + 5 * rng.random((each.shape[1], 1, 1))
    spotter, _ = fit_spotter(maps, labels, rng, CPU)
    distance = np.repeat(np.float32([0, 0.05]), 12)[:, None]
    untaught = Spotter(spotter.mean, spotter.spread, distance)
    assert roc_auc_score(truth, spot(spotter, fresh)) > 0.9
    assert roc_auc_score(truth, spot(untaught, fresh)) < 0.75


def test_the_score_is_that_of_a_naive_loop():
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(24, 3)).astype(np.float32)
    mean, spread = rng.normal(size=12), 0.5 + rng.random(12)
    spotter = Spotter(mean.astype(np.float32), spread.astype(np.float32), weights)
    maps = 6 * rng.normal(size=(1, 5, 12, 64)).astype(np.float32)
    expected = []
    for photo in maps[0]:
        by_model = []
        for model in weights.T.astype(np.float64):
            patches = []
            for position in range(64):
                z = (photo[:, position] - mean) / spread
                squares = np.minimum(z**2 - 1, 30) / 3
                patches.append(model[:12] @ z + model[12:] @ squares)
            by_model.append(np.mean(sorted(patches)[-4:]))
        expected.append(np.mean(by_model))
    np.testing.assert_allclose(spot(spotter, maps), expected, rtol=1e-4, atol=1e-3)


def test_held_out_scores_come_from_models_that_have_not_seen_the_photo():
    maps, labels = made_maps(20, 20, shift=0.0)
    spotter, held_out = fit_spotter(maps, labels, np.random.default_rng(0), CPU)
    assert roc_auc_score(labels, spot(spotter, maps)) > 0.9
    assert 0.2 < roc_auc_score(labels, held_out) < 0.8


def test_a_single_labeled_anomaly_is_learnt_from_in_every_fold():
    maps, labels = made_maps(30, 1)
    spotter, held_out = fit_spotter(maps, labels, np.random.default_rng(0), CPU)
    assert np.isfinite(held_out).all()
    fresh, truth = made_maps(seed=1)
    assert roc_auc_score(truth, spot(spotter, fresh)) > 0.7


def test_the_same_seed_fits_the_same_spotter():
    maps, labels = made_maps()
    one, other = (
        fit_spotter(maps, labels, np.random.default_rng(3), CPU)[0] for _ in range(2)
    )
    np.testing.assert_array_equal(one.weights, other.weights)


@given(st.integers(1, 3000), st.integers(1, 3000), st.integers(0, 50))
def test_both_classes_are_shown_and_no_more_views_than_allowed(
    normals, anomalies, others
):
    labels = np.repeat([0, 1, -1], [normals, anomalies, others]).astype(np.int8)
    photos, n_views = choose_views(labels, 6, np.random.default_rng(0))
    assert 1 <= n_views <= 6
    assert len(photos) * n_views <= MAX_VIEWS
    for kind, n_labeled in ((0, normals), (1, anomalies)):
        n_shown = (labels[photos] == kind).sum()
        assert min(n_labeled, MAX_VIEWS // 2) <= n_shown <= n_labeled
    assert (labels[photos] >= 0).all()
    assert len(np.unique(photos)) == len(photos)


def test_at_least_one_patch_counts():
    assert [n_spots(n) for n in (1, 16, 64, 256)] == [1, 1, 4, 16]


@pytest.mark.parametrize(
    ("mean", "spread", "weights"),
    [
        (np.zeros(3), np.ones(2), np.zeros((6, 1))),
        (np.zeros(3), np.zeros(3), np.zeros((6, 1))),
        (np.zeros(3), np.ones(3), np.zeros((5, 1))),
        (np.zeros(3), np.ones(3), np.zeros(6)),
    ],
)
def test_a_spotter_whose_parts_do_not_fit_is_refused(mean, spread, weights):
    with pytest.raises(InputError, match="a spotter needs a mean and a positive spread"):
        Spotter(mean, spread, weights)
