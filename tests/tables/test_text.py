"""Delimited text is read whole, or what is wrong with it is said."""

import time

import pyarrow as pa
import pytest

from spadework.errors import DataError
from spadework.tables import text
from spadework.tables.batches import Wanted
from spadework.tables.reading import MixedTypesError, open_table, read_table


def test_a_text_file_with_commas_is_refused_where_points_were_in_training(tmp_path):
    (tmp_path / "a.csv").write_text("x;y\n1;2,5\n")
    with pytest.raises(DataError, match="Decimals came after a point in training"):
        read_table(tmp_path / "a.csv", types={"y": pa.float64()})


def test_a_large_text_file_comes_in_several_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "_BLOCK_BYTES", 1 << 12)
    (tmp_path / "a.csv").write_text("a,b\n" + "12345,67890\n" * 5_000)
    with open_table(tmp_path / "a.csv") as (_, batches):
        sizes = [batch.num_rows for batch in batches]
    assert sum(sizes) == 5_000
    assert max(sizes) < 500


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


def test_types_that_are_given_are_kept_and_a_value_that_does_not_fit_is_named(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,a,b\nq,1,007\nq,oops,008\n")
    columns = ["a", "b"]
    found = read_table(path, types={"b": pa.string()}, columns=columns)
    assert found.column("b").to_pylist() == ["007", "008"]
    with pytest.raises(DataError, match=r"column a: expected a number.*'oops'"):
        read_table(path, types={"a": pa.float64()}, columns=columns)


def test_text_that_stops_being_utf8_far_down_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(text, "_BLOCK_BYTES", 64)
    path = tmp_path / "a.csv"
    path.write_bytes(b"a,b\n" + b"1,x\n" * 50 + b"1,\xe9\n")
    with pytest.raises(DataError, match="not UTF-8"):
        read_table(path)
