"""What tests of the command line share: tables, and models of them."""

import pyarrow.csv as pa_csv
import pytest

from commands import QUIET, ended, make_place
from fitted_payments import payments

N_MADE = 1_200
"""Rows of a table of the demo that are enough."""


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    """A folder with payments and a model of them."""
    return make_place(tmp_path_factory.mktemp("payments"))


@pytest.fixture
def folder(tmp_path):
    """A folder with payments alone, to fail in."""
    pa_csv.write_csv(payments(), tmp_path / "payments.csv")
    return tmp_path


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    """A folder with parts of two tables of the demo, and a model of the old one."""
    folder = tmp_path_factory.mktemp("made")
    for name, seed in (("old.csv", "0"), ("new.csv", "1")):
        ended("demo", "--table", name, "--seed", seed, cwd=folder)
        lines = (folder / name).read_text().splitlines(keepends=True)
        (folder / name).write_text("".join(lines[: 1 + N_MADE]))
    ended("fit", "old.csv", *QUIET, "-o", "model", cwd=folder)
    return folder
