"""What ImageSPADE promises, on made pictures with a planted defect and on real ones."""

from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from pictures import made_pictures, partly_labeled, write_pictures
from real_data import load_table
from spadework import ImageSPADE
from spadework.errors import DataError, InputError, LabelError
from spadework.images.paper import PaperLearner
from spadework.images.reading import read_photos
from spadework.images.training import ImageTraining

STATED = {1: 1, 0: 0, -1: -1}
PIXELS, TRUTH, _ = made_pictures(48, 12, seed=0)
LABELS = partly_labeled(TRUTH)
NEW, NEW_TRUTH, _ = made_pictures(24, 8, seed=1)
for array in (PIXELS, TRUTH, LABELS, NEW, NEW_TRUTH):
    array.flags.writeable = False


def small(**parameters):
    return ImageSPADE(**{"size": 64, "random_state": 0, **parameters})


@cache
def fitted():
    """A fitted detector; never to be changed."""
    return small().fit(PIXELS, LABELS)


def auc(detector):
    return roc_auc_score(NEW_TRUTH, detector.anomaly_score(NEW))


# Learning


def test_a_planted_defect_is_found_and_called():
    scores = fitted().anomaly_score(NEW)
    assert scores.shape == (24,)
    assert scores.dtype == np.float64
    assert auc(fitted()) > 0.95
    np.testing.assert_array_equal(
        fitted().predict(NEW), (scores > fitted().threshold_).astype(int)
    )
    np.testing.assert_allclose(
        fitted().decision_function(NEW), scores - fitted().threshold_
    )
    assert fitted().predict_proba(NEW).shape == (24, 2)
    assert fitted().score(NEW, NEW_TRUTH) == auc(fitted())


@pytest.mark.parametrize(("setting", "hidden"), [("PU", 0), ("NU", 1)])
def test_one_class_of_labels_is_enough(setting, hidden):
    detector = small().fit(PIXELS, np.where(hidden == LABELS, -1, LABELS))
    assert detector.setting_ == setting
    assert auc(detector) > 0.8


def test_labels_turned_round_turn_the_scores_round():
    detector = small(label_map=STATED).fit(PIXELS, 1 - TRUTH)
    assert auc(detector) < 0.1


def test_the_heat_of_a_defect_is_highest_within_it():
    pixels, truth, _ = made_pictures(30, 4, seed=0, side=128)
    detector = ImageSPADE(size=128, label_map=STATED, random_state=0)
    detector.fit(pixels, truth)
    new, _, corners = made_pictures(6, 6, seed=1, side=128)
    heat = detector.heat_map(new)
    assert heat.shape == (6, 128, 128)
    for each, corner in zip(heat, corners, strict=True):
        place = np.array(np.unravel_index(each.argmax(), each.shape))
        assert ((place >= corner) & (place < corner + 32)).all()


# Contract


def test_the_same_seed_gives_the_same_scores():
    again = clone(fitted()).fit(PIXELS, LABELS)
    np.testing.assert_array_equal(again.anomaly_score(NEW), fitted().anomaly_score(NEW))
    assert again.threshold_ == fitted().threshold_


def test_a_second_fit_forgets_the_first():
    detector = small().fit(255 - PIXELS[:30], LABELS[:30])
    detector.fit(PIXELS, LABELS)
    np.testing.assert_array_equal(
        detector.anomaly_score(NEW), fitted().anomaly_score(NEW)
    )
    assert set(vars(detector)) == set(vars(fitted()))


def test_what_comes_in_is_not_changed():
    pixels, labels = PIXELS.copy(), LABELS.copy()
    detector = small().fit(pixels, labels)
    detector.heat_map(pixels[:4])
    detector.predict(pixels[:4])
    np.testing.assert_array_equal(pixels, PIXELS)
    np.testing.assert_array_equal(labels, LABELS)


def test_scores_do_not_depend_on_what_else_is_scored():
    one_by_one = [fitted().anomaly_score(NEW[row : row + 1])[0] for row in range(4)]
    np.testing.assert_allclose(one_by_one, fitted().anomaly_score(NEW)[:4], rtol=1e-4)


def test_a_failed_fit_leaves_the_detector_as_it_was():
    detector = small().fit(PIXELS, LABELS)
    with pytest.raises(LabelError):
        detector.fit(PIXELS, np.full(48, -1))
    np.testing.assert_array_equal(
        detector.anomaly_score(NEW), fitted().anomaly_score(NEW)
    )


def test_a_folder_teaches_what_its_pixels_teach(tmp_path):
    write_pictures(tmp_path, PIXELS, LABELS)
    order = np.argsort(np.array(["good", "defect", "unlabeled"])[LABELS], kind="stable")
    from_folder = small().fit(str(tmp_path))
    from_pixels = small().fit(PIXELS[order], LABELS[order])
    np.testing.assert_array_equal(
        from_folder.anomaly_score(NEW), from_pixels.anomaly_score(NEW)
    )
    np.testing.assert_array_equal(
        from_folder.anomaly_score(tmp_path), from_pixels.anomaly_score(PIXELS[order])
    )


def test_folders_of_good_and_defect_need_no_word_on_zeros(tmp_path):
    write_pictures(tmp_path, PIXELS, TRUTH)
    detector = small().fit(tmp_path)
    assert detector.setting_ == "PN"
    assert detector.pseudo_labels_ is None


# What is refused


def test_too_little_is_refused_clearly():
    with pytest.raises(LabelError, match="label at least 2"):
        small().fit(PIXELS[:6], [0, -1, -1, -1, -1, -1])
    with pytest.raises(LabelError, match="cannot be split among"):
        small().fit(PIXELS[:4], [0, 0, 1, -1])
    with pytest.raises(LabelError, match="no row is labeled"):
        small().fit(PIXELS, np.full(48, -1))
    with pytest.raises(LabelError, match="one label each"):
        small().fit(PIXELS, LABELS[:5])
    with pytest.raises(InputError, match="empty"):
        small().fit(PIXELS[:0], [])


def test_a_single_normal_picture_among_defects_can_be_learnt_from():
    chosen = np.concatenate([np.flatnonzero(TRUTH == 0)[:1], np.flatnonzero(TRUTH == 1)])
    detector = small(label_map=STATED).fit(PIXELS[chosen], TRUTH[chosen])
    assert detector.setting_ == "PN"
    assert np.isfinite(detector.anomaly_score(NEW)).all()


def test_labels_of_one_class_alone_are_refused():
    with pytest.raises(LabelError):
        small(label_map=STATED).fit(PIXELS[:6], np.zeros(6, dtype=int))


def test_parameters_without_meaning_are_refused_before_work():
    for name, value in (
        ("size", 16),
        ("size", 64.5),
        ("on_corrupt", "ignore"),
        ("learner", "forest"),
        ("threshold", "high"),
    ):
        with pytest.raises(InputError, match=name):
            small(**{name: value}).fit(PIXELS, LABELS)


def test_missing_labels_and_a_map_for_a_folder_are_refused(tmp_path):
    with pytest.raises(InputError, match="y is missing"):
        small().fit(PIXELS)
    with pytest.raises(InputError, match="leave label_map out"):
        small(label_map=STATED).fit(tmp_path)


def test_an_unfitted_detector_says_so():
    for method in ("anomaly_score", "heat_map", "pseudo_label", "predict"):
        with pytest.raises(NotFittedError):
            getattr(small(), method)(NEW)


def test_the_paper_form_has_no_heat_maps():
    brief = ImageTraining(batch_size=8, max_epochs=1, epoch_steps=1)
    detector = ImageSPADE(learner=PaperLearner(options=brief), size=32, random_state=0)
    detector.fit(PIXELS[:20], LABELS[:20])
    assert np.isfinite(detector.anomaly_score(NEW[:3])).all()
    with pytest.raises(InputError, match="only the learner 'pretrained'"):
        detector.heat_map(NEW)


def test_corrupt_pictures_score_nan_where_they_are_skipped(tmp_path):
    write_pictures(tmp_path, PIXELS, LABELS)
    broken = tmp_path / "good" / "broken.png"
    broken.write_bytes(b"not a picture")
    with pytest.raises(DataError, match=r"broken\.png"):
        small().fit(tmp_path)
    detector = small(on_corrupt="skip").fit(tmp_path)
    assert sum(detector.census_) == 48
    files = [broken, tmp_path / "good" / "nothing.png"]
    with pytest.raises(DataError, match=r"nothing\.png"):
        detector.anomaly_score(files)
    pair = [broken, next(tmp_path.glob("defect/square/*.png"))]
    assert np.isnan(detector.anomaly_score(pair)).tolist() == [True, False]
    assert np.isnan(detector.heat_map(pair)).all(axis=(1, 2)).tolist() == [True, False]
    with pytest.raises(InputError, match="1 of 2 photos cannot be read"):
        detector.predict(pair)
    assert detector.predict(pair[1:]).tolist() == [1]


# Real pictures


def test_defects_of_magnetic_tiles_that_nobody_labeled_are_found():
    photos = load_table("magnetic_tile")
    rng = np.random.default_rng(0)
    sample = rng.choice(len(photos.paths), 300, replace=False)
    kind = photos.kind[sample]
    pixels = read_photos([photos.paths[row] for row in sample], 128).pixels
    train, test = np.arange(200), np.arange(200, 300)
    labels = np.where(rng.random(200) < 0.3, kind[train] > 0, -1)
    labels[(kind[train] > 0) & ~np.isin(kind[train], photos.given)] = -1
    detector = ImageSPADE(size=128, random_state=0).fit(pixels[train], labels)
    value = roc_auc_score(kind[test] > 0, detector.anomaly_score(pixels[test]))
    assert value > 0.75
