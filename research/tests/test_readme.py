"""The README's code runs and prints what it says; its numbers are the measured ones."""

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from statistics import mean

import pytest

from real_data import load_table
from spadework_research.datasets.catalog import get_dataset
from spadework_research.studies.speed import RESULTS, with_table

README = Path(__file__).parents[2] / "README.md"
BLOCKS = re.findall(
    r"```python\n(.*?)```\n\n```text\n(.*?)```", README.read_text(), re.DOTALL
)


def test_every_python_block_shows_its_output():
    assert README.read_text().count("```python") == len(BLOCKS) == 7


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


def leads(cells):
    """By how much other methods lead the default in a scenario, over common cells."""
    auc = {(c["table"], c["scenario"], c["method"]): c["auc"] for c in cells}
    differences = defaultdict(list)
    for (table, scenario, method), value in auc.items():
        if not method.startswith("spade"):
            differences[scenario, method].append(value - auc[table, scenario, "spade"])
    means = [f"{mean(each):.3f}" for each in differences.values()]
    return sorted(each for each in means if float(each) > 0)


@pytest.mark.parametrize("name", ["small.json", "public.json", "unseen.json"])
def test_every_method_that_leads_on_other_tables_is_named_with_its_lead(name):
    cells = json.loads(RESULTS.with_name(name).read_text())["cells"]
    (row,) = (line for line in README.read_text().splitlines() if f"[`{name}`]" in line)
    assert sorted(re.findall(r"\d\.\d{3}", row)) == leads(cells)


def test_what_moving_a_constant_costs_is_what_was_measured():
    cells = json.loads(RESULTS.with_name("constants.json").read_text())["cells"]
    auc = defaultdict(dict)
    for cell in cells:
        auc[cell["method"]][cell["table"], cell["scenario"]] = cell["auc"]
    default = auc.pop("default")
    lost = [[default[name] - each[name] for name in default] for each in auc.values()]
    measured = [mean(default.values()), max(map(mean, lost)), max(map(max, lost))]
    (said,) = (part for part in README.read_text().split("\n\n") if "constants" in part)
    assert f"In {len(lost)} moves" in " ".join(said.split())
    assert re.findall(r"\d\.\d{3}", said) == [f"{value:.3f}" for value in measured]
