"""The first line tells the names of columns and what parts them."""

import pyarrow as pa
import pytest

from spadework.errors import DataError
from spadework.tables.reading import read_table


def test_a_header_longer_than_what_is_peeked_at_is_read_whole(tmp_path):
    names = [f"column_number_{i}" for i in range(10_000)]
    path = tmp_path / "wide.csv"
    path.write_text(";".join(names) + "\n" + ";".join(["1"] * len(names)) + "\n")
    assert read_table(path).column_names == names


def test_a_delimiter_inside_a_quoted_name_does_not_count(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('"amount, in, euro";kind\n1;x\n')
    assert read_table(path).column_names == ["amount, in, euro", "kind"]


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


def test_hexadecimal_codes_are_text(tmp_path):
    (tmp_path / "a.csv").write_text("code,n\n" + "0x0,1\n 0xC000006D,2\n" * 30)
    table = read_table(tmp_path / "a.csv")
    assert table.column("code").to_pylist()[:2] == ["0x0", " 0xC000006D"]
    assert table.schema.field("n").type == pa.int64()
