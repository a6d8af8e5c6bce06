"""Stream delimited text, and say what is wrong with it."""

import csv
import re
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from spadework.errors import DataError
from spadework.tables.batches import Batches, Wanted, as_data_error, refuse_duplicates
from spadework.tables.text_start import Header, Peeked, not_utf8
from spadework.tables.values import MISSING_WORDS, pc

_BLOCK_BYTES, _LONG_BLOCK_BYTES = 1 << 23, 1 << 28
"""How much text is read at once, of which the first tells the types of its columns; how
much where that did not."""

_KINDS = {"null": "nothing", "int64": "a number", "double": "a number"}
_CONVERSION = re.compile(
    r"In CSV column #(\d+): .*?CSV conversion error to ([^:]+):"
    r"(?: invalid value '(.*)')?",
    re.DOTALL,
)
_COMMA_NUMBER = re.compile(r"[+-]?[\d.]*,\d+")


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
        peeked = Peeked(stream)
    except OSError as error:
        raise as_data_error(error, name) from error
    header = Header.read(peeked.start, name, kind, peeked.stated_delimiter)
    header.refuse_values(name)
    refuse_duplicates(header.names, name)
    if len(header.names) < 2 and header.names[0] not in (wanted.columns or ()):
        raise DataError(
            f"{name} has one column only ({header.names[0][:60]!r}); expected columns "
            f"that are parted by a comma, a semicolon, a tab or a bar, and their names "
            f"in the first line; remove what stands above the names, if anything does"
        )
    block_size = _LONG_BLOCK_BYTES if wanted.afar else _BLOCK_BYTES
    try:
        reader = pa_csv.open_csv(
            peeked,
            read_options=pa_csv.ReadOptions(block_size=block_size),
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
        raise not_utf8(name)

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


def _refuse_stray_quotes(reopen: Callable[[], Any], name: str, delimiter: str) -> None:
    """Refuse text in which a quoted value does not end where a value can end.

    All is read once more, so this is for text with line breaks in quotes.
    """
    with reopen() as stream, TextIOWrapper(stream, "utf-8-sig", newline="") as text:
        reader = csv.reader(text, delimiter=delimiter, strict=True)
        try:
            deque(reader, maxlen=0)
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
        return not_utf8(name)
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
    if wanted.types.get(column) == pa.string():  # nothing is wider
        return DataError(message)
    wider = pa.float64() if kind in ("null", "int64") else pa.string()
    return MixedTypesError(message, column, wider)
