"""Rows of results in one Parquet table, with a journal in front that runs append to.

A row is written to the journal and synced when a run ends, so that whatever is killed
costs the run it was in. `Ledger.fold` moves what the journal holds into the table, which
is replaced whole. Processes may share a ledger; they wait for each other.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from spadework.errors import DataError
from spadework.files import open_whole
from spadework.lazy import LazyModule

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pa_parquet
else:  # a machine that only runs and appends needs neither
    pa = LazyModule("pyarrow")
    pa_parquet = LazyModule("pyarrow.parquet")

Row = dict[str, Any]
Key = tuple[Any, ...]


@dataclass(frozen=True)
class Ledger:
    """A table of rows, of which a later one takes the place of an earlier one.

    Attributes
    ----------
    path : Path
        Of the Parquet file; the journal lies beside it.
    key : tuple of str
        Fields that tell rows apart, and order them.
    """

    path: Path
    key: tuple[str, ...]

    @property
    def journal(self) -> Path:
        """Where rows go that are not in the table yet, a line of JSON each."""
        return self.path.with_suffix(".journal")

    def append(self, row: Mapping[str, Any]) -> None:
        """Write a row to the journal; when this returns, it is on the disk.

        Values are text, numbers, None, lists of these, or one mapping of names to text.
        """
        line = json.dumps(row, allow_nan=False).encode() + b"\n"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with _locked(self.journal, "a+b") as file:
            file.truncate(len(_whole_lines(file)))
            file.write(line)
            _sync(file)

    def read(self) -> list[Row]:
        """Return all rows, of the table and the journal, in the order of their keys."""
        if not self.journal.exists():
            return self._merge(b"")
        with _locked(self.journal, "rb") as file:
            return self._merge(_whole_lines(file))

    def fold(self) -> None:
        """Move what the journal holds into the table."""
        if not self.journal.exists():
            return
        with _locked(self.journal, "a+b") as file:
            lines = _whole_lines(file)
            if lines:
                _write_table(self.path, self._merge(lines))
            file.truncate(0)
            _sync(file)

    def _merge(self, lines: bytes) -> list[Row]:
        """Let rows of the journal take the places of those in the table."""
        rows = _read_table(self.path) if self.path.exists() else []
        rows += _read_lines(self.journal, lines)
        found = {tuple(row.get(name) for name in self.key): row for row in rows}
        try:
            return [found[key] for key in sorted(found)]
        except TypeError as error:
            raise DataError(f"{self.path}: rows lack {self.key}, their key") from error


@contextmanager
def _locked(path: Path, mode: str) -> Iterator[IO[bytes]]:
    """Open a file that nobody else writes to meanwhile."""
    with path.open(mode) as file:
        fcntl.flock(file, fcntl.LOCK_SH if mode == "rb" else fcntl.LOCK_EX)
        yield file


def _sync(file: IO[bytes]) -> None:
    """Bring what was written to the disk."""
    file.flush()
    os.fsync(file.fileno())


def _whole_lines(file: IO[bytes]) -> bytes:
    """Read a journal but for a last line that was cut off."""
    file.seek(0)
    content = file.read()
    return content[: content.rfind(b"\n") + 1]


def _read_lines(path: Path, lines: bytes) -> list[Row]:
    """Parse the lines of a journal, or say which one cannot be read."""
    rows = []
    for number, line in enumerate(lines.splitlines(), start=1):
        try:
            row = json.loads(line)
        except ValueError as error:
            raise DataError(
                f"{path}, line {number}: {error}. Remove the line and run again"
            ) from error
        if not isinstance(row, dict):
            raise DataError(f"{path}, line {number}: expected a row, got {row!r:.40}")
        rows.append(row)
    return rows


def _write_table(path: Path, rows: list[Row]) -> None:
    """Write rows as columns; a mapping becomes a column for each of its names."""
    flat = [_flatten(row) for row in rows]
    names = dict.fromkeys(name for row in flat for name in row)
    in_order = sorted(names, key=lambda name: name if "." in name else "")
    table = pa.table({name: [row.get(name) for row in flat] for name in in_order})
    with open_whole(path) as file:
        pa_parquet.write_table(table, file, compression="zstd", compression_level=19)


def _read_table(path: Path) -> list[Row]:
    """Read rows back; names without a value were not in their mapping."""
    try:
        return [_nest(row) for row in pa_parquet.read_table(path).to_pylist()]
    except (OSError, pa.ArrowInvalid) as error:
        raise DataError(f"{path} is not a whole table of results: {error}") from error


def _flatten(row: Row) -> Row:
    """Name the values of a mapping with a dot, as in ``versions.numpy``.

    >>> _flatten({"seed": 1, "versions": {"numpy": "2.0"}})
    {'seed': 1, 'versions.numpy': '2.0'}
    """
    flat: Row = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            flat |= {f"{name}.{key}": each for key, each in value.items()}
        else:
            flat[name] = value
    return flat


def _nest(flat: Row) -> Row:
    """Undo `_flatten`."""
    row: Row = {}
    for name, value in flat.items():
        outer, dot, inner = name.partition(".")
        if not dot:
            row[name] = value
        else:
            of_name = row.setdefault(outer, {})
            if value is not None:
                of_name[inner] = value
    return row
