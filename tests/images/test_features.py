"""What a pretrained network sees of photos does not depend on how they are shown."""

import numpy as np

from pictures import fitted_detector, made_pictures
from spadework.images.backbone import SEEN_WIDTH
from spadework.images.features import describe_photos, pooled_features

PIXELS, TRUTH, _ = made_pictures(6, 2, seed=0)


def see(labels, *, n_views=1, spot=False):
    rng, learnt = np.random.default_rng(0), np.arange(3)
    return describe_photos(PIXELS, labels, learnt, rng, n_views, spot=spot, verbose=False)


def test_pooled_features_are_a_row_for_each_photo_by_itself():
    features = pooled_features(PIXELS)
    assert features.shape == (6, 4296)
    np.testing.assert_allclose(pooled_features(PIXELS[3:4])[0], features[3], atol=1e-3)


def test_rows_are_of_all_photos_and_views_of_those_that_are_learnt_from():
    seen = see(TRUTH, n_views=2)
    assert seen.X.shape == (6, SEEN_WIDTH + 1)
    assert seen.views.shape == (2, 3, SEEN_WIDTH + 1)
    np.testing.assert_array_equal(seen.views[0], seen.X[:3])
    assert (seen.spotter, seen.spots) == (None, None)


def test_patches_of_a_photo_itself_do_not_count():
    """Otherwise photos that the bank was drawn from would be at no distance from it."""
    labels = np.where(TRUTH == 1, 1, -1).astype(np.int8)
    assert see(labels).X[:, SEEN_WIDTH].min() > 0.01


def test_nothing_else_learns_from_scores_of_a_spotter():
    seen = see(TRUTH, spot=True)
    assert seen.X.shape == (6, SEEN_WIDTH + 2)
    assert (seen.X[:, -1] == 0).all()
    assert (seen.views[:, :, -1] == 0).all()
    assert np.isfinite(seen.spots).all()


def test_heat_is_that_of_a_photo_by_itself():
    model = fitted_detector().model_
    heat = model.heat(PIXELS)
    assert heat.shape == PIXELS.shape[:3]
    np.testing.assert_allclose(model.heat(PIXELS[4:5])[0], heat[4], atol=1e-3)
