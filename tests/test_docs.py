"""Every command and every program of the docs runs, in the order of its page."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from commands import run

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(DOCS.glob("*.md"))
MADE = re.compile(r"demo --table (\S+)")
BLOCK = re.compile(r"^```(bash|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_all_blocks_of_a_page_run(page, tmp_path):
    for language, code in BLOCK.findall(page.read_text(encoding="utf-8")):
        for done in run_block(language, code, tmp_path):
            assert done.returncode == 0, f"{code}\n{done.stdout}\n{done.stderr}"
            assert "False" not in done.stdout, f"{code}\n{done.stdout}"
        for name in MADE.findall(code):
            keep_some(tmp_path / name)


def keep_some(table):
    """Commands run the same on fewer rows, only sooner."""
    names, *rows = table.read_text(encoding="utf-8").splitlines(keepends=True)
    table.write_text(names + "".join(rows[:700]), encoding="utf-8")


def run_block(language, code, folder):
    """Run a program, a script, or line by line what calls our command alone."""
    lines = code.replace("\\\n", "").splitlines()
    if all(line.startswith("spadework ") for line in lines):
        for line in lines:
            yield run(*shlex.split(line)[1:], cwd=folder)
        return
    command = ["bash", "-euo", "pipefail", "-c", code]
    if language == "python":
        command = [sys.executable, "-W", "error::UserWarning", "-c", code]
    ours = os.path.dirname(sys.executable)
    environment = {**os.environ, "PATH": f"{ours}{os.pathsep}{os.environ['PATH']}"}
    yield subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True
    )


def test_the_guide_has_every_command_of_the_command_line():
    text = (DOCS / "guide.md").read_text(encoding="utf-8")
    for verb in (
        "fit",
        "evaluate",
        "score",
        "explain",
        "report",
        "compare",
        "export",
        "demo",
    ):
        assert f"spadework {verb} " in text


def test_messages_on_the_failure_page_are_in_the_source():
    page = (DOCS / "failures.md").read_text(encoding="utf-8")
    source = " ".join(
        re.sub(r'"\s*\n\s*f?"', "", path.read_text(encoding="utf-8"))
        for path in (DOCS.parent / "src").rglob("*.py")
    )
    messages = re.findall(r"^\| `(.+?)` \|", page, re.MULTILINE)
    assert len(messages) > 10
    for message in messages:
        words = re.sub(r"\{.*?\}", "", message)
        parts = re.split(r"0 and 1, and 0|a number", words)
        assert all(part.strip() in source for part in parts if len(part) > 12), message
