"""The installed command runs the main job and speaks plainly."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).with_name("spadework")


def run(*arguments):
    return subprocess.run([COMMAND, *arguments], capture_output=True, text=True)


def read_all(descriptor):
    """Read a pseudo-terminal to its end, which Linux reports as an error."""
    parts = []
    while True:
        try:
            part = os.read(descriptor, 65536)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
    return b"".join(parts).decode()


@pytest.fixture(scope="module")
def shown():
    return run("demo")


def test_demo_finds_the_kind_that_nobody_labeled(shown):
    assert shown.returncode == 0, shown.stderr
    ours, alone = (
        next(line for line in shown.stdout.splitlines() if name in line)
        for name in ("SPADE  ", "labels alone")
    )
    of_new_kind = [float(row.split("│")[-2]) for row in (ours, alone)]
    assert of_new_kind[0] > max(0.75, of_new_kind[1] + 0.1)
    assert "Pseudo-labels rank labeled anomalies" in shown.stdout
    assert "where all 3 members agree" in shown.stdout
    assert "PNU: 10 anomalies, 40 normals, 849 unlabeled" in shown.stdout


def test_demo_logs_progress_lines_when_there_is_no_terminal(shown):
    assert re.search(r"reading contexts: done after \d+ steps", shown.stderr)


def test_demo_draws_a_progress_bar_on_a_terminal():
    ours, theirs = pty.openpty()
    process = subprocess.Popen([COMMAND, "demo"], stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = read_all(ours)
    os.close(ours)
    assert process.wait() == 0
    assert re.search(r"(\d)/\1", shown)
    assert "━━" in shown
