"""Tables in parts come in slices, with columns that all parts can have."""

import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from spadework.errors import DataError
from spadework.tables.reading import open_table, read_table
from stored import write_arrow


def test_several_files_may_have_their_columns_in_any_order_and_types_of_their_own(
    tmp_path,
):
    (tmp_path / "a.csv").write_text("n,kind\n1,x\n")
    pa_parquet.write_table(
        pa.table({"kind": ["y"], "n": pa.array([2.5])}), tmp_path / "b.parquet"
    )
    found = read_table([tmp_path / "a.csv", tmp_path / "b.parquet"])
    assert found.to_pylist() == [{"n": 1.0, "kind": "x"}, {"n": 2.5, "kind": "y"}]


def test_files_with_other_columns_are_refused_by_name(tmp_path):
    (tmp_path / "a.csv").write_text("n,kind\n1,x\n")
    (tmp_path / "b.csv").write_text("n,sort\n1,x\n")
    with pytest.raises(DataError, match="kind, sort are not in all"):
        read_table(str(tmp_path / "*.csv"))


def test_a_large_arrow_batch_comes_in_slices(tmp_path, monkeypatch):
    monkeypatch.setattr("spadework.tables.batches.BATCH_ROWS", 2)
    write_arrow(tmp_path / "a.arrow", stream=False)
    with open_table(tmp_path / "a.arrow") as (_, batches):
        assert [batch.num_rows for batch in batches] == [2, 1]


def test_codes_are_read_as_written_if_they_are_words_in_another_file(tmp_path):
    (tmp_path / "a.csv").write_text("code,n\n007,1\n")
    (tmp_path / "b.csv").write_text("code,n\nA12,2\n")
    found = read_table([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert found.column("code").to_pylist() == ["007", "A12"]
