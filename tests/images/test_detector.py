"""What ImageSPADE promises, on made pictures with a planted defect."""

from copy import deepcopy

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from pictures import (
    fitted_detector,
    learnable_pictures,
    made_pictures,
    write_pictures,
)
from spadework import ImageSPADE
from spadework.errors import DataError, InputError, LabelError
from spadework.images.paper import PaperLearner
from spadework.images.pretrained import PretrainedLearner
from spadework.images.training import ImageTraining

STATED = {1: 1, 0: 0, -1: -1}
PIXELS, TRUTH, LABELS = learnable_pictures()
NEW, NEW_TRUTH, _ = made_pictures(24, 8, seed=1)
BEFORE = [array.copy() for array in learnable_pictures()]
FEW = slice(2, 14)
"""Pictures that are learnt from quickly: some of both classes, none unlabeled."""


def small(**parameters):
    return ImageSPADE(**{"size": 64, "random_state": 0, **parameters})


def auc(detector):
    return roc_auc_score(NEW_TRUTH, detector.anomaly_score(NEW))


# Learning


def test_a_planted_defect_is_found_and_called():
    scores = fitted_detector().anomaly_score(NEW)
    assert scores.shape == (24,)
    assert scores.dtype == np.float64
    assert auc(fitted_detector()) > 0.95
    np.testing.assert_array_equal(
        fitted_detector().predict(NEW),
        (scores > fitted_detector().threshold_).astype(int),
    )
    np.testing.assert_allclose(
        fitted_detector().decision_function(NEW), scores - fitted_detector().threshold_
    )
    assert fitted_detector().predict_proba(NEW).shape == (24, 2)
    assert fitted_detector().score(NEW, NEW_TRUTH) == auc(fitted_detector())


@pytest.mark.parametrize(("setting", "hidden"), [("PU", 0), ("NU", 1)])
def test_one_class_of_labels_is_enough(setting, hidden):
    detector = small().fit(PIXELS, np.where(hidden == LABELS, -1, LABELS))
    assert detector.setting_ == setting
    assert auc(detector) > 0.8


def test_labels_turned_round_turn_the_scores_round():
    detector = small(label_map=STATED).fit(PIXELS[FEW], 1 - TRUTH[FEW])
    assert auc(detector) < 0.1


def test_the_heat_of_a_defect_is_highest_within_it():
    pixels, truth, _ = made_pictures(20, 3, seed=0, side=128)
    learner = PretrainedLearner(parts=("patches",))
    detector = small(size=128, label_map=STATED, learner=learner).fit(pixels, truth)
    new, _, corners = made_pictures(6, 6, seed=1, side=128)
    heat = detector.heat_map(new)
    assert heat.shape == (6, 128, 128)
    for each, corner in zip(heat, corners, strict=True):
        place = np.array(np.unravel_index(each.argmax(), each.shape))
        assert ((place >= corner) & (place < corner + 32)).all()


# Contract


def test_a_second_fit_forgets_the_first_and_repeats_what_the_seed_gives():
    detector = small(label_map=STATED).fit(255 - PIXELS[FEW], TRUTH[FEW])
    detector.set_params(label_map=None).fit(PIXELS, LABELS)
    np.testing.assert_array_equal(
        detector.anomaly_score(NEW), fitted_detector().anomaly_score(NEW)
    )
    assert detector.threshold_ == fitted_detector().threshold_
    assert set(vars(detector)) == set(vars(fitted_detector()))


def test_what_comes_in_is_not_changed():
    new = NEW.copy()
    fitted_detector().heat_map(new)
    fitted_detector().predict(new)
    np.testing.assert_array_equal(new, NEW)
    for mine, made in zip(learnable_pictures(), BEFORE, strict=True):
        np.testing.assert_array_equal(mine, made)


def test_scores_do_not_depend_on_what_else_is_scored():
    score = fitted_detector().anomaly_score
    one_by_one = [score(NEW[row : row + 1])[0] for row in range(4)]
    np.testing.assert_allclose(one_by_one, score(NEW)[:4], rtol=1e-4)


def test_a_failed_fit_leaves_the_detector_as_it_was():
    detector = deepcopy(fitted_detector())
    with pytest.raises(LabelError):
        detector.fit(PIXELS, np.full(30, -1))
    np.testing.assert_array_equal(
        detector.anomaly_score(NEW), fitted_detector().anomaly_score(NEW)
    )


# Folders


def test_a_folder_teaches_what_its_pixels_teach_but_for_corrupt_pictures(tmp_path):
    write_pictures(tmp_path, PIXELS, LABELS)
    broken = tmp_path / "good" / "broken.png"
    broken.write_bytes(b"not a picture")
    with pytest.raises(DataError, match=r"broken\.png"):
        small().fit(tmp_path)
    detector = small(on_corrupt="skip").fit(str(tmp_path))
    assert detector.census_ == fitted_detector().census_
    np.testing.assert_array_equal(
        detector.anomaly_score(NEW), fitted_detector().anomaly_score(NEW)
    )
    broken.unlink()
    np.testing.assert_array_equal(
        detector.anomaly_score(tmp_path), detector.anomaly_score(PIXELS)
    )


def test_corrupt_pictures_score_nan_where_they_are_skipped(tmp_path):
    write_pictures(tmp_path, PIXELS[:1], LABELS[:1])
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"not a picture")
    detector = deepcopy(fitted_detector()).set_params(on_corrupt="skip")
    with pytest.raises(DataError, match=r"nothing\.png"):
        detector.anomaly_score([broken, tmp_path / "nothing.png"])
    pair = [broken, next(tmp_path.glob("defect/square/*.png"))]
    assert np.isnan(detector.anomaly_score(pair)).tolist() == [True, False]
    assert np.isnan(detector.heat_map(pair)).all(axis=(1, 2)).tolist() == [True, False]
    with pytest.raises(InputError, match="1 of 2 photos cannot be read"):
        detector.predict(pair)
    assert detector.predict(pair[1:]).tolist() == [1]


def test_folders_of_good_and_defect_need_no_word_on_zeros(tmp_path):
    write_pictures(tmp_path, PIXELS[FEW], TRUTH[FEW])
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
        small().fit(PIXELS, np.full(30, -1))
    with pytest.raises(LabelError, match="one label each"):
        small().fit(PIXELS, LABELS[:5])
    with pytest.raises(InputError, match="empty"):
        small().fit(PIXELS[:0], [])
    with pytest.raises(InputError, match="X and y alone; got sample_weight, too"):
        small().fit(PIXELS, LABELS, sample_weight=np.ones(len(PIXELS)))


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
    detector = small(learner=PaperLearner(options=brief), size=32, label_map=STATED)
    detector.fit(PIXELS[FEW], TRUTH[FEW])
    assert np.isfinite(detector.anomaly_score(NEW[:3])).all()
    with pytest.raises(InputError, match="only the learner 'pretrained'"):
        detector.heat_map(NEW)
