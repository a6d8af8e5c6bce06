"""Heat is measured pixel by pixel, and masks are found where data sets keep them."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from sklearn.metrics import roc_auc_score

from properties import examples
from spadework.errors import InputError
from spadework_research.datasets.photo_sets import LabeledImages
from spadework_research.studies.heat import mask_path, pixel_auroc, read_masks


def test_heat_on_the_defect_alone_is_perfect_and_elsewhere_the_opposite():
    masks = np.zeros((3, 8, 8), dtype=bool)
    masks[1, 2:4, 2:4] = True
    assert pixel_auroc(masks.astype(np.float32), masks) == 1.0
    assert pixel_auroc(1.0 - masks, masks) == 0.0
    assert pixel_auroc(np.zeros(masks.shape), masks) == 0.5


def test_a_hot_normal_photo_costs():
    masks = np.zeros((2, 4, 4), dtype=bool)
    masks[0, 0, 0] = True
    heat = masks.astype(float)
    heat[1] = 2.0
    assert pixel_auroc(heat, masks) == pytest.approx(15 / 31)


@given(seed=st.integers(0, 10_000))
@examples(20)
def test_the_area_is_that_over_all_pixels_of_all_photos(seed):
    rng = np.random.default_rng(seed)
    heat = rng.integers(0, 20, (3, 6, 5)).astype(np.float32)
    masks = rng.random(heat.shape) < 0.3
    masks[0, 0, :2] = True, False
    expected = roc_auc_score(masks.ravel(), heat.ravel())
    assert pixel_auroc(heat, masks) == pytest.approx(expected)


@pytest.mark.parametrize("value", [True, False])
def test_masks_of_one_kind_have_no_area(value):
    with pytest.raises(InputError, match="pixels of defects, and others"):
        pixel_auroc(np.zeros((2, 4, 4)), np.full((2, 4, 4), value))


def test_heat_of_another_size_is_refused():
    with pytest.raises(InputError, match=r"\(2, 4, 4\) and \(2, 8, 8\)"):
        pixel_auroc(np.zeros((2, 4, 4)), np.zeros((2, 8, 8), dtype=bool))


def test_masks_are_read_at_the_size_of_heat_maps_and_normal_photos_have_none(tmp_path):
    photos = [tmp_path / "test" / kind / "000.jpg" for kind in ("good", "crack")]
    place = mask_path(photos[1])
    place.parent.mkdir(parents=True)
    pixels = np.zeros((4, 8), dtype=np.uint8)
    pixels[:2, :4] = 255
    Image.fromarray(pixels).save(place)
    masks = read_masks(LabeledImages(tuple(photos), np.array([0, 1]), given=(1,)), 16)
    assert masks.shape == (2, 16, 16)
    assert not masks[0].any()
    expected = np.zeros((16, 16), dtype=bool)
    expected[:8, :8] = True
    np.testing.assert_array_equal(masks[1], expected)


@pytest.mark.parametrize(
    ("photo", "mask"),
    [
        ("MT_Fray/Imgs/a.jpg", "MT_Fray/Imgs/a.png"),
        ("screw/test/thread/003.jpg", "screw/ground_truth/thread/003_mask.png"),
    ],
)
def test_a_mask_lies_where_its_data_set_keeps_it(photo, mask):
    assert mask_path(Path(photo)) == Path(mask)
