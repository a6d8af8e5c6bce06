"""Run the command line, and what it says when it refuses."""

import multiprocessing
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet

from fitted_payments import payments

COMMAND = Path(sys.executable).with_name("spadework")
FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    [
        "spadework.cli.app",
        "spadework.differences",
        "spadework.explain",
        "spadework.in_context.members",
        "spadework.persistence",
        "spadework.scoring",
        "spadework.table_fitting",
    ]
)
FIT = ("--label", "status", "--map", "fraud=1,ok=0", "--key", "id")
QUIET = (*FIT, "--quiet")


def run(*arguments, cwd, stdin="", before=""):
    """Run the command line in a process of its own, forked off one that imported it.

    What is to happen before is code of its own.
    """
    with TemporaryDirectory() as folder:
        streams = [Path(folder) / name for name in ("in", "out", "err")]
        streams[0].write_text(stdin)
        words = [str(argument) for argument in arguments]
        process = FORKS.Process(
            target=_be_the_command, args=(words, cwd, streams, before)
        )
        process.start()
        process.join()
        out, err = (stream.read_text() for stream in streams[1:])
    return subprocess.CompletedProcess(words, process.exitcode, out, err)


def ended(*arguments, cwd, code=0):
    """Run the command line, and see that it ends with a code and without a traceback."""
    done = run(*arguments, cwd=cwd)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


def _be_the_command(words, cwd, streams, before):
    """Let a forked process stand for a new one."""
    for number, stream in enumerate(streams):
        os.dup2(os.open(stream, os.O_RDWR | os.O_CREAT), number)
    sys.stdin, sys.stdout, sys.stderr = (
        open(number, mode, closefd=False) for number, mode in enumerate("rww")
    )
    os.chdir(cwd)
    sys.argv = ["spadework", *words]
    exec(before, {})
    from spadework.cli import main

    main()


def assert_refused(done, *words):
    """One clear paragraph on stderr, nothing on stdout, and a failure for scripts."""
    assert done.returncode not in (0, 2), done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    *before, last = done.stderr.strip().splitlines()
    assert last.startswith("spadework: ")
    assert all(":" in line for line in before)  # what fit says about the table
    assert len(last) < 700
    for word in words:
        assert word in last


def make_place(folder):
    """Put payments, in three formats, and a model of them into a folder."""
    with_same = payments().append_column("same", pa.array(["x"] * 240))
    pa_csv.write_csv(with_same, folder / "payments.csv")
    pa_csv.write_csv(payments(300, seed=3), folder / "new.csv")
    pa_parquet.write_table(payments(300, seed=3), folder / "new.parquet")
    done = run("fit", "payments.csv", *FIT, "-o", "model", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "fit.json").write_text(done.stdout)
    (folder / "fit.txt").write_text(done.stderr)
    return folder
