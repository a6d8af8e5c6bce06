"""Commands that are stopped, find no room or lose their table leave nothing behind."""

import signal
import subprocess
import sys
import time

import pytest

from commands import COMMAND, FIT, assert_refused, run

SAID = {signal.SIGINT: "interrupted", signal.SIGTERM: "told to stop"}
COMMANDS = {
    "fit": ("fit", "payments.csv", *FIT, "-o", "out/model"),
    "score": ("score", "model", "new.csv", "-o", "out/scores.csv"),
    "report": ("report", "model", "new.csv", "-o", "out/report.html"),
    "export": ("export", "model", "new.csv", "-o", "out/model.onnx"),
}
SIGNAL_BEFORE_SYNC = """
import os, signal
os.fsync = lambda handle: os.kill(os.getpid(), signal.{name})
"""


@pytest.fixture
def out(place):
    """An empty folder beside the model."""
    folder = place / "out"
    folder.mkdir()
    yield folder
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()


def assert_stopped(code, stderr, how):
    assert code == 128 + how
    assert "Traceback" not in stderr
    last = stderr.strip().splitlines()[-1]
    assert last == f"spadework: {SAID[how]}; nothing was half written"


@pytest.mark.parametrize("verb", COMMANDS)
def test_a_signal_while_a_file_is_written_leaves_nothing(place, out, verb):
    code = SIGNAL_BEFORE_SYNC.format(name="SIGTERM")
    done = run(*COMMANDS[verb], cwd=place, before=code)
    assert_stopped(done.returncode, done.stderr, signal.SIGTERM)
    assert list(out.iterdir()) == []


@pytest.fixture(scope="module")
def large(place):
    """A file that takes a while to score."""
    header, *rows = (place / "new.csv").read_text().splitlines(keepends=True)
    (place / "large.csv").write_text(header + "".join(rows) * 500)
    return place / "large.csv"


@pytest.fixture
def scoring(place, out, large):
    """The installed command, half-way through a large file."""
    process = subprocess.Popen(
        [COMMAND, "score", "model", large, "-o", out / "scores.csv"],
        cwd=place,
        stderr=subprocess.PIPE,
        text=True,
    )
    wait_until(lambda: any(path.stat().st_size for path in out.iterdir()), process)
    yield process
    process.kill()
    process.communicate()


@pytest.mark.parametrize("how", SAID, ids=lambda how: how.name)
def test_a_signal_from_outside_ends_a_score_and_leaves_nothing(scoring, out, how):
    scoring.send_signal(how)
    _, stderr = scoring.communicate(timeout=60)
    assert_stopped(scoring.returncode, stderr, how)
    assert list(out.iterdir()) == []


def test_a_file_that_grows_while_it_is_scored_is_refused(scoring, out, large):
    with large.open("a") as file:
        file.write("\n")
    _, stderr = scoring.communicate(timeout=120)
    assert scoring.returncode == 1
    assert stderr.splitlines()[-1].startswith(f"spadework: {large} changed while it was")
    assert list(out.iterdir()) == []


def test_a_signal_ends_a_score_that_waits_for_its_input(place, out):
    process = subprocess.Popen(
        [COMMAND, "score", "model", "-", "-o", out / "scores.csv"],
        cwd=place,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    process.stdin.write("id,amount")
    process.stdin.flush()
    wait_until(lambda: any(out.iterdir()), process)
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 128 + signal.SIGTERM
    assert "told to stop" in process.stderr.read()
    assert list(out.iterdir()) == []


def test_a_signal_that_is_ignored_stays_ignored(place, out):
    """As `nohup` does with the end of a terminal."""
    code = "import os, signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n"
    code += SIGNAL_BEFORE_SYNC.format(name="SIGHUP")
    done = run(*COMMANDS["score"], cwd=place, before=code)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in out.iterdir()] == ["scores.csv"]


def wait_until(holds, process, seconds=60):
    end = time.monotonic() + seconds
    while not holds():
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.01)


# A full disk

LIMIT_FILE_SIZE = """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
"""
"""Let files grow to a kilobyte, as on a disk with no more room than that."""


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits on the size of files")
@pytest.mark.parametrize("verb", COMMANDS)
def test_a_disk_without_room_is_said_and_nothing_is_left(place, out, verb):
    done = run(*COMMANDS[verb], cwd=place, before=LIMIT_FILE_SIZE)
    assert_refused(done, "could not be written", "File too large")
    assert list(out.iterdir()) == []
