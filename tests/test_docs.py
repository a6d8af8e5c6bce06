"""Every command and every program of the docs runs, in the order of its page."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PAGES = sorted(DOCS.glob("*.md"))
BLOCK = re.compile(r"^```(bash|python)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_all_blocks_of_a_page_run(page, tmp_path):
    folder = os.path.dirname(sys.executable)
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}
    for language, code in BLOCK.findall(page.read_text(encoding="utf-8")):
        command = ["bash", "-euo", "pipefail", "-c", code]
        if language == "python":
            command = [sys.executable, "-W", "error::UserWarning", "-c", code]
        run = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert run.returncode == 0, f"{code}\n{run.stdout}\n{run.stderr}"
        assert "False" not in run.stdout, f"{code}\n{run.stdout}"


def test_the_guide_has_every_command_of_the_command_line():
    text = (DOCS / "guide.md").read_text(encoding="utf-8")
    for verb in ("fit", "score", "explain", "report", "compare", "export", "demo"):
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
