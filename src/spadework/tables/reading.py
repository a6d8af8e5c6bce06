"""Read a user's table as Arrow batches, whatever it is stored in.

Files (CSV, TSV, Parquet, Arrow; gzip, zstd or bzip2), globs of files, standard input,
database queries, and frames of pandas, polars or pyarrow all come out as one stream of
record batches with one schema.
"""

import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from glob import glob, has_magic
from io import BytesIO
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.ipc as pa_ipc
import pyarrow.parquet as pa_parquet

from spadework.errors import DataError
from spadework.tables.databases import is_database, open_query

Types = Mapping[str, pa.DataType]

STDIN = "-"
BATCH_ROWS = 65_536
_BLOCK_BYTES = 1 << 23
_DELIMITERS = ",;\t|"
_PARQUET, _ARROW = (".parquet", ".pq"), (".arrow", ".feather", ".ipc")
_TEXT = (".csv", ".tsv", ".txt")
_COMPRESSED = (".gz", ".zst", ".bz2")
_WIDER: dict[str, tuple[pa.DataType, ...]] = {
    "null": (pa.float64(), pa.string()),
    "int64": (pa.float64(), pa.string()),
}
_CONVERSION = re.compile(r"In CSV column #(\d+): .*?CSV conversion error to ([^:]+):")


class Batches(NamedTuple):
    """The schema of a table, and its record batches in order."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


def read_table(
    source: Any, *, query: str | None = None, types: Types | None = None
) -> pa.Table:
    """Read a whole table; columns that change their type midway become wider.

    Parameters
    ----------
    source : path, glob, list of paths, "-", database URL, or a frame
    query : str, optional
        What to ask a database.
    types : mapping of column name to Arrow type, optional
        Types of CSV columns that are known.
    """
    if source == STDIN:
        source = BytesIO(sys.stdin.buffer.read())
    types = dict(types or {})
    while True:
        try:
            with open_table(source, query=query, types=types) as (schema, batches):
                return pa.Table.from_batches(batches, schema)
        except MixedTypesError as error:
            types[error.column] = error.wider
        if isinstance(source, BytesIO):
            source.seek(0)


@contextmanager
def open_table(
    source: Any, *, query: str | None = None, types: Types | None = None
) -> Iterator[Batches]:
    """Open a table as a stream of batches, never more than a few in memory.

    Raises
    ------
    DataError
        If there is no such table, if it cannot be read as what its name says, or if
        a file changes while it is read.
    """
    with ExitStack() as stack:
        if isinstance(source, (str, os.PathLike)) and is_database(str(source)):
            yield Batches(*stack.enter_context(open_query(str(source), query)))
            return
        if query is not None:
            raise DataError(
                "a query needs a database, such as sqlite:///file.db or "
                f"postgresql://host/name; got {source!r}"
            )
        parts = [
            stack.enter_context(_open_part(part, types or {}))
            for part in _parts_of(source)
        ]
        schema = _common_schema([part.schema for part in parts], source)
        yield Batches(schema, _all_batches(parts, schema))


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
        return [part for each in source for part in _parts_of(each)]
    return [source]


@contextmanager
def _open_part(part: Any, types: Types) -> Iterator[Batches]:
    """Open one file, stream or frame."""
    if isinstance(part, Path):
        with _open_file(part, types) as found:
            yield found
    elif hasattr(part, "read"):
        yield _open_text(part, "standard input", types, None)
    else:
        table = frame_to_table(part)
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
        return pa.Table.from_pandas(frame, preserve_index=False)
    raise DataError(
        f"a table must be a path, a database URL or a frame of pandas, polars or "
        f"pyarrow; got {type(frame).__name__}"
    )


@contextmanager
def _open_file(path: Path, types: Types) -> Iterator[Batches]:
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
                found = _open_parquet(stack.enter_context(pa.OSFile(str(path))))
            elif kind in _ARROW:
                found = _open_arrow(stack.enter_context(pa.memory_map(str(path))))
            elif kind in _TEXT:
                stream = stack.enter_context(
                    pa.input_stream(str(path), compression="detect")
                )
                found = _open_text(stream, str(path), types, kind)
            else:
                raise DataError(
                    f"{path} has no known ending; expected one of "
                    f"{', '.join((*_TEXT, *_PARQUET, *_ARROW))}, and for text also "
                    f"{', '.join(_COMPRESSED)} behind it"
                )
        except (pa.ArrowInvalid, OSError) as error:
            raise _as_data_error(error, str(path)) from error
        yield Batches(found.schema, _unless_changed(found.batches, path, before))


def _open_parquet(file: Any) -> Batches:
    """Stream a Parquet file, row group by row group."""
    parquet = pa_parquet.ParquetFile(file)
    return Batches(parquet.schema_arrow, parquet.iter_batches(BATCH_ROWS))


def _open_arrow(file: Any) -> Batches:
    """Stream an Arrow file or an Arrow stream."""
    try:
        reader = pa_ipc.open_file(file)
        batches = (reader.get_batch(i) for i in range(reader.num_record_batches))
        return Batches(reader.schema, batches)
    except pa.ArrowInvalid:
        file.seek(0)
        stream = pa_ipc.open_stream(file)
        return Batches(stream.schema, iter(stream))


def _open_text(stream: Any, name: str, types: Types, kind: str | None) -> Batches:
    """Stream delimited text; the first line names the columns and their delimiter."""
    start = stream.read(1 << 16)
    rest = _Prepended(start, stream)
    if not start.strip():
        raise DataError(f"{name} is empty: expected a first line with column names")
    if b"\0" in start:
        raise DataError(f"{name} is not text: it holds zero bytes. Is it another format?")
    header = start.split(b"\n", 1)[0].decode("utf-8-sig", errors="replace")
    delimiter = "\t" if kind == ".tsv" else max(_DELIMITERS, key=header.count)
    try:
        reader = pa_csv.open_csv(
            rest,
            read_options=pa_csv.ReadOptions(block_size=_BLOCK_BYTES),
            parse_options=pa_csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True
            ),
            convert_options=pa_csv.ConvertOptions(
                column_types=dict(types), strings_can_be_null=True
            ),
        )
    except pa.ArrowInvalid as error:
        raise _text_error(error, name, header, delimiter, types) from error
    if any(pa.types.is_binary(kind) for kind in reader.schema.types):
        raise _not_utf8(name)
    if len(reader.schema) < 2:
        raise DataError(
            f"{name} has one column only ({header.strip()[:60]!r}); expected columns "
            f"that are parted by a comma, a semicolon, a tab or a bar"
        )

    def batches() -> Iterator[pa.RecordBatch]:
        try:
            yield from reader
        except pa.ArrowInvalid as error:
            raise _text_error(error, name, header, delimiter, types) from error

    return Batches(reader.schema, batches())


class _Prepended:
    """A stream that was peeked at, from its start again."""

    closed = False

    def __init__(self, start: bytes, rest: Any) -> None:
        self._start, self._rest = start, rest

    def read(self, size: int = -1) -> bytes:
        """Read what was peeked at first."""
        if not self._start:
            return self._rest.read(size)
        start = self._start if size < 0 else self._start[:size]
        self._start = self._start[len(start) :]
        return start + self._rest.read() if size < 0 else start


def _text_error(
    error: pa.ArrowInvalid, name: str, header: str, delimiter: str, types: Types
) -> DataError:
    """Say what is wrong with a text file; name a column that changes its type."""
    found = _CONVERSION.search(str(error))
    if found is None:
        return _as_data_error(error, name)
    column = _names_in(header, delimiter)[int(found[1])]
    wider = _wider_type(found[2], types.get(column))
    message = f"{name}, column {column}: {_first_line(error)}"
    if wider is None:
        return DataError(message)
    return MixedTypesError(message, column, wider)


def _wider_type(failed: str, known: pa.DataType | None) -> pa.DataType | None:
    """Return the next wider type to try, None where there is none."""
    if known is not None and known == pa.string():
        return None
    wider = _WIDER.get(failed, (pa.string(),))
    return wider[0]


def _names_in(header: str, delimiter: str) -> list[str]:
    """Split a header line into names."""
    parsed = pa_csv.read_csv(
        BytesIO((header.rstrip("\r\n") + "\n").encode()),
        parse_options=pa_csv.ParseOptions(delimiter=delimiter),
    )
    return parsed.column_names


def _as_data_error(error: Exception, name: str) -> DataError:
    """Put an error of the reader into words."""
    if isinstance(error, DataError):
        return error
    text = _first_line(error)
    if "utf8" in text.lower():
        return _not_utf8(name)
    if "Expected" in text and "columns" in text:
        return DataError(
            f"{name}: a line does not have as many columns as the first ({text}). Look "
            f"for an unquoted delimiter or a quote that is not closed"
        )
    return DataError(f"{name} cannot be read: {text}")


def _not_utf8(name: str) -> DataError:
    return DataError(
        f"{name} is not UTF-8 text. Convert it, for example with iconv -f latin1 -t utf-8"
    )


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0][:300]


def _common_schema(schemas: list[pa.Schema], source: Any) -> pa.Schema:
    """Return the one schema of all parts; they must have the same columns."""
    first = schemas[0]
    _refuse_duplicates(first.names, source)
    for other in schemas[1:]:
        if set(other.names) != set(first.names):
            absent = sorted(set(first.names) ^ set(other.names))
            raise DataError(
                f"the files of {source} do not have the same columns: "
                f"{', '.join(absent[:8])} are not in all of them"
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


def _refuse_duplicates(names: Iterable[str], source: Any) -> None:
    """Refuse columns of the same name."""
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice:
        raise DataError(
            f"{source} has more than one column named {', '.join(map(repr, twice[:8]))}; "
            f"every column needs a name of its own"
        )


def _all_batches(parts: list[Batches], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Chain the batches of all parts, in the column order and types of the schema."""
    for part in parts:
        for batch in part.batches:
            yield batch if batch.schema == schema else _aligned(batch, schema)


def _aligned(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = [batch.column(field.name).cast(field.type) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _stamp(path: Path) -> tuple[int, int]:
    """Return what changes when a file is written to."""
    status = path.stat()
    return status.st_size, status.st_mtime_ns


def _unless_changed(
    batches: Iterator[pa.RecordBatch], path: Path, before: tuple[int, int]
) -> Iterator[pa.RecordBatch]:
    """Pass batches on; refuse a file that was written to while it was read."""
    try:
        yield from batches
    except (pa.ArrowInvalid, OSError) as error:
        raise _as_data_error(error, str(path)) from error
    if _stamp(path) != before:
        raise DataError(
            f"{path} changed while it was read. Wait until it is written, and start again"
        )
