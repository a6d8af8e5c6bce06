"""The README's code runs and prints what it says; its numbers are the measured ones."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from real_data import load_table
from spadework_research.datasets.catalog import get_dataset
from spadework_research.studies.speed import RESULTS, with_table

README = Path(__file__).parents[2] / "README.md"
BLOCKS = re.findall(
    r"```python\n(.*?)```\n\n```text\n(.*?)```", README.read_text(), re.DOTALL
)


def test_every_python_block_shows_its_output():
    assert README.read_text().count("```python") == len(BLOCKS) == 8


@pytest.mark.parametrize(("code", "output"), BLOCKS)
def test_python_block_prints_what_the_readme_shows(code, output, tmp_path):
    if "creditcard.csv.gz" in code:
        load_table("creditcard")
        (path,) = get_dataset("creditcard").find()
        (tmp_path / "creditcard.csv.gz").symlink_to(path)
    run = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout == output


def test_readme_names_both_commands():
    text = README.read_text()
    assert "make demo" in text
    assert "make test" in text


def test_speed_table_is_made_from_the_committed_results():
    text = README.read_text()
    assert with_table(text, json.loads(RESULTS.read_text())) == text
