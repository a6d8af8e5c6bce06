"""Ask a database; the answer comes as Arrow batches."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, TypeGuard

import pyarrow as pa

from spadework.errors import DataError

_SQLITE = "sqlite:///"
_POSTGRES = ("postgresql://", "postgres://")


def is_database(source: Any) -> TypeGuard[str]:
    """Tell a database URL from any other source."""
    return isinstance(source, str) and source.startswith((_SQLITE, *_POSTGRES))


@contextmanager
def open_query(
    url: str, query: str | None
) -> Iterator[tuple[pa.Schema, Iterator[pa.RecordBatch]]]:
    """Run a query, a SELECT statement, and stream its rows.

    A URL is such as ``sqlite:///file.db`` or ``postgresql://user@host/name``.
    """
    if not query:
        raise DataError(
            f"{without_password(url)} is a database: say what to read with a query, "
            f"such as 'SELECT * FROM payments'"
        )
    driver, address = _driver(url)
    connect: Any = driver.connect
    try:
        with connect(address) as connection, connection.cursor() as cursor:
            cursor.execute(query)
            with cursor.fetch_record_batch() as reader:
                yield reader.schema, _batches(reader, driver, url)
    except driver.Error as error:
        raise _as_data_error(error, url) from error


def _batches(reader: Any, driver: Any, url: str) -> Iterator[pa.RecordBatch]:
    """Pass batches on, and errors of the database as ours."""
    try:
        yield from reader
    except (driver.Error, pa.ArrowException, OSError) as error:
        raise _as_data_error(error, url) from error


def _as_data_error(error: Exception, url: str) -> DataError:
    """Put an error of a database into words."""
    text = (str(error).splitlines() or [type(error).__name__])[0][:300]
    hint = ""
    if "type mismatch" in text.lower() or "mixed" in text.lower():
        hint = ". Give each column one type, with CAST(column AS TEXT) in the query"
    return DataError(f"{without_password(url)} did not answer the query: {text}{hint}")


def _driver(url: str) -> tuple[Any, str]:
    """Return the driver of a URL, and the address it takes."""
    name = "sqlite" if url.startswith(_SQLITE) else "postgresql"
    try:
        driver = import_module(f"adbc_driver_{name}.dbapi")
    except ImportError as error:
        raise DataError(
            f"reading {name} databases needs a driver: pip install 'spadework[sql]'"
        ) from error
    if name == "postgresql":
        return driver, url
    path = url.removeprefix(_SQLITE)
    if not Path(path).is_file():
        raise DataError(
            f"there is no SQLite file {path}. Relative paths have three slashes "
            f"(sqlite:///file.db), absolute ones four (sqlite:////data/file.db)"
        )
    return driver, path


def without_password(source: object) -> str:
    """Show a source, and of a URL nothing that must not be seen.

    >>> without_password("postgresql://bob:secret@host/name?password=secret")
    'postgresql://bob@host/name'
    >>> without_password(["a.csv", "postgresql://bob:secret@host/name"])
    "['a.csv', 'postgresql://bob@host/name']"
    """
    if isinstance(source, list | tuple):
        return repr([without_password(each) for each in source])
    scheme, separator, rest = str(source).partition("://")
    if not separator:
        return str(source)
    place = rest.partition("?")[0]
    if "@" in rest and "@" not in place:  # a password that holds one of the two
        return f"{scheme}://..."
    user, at, host = place.rpartition("@")
    return f"{scheme}://{user.partition(':')[0]}{at}{host}"
