"""A sweep leaves one whole row a run and goes on where it stopped."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import worker_jobs
from properties import examples
from spadework.core.cores import usable_cores
from spadework.errors import InputError
from spadework_research.datasets.catalog import DATASETS, ImageDataset
from spadework_research.runs import benchmark, measurement, methods
from spadework_research.runs.benchmark import Summary, plan, run_benchmark
from spadework_research.runs.measurement import execute
from spadework_research.runs.methods import METHODS, Method
from spadework_research.runs.results import read_results, results_ledger
from spadework_research.runs.tables import TABLES
from spadework_research.runs.workers import JobError

CHOSEN = {"tables": ["fraud"], "datasets": ["xente"], "methods": ["occ", "srr"]}


@pytest.fixture
def executed(made_data, monkeypatch):
    """Run jobs in this process, and list those that were run."""
    begun = []

    def run_here(work, next_job, on_end, *, n_workers, limit_seconds, hide_gpu):
        last = None
        while (job := next_job(last)) is not None:
            begun.append(job)
            try:
                answer = work(job)
            except Exception as error:
                answer = JobError(f"{type(error).__name__}: {error}")
            on_end(job, answer)
            last = job

    monkeypatch.setattr(benchmark, "run_jobs", run_here)
    return begun


def sweep(folder, **changes):
    return run_benchmark(folder, **{**CHOSEN, "seeds": 2, "verbose": False, **changes})


def found_in(folder):
    """Results by key, with the times they took: a run that is made again has others."""
    return {result.key: result for result in read_results(folder)}


def broken(seed):
    raise ValueError(f"planted {seed}")


def test_a_plan_has_every_method_that_applies_and_no_other():
    expected = [
        (table.name, column, method, seed)
        for table in TABLES.values()
        for column in table.columns
        for method in table.methods
        for seed in range(2)
        if column.setting in METHODS[method].settings
        and (METHODS[method].make_images if column.photos else METHODS[method].make)
    ]
    planned = plan(seeds=2)
    assert Counter(run[:4] for run in planned) == Counter(expected)
    assert {run.max_rows for run in planned} == {None}


def test_a_plan_holds_what_is_chosen():
    chosen = plan(["pu", "nu"], ["drug"], ["supervised", "occ", "srr"], 3, 500)
    assert {(run.table, run.method) for run in chosen} == {
        ("pu", "srr"),
        ("nu", "srr"),
        ("nu", "occ"),
    }
    assert {run.column.dataset for run in chosen} == {"drug"}
    assert {run.max_rows for run in chosen} == {500}
    assert len(chosen) == 9


@pytest.mark.parametrize(
    ("chosen", "known"),
    [
        ({"tables": ["table_1"]}, TABLES),
        ({"datasets": ["iris"]}, list(DATASETS)[:5]),
        ({"methods": ["oracle"]}, METHODS),
    ],
)
def test_unknown_names_list_the_known_ones(tmp_path, chosen, known):
    with pytest.raises(InputError, match=f"known are {', '.join(known)}"):
        run_benchmark(tmp_path, **chosen)


@pytest.mark.parametrize("seeds", [0, -1])
def test_no_seeds_are_refused(tmp_path, seeds):
    with pytest.raises(InputError, match=f"positive number; got {seeds}"):
        run_benchmark(tmp_path, seeds=seeds)


@given(data=st.data())
@examples(30)
def test_the_queue_hands_out_every_run_once_and_keeps_workers_on_their_trial(data):
    every = plan(["new_types", "easiness", "nu"], ["drug", "thyroid"], seeds=2)
    wanted = data.draw(st.lists(st.sampled_from(every), unique=True, max_size=40))
    n_workers = data.draw(st.integers(1, 4))
    queue = benchmark._Queue(wanted)
    waiting, last = Counter(map(benchmark._trial_of, wanted)), [None] * n_workers
    begun, taken = set(), []
    while len(taken) < len(wanted):
        worker = data.draw(st.integers(0, n_workers - 1))
        run = queue.take(last[worker])
        trial = benchmark._trial_of(run)
        own = benchmark._trial_of(last[worker]) if last[worker] else None
        if waiting[own]:
            assert trial == own
        else:  # one that nobody has begun, as long as there is one
            untouched = {each for each in waiting if waiting[each]} - begun
            assert trial in untouched or not untouched
        waiting[trial] -= 1
        begun.add(trial)
        last[worker] = run
        taken.append(run)
    assert Counter(taken) == Counter(wanted)
    assert all(queue.take(each) is None for each in last)


def test_a_sweep_leaves_one_result_a_run(executed, tmp_path):
    summary = sweep(tmp_path)
    assert summary == Summary(done=8, failed=0, found=0, absent=())
    assert len(executed) == 8
    assert found_in(tmp_path).keys() == {
        ("fraud", column, method, seed)
        for column in ("xente-0.10", "xente-0.20")
        for method in ("occ", "srr")
        for seed in (0, 1)
    }


def test_what_is_there_is_not_run_again(executed, tmp_path):
    sweep(tmp_path)
    before = found_in(tmp_path)
    executed.clear()
    summary = sweep(tmp_path, seeds=3)
    assert summary == Summary(done=4, failed=0, found=8, absent=())
    assert {run.seed for run in executed} == {2}
    assert before.items() <= found_in(tmp_path).items()


def test_a_stopped_sweep_goes_on_with_the_rest(executed, tmp_path, monkeypatch):
    def stopped(run):
        if len(executed) == 4:
            raise KeyboardInterrupt
        return execute(run)

    with monkeypatch.context() as patched:
        patched.setattr(benchmark, "execute", stopped)
        with pytest.raises(KeyboardInterrupt):
            sweep(tmp_path)
    begun, before = list(executed), found_in(tmp_path)
    assert len(before) == 3
    executed.clear()
    assert sweep(tmp_path) == Summary(done=5, failed=0, found=3, absent=())
    assert executed[0] == begun[-1]
    assert not set(executed) & set(begun[:-1])
    assert before.items() <= found_in(tmp_path).items()


def test_failed_runs_are_run_again_only_when_asked(executed, tmp_path, monkeypatch):
    bad = Method("srr", "SRR", broken, METHODS["srr"].settings)
    with monkeypatch.context() as patched:
        patched.setitem(methods.METHODS, "srr", bad)
        assert sweep(tmp_path) == Summary(done=4, failed=4, found=0, absent=())
    reasons = {r.reason for r in read_results(tmp_path) if r.status == "failed"}
    assert reasons == {"ValueError: planted 0", "ValueError: planted 1"}
    executed.clear()
    assert sweep(tmp_path) == Summary(done=0, failed=0, found=8, absent=())
    assert executed == []
    again = sweep(tmp_path, retry_failed=True)
    assert again == Summary(done=4, failed=0, found=4, absent=())
    assert {run.method for run in executed} == {"srr"}
    assert {result.status for result in read_results(tmp_path)} == {"ok"}


def test_a_result_that_is_not_whole_is_made_again(executed, tmp_path):
    sweep(tmp_path)
    journal = results_ledger(tmp_path).journal
    journal.write_bytes(journal.read_bytes()[:-100])
    executed.clear()
    assert sweep(tmp_path) == Summary(done=1, failed=0, found=7, absent=())
    assert len(executed) == 1
    assert len(read_results(tmp_path)) == 8


def test_results_in_the_table_are_not_made_again(executed, tmp_path):
    sweep(tmp_path)
    results_ledger(tmp_path).fold()
    executed.clear()
    assert sweep(tmp_path, seeds=3) == Summary(done=4, failed=0, found=8, absent=())
    assert {run.seed for run in executed} == {2}


def test_absent_data_sets_are_listed_and_skipped(executed, tmp_path):
    summary = sweep(tmp_path, datasets=["creditcard", "xente"])
    assert summary == Summary(done=8, failed=0, found=0, absent=("creditcard",))
    assert {run.column.dataset for run in executed} == {"xente"}


def test_nothing_but_absent_data_is_no_error(executed, tmp_path):
    summary = run_benchmark(tmp_path, seeds=1, datasets=["drug"], verbose=False)
    assert summary == Summary(done=0, failed=0, found=0, absent=("drug",))
    assert executed == []


def test_absent_libraries_are_listed_and_their_methods_skipped(
    executed, tmp_path, monkeypatch
):
    needy = Method("occ", "OCC", broken, METHODS["occ"].settings, library="no_such_one")
    monkeypatch.setitem(methods.METHODS, "occ", needy)
    assert sweep(tmp_path) == Summary(done=4, failed=0, found=0, absent=("occ",))
    assert {run.method for run in executed} == {"srr"}


def test_results_of_another_machine_count_as_found(executed, tmp_path, monkeypatch):
    sweep(tmp_path)
    monkeypatch.setenv("SPADEWORK_DATA", str(tmp_path / "nowhere"))
    assert sweep(tmp_path) == Summary(done=0, failed=0, found=8, absent=("xente",))


def test_a_quick_look_draws_fewer_rows(executed, tmp_path):
    sweep(tmp_path, max_rows=100)
    assert {r.n_train + r.n_test for r in read_results(tmp_path)} == {100}


@pytest.fixture(scope="session")
def bottles(tmp_path_factory):
    """Hold a made category: grey photos, and two types with a square on them."""
    folder = tmp_path_factory.mktemp("photos")
    rng = np.random.default_rng(0)
    sizes = {"train/good": 10, "test/good": 2, "test/crack": 4, "test/hole": 4}
    for kind, n_photos in sizes.items():
        place = folder / "mvtec_ad" / "bottle" / kind
        place.mkdir(parents=True)
        for each in range(n_photos):
            pixels = rng.normal(110, 10, (32, 32, 3)).clip(0, 255).astype(np.uint8)
            if not kind.endswith("good"):
                pixels[8:20, 8:20] = 250
            Image.fromarray(pixels).save(place / f"{each:03}.png")
    return folder


@pytest.fixture
def made_photos(bottles, executed, monkeypatch):
    """Make the made bottles the only data there is; jobs run in this process."""
    monkeypatch.setenv("SPADEWORK_DATA", str(bottles))
    return executed


def test_a_sweep_of_photos_splits_and_labels_them_as_the_paper_does(
    made_photos, tmp_path
):
    summary = run_benchmark(
        tmp_path,
        tables=["images"],
        datasets=["mvtec_ad/bottle", "mvtec_ad/cable"],
        methods=["linear"],
        seeds=1,
        verbose=False,
    )
    assert summary == Summary(done=2, failed=0, found=0, absent=("mvtec_ad/cable",))
    for result in read_results(tmp_path):
        assert result.column == f"mvtec_ad-bottle-{result.scenario}"
        assert (result.n_train, result.n_test) == (16, 4)
        assert result.n_labeled_anomalies > 0
        assert result.auc > 0.9
        assert ("gpu" in result.versions) == torch.cuda.is_available()


def test_photos_come_after_tables_and_are_given_the_gpu(
    executed, bottles, made_data, tmp_path, monkeypatch
):
    both = tmp_path / "data"
    both.mkdir()
    (both / "mvtec_ad").symlink_to(bottles / "mvtec_ad")
    (both / "xente").symlink_to(made_data / "xente")
    monkeypatch.setenv("SPADEWORK_DATA", str(both))
    monkeypatch.setattr(benchmark, "_has_gpu", lambda: True)
    begun = []

    def note(work, next_job, on_end, *, n_workers, limit_seconds, hide_gpu):
        begun.append((next_job(None).column.photos, n_workers, hide_gpu))

    monkeypatch.setattr(benchmark, "run_jobs", note)
    chosen = {"datasets": ["xente", "mvtec_ad/bottle"], "methods": ["spade", "srr"]}
    run_benchmark(tmp_path / "default", **chosen)
    run_benchmark(tmp_path / "three", **chosen, n_jobs=3)
    cores = min(usable_cores(), 20)
    assert begun == [(False, cores, True), (True, benchmark.GPU_JOBS, False)] + [
        (photos, 3, not photos) for photos in (False, True)
    ]


def test_photos_are_absent_where_nothing_can_read_them(
    made_photos, tmp_path, monkeypatch
):
    monkeypatch.setattr(ImageDataset, "libraries", ("no_such_one",))
    summary = run_benchmark(tmp_path, tables=["images"], datasets=["mvtec_ad/bottle"])
    assert summary == Summary(done=0, failed=0, found=0, absent=("mvtec_ad/bottle",))


def test_runs_that_raise_or_die_are_recorded_and_the_others_go_on(
    made_data, tmp_path, monkeypatch
):
    monkeypatch.setattr(benchmark, "execute", worker_jobs.execute_or_die)
    summary = sweep(tmp_path, methods=["srr"], seeds=4, n_jobs=1)
    assert summary == Summary(done=5, failed=3, found=0, absent=())
    found = {(r.column, r.seed): r.reason for r in read_results(tmp_path)}
    assert found.pop(("xente-0.10", 0)).startswith("ValueError: planted (do_as_told, ")
    for seed, code in ((1, 3), (2, -9)):
        reason = found.pop(("xente-0.10", seed))
        assert reason == (
            f"the process died with exit code {code}; memory may have run out"
        )
    assert set(found.values()) == {None}


def test_a_run_that_takes_too_long_is_recorded(made_data, tmp_path, monkeypatch):
    monkeypatch.setattr(benchmark, "execute", worker_jobs.hang)
    summary = sweep(tmp_path, methods=["srr"], seeds=1, n_jobs=2, limit_seconds=0.2)
    assert summary == Summary(done=0, failed=2, found=0, absent=())
    for result in read_results(tmp_path):
        assert (result.status, result.reason) == ("failed", "took longer than 0.2 s")
        assert result.auc is None


def children_of(process):
    """Processes that a process has started."""
    tasks = Path(f"/proc/{process}/task").glob("*/children")
    return [int(child) for task in tasks for child in task.read_text().split()]


def is_running(process):
    try:
        return " Z " not in Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return False


def wait_until(holds, *, seconds=60):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.02)


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux")
@pytest.mark.parametrize("how", ["killed", "interrupted"])
def test_a_sweep_that_is_ended_half_way_leaves_whole_results_and_goes_on(
    executed, tmp_path, how
):
    code = f"import worker_jobs; worker_jobs.sweep({str(tmp_path)!r})"
    parent = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[1],
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        wait_until(lambda: len(found_in(tmp_path)) >= 4)
        workers = children_of(parent.pid)
        if how == "killed":
            parent.kill()
        else:  # as Ctrl-C does: the workers get it, too
            os.killpg(parent.pid, signal.SIGINT)
        assert parent.wait(timeout=60) != 0
    finally:
        parent.kill()
        parent.wait()
    wait_until(lambda: not any(map(is_running, workers)))
    before = found_in(tmp_path)
    assert len(workers) >= 2
    assert 4 <= len(before) < 32
    assert {result.status for result in before.values()} == {"ok"}
    summary = sweep(tmp_path, seeds=8)
    assert summary == Summary(32 - len(before), failed=0, found=len(before), absent=())
    assert len(executed) == 32 - len(before)
    assert before.items() <= found_in(tmp_path).items()
    assert len(read_results(tmp_path)) == 32


def test_a_question_of_two_tables_is_asked_once(executed, tmp_path):
    chosen = {"datasets": ["xente"], "methods": ["spade"], "seeds": 1}
    both = run_benchmark(tmp_path / "both", tables=["fraud", "parts"], **chosen)
    assert both.done == 4
    assert len(executed) == 2
    found = {(r.table, r.column): r.auc for r in read_results(tmp_path / "both")}
    for share in ("0.10", "0.20"):
        twin = ("parts", f"xente-{share}-time_varying")
        assert found["fraud", f"xente-{share}"] == found[twin]


def test_an_answer_of_another_table_is_taken_over(executed, tmp_path):
    chosen = {"datasets": ["xente"], "methods": ["spade"], "seeds": 1}
    run_benchmark(tmp_path, tables=["fraud"], **chosen)
    executed.clear()
    assert run_benchmark(tmp_path, tables=["parts"], **chosen).done == 2
    assert executed == []
    assert {r.table for r in read_results(tmp_path)} == {"fraud", "parts"}


def test_results_tell_which_code_made_them(executed, tmp_path):
    run_benchmark(tmp_path, **CHOSEN, seeds=1)
    digests = {r.versions["source"] for r in read_results(tmp_path)}
    assert digests == {measurement.source_digest()}
