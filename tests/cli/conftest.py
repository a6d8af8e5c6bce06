"""What tests of the command line share: tables, and models of them."""

import pyarrow.csv as pa_csv
import pytest

from commands import QUIET, ended, make_place
from fitted_payments import payments


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
    """A folder with two tables of the demo, old and new, and a model of the old one."""
    folder = tmp_path_factory.mktemp("made")
    ended("demo", "--table", "old.csv", cwd=folder)
    ended("demo", "--table", "new.csv", "--seed", "1", cwd=folder)
    ended("fit", "old.csv", *QUIET, "-o", "model", cwd=folder)
    return folder
