"""Results survive the disk as they were, and what is not a result is refused."""

from dataclasses import asdict, fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spadework.errors import DataError
from spadework_research.runs.results import (
    FAILED,
    Result,
    parse_result,
    read_results,
    results_ledger,
    write_result,
)

DONE = Result(
    table="fraud",
    column="xente-0.10",
    dataset="xente",
    scenario="time_varying",
    share=0.1,
    setting="PNU",
    method="srr",
    seed=3,
    auc=0.9,
    auc_given=0.9,
    auc_missed=None,
    average_precision=0.5,
    fit_seconds=1.5,
    score_seconds=0.25,
    peak_memory_mb=200.0,
    n_train=100,
    n_test=90,
    n_labeled_anomalies=2,
    n_labeled_normals=8,
    config={"threshold": "'auto'"},
    versions={"numpy": "2.0"},
)
BROKEN = replace(
    Result(**{name: asdict(DONE)[name] for name in list(asdict(DONE))[:8]}),
    status=FAILED,
    reason="ValueError: planted",
)

names = st.from_regex(r"[a-z][a-z0-9_.-]{0,20}", fullmatch=True)
shares = st.floats(0, 1)
amounts = st.floats(0, 1e9)
counts = st.integers(0, 10**9)
plain = st.dictionaries(st.text(max_size=5), st.text(max_size=20), max_size=3)
identities = {
    **dict.fromkeys(("table", "column", "dataset", "scenario", "method"), names),
    "share": shares,
    "setting": st.sampled_from(("PNU", "PU", "NU")),
    "seed": st.integers(0, 10**6),
}
measurements = {
    "auc": shares,
    "auc_given": shares | st.none(),
    "auc_missed": shares | st.none(),
    "average_precision": shares,
    "brier_score": shares | st.none(),
    "calibration_error": shares | st.none(),
    **dict.fromkeys(("fit_seconds", "score_seconds", "peak_memory_mb"), amounts),
    **dict.fromkeys(
        ("n_train", "n_test", "n_labeled_anomalies", "n_labeled_normals"), counts
    ),
}
results = st.builds(
    Result, **identities, **measurements, config=plain, versions=plain
) | st.builds(
    Result, **identities, status=st.just(FAILED), reason=st.text(), versions=plain
)


@given(found=st.lists(results, max_size=4, unique_by=lambda result: result.key))
def test_what_is_written_is_read(found, tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    for result in found:
        write_result(result, folder)
    in_order = sorted(found, key=lambda result: result.key)
    assert read_results(folder) == in_order
    results_ledger(folder).fold()
    assert read_results(folder) == in_order


def test_a_later_result_takes_the_place_of_an_earlier_one(tmp_path):
    write_result(BROKEN, tmp_path)
    write_result(DONE, tmp_path)
    assert read_results(tmp_path) == [DONE]


def test_results_come_in_order_of_their_keys(tmp_path):
    for seed in (2, 10, 1):
        write_result(replace(DONE, seed=seed), tmp_path)
    assert [result.seed for result in read_results(tmp_path)] == [1, 2, 10]


def test_an_empty_folder_holds_no_results(tmp_path):
    assert read_results(tmp_path / "nowhere") == []


BAD = {
    **dict.fromkeys(("table", "column", "dataset", "scenario", "method"), (None, 3)),
    "setting": (None, 3),
    "status": (None, "done", ""),
    "share": (None, "much", -0.1, float("nan")),
    "seed": (None, -1, 0.5, True, "0"),
    "auc": (None, -0.1, 1.1, float("nan"), "high", True),
    "auc_given": (-0.1, 1.1, float("nan"), "high"),
    "auc_missed": (-0.1, 1.1, float("nan"), "high"),
    "average_precision": (None, -0.1, 1.1, float("nan"), "high"),
    "brier_score": (-0.1, 1.1, float("nan"), "high"),
    "calibration_error": (-0.1, 1.1, float("nan"), "high"),
    "fit_seconds": (None, -1.0, float("inf"), "long"),
    "score_seconds": (None, -1.0, float("inf"), "long"),
    "peak_memory_mb": (None, -1.0, float("nan"), "much"),
    "n_train": (None, -1, 0.5, "many"),
    "n_test": (None, -1, 0.5, "many"),
    "n_labeled_anomalies": (None, -1, 0.5, "many"),
    "n_labeled_normals": (None, -1, 0.5, "many"),
    "reason": (3, ["why"]),
    "config": (None, [], "auto"),
    "versions": (None, [], "2.0"),
}


def test_every_field_has_values_that_are_refused():
    assert BAD.keys() == {field.name for field in fields(Result)}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in BAD.items() for value in values]
)
def test_a_bad_field_is_refused_by_its_name(name, value):
    with pytest.raises(DataError, match=rf"^{name} must be "):
        parse_result(asdict(DONE) | {name: value})


@pytest.mark.parametrize("value", [None, 3])
def test_a_failed_run_must_say_why(value):
    with pytest.raises(DataError, match=r"^reason must be text"):
        parse_result(asdict(BROKEN) | {"reason": value})


@pytest.mark.parametrize("name", [field.name for field in fields(Result)])
def test_a_missing_field_is_named(name):
    content = asdict(DONE)
    del content[name]
    with pytest.raises(DataError, match=rf"missing \['{name}'\], unknown \[\]"):
        parse_result(content)


def test_an_unknown_field_is_named():
    with pytest.raises(DataError, match=r"missing \[\], unknown \['colour'\]"):
        parse_result(asdict(DONE) | {"colour": "red"})


@pytest.mark.parametrize("content", [None, [], "auc", 0.9])
def test_what_is_not_a_mapping_is_refused(content):
    with pytest.raises(DataError, match="other fields"):
        parse_result(content)


def test_a_row_that_is_no_result_is_named_with_what_to_do(tmp_path):
    results_ledger(tmp_path).append(asdict(DONE) | {"auc": 2.0})
    match = r"runs\.parquet, table 'fraud'.*seed 3: auc must be 0 to 1.*run it again"
    with pytest.raises(DataError, match=match):
        read_results(tmp_path)


def test_a_measurement_that_is_not_a_number_is_not_written(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        write_result(replace(DONE, auc=float("nan")), tmp_path)
    assert read_results(tmp_path) == []
