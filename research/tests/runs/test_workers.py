"""A job that raises, dies or takes too long costs itself, and no other job."""

import multiprocessing
import os
import re
import signal

import pytest

import worker_jobs
from spadework_research.runs.workers import JobError, Worker, run_jobs

PATIENCE = 60.0


@pytest.fixture
def worker():
    made = Worker(worker_jobs.do_as_told, min(os.sched_getaffinity(0)))
    yield made
    made.stop()


def run_all(work, jobs, *, n_workers):
    """Run a list of jobs; returns jobs with answers, and what workers asked with."""
    waiting, ended, asked = list(jobs), [], []

    def next_job(last):
        asked.append(last)
        return waiting.pop(0) if waiting else None

    run_jobs(
        work,
        next_job,
        lambda job, answer: ended.append((job, answer)),
        n_workers=n_workers,
        limit_seconds=PATIENCE,
    )
    return ended, asked


def test_every_job_is_done_once_and_no_process_is_left():
    ended, asked = run_all(worker_jobs.double, range(20), n_workers=2)
    assert sorted(ended) == [(job, 2 * job) for job in range(20)]
    assert asked.count(None) == 2  # each worker's first question
    assert sorted(job for job in asked if job is not None) == list(range(20))
    assert multiprocessing.active_children() == []


def test_no_jobs_need_no_processes():
    assert run_all(worker_jobs.double, [], n_workers=0) == ([], [])


def test_bad_jobs_cost_themselves_only_and_say_why():
    jobs = ["raise", "a", "exit", "b", "kill", "c"]
    ended, _ = run_all(worker_jobs.do_as_told, jobs, n_workers=1)
    assert [job for job, _ in ended] == jobs
    answers = dict(ended)
    assert [answers[job] for job in "abc"] == list("abc")
    for job, reason in {
        "raise": r"ValueError: planted \(do_as_told, line \d+\)",
        "exit": "the process died with exit code 3; memory may have run out",
        "kill": "the process died with exit code -9; memory may have run out",
    }.items():
        assert isinstance(answers[job], JobError)
        assert re.fullmatch(reason, str(answers[job]))


def test_a_job_that_takes_too_long_is_ended_and_the_next_one_done(worker):
    assert worker.do("first", limit_seconds=PATIENCE) == "first"
    with pytest.raises(JobError, match=r"took longer than 0\.3 s"):
        worker.do("hang", limit_seconds=0.3)
    assert worker.do("next", limit_seconds=PATIENCE) == "next"


def test_a_process_that_died_between_jobs_is_started_anew(worker):
    assert worker.do("first", limit_seconds=PATIENCE) == "first"
    (process,) = multiprocessing.active_children()
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert worker.do("next", limit_seconds=PATIENCE) == "next"


def test_workers_are_processes_with_a_core_each():
    n_workers = min(2, len(os.sched_getaffinity(0)))
    ended, _ = run_all(worker_jobs.cores, range(40), n_workers=n_workers)
    core_of = {process: tuple(cores) for _, (process, cores) in ended}
    assert os.getpid() not in core_of
    assert all(len(cores) == 1 for cores in core_of.values())
    assert len(set(core_of.values())) == len(core_of)


def test_an_error_at_our_end_is_raised_and_ends_the_processes():
    jobs = iter(range(5))

    def full_disk(job, answer):
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        run_jobs(
            worker_jobs.double,
            lambda last: next(jobs),
            full_disk,
            n_workers=1,
            limit_seconds=PATIENCE,
        )
    assert next(jobs) == 1  # nothing was begun after the error
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize(("hide_gpu", "seen"), [(True, ""), (False, "7")])
def test_workers_see_a_gpu_only_where_it_is_not_hidden(monkeypatch, hide_gpu, seen):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "7")
    jobs, ended = iter(["one"]), []
    run_jobs(
        worker_jobs.visible_gpus,
        lambda last: next(jobs, None),
        lambda job, answer: ended.append(answer),
        n_workers=1,
        limit_seconds=PATIENCE,
        hide_gpu=hide_gpu,
    )
    assert ended == [seen]
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "7"


def test_a_worker_computes_on_one_thread_and_the_environment_is_left_as_it_was(
    monkeypatch,
):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    ended, _ = run_all(worker_jobs.count_threads, ["one"], n_workers=1)
    assert ended == [("one", 1)]
    assert os.environ["OMP_NUM_THREADS"] == "7"
    assert "MKL_NUM_THREADS" not in os.environ
