"""Work for the processes of tests: they import it by name, so it lives in a module.

Heavy imports stay inside functions, since every process pays for those on top.
"""

import os
import signal
import time

from spadework_research.ledger import Ledger


def double(job):
    return 2 * job


def cores(_):
    """Where this process may run, and which one it is."""
    return os.getpid(), sorted(os.sched_getaffinity(0))


def visible_gpus(_):
    return os.environ["CUDA_VISIBLE_DEVICES"]


def do_as_told(job):
    """Behave badly in the way that the job says, or give it back."""
    if job == "raise":
        raise ValueError("planted")
    if job == "exit":
        os._exit(3)
    if job == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if job == "hang":
        time.sleep(600)
    return job


def execute_or_die(run):
    """Run as `execute`, but for the first column, where seeds 0 to 2 end badly."""
    from spadework_research.runs.measurement import execute

    if run.column.key == "xente-0.10" and run.seed < 3:
        do_as_told(("raise", "exit", "kill")[run.seed])
    return execute(run)


def hang(_):
    time.sleep(600)


def execute_slowly(run):
    from spadework_research.runs.measurement import execute

    time.sleep(0.1)
    return execute(run)


def sweep(folder):
    """Run 32 slow runs on two cores; linger when stopped, as a notebook would."""
    from spadework_research.runs import benchmark

    benchmark.execute = execute_slowly
    chosen = {"datasets": ["xente"], "methods": ["occ", "srr"], "seeds": 8}
    try:
        benchmark.run_benchmark(folder, **chosen, n_jobs=2)
    except KeyboardInterrupt:
        time.sleep(1)
        raise


def count_threads(_):
    """Threads that the libraries of numbers use in this process."""
    import numpy  # noqa: F401
    from threadpoolctl import threadpool_info

    return max(each["num_threads"] for each in threadpool_info())


def append_and_fold(folder, number):
    """Add rows to a ledger, and fold it now and then."""
    ledger = Ledger(folder / "runs.parquet", ("name", "seed"))
    for seed in range(20):
        ledger.append({"name": f"{number}", "seed": seed})
        if seed % 5 == number:
            ledger.fold()
