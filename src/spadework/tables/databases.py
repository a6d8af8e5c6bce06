"""Ask a database; the answer comes as Arrow batches."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa

from spadework.errors import DataError

_SQLITE = "sqlite:///"
_POSTGRES = ("postgresql://", "postgres://")


def is_database(source: str) -> bool:
    """Tell a database URL from a path."""
    return source.startswith((_SQLITE, *_POSTGRES))


@contextmanager
def open_query(
    url: str, query: str | None
) -> Iterator[tuple[pa.Schema, Iterator[pa.RecordBatch]]]:
    """Run a query and stream its rows.

    Parameters
    ----------
    url : str
        ``sqlite:///file.db`` or ``postgresql://user@host/name``.
    query : str
        A SELECT statement.
    """
    if not query:
        raise DataError(
            f"{_without_password(url)} is a database: say what to read with a query, "
            f"such as 'SELECT * FROM payments'"
        )
    driver, address = _driver(url)
    connect: Any = driver.connect
    try:
        with connect(address) as connection, connection.cursor() as cursor:
            cursor.execute(query)
            reader = cursor.fetch_record_batch()
            yield reader.schema, iter(reader)
    except driver.Error as error:
        raise DataError(
            f"{_without_password(url)} did not answer the query: "
            f"{str(error).splitlines()[0][:300]}"
        ) from error


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


def _without_password(url: str) -> str:
    """Show a URL without what must not be seen."""
    scheme, _, rest = url.partition("://")
    user, at, host = rest.rpartition("@")
    return f"{scheme}://{user.partition(':')[0]}{at}{host}"
