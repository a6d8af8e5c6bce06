"""What ships keeps the contract of contract.py, with its defaults as they are."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import contract
from golden import BRIEF
from mismatch import mismatch_data
from pictures import made_pictures
from spadework import SPADE, ImageSPADE, InContextDetector
from spadework.errors import LabelError
from spadework.images.paper import PaperLearner


def default(**parameters):
    return SPADE(**{"random_state": 0, **parameters})


def network(**parameters):
    return default(learner="network", **parameters)


def forest(**parameters):
    return default(learner="forest", **parameters)


# On some seeds the ReLU code of the published form dies and scores are constant.
def paper(**parameters):
    return SPADE.paper(**{"random_state": 0, **parameters})


def in_context(**parameters):
    return InContextDetector(**{"random_state": 0, "device": "cpu", **parameters})


def pictures(**parameters):
    return ImageSPADE(**{"size": 64, "random_state": 0, **parameters})


def paper_of_pictures(**parameters):
    return pictures(learner=PaperLearner(options=BRIEF), **{"size": 32, **parameters})


def isolation_forest(**parameters):
    return forest(one_class="isolation_forest", **parameters)


def neighbours(**parameters):
    return forest(one_class="neighbours", **parameters)


def svm(**parameters):
    return forest(one_class="svm", **parameters)


def draw_pictures(n, seed, *, missed=0.5, rate=0.15, labeled=0.2):
    """A sixth of so many pictures, their labels as those of rows, and the truth."""
    n = max(12, n // 6)
    pixels, truth, _ = made_pictures(n, max(4, round(rate * n)), seed)
    y = np.full(n, -1)
    y[np.flatnonzero(truth)[::2]] = 1
    y[np.flatnonzero(truth == 0)[:: round(1 / labeled)]] = 0
    return pixels, y, truth


pictures.draw = paper_of_pictures.draw = draw_pictures
# Convolutions sum in another order for one picture than for several.
pictures.close = paper_of_pictures.close = 1e-3

FINDS = {
    "PNU": contract.check_finds_easy_anomalies_from_both_kinds_of_labels,
    "PU": contract.check_finds_easy_anomalies_from_labeled_anomalies,
    "NU": contract.check_finds_easy_anomalies_from_labeled_normals,
}
SHIPPED = (default, network, forest, paper, in_context, pictures, paper_of_pictures)
LEFT_OUT = {
    # Nothing in the published form makes anomalies appear among the pseudo-labels.
    (paper, FINDS["NU"]),
    # Where its code dies, as on one seed of four here, it learns nothing.
    (paper, contract.check_learns_from_true_labels_and_nothing_from_shuffled_ones),
    # A few short steps, as are measured here, find nothing in pictures.
    *((paper_of_pictures, find) for find in FINDS.values()),
}
OPTIONS = (isolation_forest, neighbours, svm)
"""One-class classifiers by name: what depends on them."""

OF_OPTIONS = (
    FINDS["NU"],
    contract.check_neither_layout_nor_series_nor_what_was_drawn_before_change_the_fit,
    contract.check_a_row_scores_the_same_alone_and_among_others,
    contract.check_a_pickled_detector_predicts_the_same,
    contract.check_inputs_are_left_unchanged,
    contract.check_global_random_state_and_threads_are_left_alone,
)
CASES = [
    *((make, check) for make in SHIPPED for check in contract.checks_of(make)),
    *((make, check) for make in OPTIONS for check in OF_OPTIONS),
]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Keep libraries from waiting for cores that are busy with other tests."""
    with threadpool_limits(1):
        yield


@pytest.mark.parametrize(
    ("make_detector", "check"),
    [
        pytest.param(make, check, id=f"{make.__name__}-{check.__name__[6:]}")
        for make, check in CASES
        if (make, check) not in LEFT_OUT
    ],
)
def test_detector_keeps_the_contract(make_detector, check):
    check(make_detector)


@pytest.mark.parametrize("label", [0, 1, -1])
def test_labels_that_are_all_the_same_are_refused_with_a_way_out(label):
    X, _, _ = mismatch_data(100, seed=0)
    with pytest.raises(LabelError, match=r"Label at least|Add unlabeled rows"):
        default(label_map={1: 1, 0: 0, -1: -1}).fit(X, np.full(100, label))
