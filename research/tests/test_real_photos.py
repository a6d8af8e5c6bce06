"""The library reads real photos and finds defects in them."""

import numpy as np
from PIL import Image
from sklearn.metrics import roc_auc_score

from real_data import load_table
from spadework import ImageSPADE
from spadework.images.photos import find_photos
from spadework.images.reading import read_photos


def test_a_real_category_of_mvtec_is_found_as_its_own_loader_finds_it():
    known = load_table("mvtec_ad/bottle")
    found = find_photos(known.paths[0].parents[2])
    assert sorted(found.paths) == sorted(known.paths)
    assert (found.labels == 1).sum() == (known.kind > 0).sum() == 63
    assert set(found.kinds) == {"good", "broken_large", "broken_small", "contamination"}


def test_real_tiles_are_read_as_they_are():
    paths = load_table("magnetic_tile").paths[::20]
    pixels, kept = read_photos(find_photos(paths).paths, 64)
    assert pixels.shape == (68, 64, 64, 3)
    assert len(kept) == 68
    for path, picture in zip(paths, pixels, strict=True):
        with Image.open(path) as image:
            assert abs(np.asarray(image.convert("L")).mean() - picture.mean()) < 2


def test_defects_of_magnetic_tiles_that_nobody_labeled_are_found():
    photos = load_table("magnetic_tile")
    rng = np.random.default_rng(0)
    sample = rng.choice(len(photos.paths), 200, replace=False)
    kind = photos.kind[sample]
    pixels = read_photos([photos.paths[row] for row in sample], 64).pixels
    train, test = np.arange(120), np.arange(120, 200)
    labels = np.where(rng.random(120) < 0.3, kind[train] > 0, -1)
    labels[(kind[train] > 0) & ~np.isin(kind[train], photos.given)] = -1
    detector = ImageSPADE(size=64, random_state=0).fit(pixels[train], labels)
    value = roc_auc_score(kind[test] > 0, detector.anomaly_score(pixels[test]))
    assert value > 0.75
