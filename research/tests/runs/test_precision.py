"""Precision of pseudo-labels, held against a loop over the rows."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from spadework import SPADE, scenarios
from spadework.errors import DataError, InputError
from spadework_research.report import build_report
from spadework_research.runs import precision
from spadework_research.runs.precision import (
    PERCENTILES,
    precision_curve,
    read_precision,
    score_by_members,
    write_precision,
)
from spadework_research.runs.results import Result, write_result

SCENARIOS = (
    scenarios.new_types,
    scenarios.negatives_only,
    scenarios.positives_only,
    scenarios.easiness,
    scenarios.high_risk,
    scenarios.time_varying,
)


def made_table(n_rows=800, seed=0, n_train=None):
    """Four kinds of rows; the first column numbers them, so they can be told apart."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(4, n_rows, p=[0.88, 0.04, 0.04, 0.04])
    X = rng.normal(4.0 * kind[:, None], 1.0, (n_rows, 3))
    X[:, 0] = np.arange(n_rows)
    return scenarios.LabeledTable(X, kind, given=(1, 2), n_train=n_train)


@pytest.fixture(scope="module")
def curve():
    return precision_curve(made_table(), 3)


@pytest.mark.parametrize("scenario", SCENARIOS)
@pytest.mark.parametrize("n_train", [None, 150])
@given(seed=st.integers(0, 10_000))
@examples(5)
def test_training_kinds_are_those_of_every_scenarios_rows(scenario, n_train, seed):
    if scenario is scenarios.time_varying and n_train is None:
        return
    table = made_table(seed=seed, n_train=n_train)
    trial = scenario(table, seed)
    rows = trial.X[:, 0].astype(int)
    np.testing.assert_array_equal(scenarios.training_kinds(table, seed), table.kind[rows])


def by_hand(curve):
    """Fit again and rank row by row, with the truth looked up by row number."""
    table = made_table()
    trial = scenarios.new_types(table, curve.seed)
    detector = SPADE(learner="forest", random_state=curve.seed).fit(trial.X, trial.y)
    unlabeled = [row for row in range(len(trial.X)) if trial.y[row] == -1]
    anomalous = [bool(table.kind[int(trial.X[row, 0])]) for row in unlabeled]
    scores = score_by_members(detector, trial.X[unlabeled]).scores
    ranks = [
        np.mean(
            [
                (member < member[row]).sum() + ((member == member[row]).sum() + 1) / 2
                for member in scores.T
            ]
        )
        for row in range(len(unlabeled))
    ]
    return detector, unlabeled, anomalous, ranks


def test_the_curve_is_that_of_a_loop_over_the_rows(curve):
    detector, unlabeled, anomalous, ranks = by_hand(curve)
    assert curve.n_unlabeled == len(unlabeled)
    assert curve.base_rate == pytest.approx(np.mean(anomalous), abs=1e-6)
    for percentile, above, below in zip(
        PERCENTILES, curve.anomaly, curve.normal, strict=True
    ):
        cut = np.percentile(ranks, percentile)
        high = [truth for truth, rank in zip(anomalous, ranks, strict=True) if rank > cut]
        low = [truth for truth, rank in zip(anomalous, ranks, strict=True) if rank < cut]
        assert above == pytest.approx(np.mean(high), abs=1e-6)
        assert below == pytest.approx(1 - np.mean(low), abs=1e-6)
    given = detector.pseudo_labels_.labels
    truths = [
        [truth for truth, label in zip(anomalous, given, strict=True) if label == wanted]
        for wanted in (1, 0)
    ]
    assert curve.n_pseudo_anomalies == len(truths[0]) > 0
    assert curve.n_pseudo_normals == len(truths[1]) > 0
    assert curve.pseudo_anomaly_precision == pytest.approx(np.mean(truths[0]), abs=1e-6)
    assert curve.pseudo_normal_precision == pytest.approx(
        1 - np.mean(truths[1]), abs=1e-6
    )


def test_thresholds_are_mean_percentiles_of_the_members_own_scores(curve):
    detector, _, _, _ = by_hand(curve)
    trial = scenarios.new_types(made_table(), curve.seed)
    members = score_by_members(detector, trial.X[trial.y == -1])
    above = [
        100 * np.mean(scores > threshold)
        for scores, threshold in zip(members.scores.T, members.anomaly, strict=True)
    ]
    below = [
        100 * np.mean(scores < threshold)
        for scores, threshold in zip(members.scores.T, members.normal, strict=True)
    ]
    assert curve.anomaly_threshold == pytest.approx(100 - np.mean(above), abs=1e-5)
    assert curve.normal_threshold == pytest.approx(np.mean(below), abs=1e-5)


def test_member_scores_lead_to_the_votes_of_the_detector():
    trial = scenarios.new_types(made_table(), 0)
    detector = SPADE(learner="forest", random_state=0).fit(trial.X, trial.y)
    members = score_by_members(detector, trial.X_test)
    above, below = members.scores > members.anomaly, members.scores < members.normal
    votes = detector.pseudo_label(trial.X_test).votes
    np.testing.assert_array_equal(votes == 1, above & ~below)
    np.testing.assert_array_equal(votes == 0, below & ~above)


def test_a_share_of_no_rows_is_none():
    none = np.zeros(3, dtype=bool)
    assert precision._share(~none, none) is None


def test_the_same_seed_gives_the_same_curve(curve):
    assert precision_curve(made_table(), 3) == curve


def test_a_written_curve_is_read_back_and_drawn(tmp_path, monkeypatch, curve):
    source = SimpleNamespace(load=made_table)
    monkeypatch.setattr(precision, "get_dataset", lambda name: source)
    write_precision(tmp_path, ["drug"], seed=3)
    write_precision(tmp_path, ["thyroid"], seed=3)
    assert read_precision(tmp_path) == {"drug": curve, "thyroid": curve}
    run = Result(
        *("new_types", "drug", "drug", "new_types", 0.05, "PNU", "spade", 0),
        status="failed",
        reason="not today",
    )
    write_result(run, tmp_path)
    report = build_report(tmp_path)
    assert report.html.count("Precision of pseudo-labels on") == 2
    assert "| covertype | not run |" in report.markdown
    assert f"| drug | {curve.n_unlabeled} |" in report.markdown


def test_a_broken_file_is_named(tmp_path):
    (tmp_path / "pseudo_labels.json").write_text('{"drug": {"seed": 0}}')
    with pytest.raises(DataError, match=r"pseudo_labels\.json holds no precision curves"):
        read_precision(tmp_path)


def test_images_are_refused(tmp_path, monkeypatch):
    source = SimpleNamespace(load=object)
    monkeypatch.setattr(precision, "get_dataset", lambda name: source)
    with pytest.raises(InputError, match="holds images"):
        write_precision(tmp_path, ["magnetic_tile"])
