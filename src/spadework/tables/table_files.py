"""Stream a file by its ending, and notice when it changes meanwhile."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.ipc as pa_ipc
import pyarrow.parquet as pa_parquet

from spadework.errors import DataError
from spadework.tables.batches import (
    BATCH_ROWS,
    Batches,
    Wanted,
    aligned,
    as_data_error,
    in_slices,
    refuse_duplicates,
)
from spadework.tables.text import open_text

_PARQUET, _ARROW = (".parquet", ".pq"), (".arrow", ".feather", ".ipc")
_TEXT = (".csv", ".tsv", ".txt")
_SHEETS = (".xlsx", ".xls", ".ods")
_COMPRESSED = (".gz", ".zst", ".bz2")
_BUFFER_BYTES = 1 << 18


@contextmanager
def open_file(path: Path, wanted: Wanted) -> Iterator[Batches]:
    """Open a file by its suffix; what it holds must stay the same meanwhile."""
    if path.is_fifo():
        raise DataError(f"{path} is a pipe; read it from standard input, named '-'")
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
                reopen = partial(pa.input_stream, str(path), compression="detect")
                stream = stack.enter_context(reopen())
                found = stack.enter_context(
                    open_text(stream, str(path), wanted, kind, reopen)
                )
            elif kind in _SHEETS:
                raise DataError(f"{path} is a workbook; save its sheet as CSV")
            else:
                raise DataError(
                    f"{path} has no known ending; expected one of "
                    f"{', '.join((*_TEXT, *_PARQUET, *_ARROW))}, and for text also "
                    f"{', '.join(_COMPRESSED)} behind it. Rename it to what it is"
                )
        except DataError:
            raise
        except (pa.ArrowException, OSError) as error:
            raise as_data_error(error, str(path)) from error
        yield Batches(found.schema, _unless_changed(found.batches, path, before))


def _open_parquet(file: Any, path: Path, wanted: Wanted) -> Batches:
    """Stream a Parquet file, a few pages of each column at a time.

    What is buffered ahead would stay in memory until the file is closed, and without
    a buffer the columns of a whole row group would.
    """
    parquet = pa_parquet.ParquetFile(file, pre_buffer=False, buffer_size=_BUFFER_BYTES)
    refuse_duplicates(parquet.schema_arrow.names, path)
    names = wanted.pick(parquet.schema_arrow.names)
    schema = pa.schema([parquet.schema_arrow.field(name) for name in names])
    batches = parquet.iter_batches(BATCH_ROWS, columns=names)
    return Batches(schema, (aligned(batch, schema) for batch in batches))


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
    refuse_duplicates(schema.names, path)
    return Batches(schema, in_slices(batches))


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
        raise as_data_error(error, str(path)) from error
    _refuse_changed(path, before)


def _refuse_changed(path: Path, before: tuple[int, int]) -> None:
    """Raise if a file is not what it was, or not there."""
    if not path.exists() or _stamp(path) != before:
        raise DataError(
            f"{path} changed while it was read. Wait until it is written, and start again"
        )
