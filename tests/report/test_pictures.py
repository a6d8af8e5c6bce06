"""The report on pictures is one page with the pictures that matter in it."""

import numpy as np
import pytest

from pictures import fitted_detector, made_pictures, write_pictures
from spadework.images.photos import find_photos
from spadework.report.pictures import (
    draw_histogram,
    make_picture_content,
    write_picture_page,
)

N_PICTURES = 14


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder of pictures; one defect lies among the good ones, and is called."""
    folder = tmp_path_factory.mktemp("parts")
    pixels, truth, _ = made_pictures(N_PICTURES, 4, seed=1)
    truth[np.flatnonzero(truth)[0]] = 0
    write_pictures(folder, pixels, truth)
    return folder


@pytest.fixture(scope="module")
def content(folder):
    return make_picture_content(fitted_detector(), find_photos(folder))


def test_the_top_are_the_highest_scores_with_picture_and_heat(content, folder):
    scores = np.sort(fitted_detector().anomaly_score(folder))[::-1]
    shown = [card["score"] for card in content["top"]]
    np.testing.assert_allclose(shown, scores[: len(shown)], rtol=1e-4)
    assert content["has_heat"]


def test_calls_are_held_against_what_folders_say(content):
    assert content["n_pictures"] == N_PICTURES
    assert (content["n_called"], content["n_alarms"], content["n_missed"]) == (4, 1, 0)
    (alarm,) = content["alarms"]
    assert alarm["score"] > content["threshold"]
    assert content["performance"]["measures"]["recall"][0] == 1


def test_the_page_stands_alone_and_shows_what_it_promises(folder, tmp_path):
    write_picture_page(fitted_detector(), find_photos(folder), tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "http://" not in page
    assert "https://" not in page
    assert page.count("data:image/jpeg;base64,") >= 24
    for words in (
        "14 pictures scored by a model that learnt from 30 pictures with 16 labels",
        "The most anomalous pictures",
        "ROC AUC",
        "average precision",
        'class="threshold"',
        "Model card",
    ):
        assert words in page


def test_without_truth_the_page_says_that_it_cannot_judge(folder, tmp_path):
    photos = find_photos(folder / "defect" / "square")
    write_picture_page(fitted_detector(), photos, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "cannot say how often a call is right" in page
    assert "ROC AUC" not in page


def test_a_histogram_has_a_series_for_every_label_there_is():
    scores, labels = np.array([0.0, 1.0, 2.0, 9.0]), np.array([0, 0, 1, 1], np.int8)
    drawn = draw_histogram(scores, labels, threshold=4.5)
    assert {each["name"]: each["n"] for each in drawn["series"]} == {
        "good": 2,
        "defect": 2,
    }
    assert drawn["threshold_x"] == 46 + 584 / 2
