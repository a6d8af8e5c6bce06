"""A folder with tables and a model, for all tests of commands."""

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
import pytest
from commands import FIT, run

from test_table_model import payments


@pytest.fixture(scope="session")
def place(tmp_path_factory):
    """A folder with payments, in three formats, and a model of them."""
    folder = tmp_path_factory.mktemp("payments")
    with_empty = payments().append_column("empty", pa.nulls(240))
    pa_csv.write_csv(with_empty, folder / "payments.csv")
    pa_csv.write_csv(payments(300, seed=3), folder / "new.csv")
    pa_parquet.write_table(payments(300, seed=3), folder / "new.parquet")
    done = run("fit", "payments.csv", *FIT, "-o", "model", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "fit.json").write_text(done.stdout)
    (folder / "fit.txt").write_text(done.stderr)
    return folder
