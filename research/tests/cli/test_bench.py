"""The bench command chooses what is run, and says how it went."""

import pytest
from typer.testing import CliRunner

from made_results import done, some_results, stored
from spadework_research.cli import bench as command
from spadework_research.cli.bench import QUICK_METHODS, QUICK_TABLES, bench
from spadework_research.runs.benchmark import SEEDS, Summary
from spadework_research.runs.methods import METHODS
from spadework_research.runs.results import read_results
from spadework_research.runs.tables import TABLES


def called(*arguments):
    return CliRunner(env={"COLUMNS": "400"}).invoke(bench, list(map(str, arguments)))


@pytest.fixture
def asked(monkeypatch):
    """What the benchmark was asked for, instead of running it; it fails with --jobs 9."""
    found = {}

    def run_benchmark(folder, **options):
        found.update(options, folder=folder)
        return Summary(2, int(options["n_jobs"] == 9), 3, ("xente",))

    monkeypatch.setattr(command, "run_benchmark", run_benchmark)
    return found


def test_everything_is_run_where_nothing_is_chosen(asked, tmp_path):
    shown = called("--out", tmp_path)
    assert shown.exit_code == 0
    assert asked["folder"] == tmp_path
    assert list(asked["tables"]) == list(TABLES)
    assert asked["methods"] is asked["datasets"] is asked["max_rows"] is None
    assert asked["seeds"] == SEEDS
    assert "2 runs done, 0 failed, 3 were there" in shown.output
    assert "not here, so not run: xente" in shown.output


def test_what_is_chosen_is_run(asked, tmp_path):
    chosen = ["--table", "pu", "--table", "nu", "--data", "drug", "--method", "occ"]
    called(*chosen, "--seeds", 3, "--limit", 9, "--retry-failed", "--out", tmp_path)
    assert asked["tables"] == ["pu", "nu"]
    assert (asked["datasets"], asked["methods"]) == (["drug"], ["occ"])
    assert (asked["seeds"], asked["limit_seconds"]) == (3, 9)
    assert asked["retry_failed"]


def test_a_quick_look_is_small_and_has_a_folder_of_its_own(asked, tmp_path, monkeypatch):
    monkeypatch.setattr(command, "results_folder", lambda quick: tmp_path / f"{quick}")
    called("--quick")
    assert asked["folder"] == tmp_path / "True"
    assert (asked["tables"], asked["methods"]) == (QUICK_TABLES, QUICK_METHODS)
    assert asked["max_rows"] < 10_000
    assert set(QUICK_TABLES) <= TABLES.keys()
    assert set(QUICK_METHODS) <= METHODS.keys()


def test_a_run_that_fails_fails_the_command(asked, tmp_path):
    assert called("--jobs", 9, "--out", tmp_path).exit_code == 1


def test_runs_of_other_machines_take_the_place_of_ours(tmp_path):
    ours = stored([done("pu", "drug", "occ", 0, 0.6)], tmp_path / "ours")
    one = stored([done("pu", "drug", "occ", 0, 0.7)], tmp_path / "one")
    two = stored([done("pu", "drug", "srr", 1, 0.8)], tmp_path / "two")
    shown = called("merge", one, two, "--results", ours)
    assert "2 runs taken over" in shown.output
    assert [(run.method, run.auc) for run in read_results(ours)] == [
        ("occ", 0.7),
        ("srr", 0.8),
    ]


def test_the_report_lies_beside_the_results_or_where_it_is_asked_for(tmp_path):
    folder = stored(some_results(), tmp_path / "results")
    called("report", "--results", folder)
    shown = called("report", "--results", folder, "--out", tmp_path / "report")
    for name in ("report.md", "report.html"):
        assert str(tmp_path / "report" / name) in shown.output
        one, other = folder / name, tmp_path / "report" / name
        assert one.read_bytes() == other.read_bytes()


def test_every_table_and_method_is_listed():
    lines = called("list").output.splitlines()
    listed = {line.strip("│┃ ").split(" ")[0] for line in lines}
    assert TABLES.keys() | METHODS.keys() <= listed
