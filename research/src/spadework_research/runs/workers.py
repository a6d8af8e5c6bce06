"""Processes that take one job after another, and whose death costs one job only."""

import multiprocessing
import os
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any, TypeVar

Job = TypeVar("Job")
Work = Callable[[Any], Any]

_PROCESSES = multiprocessing.get_context("spawn")

_ONE_CORE = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}
"""Libraries start their threads when they are imported, which is before a worker can
keep to its core: on 16 cores, 16 workers of 16 threads each would wait for each other."""

_NO_GPU = {"CUDA_VISIBLE_DEVICES": ""}
"""Workers on tables do not share a GPU: networks for tables are so small that one alone
trains on it no faster than on one core."""


class JobError(Exception):
    """A job that raised, died or took too long; the message says which."""


class Worker:
    """A process of its own on a core of its own, started anew should it die."""

    def __init__(self, work: Work, core: int) -> None:
        self._work, self._core = work, core
        self._start()

    def do(self, job: Any, *, limit_seconds: float) -> Any:
        """Run ``work(job)`` in the process and return what it returns."""
        if not self._process.is_alive():
            self._start()
        try:
            self._connection.send(job)
            if not self._connection.poll(limit_seconds):
                self.stop()
                raise JobError(f"took longer than {limit_seconds:g} s")
            succeeded, answer = self._connection.recv()
        except (EOFError, ConnectionError) as error:
            self._process.join()
            raise JobError(
                f"the process died with exit code {self._process.exitcode}; memory may "
                f"have run out"
            ) from error
        if not succeeded:
            raise JobError(answer)
        return answer

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._process.join()

    def _start(self) -> None:
        self._connection, theirs = _PROCESSES.Pipe()
        self._process = _PROCESSES.Process(
            target=_serve, args=(theirs, self._work, self._core), daemon=True
        )
        self._process.start()
        theirs.close()


def run_jobs(
    work: Work,
    next_job: Callable[[Job | None], Job | None],
    on_end: Callable[[Job, Any], None],
    *,
    n_workers: int,
    limit_seconds: float,
    hide_gpu: bool = True,
) -> None:
    """Run jobs until there are none left.

    Parameters
    ----------
    work : callable
        A function of a module, called in the worker processes.
    next_job : callable
        Given the last job of a worker, or None, returns its next one, or None.
    on_end : callable
        Called in this process with a job and what ``work`` returned, or a `JobError`.
    hide_gpu : bool
        Keep the processes from a GPU; otherwise all of them share it.
    """
    lock = threading.Lock()
    stopped = threading.Event()
    failures: list[BaseException] = []

    def drive(worker: Worker) -> None:
        last: Job | None = None
        try:
            while not stopped.is_set():
                with lock:
                    job = next_job(last)
                if job is None:
                    return
                try:
                    answer = worker.do(job, limit_seconds=limit_seconds)
                except JobError as failure:
                    answer = failure
                with lock:
                    if stopped.is_set():  # it did not fail, we have ended it
                        return
                    on_end(job, answer)
                last = job
        except BaseException as error:  # such as a full disk: no job can go on
            failures.append(error)
            stopped.set()

    environment = _ONE_CORE | (_NO_GPU if hide_gpu else {})
    with _environment(environment), _workers(work, n_workers) as workers:
        threads = [
            threading.Thread(target=drive, args=(worker,), daemon=True)
            for worker in workers
        ]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                thread.join()
        finally:
            stopped.set()
    if failures:
        raise failures[0]


@contextmanager
def _workers(work: Work, n_workers: int) -> Iterator[list[Worker]]:
    """Start workers and end them, come what may."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
    workers = [Worker(work, cores[each % len(cores)]) for each in range(n_workers)]
    try:
        yield workers
    finally:
        for worker in workers:
            worker.stop()


@contextmanager
def _environment(variables: dict[str, str]) -> Iterator[None]:
    """Set environment variables, which processes started meanwhile inherit."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value


def _serve(connection: Connection, work: Work, core: int) -> None:
    """Do jobs as they come, on one core, until the other side is gone."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})
    while True:
        try:
            job = connection.recv()
        except (EOFError, KeyboardInterrupt):
            return
        try:
            answer = True, work(job)
        except KeyboardInterrupt:
            return
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            answer = (
                False,
                f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})",
            )
        connection.send(answer)
