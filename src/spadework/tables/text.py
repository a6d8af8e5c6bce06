"""Stream delimited text: find its delimiter and columns, say what is wrong with it."""

import csv
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import StringIO, TextIOWrapper
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv as pa_csv

from spadework.errors import DataError
from spadework.tables.batches import (
    Batches,
    Wanted,
    as_data_error,
    refuse_duplicates,
)
from spadework.tables.values import MISSING_WORDS, pc

_BLOCK_BYTES = 1 << 23
_DELIMITERS = ",;\t|"
_PEEKED_BYTES = 1 << 16
_KINDS = {"null": "nothing", "int64": "a number", "double": "a number"}
_CONVERSION = re.compile(
    r"In CSV column #(\d+): .*?CSV conversion error to ([^:]+):"
    r"(?: invalid value '(.*)')?",
    re.DOTALL,
)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_COMMA_NUMBER = re.compile(r"[+-]?[\d.]*,\d+")
_QUOTED = re.compile(r'"[^"]*"')
_HEX = re.compile(r"\s*[+-]?0[xX][0-9a-fA-F]+\s*")


class MixedTypesError(DataError):
    """A CSV column does not keep the type that its first rows have."""

    def __init__(self, message: str, column: str, wider: pa.DataType) -> None:
        super().__init__(message)
        self.column = column
        self.wider = wider


@contextmanager
def open_text(
    stream: Any,
    name: str,
    wanted: Wanted,
    kind: str | None,
    reopen: Callable[[], Any] | None = None,
) -> Iterator[Batches]:
    """Stream delimited text; the first line names the columns and their delimiter.

    ``reopen`` opens the text once more, where that can be done.
    """
    try:
        peeked = _Peeked(stream)
    except OSError as error:
        raise as_data_error(error, name) from error
    header = _Header.read(peeked.start, name, kind)
    header.refuse_values(name)
    refuse_duplicates(header.names, name)
    if len(header.names) < 2 and header.names[0] not in (wanted.columns or ()):
        raise DataError(
            f"{name} has one column only ({header.names[0][:60]!r}); expected columns "
            f"that are parted by a comma, a semicolon, a tab or a bar"
        )
    try:
        reader = pa_csv.open_csv(
            peeked,
            read_options=pa_csv.ReadOptions(block_size=_BLOCK_BYTES),
            parse_options=pa_csv.ParseOptions(
                delimiter=header.delimiter, newlines_in_values=True
            ),
            convert_options=pa_csv.ConvertOptions(
                column_types={**header.hex_columns(peeked.start), **wanted.types},
                include_columns=wanted.pick(header.names),
                null_values=MISSING_WORDS,
                strings_can_be_null=False,  # a word such as NA may be a name
            ),
        )
    except (pa.ArrowException, OSError) as error:
        raise _text_error(error, name, header.names, wanted) from error
    if any(pa.types.is_binary(kind) for kind in reader.schema.types):
        raise _not_utf8(name)

    def batches() -> Iterator[pa.RecordBatch]:
        n_rows = 0
        try:
            for batch in reader:
                n_rows += batch.num_rows
                yield _without_empty_text(batch)
        except (pa.ArrowException, OSError) as error:
            raise _text_error(error, name, header.names, wanted) from error
        if peeked.has_lines_in_quotes(n_rows):
            if reopen is not None:
                _refuse_stray_quotes(reopen, name, header.delimiter)
            elif peeked.has_odd_quotes():
                raise _stray_quote(name)

    try:
        yield Batches(reader.schema, batches())
    except Exception:
        peeked.end(reader)
        raise
    peeked.end(reader)


def _without_empty_text(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return a batch in which empty cells of text are missing, as others are."""
    columns = [
        pc.if_else(pc.equal(column, ""), None, column)
        if pa.types.is_string(column.type)
        else column
        for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, schema=batch.schema)


class _Header(NamedTuple):
    """The names of the columns of a text file, and what parts them."""

    names: list[str]
    delimiter: str

    @classmethod
    def read(cls, start: bytes, name: str, kind: str | None) -> "_Header":
        """Read the first line that is not empty."""
        if not start.strip():
            raise DataError(f"{name} is empty: expected a first line with column names")
        if b"\0" in start:
            raise DataError(
                f"{name} is not UTF-8 text: it holds zero bytes. Is it another format, "
                f"or text in UTF-16?"
            )
        text = start.decode("utf-8-sig", errors="replace").lstrip("\r\n")
        bare = _QUOTED.sub("", text.splitlines()[0])
        delimiter = "\t" if kind == ".tsv" else max(_DELIMITERS, key=bare.count)
        try:
            names = next(csv.reader(StringIO(text, newline=""), delimiter=delimiter))
        except csv.Error as error:
            raise DataError(
                f"{name} does not start with a line of column names ({error})"
            ) from error
        if "\ufffd" in "".join(names):
            raise _not_utf8(name)
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


class _Peeked:
    """A stream whose first lines were looked at; counts its lines and quotes."""

    closed = False

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.start = self._ahead = self._first_line()
        self._n_lines = self._n_quotes = 0
        self._ended = False

    def read(self, size: int = -1) -> bytes:
        """Read on, from the start."""
        if self._ended:
            return b""
        part, self._ahead = self._ahead, b""
        if size < 0:
            part += self._stream.read()
        elif not part:
            part = self._stream.read(size)
        elif size < len(part):
            part, self._ahead = part[:size], part[size:]
        self._n_lines += part.count(b"\n")
        self._n_quotes += part.count(b'"')
        return part

    def end(self, reader: Any) -> None:
        """Let a reader run out of text; threads of its own must not outlive ours."""
        self._ended = True
        with suppress(pa.ArrowException, OSError, ValueError):
            for _ in reader:
                pass

    def has_lines_in_quotes(self, n_rows: int) -> bool:
        """Tell whether a quoted value may hold what were lines of their own."""
        return self._n_quotes > 0 and self._n_lines > n_rows + 1

    def has_odd_quotes(self) -> bool:
        """Tell whether some quote has no other one."""
        return self._n_quotes % 2 > 0

    def _first_line(self) -> bytes:
        """Read until there is a whole line."""
        start = b""
        while len(start) < _BLOCK_BYTES:
            part = self._stream.read(_PEEKED_BYTES)
            start += part
            if not part or b"\n" in start.lstrip(b"\r\n"):
                break
        return start


def _refuse_stray_quotes(reopen: Callable[[], Any], name: str, delimiter: str) -> None:
    """Refuse text in which a quoted value does not end where a value can end.

    All is read once more, so this is for text with line breaks in quotes.
    """
    with reopen() as stream, TextIOWrapper(stream, "utf-8-sig", newline="") as text:
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        try:
            for _ in reader:
                pass
        except csv.Error as error:
            raise _stray_quote(name, f" (line {reader.line_num:,})") from error


def _stray_quote(name: str, place: str = "") -> DataError:
    return DataError(
        f"{name}: a quote is opened and not closed{place}. Look for a value with one "
        f'quotation mark ("); inside a quoted value it must be doubled ("")'
    )


def _text_error(
    error: Exception, name: str, names: list[str], wanted: Wanted
) -> DataError:
    """Say what is wrong with a text file; name a column that changes its type."""
    text = str(error)
    if "utf8" in text.lower():
        return _not_utf8(name)
    found = _CONVERSION.search(text)
    if found is not None:
        return _value_error(name, names[int(found[1])], found[2], str(found[3]), wanted)
    if "Expected" in text and "columns" in text:
        return DataError(
            f"{name}: a line does not have as many columns as the first "
            f"({text.splitlines()[0][:300]}). Look for an unquoted delimiter or a quote "
            f"that is not closed"
        )
    if "Empty CSV" in text:
        return DataError(f"{name} has column names and no rows")
    if "straddl" in text:
        return DataError(
            f"{name}: a line is longer than {_BLOCK_BYTES >> 20} MB. Look for a quote "
            f"that is not closed"
        )
    return as_data_error(error, name)


def _value_error(
    name: str, column: str, kind: str, value: str, wanted: Wanted
) -> DataError:
    """Say that a value is not of the kind that its column is."""
    advice = "Correct the value, or leave it empty"
    if _COMMA_NUMBER.fullmatch(value):
        advice = "Decimals came after a point in training, and must here"
    message = (
        f"{name}, column {column}: expected {_KINDS.get(kind, kind)}; got "
        f"{value[:60]!r}. {advice}"
    )
    wider = _wider_type(kind, wanted.types.get(column))
    return (
        DataError(message) if wider is None else MixedTypesError(message, column, wider)
    )


def _wider_type(failed: str, known: pa.DataType | None) -> pa.DataType | None:
    """Return the next wider type to try, None where there is none."""
    if known is not None and known == pa.string():
        return None
    return pa.float64() if failed in ("null", "int64") else pa.string()


def _not_utf8(name: str) -> DataError:
    return DataError(
        f"{name} is not UTF-8 text. Convert it, for example with iconv -f latin1 -t utf-8"
    )
