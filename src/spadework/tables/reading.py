"""Read a user's table as Arrow batches, whatever it is stored in.

Files (CSV, TSV, Parquet, Arrow; gzip, zstd or bzip2), globs of files, standard input,
database queries, and frames of pandas, polars or pyarrow all come out as one stream of
record batches with one schema.
"""

import os
import sys
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from glob import glob, has_magic
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from spadework.errors import DataError, InputError
from spadework.tables.batches import (
    BATCH_ROWS,
    Batches,
    Types,
    Wanted,
    aligned,
    as_data_error,
    common_schema,
    in_slices,
    refuse_duplicates,
    text_in_some,
)
from spadework.tables.databases import is_database, open_query, without_password
from spadework.tables.frames import frame_to_table
from spadework.tables.table_files import open_file
from spadework.tables.text import MixedTypesError, open_text

STDIN = "-"

_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bz2"}
"""First bytes of packed text."""


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
    source = hold_input(source)
    known = dict(types or {})
    wanted: Any = {"query": query, "types": known, "columns": columns}
    while True:
        if isinstance(source, BytesIO):
            source.seek(0)
        try:
            with open_table(source, **wanted) as (schema, batches):
                return pa.Table.from_batches(batches, schema)
        except MixedTypesError as error:
            if error.column in (types or {}):
                raise
            known[error.column] = error.wider
            wanted["afar"] = True  # others may change, too


def hold_input(source: Any) -> Any:
    """Return what can be read again: standard input as its bytes, others as they are."""
    if isinstance(source, str) and source == STDIN:
        return BytesIO(_unpacked(sys.stdin.buffer).read())
    return source


def read_rows(
    source: Any,
    numbers: Sequence[int],
    *,
    query: str | None = None,
    types: Types | None = None,
    columns: Collection[str] | None = None,
) -> pa.Table:
    """Read rows by their numbers, counted from 0, and no further than the last of them.

    Returns the rows in the order of the numbers. Other parameters as of `read_table`.
    """
    if min(numbers) < 0:
        raise InputError(f"rows are counted from 0; got {min(numbers)}")
    places = np.unique(numbers)
    n_rows, parts = 0, []
    with open_table(source, query=query, types=types, columns=columns) as (_, batches):
        for batch in batches:
            own = places[(places >= n_rows) & (places < n_rows + batch.num_rows)]
            parts.append(pa.Table.from_batches([batch]).take(pa.array(own - n_rows)))
            n_rows += batch.num_rows
            if n_rows > places[-1]:
                break
    if n_rows <= places[-1]:
        raise InputError(f"there is no row {places[-1]}; the table has {n_rows:,}")
    return pa.concat_tables(parts).take(pa.array(np.searchsorted(places, numbers)))


@contextmanager
def open_table(
    source: Any,
    *,
    query: str | None = None,
    types: Types | None = None,
    columns: Collection[str] | None = None,
    afar: bool = False,
) -> Iterator[Batches]:
    """Open a table as a stream of batches, never more than a few in memory.

    Types of text that are not known are those of its first rows, or of many of them
    ``afar``. Other parameters as of `read_table`.

    Raises
    ------
    DataError
        If there is no such table, if it cannot be read as what its name says, or if
        a file changes while it is read.
    """
    if isinstance(source, list | tuple) and len(source) == 1:
        (source,) = source
    if is_database(source):
        with open_query(source, query) as (schema, batches):
            refuse_duplicates(schema.names, "the answer to the query")
            yield Batches(schema, in_slices(batches))
        return
    if query is not None:
        raise DataError(
            "a query needs a database, such as sqlite:///file.db or "
            f"postgresql://host/name; got {without_password(source)}"
        )
    wanted = Wanted(types or {}, columns, afar)
    parts = _parts_of(source)
    if len(parts) == 1:
        with _open_part(parts[0], wanted) as found:
            yield found
        return
    schemas = []
    for part in parts:
        with _open_part(part, wanted) as found:
            schemas.append(found.schema)
    schema = common_schema(schemas)
    wanted = wanted._replace(types={**text_in_some(schemas), **wanted.types})
    with closing(_all_batches(parts, schema, wanted)) as batches:
        yield Batches(schema, batches)


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
        alone = [each for each in source if each == STDIN or is_database(each)]
        if not source or (alone and len(source) > 1):
            raise DataError(
                "expected files, standard input or a database; several sources must "
                f"all be files or frames; got {without_password(source)}"
            )
        return [part for each in source for part in _parts_of(each)]
    return [source]


@contextmanager
def _open_part(part: Any, wanted: Wanted) -> Iterator[Batches]:
    """Open one file, stream or frame."""
    if isinstance(part, Path):
        with open_file(part, wanted) as found:
            yield found
    elif hasattr(part, "read"):
        stream = _unpacked(part) if part is sys.stdin.buffer else part
        with open_text(stream, "standard input", wanted, None) as found:
            yield found
    else:
        table = frame_to_table(part)
        refuse_duplicates(table.column_names, "the frame")
        table = table.select(wanted.pick(table.column_names))
        yield Batches(table.schema, iter(table.to_batches(BATCH_ROWS)))


def _unpacked(stream: Any) -> Any:
    """Return a stream as text, unpacked where its first bytes say that it is packed."""
    stream = stream if hasattr(stream, "peek") else BufferedReader(stream)
    start = stream.peek()
    for mark, name in _PACKED.items():
        if start.startswith(mark):
            return pa.CompressedInputStream(pa.PythonFile(stream, "r"), name)
    return stream


def _all_batches(
    parts: list[Any], schema: pa.Schema, wanted: Wanted
) -> Generator[pa.RecordBatch, None, None]:
    """Chain the batches of all parts, in the column order and types of the schema."""
    for part in parts:
        with _open_part(part, wanted) as found:
            for batch in found.batches:
                try:
                    yield aligned(batch, schema)
                except (pa.ArrowException, KeyError) as error:
                    raise as_data_error(error, str(part)[:200]) from error
