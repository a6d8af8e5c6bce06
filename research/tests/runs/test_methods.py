"""Methods make seeded detectors where they apply, and differ."""

from pathlib import Path

import pytest

from spadework.base import AnomalyDetector
from spadework.errors import InputError
from spadework_research.runs import methods
from spadework_research.runs.methods import METHODS, Method, get_method


def test_an_unknown_method_lists_the_known_ones():
    with pytest.raises(InputError, match=f"'oracle'; known are {', '.join(METHODS)}"):
        get_method("oracle")


@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_a_method_makes_a_seeded_detector_that_can_learn_where_it_applies(method):
    for photos, make in ((False, method.make), (True, method.make_images)):
        if make is None:
            with pytest.raises(InputError, match=f"{method.name} is not for"):
                method.detector(7, photos=photos)
            continue
        detector = method.detector(7, photos=photos)
        assert isinstance(detector, AnomalyDetector)
        assert detector.random_state == 7
        assert set(method.settings) <= set(detector.settings)
    assert get_method(method.name) is method
    assert Path(method.name).name == method.name


def test_methods_have_labels_of_their_own_and_differ_in_what_they_make():
    compared = [METHODS[name] for name in METHODS]
    assert len({method.label for method in compared}) == len(compared)
    for photos in (False, True):
        made = {
            name: repr(method.detector(0, photos=photos))
            for name, method in METHODS.items()
            if (method.make_images if photos else method.make)
        }
        same = [name for name in made if list(made.values()).count(made[name]) > 1]
        # A sweep passes through the published weight.
        assert set(same) <= {*methods.SWEPT, *methods.SWEPT_LITERAL}


def test_a_method_without_its_library_is_not_available():
    assert METHODS["spade"].is_available()
    missing = Method("new", "New", METHODS["srr"].make, ("PNU",), library="no_such_one")
    assert not missing.is_available()
