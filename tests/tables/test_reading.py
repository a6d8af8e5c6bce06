"""Whatever a table is stored in, it comes out as the same table, or is refused."""

import bz2
import gzip
import io
import os
import sys
import time
from unittest import mock

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.ipc as pa_ipc
import pyarrow.parquet as pa_parquet
import pytest

from spadework.errors import DataError, InputError
from spadework.tables import reading, table_files, text
from spadework.tables.batches import Wanted
from spadework.tables.reading import MixedTypesError, open_table, read_rows, read_table

TABLE = pa.table(
    {
        "id": pa.array([7, 8, 9]),
        "amount": pa.array([1.5, None, -2.25]),
        "kind": pa.array(["web", None, 'a "quoted", one']),
        "flag": pa.array([True, False, None]),
    }
)
ROWS = TABLE.to_pylist()


def as_csv(table=TABLE, delimiter=","):
    out = io.BytesIO()
    options = pa_csv.WriteOptions(delimiter=delimiter)
    pa_csv.write_csv(table, out, write_options=options)
    return out.getvalue()


def write_arrow(path, *, stream):
    new = pa_ipc.new_stream if stream else pa_ipc.new_file
    with pa.OSFile(str(path), "wb") as file, new(file, TABLE.schema) as writer:
        writer.write_table(TABLE)


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


@pytest.mark.parametrize(
    "frame", [TABLE, TABLE.to_batches()[0], TABLE.to_pandas(), pl.from_arrow(TABLE)]
)
def test_every_frame_gives_the_same_table(frame):
    assert read_table(frame).to_pylist() == ROWS


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


def test_several_files_may_have_their_columns_in_any_order_and_types_of_their_own(
    tmp_path,
):
    (tmp_path / "a.csv").write_text("n,kind\n1,x\n")
    pa_parquet.write_table(
        pa.table({"kind": ["y"], "n": pa.array([2.5])}), tmp_path / "b.parquet"
    )
    found = read_table([tmp_path / "a.csv", tmp_path / "b.parquet"])
    assert found.to_pylist() == [{"n": 1.0, "kind": "x"}, {"n": 2.5, "kind": "y"}]


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


def test_files_with_other_columns_are_refused_by_name(tmp_path):
    (tmp_path / "a.csv").write_text("n,kind\n1,x\n")
    (tmp_path / "b.csv").write_text("n,sort\n1,x\n")
    with pytest.raises(DataError, match="kind, sort are not in all"):
        read_table(str(tmp_path / "*.csv"))


def test_a_large_text_file_comes_in_several_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "_BLOCK_BYTES", 1 << 12)
    (tmp_path / "a.csv").write_text("a,b\n" + "12345,67890\n" * 5_000)
    with open_table(tmp_path / "a.csv") as (_, batches):
        sizes = [batch.num_rows for batch in batches]
    assert sum(sizes) == 5_000
    assert max(sizes) < 500


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


class SlowText:
    """Text that comes slowly, as from a pipe, and counts how often it is asked for."""

    def __init__(self):
        self.n_reads = 0

    def read(self, size):
        self.n_reads += 1
        time.sleep(0.02)
        return (b"a,b\n" if self.n_reads == 1 else b"") + b"12345,67890\n" * 400


def test_no_thread_goes_on_reading_when_a_stream_is_left_early(monkeypatch):
    """Such a thread could make Python crash when it ends."""
    monkeypatch.setattr(text, "_BLOCK_BYTES", 1 << 12)
    stream = SlowText()
    with text.open_text(stream, "slow", Wanted({}, None), None) as (_, batches):
        next(batches)
    n_reads = stream.n_reads
    time.sleep(0.3)
    assert stream.n_reads == n_reads


def test_a_large_arrow_batch_comes_in_slices(tmp_path, monkeypatch):
    monkeypatch.setattr("spadework.tables.batches.BATCH_ROWS", 2)
    write_arrow(tmp_path / "a.arrow", stream=False)
    with open_table(tmp_path / "a.arrow") as (_, batches):
        assert [batch.num_rows for batch in batches] == [2, 1]


def test_a_header_longer_than_what_is_peeked_at_is_read_whole(tmp_path):
    names = [f"column_number_{i}" for i in range(10_000)]
    path = tmp_path / "wide.csv"
    path.write_text(";".join(names) + "\n" + ";".join(["1"] * len(names)) + "\n")
    assert read_table(path).column_names == names


def test_a_delimiter_inside_a_quoted_name_does_not_count(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('"amount, in, euro";kind\n1;x\n')
    assert read_table(path).column_names == ["amount, in, euro", "kind"]


def test_quoted_line_ends_are_part_of_the_value(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('a,b\n1,"x\ny"\n2,z\n')
    assert read_table(path).column("b").to_pylist() == ["x\ny", "z"]


def test_one_inch_mark_is_not_an_open_quote(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('a,b\n1,5" pipe\n2,z\n')
    assert read_table(path).column("b").to_pylist() == ['5" pipe', "z"]


@pytest.mark.parametrize("lines", ['1,"x\n2,y\n3,z\n', '1,x\n2,"y\n3,z\n'])
def test_a_quote_that_is_never_closed_is_refused(tmp_path, lines):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + lines)
    with pytest.raises(DataError, match="not closed"):
        read_table(path)


def test_rows_between_two_open_quotes_are_not_lost(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('a,b\n1,"disk\n2,x\n3,"pipe\n4,y\n')
    with pytest.raises(DataError, match=r"not closed \(line 4\)"):
        read_table(path)


def test_an_inch_mark_and_a_blank_last_line_are_not_an_open_quote(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('a,b\n1,5" pipe\n2,z\n\n')
    assert read_table(path).column("b").to_pylist() == ['5" pipe', "z"]


def test_codes_are_read_as_written_if_they_are_words_in_another_file(tmp_path):
    (tmp_path / "a.csv").write_text("code,n\n007,1\n")
    (tmp_path / "b.csv").write_text("code,n\nA12,2\n")
    found = read_table([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert found.column("code").to_pylist() == ["007", "A12"]


def test_only_wanted_columns_are_read_and_others_may_hold_anything(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "_BLOCK_BYTES", 64)
    path = tmp_path / "a.csv"
    path.write_text("extra,a\n" + "1,2\n" * 50 + "not a number,3\n")
    types = {"a": pa.float64()}
    with open_table(path, types=types, columns=["a", "absent"]) as (schema, batches):
        assert schema.names == ["a"]
        assert sum(batch.num_rows for batch in batches) == 51
    with (
        pytest.raises(MixedTypesError, match="extra"),
        open_table(path, types=types) as (_, batches),
    ):
        list(batches)


def test_wanted_columns_of_parquet_and_frames_are_picked(tmp_path):
    pa_parquet.write_table(TABLE, tmp_path / "a.parquet")
    for source in (tmp_path / "a.parquet", TABLE, TABLE.to_pandas()):
        found = read_table(source, columns=["kind", "id"])
        assert found.column_names == ["id", "kind"]


def test_types_that_are_given_are_kept_and_a_value_that_does_not_fit_is_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,a,b\nq,1,007\nq,oops,008\n")
    columns = ["a", "b"]
    found = read_table(path, types={"b": pa.string()}, columns=columns)
    assert found.column("b").to_pylist() == ["007", "008"]
    with pytest.raises(DataError, match=r"column a: expected a number.*'oops'"):
        read_table(path, types={"a": pa.float64()}, columns=columns)


def test_a_pandas_column_of_mixed_types_becomes_text():
    frame = pd.DataFrame({"a": [1, "x", None], "b": [1, 2, 3]}, dtype=object)
    found = read_table(frame)
    assert found.column("a").to_pylist() == ["1", "x", None]
    assert found.column("b").to_pylist() == [1, 2, 3]


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


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("delimiter", [b";", b",", b"~"])
def test_a_first_line_may_state_the_delimiter(mark, end, delimiter, tmp_path):
    lines = [b"sep=" + delimiter, b"a,b;c~d", b"1,2;3~4", b"5,6;7~8", b""]
    (tmp_path / "a.csv").write_bytes(mark + end.join(lines))
    found = read_table(tmp_path / "a.csv")
    assert found.column_names == lines[1].decode().split(delimiter.decode())
    assert found.num_rows == 2


def test_a_stated_delimiter_and_nothing_else_is_an_empty_file(tmp_path):
    (tmp_path / "a.csv").write_bytes(b"sep=;\n")
    with pytest.raises(DataError, match="is empty"):
        read_table(tmp_path / "a.csv")


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_table_is_refused_with_its_name(name, tmp_path):
    content, message = BROKEN[name]
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=message) as caught:
        read_table(tmp_path / name)
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)


def test_text_that_stops_being_utf8_far_down_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "_BLOCK_BYTES", 64)
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n" + b"1,x\n" * 50 + b"1,\xe9\n")
    with pytest.raises(DataError, match="not UTF-8"):
        read_table(path)


@pytest.mark.parametrize("source", ["no/such.csv", "no/*.csv", [], 5, ["-", "a.csv"]])
def test_what_is_no_source_is_refused(source):
    with pytest.raises(DataError):
        read_table(source)


def test_a_folder_is_refused(tmp_path):
    with pytest.raises(DataError, match="folder"):
        read_table(tmp_path)


def test_hexadecimal_codes_are_text(tmp_path):
    (tmp_path / "a.csv").write_text("code,n\n" + "0x0,1\n 0xC000006D,2\n" * 30)
    table = read_table(tmp_path / "a.csv")
    assert table.column("code").to_pylist()[:2] == ["0x0", " 0xC000006D"]
    assert table.schema.field("n").type == pa.int64()


def test_a_pipe_is_refused_with_the_way_it_can_be_read(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(DataError, match="is a pipe; read it from standard input"):
        read_table(tmp_path / "pipe")


def test_frames_with_two_columns_of_one_name_are_refused():
    for frame in (
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]),
    ):
        with pytest.raises(DataError, match="more than one column named 'a'"):
            read_table(frame)


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
