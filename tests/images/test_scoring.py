"""Pictures are scored a few at a time, and come out in their order."""

import csv
from copy import copy

import numpy as np
import pytest
from PIL import Image

from pictures import fitted_detector, made_pictures, write_pictures
from spadework.errors import DataError, InputError
from spadework.images import scoring
from spadework.images.photos import find_photos
from spadework.images.reading import iter_photos
from spadework.images.scoring import score_photos


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of seven pictures, of which the third cannot be read."""
    folder = tmp_path_factory.mktemp("parts")
    pixels, truth, _ = made_pictures(7, 3, seed=2)
    write_pictures(folder, pixels, np.full(len(truth), -1))
    (folder / "unlabeled" / "002.png").write_bytes(b"no picture")
    return folder


@pytest.fixture
def detector(monkeypatch):
    """Skips what cannot be read, and reads three pictures at once."""
    monkeypatch.setattr(
        scoring,
        "iter_photos",
        lambda paths, size, **more: iter_photos(paths, size, 3, **more),
    )
    detector = copy(fitted_detector())
    detector.on_corrupt = "skip"
    return detector


def written(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_scores_do_not_depend_on_how_many_pictures_are_read_at_once(
    detector, folder, tmp_path
):
    photos = find_photos(folder)
    counts = score_photos(detector, photos, tmp_path / "scores.csv")
    lines = written(tmp_path / "scores.csv")
    scores = detector.anomaly_score(folder)
    assert [line["file"] for line in lines] == list(photos.names)
    found = [float(line["anomaly_score"] or "nan") for line in lines]
    np.testing.assert_allclose(found, scores, rtol=1e-4)
    n_called = int((scores > detector.threshold_).sum())
    assert counts == (7, n_called, 7, 1)


def test_the_top_is_that_of_all_pictures_and_has_heat_maps_of_its_own(
    detector, folder, tmp_path
):
    photos, heat = find_photos(folder), tmp_path / "heat"
    out = tmp_path / "top.csv"
    score_photos(detector, photos, out, top=2, heat_maps=heat)
    order = np.argsort(-np.nan_to_num(detector.anomaly_score(folder), nan=-np.inf))
    best = [photos.names[row] for row in order[:2]]
    assert [line["file"] for line in written(out)] == best
    drawn = sorted(path.relative_to(heat).as_posix() for path in heat.rglob("*.png"))
    assert drawn == sorted(best)
    with Image.open(heat / best[0]) as picture:
        assert picture.size == (64, 64)


def test_places_that_cannot_be_written_to_are_refused(detector, folder, tmp_path):
    photos = find_photos(folder)
    with pytest.raises(InputError, match=r"must end in \.csv or \.tsv"):
        score_photos(detector, photos, tmp_path / "scores.txt")
    with pytest.raises(DataError, match="is a file; name a folder for the heat maps"):
        score_photos(detector, photos, "-", heat_maps=photos.paths[0])
