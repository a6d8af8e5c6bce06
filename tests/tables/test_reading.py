"""Whatever a table is stored in, it comes out as the same table, or is refused."""

import bz2
import gzip
import io
import os
import sys
from unittest import mock

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
import pytest

from spadework.errors import DataError, InputError
from spadework.tables import reading, text
from spadework.tables.reading import open_table, read_rows, read_table
from stored import ROWS, TABLE, write_arrow


def as_csv(table=TABLE, delimiter=","):
    out = io.BytesIO()
    options = pa_csv.WriteOptions(delimiter=delimiter)
    pa_csv.write_csv(table, out, write_options=options)
    return out.getvalue()


def write_zstd(path):
    with pa.output_stream(str(path), compression="zstd") as file:
        file.write(as_csv())


WRITERS = {
    "plain.csv": lambda path: path.write_bytes(as_csv()),
    "tabs.tsv": lambda path: path.write_bytes(as_csv(delimiter="\t")),
    "tabs.csv": lambda path: path.write_bytes(as_csv(delimiter="\t")),
    "semicolons.csv": lambda path: path.write_bytes(as_csv(delimiter=";")),
    "bars.txt": lambda path: path.write_bytes(as_csv(delimiter="|")),
    "windows.csv": lambda path: path.write_bytes(
        b"\xef\xbb\xbf" + as_csv().replace(b"\n", b"\r\n")
    ),
    "blank_lines_first.csv": lambda path: path.write_bytes(b"\n\n" + as_csv()),
    "packed.csv.gz": lambda path: path.write_bytes(gzip.compress(as_csv())),
    "packed.csv.bz2": lambda path: path.write_bytes(bz2.compress(as_csv())),
    "packed.csv.zst": write_zstd,
    "rows.PARQUET": lambda path: pa_parquet.write_table(TABLE, path),
    "file.arrow": lambda path: write_arrow(path, stream=False),
    "stream.arrow": lambda path: write_arrow(path, stream=True),
}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_table(name, tmp_path):
    path = tmp_path / name
    WRITERS[name](path)
    assert read_table(path).to_pylist() == ROWS
    assert read_table(str(path)).to_pylist() == ROWS


def test_standard_input_gives_the_same_table(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(as_csv())))
    assert read_table("-").to_pylist() == ROWS


def packed_with_zstd(content):
    out = pa.BufferOutputStream()
    with pa.CompressedOutputStream(out, "zstd") as file:
        file.write(content)
    return out.getvalue().to_pybytes()


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, packed_with_zstd])
def test_packed_standard_input_gives_the_same_table(pack, monkeypatch):
    for read in (read_table, lambda source: read_rows(source, [0, 1, 2])):
        packed = io.BytesIO(pack(as_csv()))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(packed))
        assert read("-").to_pylist() == ROWS


def test_packed_standard_input_that_is_cut_off_is_refused(monkeypatch):
    packed = io.BytesIO(gzip.compress(as_csv())[:-12])
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(packed))
    with (
        pytest.raises(DataError, match="standard input cannot be read"),
        open_table("-") as found,
    ):
        list(found.batches)


def test_standard_input_is_read_again_when_a_column_changes_its_type(monkeypatch):
    monkeypatch.setattr(text, "_BLOCK_BYTES", 64)
    content = b"a,b\n" + b"1,2\n" * 50 + b"1.5,x\n"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
    found = read_table("-")
    assert found.schema.types == [pa.float64(), pa.string()]
    assert found.num_rows == 51
    assert found.to_pylist()[-1] == {"a": 1.5, "b": "x"}


def test_columns_that_change_their_type_take_one_pass_more_however_many(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(text, "_BLOCK_BYTES", 1 << 9)
    names = [f"c{i}" for i in range(30)]
    late = ",".join(["1.5", "x", "2"] * 10)
    rows = [",".join(names), *[",".join(["1", "", ""] * 10)] * 50, late]
    (tmp_path / "a.csv").write_text("\n".join(rows))
    opened = mock.Mock(side_effect=reading.open_table)
    monkeypatch.setattr(reading, "open_table", opened)
    found = read_table(tmp_path / "a.csv")
    assert opened.call_count == 2
    assert found.schema.types == [pa.float64(), pa.string(), pa.int64()] * 10


def test_files_of_a_glob_come_in_the_order_of_their_names(tmp_path):
    for part in (2, 1, 3):
        (tmp_path / f"{part}.csv").write_text(f"a,b\n{part},x\n")
    found = read_table(str(tmp_path / "*.csv"))
    assert found.column("a").to_pylist() == [1, 2, 3]


@pytest.mark.parametrize("name", WRITERS)
def test_rows_are_read_by_their_numbers_in_every_format(name, tmp_path):
    WRITERS[name](tmp_path / name)
    found = read_rows(tmp_path / name, [2, 0, 2])
    assert found.to_pylist() == [ROWS[2], ROWS[0], ROWS[2]]


def test_rows_that_are_not_there_are_refused(tmp_path):
    with pytest.raises(InputError, match="no row 3; the table has 3"):
        read_rows(TABLE, [1, 3])
    with pytest.raises(InputError, match="counted from 0; got -1"):
        read_rows(TABLE, [-1])


def test_reading_rows_stops_behind_the_last_of_them(tmp_path, monkeypatch):
    """The text behind could not be read: it has lines of other lengths."""
    monkeypatch.setattr(text, "_BLOCK_BYTES", 1 << 12)
    lines = "12345,67890\n" * 20_000
    (tmp_path / "a.csv").write_text("a,b\n" + lines + "1,2,3\n" + lines)
    assert read_rows(tmp_path / "a.csv", [17]).to_pylist() == [{"a": 12345, "b": 67890}]
    with pytest.raises(DataError, match="as many columns"):
        read_rows(tmp_path / "a.csv", [30_000])


BROKEN = {
    "empty.csv": (b"", "empty"),
    "blank.csv": (b" \n\n", "empty"),
    "one_column.csv": (b"a:b\n1:2\n", "one column only"),
    "comma.tsv": (b"a,b\n1,2\n", "one column only"),
    "twice.csv": (b"a,b,a\n1,2,3\n", "more than one column named 'a'"),
    "nameless.csv": (b"a,b,,\n1,2,,\n", "2 columns without a name"),
    "title.csv": (b"Loans 2024,,\na,b,c\n1,2,3\n", "if the first line is a title"),
    "preamble.csv": (b"Report\n\na;b\n1;2\n", "remove what stands above the names"),
    "too_many.csv": (b"a,b\n1,2\n1,2,3\n", "as many columns as the first"),
    "too_few.csv": (b"a,b\n1,2\n1\n", "as many columns as the first"),
    "latin1.csv": ("a,b\n1,Müller\n".encode("latin1"), "not UTF-8"),
    "latin1_header.csv": ("a,größe\n1,2\n".encode("latin1"), "not UTF-8"),
    "utf16.csv": ("a,b\n1,2\n".encode("utf-16"), "iconv -f utf-16"),
    "binary.csv": (bytes(range(256)) * 10, "not UTF-8 text"),
    "header.csv": (b"a,b", "no rows"),
    "text.parquet": (b"a,b\n1,2\n", "cannot be read"),
    "text.arrow": (b"a,b\n1,2\n", "cannot be read"),
    "empty.parquet": (b"", "cannot be read"),
    "empty.arrow": (b"", "cannot be read"),
    "cut_off.csv.gz": (gzip.compress(os.urandom(1000))[:-30], "."),
    "not_packed.csv.gz": (b"a,b\n1,2\n", "cannot be read"),
    "strange.xlsx": (b"PK", "a workbook; save its sheet as CSV"),
    "strange.json": (b"PK", "no known ending"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_table_is_refused_with_its_name(name, tmp_path):
    content, message = BROKEN[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        read_table(tmp_path / name)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("source", ["no/such.csv", "no/*.csv", [], 5, ["-", "a.csv"]])
def test_what_is_no_source_is_refused(source):
    with pytest.raises(DataError):
        read_table(source)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(DataError, match="folder"):
        read_table(tmp_path)


def test_a_pipe_is_refused_with_the_way_it_can_be_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="is a pipe; read it from standard input"):
        read_table(tmp_path / "pipe")
