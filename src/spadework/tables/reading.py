"""Read a user's table as Arrow batches, whatever it is stored in.

Files (CSV, TSV, Parquet, Arrow; gzip, zstd or bzip2), globs of files, standard input,
database queries, and frames of pandas, polars or pyarrow all come out as one stream of
record batches with one schema.
"""

import csv
import os
import re
import sys
from collections import Counter
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from glob import glob, has_magic
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.ipc as pa_ipc
import pyarrow.parquet as pa_parquet

from spadework.errors import DataError
from spadework.tables.columns import MISSING_WORDS
from spadework.tables.databases import is_database, open_query

Types = Mapping[str, pa.DataType]

STDIN = "-"
BATCH_ROWS = 32_768
_BLOCK_BYTES = 1 << 23
_BUFFER_BYTES = 1 << 18
_DELIMITERS = ",;\t|"
_PEEKED_BYTES = 1 << 16
_KINDS = {"null": "nothing", "int64": "a number", "double": "a number"}
_PARQUET, _ARROW = (".parquet", ".pq"), (".arrow", ".feather", ".ipc")
_TEXT = (".csv", ".tsv", ".txt")
_COMPRESSED = (".gz", ".zst", ".bz2")
_CONVERSION = re.compile(
    r"In CSV column #(\d+): .*?CSV conversion error to ([^:]+):"
    r"(?: invalid value '(.*)')?",
    re.DOTALL,
)
_QUOTED = re.compile(r'"[^"]*"')


class Wanted(NamedTuple):
    """Which columns to read, all if None, and the types of those that are known."""

    types: Types
    columns: Collection[str] | None

    def pick(self, names: Sequence[str]) -> list[str]:
        """Return the names to read; all where none is wanted, for others to refuse."""
        if self.columns is None:
            return list(names)
        return [name for name in names if name in self.columns] or list(names)


class Batches(NamedTuple):
    """The schema of a table, and its record batches in order."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


def read_table(
    source: Any,
    *,
    query: str | None = None,
    types: Types | None = None,
    columns: Collection[str] | None = None,
) -> pa.Table:
    """Read a whole table; columns that change their type midway become wider.

    Parameters
    ----------
    source : path, glob, list of paths, "-", database URL, or a frame
    query : str, optional
        What to ask a database.
    types : mapping of column name to Arrow type, optional
        Types of CSV columns that are known; these do not become wider.
    columns : collection of str, optional
        Columns that are needed; others may be left out.
    """
    if isinstance(source, str) and source == STDIN:
        source = BytesIO(sys.stdin.buffer.read())
    known = dict(types or {})
    while True:
        try:
            with open_table(source, query=query, types=known, columns=columns) as (
                schema,
                batches,
            ):
                return pa.Table.from_batches(batches, schema)
        except MixedTypesError as error:
            if error.column in (types or {}):
                raise
            known[error.column] = error.wider
        if isinstance(source, BytesIO):
            source.seek(0)


@contextmanager
def open_table(
    source: Any,
    *,
    query: str | None = None,
    types: Types | None = None,
    columns: Collection[str] | None = None,
) -> Iterator[Batches]:
    """Open a table as a stream of batches, never more than a few in memory.

    Several files are opened one after the other. Parameters as of `read_table`.

    Raises
    ------
    DataError
        If there is no such table, if it cannot be read as what its name says, or if
        a file changes while it is read.
    """
    if isinstance(source, (str, os.PathLike)) and is_database(str(source)):
        with open_query(str(source), query) as (schema, batches):
            _refuse_duplicates(schema.names, "the answer to the query")
            yield Batches(schema, _in_slices(batches))
        return
    if query is not None:
        raise DataError(
            "a query needs a database, such as sqlite:///file.db or "
            f"postgresql://host/name; got {source!r}"
        )
    wanted = Wanted(types or {}, columns)
    parts = _parts_of(source)
    if len(parts) == 1:
        with _open_part(parts[0], wanted) as found:
            yield found
        return
    schema = _common_schema([_schema_of(part, wanted) for part in parts])
    with closing(_all_batches(parts, schema, wanted)) as batches:
        yield Batches(schema, batches)


class MixedTypesError(DataError):
    """A CSV column does not keep the type that its first rows have."""

    def __init__(self, message: str, column: str, wider: pa.DataType) -> None:
        super().__init__(message)
        self.column = column
        self.wider = wider


def _parts_of(source: Any) -> list[Any]:
    """Return the files of a source, or the one frame it is."""
    if isinstance(source, (str, os.PathLike)):
        name = os.fspath(source)
        if name == STDIN:
            return [sys.stdin.buffer]
        if has_magic(name) and not os.path.exists(name):
            found = sorted(glob(name, recursive=True))
            if not found:
                raise DataError(f"no file matches {name}")
            return [Path(each) for each in found]
        return [Path(name)]
    if isinstance(source, Sequence):
        parts = [part for each in source for part in _parts_of(each)]
        alone = [each for each in source if each == STDIN or _is_url(each)]
        if not parts or (alone and len(parts) > 1):
            raise DataError(
                "expected files, standard input or a database; several sources must "
                f"all be files or frames; got {source!r}"
            )
        return parts
    return [source]


def _is_url(source: Any) -> bool:
    return isinstance(source, str) and is_database(source)


def _schema_of(part: Any, wanted: Wanted) -> pa.Schema:
    with _open_part(part, wanted) as found:
        return found.schema


@contextmanager
def _open_part(part: Any, wanted: Wanted) -> Iterator[Batches]:
    """Open one file, stream or frame."""
    if isinstance(part, Path):
        with _open_file(part, wanted) as found:
            yield found
    elif hasattr(part, "read"):
        yield _open_text(part, "standard input", wanted, None)
    else:
        table = frame_to_table(part)
        _refuse_duplicates(table.column_names, "the frame")
        table = table.select(wanted.pick(table.column_names))
        yield Batches(table.schema, iter(table.to_batches(BATCH_ROWS)))


def frame_to_table(frame: Any) -> pa.Table:
    """Turn a frame of pandas, polars or pyarrow into a table."""
    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    if hasattr(frame, "to_arrow"):
        return frame.to_arrow()
    if hasattr(frame, "columns") and hasattr(frame, "iloc"):
        return _from_pandas(frame)
    raise DataError(
        f"a table must be a path, a database URL or a frame of pandas, polars or "
        f"pyarrow; got {type(frame).__name__}"
    )


def _from_pandas(frame: Any) -> pa.Table:
    """Turn a frame of pandas into a table; columns of mixed types become text."""
    _refuse_duplicates([str(name) for name in frame.columns], "the frame")
    arrays = {}
    for name in frame.columns:
        series = frame[name]
        try:
            array = pa.Array.from_pandas(series)
        except pa.ArrowException:
            missing = series.isna()
            values = [None if m else str(v) for v, m in zip(series, missing, strict=True)]
            array = pa.array(values, type=pa.string())
        arrays[str(name)] = array
    return pa.table(arrays)


@contextmanager
def _open_file(path: Path, wanted: Wanted) -> Iterator[Batches]:
    """Open a file by its suffix; what it holds must stay the same meanwhile."""
    if not path.is_file():
        what = "is a folder, not a file" if path.is_dir() else "does not exist"
        raise DataError(f"{path} {what}. Name a file, or a glob such as 'data/*.csv'")
    before = _stamp(path)
    suffixes = [suffix.lower() for suffix in path.suffixes]
    kind = next((s for s in reversed(suffixes) if s not in _COMPRESSED), "")
    with ExitStack() as stack:
        try:
            if kind in _PARQUET:
                file = stack.enter_context(pa.OSFile(str(path)))
                found = _open_parquet(file, path, wanted)
            elif kind in _ARROW:
                file = stack.enter_context(pa.OSFile(str(path)))
                found = _open_arrow(file, path)
            elif kind in _TEXT:
                stream = stack.enter_context(
                    pa.input_stream(str(path), compression="detect")
                )
                found = _open_text(stream, str(path), wanted, kind)
            else:
                raise DataError(
                    f"{path} has no known ending; expected one of "
                    f"{', '.join((*_TEXT, *_PARQUET, *_ARROW))}, and for text also "
                    f"{', '.join(_COMPRESSED)} behind it"
                )
        except DataError:
            raise
        except (pa.ArrowException, OSError) as error:
            raise _as_data_error(error, str(path)) from error
        yield Batches(found.schema, _unless_changed(found.batches, path, before))


def _open_parquet(file: Any, path: Path, wanted: Wanted) -> Batches:
    """Stream a Parquet file, a few pages of each column at a time.

    What is buffered ahead would stay in memory until the file is closed, and without
    a buffer the columns of a whole row group would.
    """
    parquet = pa_parquet.ParquetFile(file, pre_buffer=False, buffer_size=_BUFFER_BYTES)
    _refuse_duplicates(parquet.schema_arrow.names, path)
    names = wanted.pick(parquet.schema_arrow.names)
    schema = pa.schema([parquet.schema_arrow.field(name) for name in names])
    batches = parquet.iter_batches(BATCH_ROWS, columns=names)
    return Batches(schema, (_aligned(batch, schema) for batch in batches))


def _open_arrow(file: Any, path: Path) -> Batches:
    """Stream an Arrow file or an Arrow stream, large batches in slices."""
    try:
        reader = pa_ipc.open_file(file)
        batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
        schema = reader.schema
    except pa.ArrowInvalid:
        file.seek(0)
        stream = pa_ipc.open_stream(file)
        batches, schema = iter(stream), stream.schema
    _refuse_duplicates(schema.names, path)
    return Batches(schema, _in_slices(batches))


def _in_slices(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Part batches that are too large to be worked on at once."""
    for batch in batches:
        for start in range(0, batch.num_rows, BATCH_ROWS):
            yield batch.slice(start, BATCH_ROWS)


def _open_text(stream: Any, name: str, wanted: Wanted, kind: str | None) -> Batches:
    """Stream delimited text; the first line names the columns and their delimiter."""
    peeked = _Peeked(stream)
    header = _Header.read(peeked.start, name, kind)
    _refuse_duplicates(header.names, name)
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
                column_types=dict(wanted.types),
                include_columns=wanted.pick(header.names),
                null_values=MISSING_WORDS,
                strings_can_be_null=True,
            ),
        )
    except pa.ArrowException as error:
        raise _text_error(error, name, header.names, wanted) from error
    if any(pa.types.is_binary(kind) for kind in reader.schema.types):
        raise _not_utf8(name)

    def batches() -> Iterator[pa.RecordBatch]:
        n_rows = 0
        try:
            for batch in reader:
                n_rows += batch.num_rows
                yield batch
        except pa.ArrowException as error:
            raise _text_error(error, name, header.names, wanted) from error
        peeked.refuse_open_quote(name, n_rows)

    return Batches(reader.schema, batches())


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


class _Peeked:
    """A stream whose first lines were looked at; counts its lines and quotes."""

    closed = False

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self.start = self._ahead = self._first_line()
        self._n_lines = self._n_quotes = 0

    def read(self, size: int = -1) -> bytes:
        """Read on, from the start."""
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

    def refuse_open_quote(self, name: str, n_rows: int) -> None:
        """Refuse text in which a quote was opened and the rest taken for one value."""
        if self._n_quotes % 2 and self._n_lines > n_rows + 1:
            raise DataError(
                f"{name}: a quote is opened and not closed. Look for a value with one "
                f'quotation mark ("); inside a quoted value it must be doubled ("")'
            )

    def _first_line(self) -> bytes:
        """Read until there is a whole line."""
        start = b""
        while len(start) < _BLOCK_BYTES:
            part = self._stream.read(_PEEKED_BYTES)
            start += part
            if not part or b"\n" in start.lstrip(b"\r\n"):
                break
        return start


def _text_error(
    error: Exception, name: str, names: list[str], wanted: Wanted
) -> DataError:
    """Say what is wrong with a text file; name a column that changes its type."""
    found = _CONVERSION.search(str(error))
    if found is None or "utf8" in str(error).lower():
        return _as_data_error(error, name)
    column = names[int(found[1])]
    message = (
        f"{name}, column {column}: expected {_KINDS.get(found[2], found[2])}; got "
        f"{str(found[3])[:60]!r}. Correct the value, or leave it empty"
    )
    wider = _wider_type(found[2], wanted.types.get(column))
    return (
        DataError(message) if wider is None else MixedTypesError(message, column, wider)
    )


def _wider_type(failed: str, known: pa.DataType | None) -> pa.DataType | None:
    """Return the next wider type to try, None where there is none."""
    if known is not None and known == pa.string():
        return None
    return pa.float64() if failed in ("null", "int64") else pa.string()


def _as_data_error(error: Exception, name: str) -> DataError:
    """Put an error of the reader into words."""
    text = _first_line(error)
    if "utf8" in text.lower():
        return _not_utf8(name)
    if "Expected" in text and "columns" in text:
        return DataError(
            f"{name}: a line does not have as many columns as the first ({text}). Look "
            f"for an unquoted delimiter or a quote that is not closed"
        )
    if "Empty CSV" in text:
        return DataError(f"{name} has column names and no rows")
    if "straddl" in text:
        return DataError(
            f"{name}: a line is longer than {_BLOCK_BYTES >> 20} MB. Look for a quote "
            f"that is not closed"
        )
    return DataError(f"{name} cannot be read: {text}")


def _not_utf8(name: str) -> DataError:
    return DataError(
        f"{name} is not UTF-8 text. Convert it, for example with iconv -f latin1 -t utf-8"
    )


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:300]


def _common_schema(schemas: list[pa.Schema]) -> pa.Schema:
    """Return the one schema of all parts; they must have the same columns."""
    first = schemas[0]
    for other in schemas[1:]:
        absent = sorted(set(first.names) ^ set(other.names))
        if absent:
            raise DataError(
                f"the files do not have the same columns: {', '.join(absent[:8])} are "
                f"not in all of them"
            )
    unified = [
        _common_type([s.field(name).type for s in schemas]) for name in first.names
    ]
    return pa.schema(list(zip(first.names, unified, strict=True)))


def _common_type(types: list[pa.DataType]) -> pa.DataType:
    """Return a type that all values fit into: numbers together, else text."""
    distinct = [kind for kind in dict.fromkeys(types) if not pa.types.is_null(kind)]
    if len(distinct) < 2:
        return distinct[0] if distinct else types[0]
    number = all(pa.types.is_integer(k) or pa.types.is_floating(k) for k in distinct)
    return pa.float64() if number else pa.string()


def _refuse_duplicates(names: Sequence[str], source: Any) -> None:
    """Refuse columns of the same name."""
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise DataError(
            f"{source} has more than one column named {', '.join(map(repr, twice[:8]))}; "
            f"every column needs a name of its own"
        )


def _all_batches(
    parts: list[Any], schema: pa.Schema, wanted: Wanted
) -> Generator[pa.RecordBatch, None, None]:
    """Chain the batches of all parts, in the column order and types of the schema."""
    for part in parts:
        with _open_part(part, wanted) as found:
            for batch in found.batches:
                try:
                    yield _aligned(batch, schema)
                except (pa.ArrowException, KeyError) as error:
                    raise _as_data_error(error, str(part)[:200]) from error


def _aligned(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Put a batch into the column order and types of a schema."""
    if batch.schema == schema:
        return batch
    columns = [batch.column(field.name).cast(field.type, safe=False) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _stamp(path: Path) -> tuple[int, int]:
    """Return what changes when a file is written to."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _unless_changed(
    batches: Iterator[pa.RecordBatch], path: Path, before: tuple[int, int]
) -> Iterator[pa.RecordBatch]:
    """Pass batches on; refuse a file that was written to while it was read.

    What else is wrong with such a file may come from that, so this is said first.
    """
    try:
        yield from batches
    except (pa.ArrowException, OSError) as error:
        _refuse_changed(path, before)
        if isinstance(error, DataError):
            raise
        raise _as_data_error(error, str(path)) from error
    _refuse_changed(path, before)


def _refuse_changed(path: Path, before: tuple[int, int]) -> None:
    """Raise if a file is not what it was, or not there."""
    if not path.exists() or _stamp(path) != before:
        raise DataError(
            f"{path} changed while it was read. Wait until it is written, and start again"
        )
