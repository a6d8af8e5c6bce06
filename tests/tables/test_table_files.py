"""Files are read by their endings, in little memory, and not while they change."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.ipc as pa_ipc
import pyarrow.parquet as pa_parquet
import pytest

from spadework.errors import DataError
from spadework.tables import table_files, text
from spadework.tables.reading import open_table


def test_many_files_are_not_held_open_at_once(tmp_path, monkeypatch):
    for part in range(30):
        (tmp_path / f"{part:02}.csv").write_text(f"a,b\n{part},x\n")
    opened = []
    monkeypatch.setattr(
        table_files,
        "open_text",
        lambda *a, real=table_files.open_text: opened.append(a[1]) or real(*a),
    )
    with open_table(str(tmp_path / "*.csv"), types={"a": pa.int64()}) as (_, batches):
        after_schemas = len(opened)
        next(batches)
        assert len(opened) == after_schemas + 1


@pytest.mark.parametrize("change", ["append", "delete", "truncate"])
@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.arrow"])
def test_a_file_that_changes_while_it_is_read_is_refused(
    name, change, tmp_path, monkeypatch
):
    monkeypatch.setattr(text, "_BLOCK_BYTES", 1 << 12)
    table = pa.table({"a": range(20_000), "b": range(20_000)})
    path = tmp_path / name
    if name == "a.csv":
        pa_csv.write_csv(table, path)
    elif name == "a.parquet":
        pa_parquet.write_table(table, path, row_group_size=1_000)
    else:
        with pa_ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=1_000)
    with open_table(path) as (_, batches):
        next(batches)
        if change == "append":
            path.write_bytes(path.read_bytes() + b"1,2\n")
        elif change == "truncate":
            os.truncate(path, path.stat().st_size // 3)
        else:
            path.unlink()
        with pytest.raises(DataError, match=r"changed|cannot be read"):
            list(batches)


def test_reading_a_parquet_file_holds_little_of_it_in_memory(tmp_path):
    path = tmp_path / "a.parquet"
    noise = np.random.default_rng(0).normal(size=1 << 16)
    columns = pa.table({"a": noise, "b": noise[::-1]})
    with pa_parquet.ParquetWriter(path, columns.schema) as writer:
        for _ in range(60):
            writer.write_table(columns)
    before, most = pa.total_allocated_bytes(), 0
    with open_table(path) as (_, batches):
        for _ in batches:
            most = max(most, pa.total_allocated_bytes() - before)
    assert most < path.stat().st_size / 5
