"""A study asks for every cell once, goes on where it stopped, and ends with finals."""

from multiprocessing.pool import ThreadPool
from threading import Event
from types import SimpleNamespace

import pytest

from spadework_research.reproduction import study
from spadework_research.reproduction.options import ABLATIONS, name_of, one_factor
from spadework_research.reproduction.study import (
    ALL,
    CHEAP,
    SCENARIOS,
    Listed,
    Study,
    Task,
    is_ablated,
    pack,
    read_lines,
    run_study,
)

TASK = Task({"scaling": "asinh"}, "drug", ("pu", "easiness"), (0, 1))


def lines_of(task, auc=0.8):
    return [
        {
            "setting": task.setting,
            "table": task.table,
            "scenario": scenario,
            "seed": seed,
            "auc": [auc, auc, auc],
            "epochs": 3,
            "pseudo": [1, 2],
        }
        for scenario in task.scenarios
        for seed in task.seeds
    ]


def tasks_of(queue):
    return list(iter(queue.next_task, None))


def test_what_is_written_is_read_and_a_line_that_was_cut_off_is_left_out(tmp_path):
    path = tmp_path / "lines.jsonl"
    path.write_text(pack(lines_of(TASK)) + '{"setting": {}, "tab')
    assert read_lines([path]) == lines_of(TASK)
    assert len(path.read_text().splitlines()) == 3  # seeds share a line


def test_listed_tasks_that_were_run_are_left_out():
    other = TASK._replace(table="thyroid")
    begun = lines_of(TASK) + lines_of(other)[:-1]
    assert tasks_of(Listed([TASK, other], begun)) == [other]


def test_a_study_begins_with_the_centre_and_its_changes_on_small_tables():
    tasks = tasks_of(Study({}, [TASK.setting], [], {}))
    wanted = {(name_of(each), table) for each in one_factor({}) for table in CHEAP}
    assert {(name_of(task.setting), task.table) for task in tasks} == wanted
    keys = [key for task in tasks for key in task.keys]
    assert len(set(keys)) == len(keys)


def test_a_study_does_not_ask_for_what_is_there():
    first, *rest = tasks_of(Study({}, [], [], {}))
    assert tasks_of(Study({}, [], lines_of(first), {})) == rest


def test_the_nearest_gets_its_ablations_and_more_seeds_first():
    lines = [
        line
        for table in ALL
        for line in lines_of(Task({}, table, SCENARIOS[:3], (0, 1, 2)))
    ]
    tasks = tasks_of(Study({}, [], lines, {}, n_finalists=1, more_seeds=(3, 4)))
    finals = tasks[: 3 * len(ABLATIONS)]
    assert {name_of(task.setting) for task in finals} == {
        name_of(change) for change in ABLATIONS.values()
    }
    assert {task.table for task in finals} == set(ALL)
    assert Task({}, "drug", SCENARIOS, (3, 4)) in tasks


@pytest.fixture
def run_here(monkeypatch):
    """Run tasks in threads; those on thyroid fail, and those on covertype never end."""
    never = Event()

    def run_task(task):
        if task.table == "thyroid":
            raise ValueError("planted")
        if task.table == "covertype":
            never.wait()
        return lines_of(task)

    monkeypatch.setattr(study, "run_task", run_task)
    threads = SimpleNamespace(Pool=ThreadPool)
    monkeypatch.setattr(study, "get_context", lambda how: threads)
    yield
    never.set()


def test_lines_are_written_as_they_come_and_failures_are_told(run_here, tmp_path, capsys):
    out = tmp_path / "lines.jsonl"
    tasks = [TASK, TASK._replace(table="thyroid"), TASK._replace(seeds=(2,))]
    listed = Listed(tasks, [])
    assert run_study(listed, out, workers=2, minutes=1) == 6
    assert len(read_lines([out])) == len(listed.lines) == 6
    assert "failed: ValueError('planted')" in capsys.readouterr().out


def test_a_study_ends_when_the_time_is_up(run_here, tmp_path, monkeypatch):
    clock = iter([0, 0, 61])  # at the start, at the first task, behind it
    monkeypatch.setattr(study, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    out = tmp_path / "lines.jsonl"
    tasks = [TASK, TASK._replace(table="covertype")]
    assert run_study(Listed(tasks, []), out, workers=2, minutes=1) == 4


@pytest.mark.parametrize("change", ABLATIONS.values(), ids=ABLATIONS)
def test_ablations_are_told_from_readings(change):
    assert is_ablated(change)
    assert not is_ablated({"scaling": "asinh"})
