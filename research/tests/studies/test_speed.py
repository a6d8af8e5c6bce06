"""Speed is told as it was measured, and what is timed gives what it is compared with."""

import json

import numpy as np
import pytest

from spadework_research.studies import speed
from spadework_research.studies.speed import RESULTS, gaussians, seconds, with_table


@pytest.fixture(scope="module")
def results():
    return json.loads(RESULTS.read_text())


def test_only_the_table_between_its_marks_is_written_anew(results):
    start, end = (
        "<!-- speed table: written by make bench -->",
        "<!-- end of speed table -->",
    )
    readme = f"before {start} old numbers {end} after"
    written = with_table(readme, results)
    assert written.startswith(f"before {start}\n| what | measured |\n")
    assert written.endswith(f"{end} after")
    assert "old numbers" not in written
    assert with_table(written, results) == written


def test_the_table_tells_what_was_measured(results):
    found = speed.speed_table(
        results | {"fits": results["fits"] | {"fit_seconds": 12.34}}
    )
    assert "12.3 s" in found
    assert all(line.count("|") == 3 for line in found.splitlines())


def test_the_best_of_several_times_counts(monkeypatch):
    clock = iter([0.0, 3.0, 10.0, 11.0, 20.0, 22.0])
    monkeypatch.setattr(speed.time, "perf_counter", lambda: next(clock))
    assert seconds(lambda: None, repeats=3) == 1.0


def test_gaussians_that_are_timed_agree_with_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4)).astype(np.float32)
    y = np.repeat([-1, 0, 1], [500, 80, 20])
    assert gaussians(X, y)["largest_relative_difference"] < 1e-3


def test_steps_that_are_named_are_measured_and_the_rest_is_kept(
    tmp_path, monkeypatch, results
):
    kept, readme = tmp_path / "speed.json", tmp_path / "README.md"
    kept.write_text(json.dumps(results))
    readme.write_text(speed.README.read_text())
    monkeypatch.setattr(speed, "RESULTS", kept)
    monkeypatch.setattr(speed, "README", readme)
    monkeypatch.setattr(
        speed, "start_up", lambda: results["start_up"] | {"help_seconds": 7}
    )
    monkeypatch.setattr(speed.sys, "argv", ["speed", "start_up"])
    speed.main()
    found = json.loads(kept.read_text())
    assert found["start_up"]["help_seconds"] == 7
    assert found["forest"] == results["forest"]
    assert "7.00 s |" in readme.read_text()
