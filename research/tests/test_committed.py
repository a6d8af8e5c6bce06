"""The committed results are sound, and their report is what it says."""

from collections import defaultdict

import pytest

from spadework_research.places import results_folder
from spadework_research.report import build_report
from spadework_research.runs.methods import METHODS
from spadework_research.runs.results import read_results
from spadework_research.runs.tables import TABLES

FOLDER = results_folder()


@pytest.fixture(scope="module")
def results():
    found = read_results(FOLDER)
    assert found
    return found


def test_every_result_belongs_to_a_column_and_a_method_that_exist(results):
    columns = {
        (table.name, column.key): column
        for table in TABLES.values()
        for column in table.columns
    }
    for result in results:
        column = columns[result.table, result.column]
        assert result.method in METHODS
        assert column.setting in METHODS[result.method].settings
        assert (result.dataset, result.scenario) == (column.dataset, column.scenario)


def test_results_come_from_whole_tables(results):
    rows = {
        "thyroid": 3_772,
        "drug": 942,
        "covertype": 290_506,
        "creditcard": 142_403,
        "magnetic_tile": 1_075,
        "mvtec_ad/bottle": 233,
        "mvtec_ad/screw": 384,
    }
    assert all(
        result.n_train == rows[result.dataset] for result in results if result.n_train
    )


def test_the_default_has_five_seeds_in_every_column_that_it_was_run_on(results):
    seeds = defaultdict(set)
    for result in results:
        if result.method == "spade" and result.status == "ok":
            seeds[result.table, result.column].add(result.seed)
    assert {"thyroid", "drug"} <= {column for _, column in seeds}
    assert all(each == set(range(5)) for each in seeds.values())


def test_the_committed_report_is_what_the_results_give():
    report = build_report(FOLDER)
    assert (FOLDER / "report.md").read_text() == report.markdown
