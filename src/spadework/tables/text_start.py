"""The start of delimited text: what its columns are called, and what parts them."""

import csv
import re
from collections import deque
from contextlib import suppress
from io import StringIO
from typing import Any, NamedTuple, Self

import pyarrow as pa

from spadework.errors import DataError

_DELIMITERS = ",;\t|"
_PEEKED_BYTES, _MAX_PEEKED_BYTES = 1 << 16, 1 << 23
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_QUOTED = re.compile(r'"[^"]*"')
_STATED_DELIMITER = re.compile(rb"(?:\xef\xbb\xbf)?sep=([^\r\n])\r?\n", re.IGNORECASE)
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_HEX = re.compile(r"\s*[+-]?0[xX][0-9a-fA-F]+\s*")


class Header(NamedTuple):
    """The names of the columns of a text file, and what parts them."""

    names: list[str]
    delimiter: str

    @classmethod
    def read(cls, start: bytes, name: str, kind: str | None, stated: str | None) -> Self:
        """Read the first line that is not empty; a delimiter may be stated."""
        if not start.strip():
            raise DataError(f"{name} is empty: expected a first line with column names")
        if start.startswith(_UTF16_MARKS):
            raise not_utf8(name, "utf-16")
        if b"\0" in start:
            raise DataError(
                f"{name} is not UTF-8 text: it holds zero bytes. Is it another format?"
            )
        text = start.decode("utf-8-sig", errors="replace").lstrip("\r\n")
        bare = _QUOTED.sub("", text.splitlines()[0])
        usual = "\t" if kind == ".tsv" else max(_DELIMITERS, key=bare.count)
        delimiter = stated or usual
        try:
            names = next(csv.reader(StringIO(text, newline=""), delimiter=delimiter))
        except csv.Error as error:
            raise DataError(
                f"{name} does not start with a line of column names ({error})"
            ) from error
        if "\ufffd" in "".join(names):
            raise not_utf8(name)
        return cls(names, delimiter)

    def hex_columns(self, start: bytes) -> dict[str, pa.DataType]:
        """Return text as the type of columns with codes such as 0x1F in the first rows.

        The reader of text files would take them for numbers.
        """
        if b"0x" not in start.lower():
            return {}
        lines = StringIO(start.decode("utf-8-sig", errors="replace"), newline="")
        found: dict[str, pa.DataType] = {}
        with suppress(csv.Error):
            for row in csv.reader(lines, delimiter=self.delimiter):
                for name, cell in zip(self.names, row, strict=False):
                    if _HEX.fullmatch(cell):
                        found[name] = pa.string()
        return found

    def refuse_values(self, name: str) -> None:
        """Refuse a first line of values: some come twice, and numbers are among them."""
        n_numbers = sum(bool(_NUMBER.fullmatch(each)) for each in self.names)
        if len(set(self.names)) < len(self.names) and 4 * n_numbers > len(self.names):
            raise DataError(
                f"{name} starts with values ({', '.join(self.names[:5])}, ...) and not "
                f"with the names of its columns; put a line with names in front"
            )


class Peeked:
    """A stream whose first lines were looked at; counts its lines and quotes."""

    closed = False

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        start = self._first_line()
        stated = _STATED_DELIMITER.match(start)
        self.stated_delimiter = stated and stated[1].decode("latin1")
        if stated:
            start = self._first_line(start[stated.end() :])
        self.start = self._ahead = start
        self._n_lines = self._n_quotes = 0
        self._ended = False

    def read(self, size: int = -1) -> bytes:
        """Read on, from the start."""
        if self._ended:
            return b""
        if size < 0:
            part, self._ahead = self._ahead + self._stream.read(), b""
        else:
            part, self._ahead = self._ahead[:size], self._ahead[size:]
            # In full, as the first block that is read decides the types of columns.
            part += self._stream.read(size - len(part))
        self._n_lines += part.count(b"\n")
        self._n_quotes += part.count(b'"')
        return part

    def end(self, reader: Any) -> None:
        """Let a reader run out of text; threads of its own must not outlive ours."""
        self._ended = True
        with suppress(pa.ArrowException, OSError, ValueError):
            deque(reader, maxlen=0)

    def has_lines_in_quotes(self, n_rows: int) -> bool:
        """Tell whether a quoted value may hold what were lines of their own."""
        return self._n_quotes > 0 and self._n_lines > n_rows + 1

    def has_odd_quotes(self) -> bool:
        """Tell whether some quote has no other one."""
        return self._n_quotes % 2 > 0

    def _first_line(self, start: bytes = b"") -> bytes:
        """Read on until there is a whole line."""
        while len(start) < _MAX_PEEKED_BYTES and b"\n" not in start.lstrip(b"\r\n"):
            part = self._stream.read(_PEEKED_BYTES)
            if not part:
                break
            start += part
        return start


def not_utf8(name: str, likely: str = "windows-1252") -> DataError:
    """Say that text is in another encoding, and how to convert it."""
    return DataError(
        f"{name} is not UTF-8 text. Save it as such (a spreadsheet says CSV UTF-8), or "
        f"convert it, for example with iconv -f {likely} -t utf-8"
    )
