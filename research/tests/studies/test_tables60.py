"""The study of sixty tables keeps every row, and halves never change."""

import numpy as np
import pytest

from mismatch import mismatch_data
from spadework.errors import LabelError
from spadework_research.datasets.tables60 import RealTable
from spadework_research.studies.tables60 import (
    Outcome,
    measure,
    read_outcomes,
    run,
    summary,
)


def table():
    X, y, _ = mismatch_data(200, seed=0, missed=0.0)
    fresh, _, truth = mismatch_data(200, seed=1, missed=0.0)
    return RealTable(
        "made", "pnu", X.astype(np.float32), y, fresh.astype(np.float32), truth
    )


class Knowing:
    """Scores by the first three columns, in which the anomalies lie high."""

    threshold_ = 7.5

    def fit(self, X, y):
        return self

    def anomaly_score(self, X):
        return X[:, :3].sum(axis=1)


class Refusing(Knowing):
    def fit(self, X, y):
        raise LabelError("no labels to learn from")


def test_a_row_tells_how_a_detector_did_on_rows_it_has_not_seen():
    outcome = measure(table(), "knowing", 3, Knowing())
    assert outcome.auc > 0.99
    assert outcome.average_precision > 0.95
    assert outcome.anomalies == 30
    assert outcome.calls_are_near
    assert (outcome.method, outcome.table, outcome.seed) == ("knowing", "made", 3)


def test_labels_that_allow_no_fit_are_a_row_with_the_reason():
    outcome = measure(table(), "refusing", 0, Refusing())
    assert outcome.auc is None
    assert outcome.refused == "no labels to learn from"


@pytest.mark.parametrize(
    ("called", "near"), [(4, False), (5, True), (10, True), (20, True), (21, False)]
)
def test_calls_are_near_between_half_and_twice_the_truth(called, near):
    outcome = Outcome("m", "t", "pu", "A", 0, 0.5, 0.1, called, 10, 0.0)
    assert outcome.calls_are_near is near


def archive(path):
    parts = dict(zip(("X", "y", "T", "k"), table()[2:], strict=True))
    np.savez(path, **{f"made|pnu|{key}": value for key, value in parts.items()})
    return path


def test_what_was_measured_is_not_measured_again(tmp_path):
    file, results = archive(tmp_path / "tables.npz"), tmp_path / "results.jsonl"
    run(file, ["extra_trees"], results)
    first = results.read_text()
    run(file, ["extra_trees", "negative_extra_trees"], results)
    assert results.read_text().startswith(first)
    outcomes = read_outcomes(results)
    assert [(o.method, o.seed) for o in outcomes] == [
        ("extra_trees", 0),
        ("extra_trees", 1),
        ("negative_extra_trees", 0),
        ("negative_extra_trees", 1),
    ]


def test_the_summary_tells_means_by_half_and_scenario():
    outcomes = [
        Outcome("m", "one", "pu", "A", 0, 0.9, 0.5, 10, 10, 0.0),
        Outcome("m", "two", "nu", "B", 0, 0.7, 0.3, 90, 10, 0.0),
        Outcome("m", "three", "nu", "B", 0, None, None, None, 10, 0.0, "refused"),
    ]
    head, row = summary(outcomes)
    assert head.split() == ["A", "B", "all", "A", "pu", "B", "nu", "calls", "tables"]
    assert row.split() == [
        "m",
        "0.900/0.500",
        "0.700/0.300",
        "0.800/0.400",
        "0.900/0.500",
        "0.700/0.300",
        "0.50",
        "2",
    ]
