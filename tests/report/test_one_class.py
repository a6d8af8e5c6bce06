"""The report shows the scores, thresholds and votes that pseudo-labels rest on."""

import dataclasses

import numpy as np
import pytest

from reported import made_table
from spadework import SPADE, ForestLearner
from spadework.report.one_class import N_MARKS, describe_one_class
from spadework.table_fitting import fit_table


@pytest.fixture(scope="module")
def found(model):
    return describe_one_class(model)


def with_detector(model, **changes):
    """The same model with another pseudo-labeler."""
    labeler = dataclasses.replace(model.detector.pseudo_labeler_, **changes)
    detector = SPADE(learner=ForestLearner())
    vars(detector).update(vars(model.detector), pseudo_labeler_=labeler)
    return dataclasses.replace(model, detector=detector)


def test_every_member_has_its_own_thresholds_as_fitted(model, found):
    thresholds = model.detector.pseudo_labels_.thresholds
    shown = [each["scores"] for each in found["members"]]
    assert [each["normal"] for each in shown] == thresholds.normal.tolist()
    assert [each["anomaly"] for each in shown] == thresholds.anomaly.tolist()


def test_drawn_thresholds_lead_back_to_scores(found):
    for each in found["members"]:
        for name, at in each["thresholds"].items():
            score = each["origin"] + each["unit"] * np.expm1(at)
            assert score == pytest.approx(each["scores"][name])


def test_votes_and_pseudo_labels_are_counted_on_all_unlabeled_rows(model, found):
    pseudo = model.detector.pseudo_labels_
    assert found["called"]["anomaly"] == pseudo.n_anomalies
    assert sum(found["called"].values()) == found["n_rows"] == len(pseudo.labels)
    for k, each in enumerate(found["members"]):
        assert each["votes"]["normal"] == (pseudo.votes[:, k] == 0).sum()
        assert sum(each["votes"].values()) == found["n_rows"]


def test_no_bin_lies_across_a_threshold(found):
    for each in found["members"]:
        edges, normal = np.array(each["edges"]), each["thresholds"]["normal"]
        below = edges[1:] <= normal
        assert np.array(each["counts"]["normal"])[~below].sum() == 0
        assert np.array(each["counts"]["abstain"])[below].sum() == 0
        assert sum(map(sum, each["counts"].values())) == found["n_shown"]


def test_marks_are_labeled_rows_a_few_of_many(model, found):
    n_anomalies = model.detector.census_.n_anomalies
    for each in found["members"]:
        assert len(each["marks"]["anomaly"]) == min(n_anomalies, N_MARKS)
        assert len(each["marks"]["normal"]) == N_MARKS
        assert min(each["marks"]["normal"]) >= each["edges"][0]


def test_members_whose_thresholds_cross_are_shown_to_vote_both_ways(model):
    thresholds = model.detector.pseudo_labeler_.thresholds
    crossed = with_detector(
        model,
        abstain=False,
        thresholds=thresholds._replace(normal=thresholds.anomaly + 1.0),
    )
    counts = describe_one_class(crossed)["members"][0]["counts"]
    assert sum(counts["both"]) > 0


def test_members_that_find_all_rows_alike_are_drawn(model):
    n_members = len(model.detector.pseudo_labels_.thresholds.normal)

    class Indifferent:
        def score(self, X):
            return np.full((len(X), n_members), 3.0)

    (first, *_) = describe_one_class(with_detector(model, members=Indifferent()))[
        "members"
    ]
    assert np.isfinite(first["edges"]).all()
    assert (np.diff(first["edges"]) > 0).all()


def test_there_is_nothing_to_show_where_every_row_is_labeled():
    table = made_table(200, 3, labeled=1.0)
    detector = SPADE(learner=ForestLearner(n_trees=5), random_state=0)
    model = fit_table(
        table, label="status", label_map={"fraud": 1, "ok": 0}, detector=detector
    )
    assert describe_one_class(model) is None
