"""A query gives the same table as a file, and errors of a database are put into words."""

import os
import shutil
import sqlite3
import subprocess
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest

from spadework.errors import DataError
from spadework.tables.encoding import fit_encoder
from spadework.tables.reading import open_table, read_table
from spadework.tables.values import simple

SERVER_USER = "nobody"
ROWS = [
    (i, 2.5 * i, ["web", "pos", None][i % 3], i % 2, f"2024-03-{1 + i % 28:02}")
    for i in range(40)
]
QUERY = "SELECT number, amount, kind, flag, day FROM payments ORDER BY number"
CSV = "number,amount,kind,flag,day\n" + "".join(
    ",".join("" if value is None else str(value) for value in row) + "\n" for row in ROWS
)


def encoded(table):
    """What a table comes to, without the number of its rows."""
    encoder = fit_encoder(table, leave_out=["number"])
    return repr(encoder), encoder.encode(table).tolist()


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "payments.csv"
    path.write_text(CSV)
    return path


@pytest.fixture
def sqlite_url(tmp_path):
    path = tmp_path / "payments.db"
    with sqlite3.connect(path) as connection:
        connection.execute(
            "CREATE TABLE payments (number INTEGER, amount REAL, kind TEXT, "
            "flag BOOLEAN, day DATE)"
        )
        connection.executemany("INSERT INTO payments VALUES (?, ?, ?, ?, ?)", ROWS)
    return f"sqlite:///{path}"


# SQLite


def test_a_query_of_sqlite_gives_the_same_table_as_a_file(sqlite_url, csv):
    assert encoded(read_table(sqlite_url, query=QUERY)) == encoded(read_table(csv))


def test_a_database_needs_a_query_and_a_file_takes_none(sqlite_url, csv):
    with pytest.raises(DataError, match="say what to read with a query"):
        read_table(sqlite_url)
    with pytest.raises(DataError, match="a query needs a database"):
        read_table(csv, query=QUERY)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("SELECT absent FROM payments", "no such column"),
        ("SELEC", "syntax error"),
        ("SELECT 1 AS a, 2 AS a", "more than one column named 'a'"),
    ],
)
def test_a_query_that_fails_is_put_into_words(sqlite_url, query, message):
    with pytest.raises(DataError, match=message):
        read_table(sqlite_url, query=query)


def test_a_column_that_changes_its_type_is_refused_with_the_way_out(sqlite_url):
    path = sqlite_url.removeprefix("sqlite:///")
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE mixed (a)")
        connection.executemany("INSERT INTO mixed VALUES (?)", [(1,)] * 2000 + [("x",)])
    with pytest.raises(DataError, match="CAST"):
        read_table(sqlite_url, query="SELECT a FROM mixed")
    text = "SELECT CAST(a AS TEXT) AS a FROM mixed"
    assert read_table(sqlite_url, query=text).column("a").to_pylist()[-1] == "x"


def test_a_query_cannot_change_the_database(sqlite_url):
    read_table(sqlite_url, query="DELETE FROM payments")
    assert read_table(sqlite_url, query=QUERY).num_rows == len(ROWS)


def test_a_stream_may_be_left_before_its_end(sqlite_url):
    with open_table(sqlite_url, query=QUERY) as (_, batches):
        assert next(batches).num_rows > 0


def test_a_sqlite_file_that_is_not_there_is_not_made(tmp_path):
    with pytest.raises(DataError, match="no SQLite file"):
        read_table(f"sqlite:///{tmp_path}/none.db", query=QUERY)
    assert list(tmp_path.iterdir()) == []


# PostgreSQL


def as_server_user(*command, cwd):
    """Run a command as a user that postgres agrees to run as."""
    if os.getuid() == 0:
        command = ("runuser", "-u", SERVER_USER, "--", *command)
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=60)


@pytest.fixture(scope="module")
def postgres_url():
    """The URL of a server of its own, on a socket in a folder of its own."""
    absent = [name for name in ("initdb", "pg_ctl") if shutil.which(name) is None]
    if absent:
        pytest.skip(f"PostgreSQL is not installed: there is no {absent[0]}")
    if os.getuid() == 0 and shutil.which("runuser") is None:
        pytest.skip("postgres does not run as root, and there is no runuser")
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))  # socket paths are short
    data = str(folder / "data")
    try:
        if os.getuid() == 0:
            shutil.chown(folder, SERVER_USER)
        made = as_server_user(
            "initdb", "-D", data, "-A", "trust", "-U", "tester", "-N", cwd=folder
        )
        if made.returncode:
            pytest.skip(f"initdb failed as {SERVER_USER}: {made.stderr}")
        options = f"-k {folder} -c listen_addresses='' -F"
        start = (
            "pg_ctl",
            "-D",
            data,
            "-o",
            options,
            "-l",
            f"{folder}/log",
            "-w",
            "start",
        )
        started = as_server_user(*start, cwd=folder)
        if started.returncode:
            pytest.skip(f"postgres does not start: {started.stdout}{started.stderr}")
        url = f"postgresql:///postgres?host={folder}&user=tester"
        fill_postgres(url)
        yield url
    finally:
        as_server_user("pg_ctl", "-D", data, "-m", "immediate", "stop", cwd="/")
        shutil.rmtree(folder, ignore_errors=True)


def fill_postgres(url):
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(url) as connection, connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE payments (number int, amount numeric(10, 2), kind text, "
            "flag boolean, day date, at timestamptz, key uuid)"
        )
        for number, amount, kind, flag, day in ROWS:
            name = "NULL" if kind is None else f"'{kind}'"
            cursor.execute(
                f"INSERT INTO payments VALUES ({number}, {amount}, {name}, "
                f"{bool(flag)}, '{day}', '{day} 12:00+02', gen_random_uuid())"
            )
        connection.commit()


def test_a_query_of_postgresql_gives_the_same_table_as_a_file(postgres_url, csv):
    found = read_table(postgres_url, query=QUERY)
    assert found.num_rows == len(ROWS)
    typed = read_table(csv, types={"amount": pa.string()})
    assert encoded(found) == encoded(typed)


def test_times_with_a_zone_come_from_postgresql_in_utc(postgres_url):
    query = "SELECT at, amount FROM payments ORDER BY number LIMIT 3"
    encoder = fit_encoder(read_table(postgres_url, query=query))
    assert encoder.columns[0].role == "date"
    hour = encoder.features.index("at: hour")
    found = encoder.encode(read_table(postgres_url, query=query))
    assert found[:, hour].tolist() == [10, 10, 10]


def test_a_uuid_of_postgresql_names_a_row_as_text(postgres_url):
    found = read_table(postgres_url, query="SELECT key, kind FROM payments")
    keys = simple(found.column("key")).to_pylist()
    assert len(set(keys)) == len(ROWS)
    assert all(len(key) == 36 and key.count("-") == 4 for key in keys)


def test_a_postgresql_query_that_fails_midway_is_put_into_words(postgres_url):
    with pytest.raises(DataError, match="division by zero"):
        read_table(postgres_url, query="SELECT 1 / (number - 30) AS a FROM payments")


def test_a_large_answer_comes_in_batches(postgres_url):
    query = "SELECT g, g * 2 AS h FROM generate_series(1, 200000) g"
    with open_table(postgres_url, query=query) as (_, batches):
        sizes = [batch.num_rows for batch in batches]
    assert sum(sizes) == 200_000
    assert max(sizes) <= 65_536


def test_a_server_that_does_not_answer_is_named_without_the_password():
    url = "postgresql://me:secret@127.0.0.1:1/bank?password=secret"
    with pytest.raises(DataError, match=r"me@127\.0\.0\.1:1/bank") as caught:
        read_table(url, query=QUERY)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    "source",
    [
        ["postgresql://me:secret@host/bank", "a.csv"],
        ("a.csv", "postgresql://host/bank?user=me&password=secr@secret"),
        ["postgresql://me:secret@127.0.0.1:1/bank"],
    ],
)
def test_no_error_shows_a_password(source):
    with pytest.raises(DataError) as caught:
        read_table(source)
    assert "secret" not in str(caught.value)
    with pytest.raises(DataError) as caught:
        read_table([*source, "b.csv"], query=QUERY)
    assert "secret" not in str(caught.value)


def test_a_list_of_one_database_is_that_database(sqlite_url):
    found = read_table([sqlite_url], query=QUERY)
    assert found.equals(read_table(sqlite_url, query=QUERY))
