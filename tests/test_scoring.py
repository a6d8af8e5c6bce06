"""Any number of rows are scored in constant memory, and written whole or not at all."""

import errno
import gc
import io
import os
import sqlite3
import sys
import tracemalloc
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
import pytest

from fitted_payments import MAP, fitted, payments, small
from spadework import scoring
from spadework.budgets import Budget
from spadework.errors import DataError, InputError
from spadework.scoring import find_top, score_table
from spadework.table_fitting import fit_table
from spadework.table_model import TableModel
from spadework.tables import reading, table_files, text

MIB = 1 << 20


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "in" / "new.csv"
    path.parent.mkdir()
    pa_csv.write_csv(payments(300, seed=3), path)
    return path


@pytest.fixture
def out(tmp_path):
    folder = tmp_path / "out"
    folder.mkdir()
    return folder / "scores.csv"


def small_batches(monkeypatch):
    """Make batches of about 60 rows."""
    monkeypatch.setattr(text, "_BLOCK_BYTES", 1 << 12)
    monkeypatch.setattr(table_files, "BATCH_ROWS", 60)


@contextmanager
def nothing_left(out):
    """Whatever fails inside, no output and no temporary file is there afterwards."""
    yield
    assert list(out.parent.iterdir()) == []


# What is written


@pytest.mark.parametrize("name", ["scores.csv", "scores.tsv", "scores.parquet"])
def test_every_row_is_written_in_order_with_its_key(name, csv, out, monkeypatch):
    small_batches(monkeypatch)
    expected = fitted().score(payments(300, seed=3))
    counts = score_table(fitted(), csv, out.with_name(name))
    found = reading.read_table(out.with_name(name))
    assert found.column_names == expected.column_names
    assert found.to_pylist() == expected.to_pylist()
    n_anomalies = sum(expected.column("anomaly").to_pylist())
    assert counts[:3] == (300, n_anomalies, 300)
    assert 0 < n_anomalies < 300


def test_parquet_and_csv_have_the_same_scores(csv, out, tmp_path):
    pa_parquet.write_table(payments(300, seed=3), tmp_path / "new.parquet")
    score_table(fitted(), csv, out)
    score_table(fitted(), tmp_path / "new.parquet", out.with_name("other.csv"))
    assert out.read_bytes() == out.with_name("other.csv").read_bytes()


def test_a_database_has_the_same_scores_as_a_file(csv, out, tmp_path):
    rows = payments(300, seed=3).to_pylist()
    with sqlite3.connect(tmp_path / "new.db") as connection:
        connection.execute("CREATE TABLE new (id, amount, place, rate, at)")
        connection.executemany(
            "INSERT INTO new VALUES (:id, :amount, :place, :rate, :at)",
            [{**row, "at": str(row["at"])} for row in rows],
        )
    score_table(fitted(), csv, out)
    url, other = f"sqlite:///{tmp_path}/new.db", out.with_name("other.csv")
    score_table(fitted(), url, other, query="SELECT * FROM new ORDER BY id")
    assert out.read_bytes() == other.read_bytes()


def test_rows_are_numbered_where_there_is_no_key(csv, out, monkeypatch):
    small_batches(monkeypatch)
    model = fit_table(payments(), label="status", label_map=MAP, detector=small())
    score_table(model, csv, out)
    assert reading.read_table(out).column("row").to_pylist() == list(range(300))


@pytest.mark.parametrize("top", [1, 7, 299, 1000])
def test_the_top_rows_are_those_of_sorting_everything(top, csv, out, monkeypatch):
    small_batches(monkeypatch)
    everything = fitted().score(payments(300, seed=3)).to_pylist()
    ranked = sorted(everything, key=lambda row: -row["anomaly_score"])[:top]
    counts = score_table(fitted(), csv, out, top=top)
    assert reading.read_table(out).to_pylist() == ranked
    assert counts.n_written == min(top, 300)


def test_of_equal_scores_the_earlier_rows_are_kept(out, monkeypatch):
    small_batches(monkeypatch)
    table = payments(100, seed=4)
    twice = pa.concat_tables([table, table.set_column(0, "id", pa.array(["z"] * 100))])
    score_table(fitted(), twice, out, top=1)
    assert reading.read_table(out).to_pylist()[0]["id"] != "z"


def test_only_anomalies_are_written_when_asked(csv, out, monkeypatch):
    small_batches(monkeypatch)
    everything = fitted().score(payments(300, seed=3)).to_pylist()
    counts = score_table(fitted(), csv, out, only_anomalies=True)
    called = [row for row in everything if row["anomaly"]]
    assert reading.read_table(out).to_pylist() == called
    assert counts[:3] == (300, len(called), len(called))


@pytest.mark.parametrize("budget", [None, Budget(20)])
def test_calls_come_with_how_many_of_them_should_be_anomalies(
    budget, csv, out, monkeypatch
):
    small_batches(monkeypatch)
    counts = score_table(fitted(), csv, out, budget=budget)
    table = reading.read_table(out)
    called = table.column("anomaly").to_numpy() == 1
    chances = table.column("probability").to_numpy()[called]
    assert counts.expected.mean == pytest.approx(chances.sum())
    assert 0 <= counts.expected.low < counts.expected.high <= called.sum()


def test_where_no_row_is_anomalous_the_output_has_column_names_only(out):
    table = payments(100, seed=5)
    calls = fitted().score(table).column("anomaly").to_numpy()
    ordinary = table.filter(pa.array(calls == 0))
    counts = score_table(fitted(), ordinary, out, only_anomalies=True)
    assert counts[:3] == (ordinary.num_rows, 0, 0)
    assert out.read_text().split() == ['"id","anomaly_score","probability","anomaly"']


def test_standard_output_gets_csv(csv, out, monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written))
    score_table(fitted(), csv, "-")
    score_table(fitted(), csv, out)
    assert written.getvalue() == out.read_bytes()


def test_extra_columns_of_any_content_do_not_disturb(csv, out, monkeypatch, tmp_path):
    small_batches(monkeypatch)
    lines = csv.read_text().splitlines()
    messy = [lines[0] + ",extra", *(f"{line},{i}" for i, line in enumerate(lines[1:]))]
    messy[-1] = lines[-1] + ",not a number"
    path = tmp_path / "messy.csv"
    path.write_text("\n".join(messy))
    assert score_table(fitted(), path, out).n_rows == 300


def test_the_top_rows_are_found_with_their_numbers(csv, monkeypatch):
    small_batches(monkeypatch)
    scores = fitted().score(payments(300, seed=3)).column("anomaly_score").to_numpy()
    numbers, rows = find_top(fitted(), csv, 5)
    assert numbers.tolist() == np.argsort(-scores, kind="stable")[:5].tolist()
    assert rows.column("id").to_pylist() == [f"T{number:05}" for number in numbers]


# Memory


@pytest.mark.parametrize("options", [{}, {"top": 10}, {"budget": Budget(0.1)}])
def test_memory_does_not_grow_with_the_number_of_batches(out, monkeypatch, options):
    """Sampled at every batch: later ones find no more in use than the first ones."""
    batch = payments(1_000, seed=6).to_batches()[0]
    used = []

    def batches():
        for _ in range(20):
            gc.collect()
            used.append(tracemalloc.get_traced_memory()[0] + pa.total_allocated_bytes())
            yield batch.take(pa.array(range(batch.num_rows)))  # a copy

    @contextmanager
    def opened(*args, **kwargs):
        yield batch.schema, batches()

    monkeypatch.setattr(scoring, "open_table", opened)
    tracemalloc.start()
    try:
        counts = score_table(fitted(), "made", out, **options)
    finally:
        tracemalloc.stop()
    assert counts.n_rows == 20_000
    assert max(used[5:]) < max(used[:5]) + batch.nbytes


def test_a_parquet_file_is_never_read_whole(tmp_path, out, monkeypatch):
    rows = 200_000
    rng = np.random.default_rng(0)
    base = payments(1_000)
    table = base.take(rng.integers(1_000, size=rows))
    pa_parquet.write_table(table, tmp_path / "a.parquet", row_group_size=10_000)
    size, start = table.nbytes, None
    del table
    used = []
    real = TableModel.score_batch

    def watch(self, batch):
        used.append(pa.total_allocated_bytes())
        return real(self, batch)

    monkeypatch.setattr(TableModel, "score_batch", watch)
    start = pa.total_allocated_bytes()
    assert score_table(fitted(), tmp_path / "a.parquet", out).n_rows == rows
    assert len(used) >= 3
    assert max(used) - start < 0.7 * size


# What is refused, and what is left behind


def test_nothing_is_overwritten_unless_forced(csv, out):
    out.write_text("mine")
    with pytest.raises(DataError, match="--force"):
        score_table(fitted(), csv, out)
    assert out.read_text() == "mine"
    score_table(fitted(), csv, out, force=True)
    assert out.read_text().count("\n") == 301
    assert os.listdir(out.parent) == ["scores.csv"]


def test_a_file_that_appears_meanwhile_is_not_overwritten(csv, out, monkeypatch):
    real = TableModel.score_batch

    def interfere(self, batch):
        out.write_text("another's")
        return real(self, batch)

    monkeypatch.setattr(TableModel, "score_batch", interfere)
    with pytest.raises(DataError, match="left as it is"):
        score_table(fitted(), csv, out)
    assert out.read_text() == "another's"
    assert os.listdir(out.parent) == ["scores.csv"]


def test_permissions_follow_the_umask_and_those_of_an_older_file(csv, out):
    before = os.umask(0o077)
    try:
        score_table(fitted(), csv, out)
        assert out.stat().st_mode & 0o777 == 0o600
        out.chmod(0o640)
        score_table(fitted(), csv, out, force=True)
        assert out.stat().st_mode & 0o777 == 0o640
    finally:
        os.umask(before)


@pytest.mark.parametrize("name", ["scores.xlsx", "scores", "none/scores.csv"])
def test_an_output_that_cannot_be_is_refused_before_any_work(name, csv, out, monkeypatch):
    monkeypatch.setattr(TableModel, "score_batch", lambda *args: pytest.fail("scored"))
    with pytest.raises((DataError, InputError)):
        score_table(fitted(), csv, out.with_name("x").parent / name)


def test_a_folder_in_the_place_of_the_output_is_refused(csv, out):
    out.mkdir()
    with pytest.raises(DataError, match="is a folder"):
        score_table(fitted(), csv, out, force=True)


@pytest.mark.parametrize("top", [0, -1])
def test_a_top_that_is_no_number_of_rows_is_refused(top, csv, out):
    with nothing_left(out), pytest.raises(InputError, match="positive"):
        score_table(fitted(), csv, out, top=top)
    with pytest.raises(InputError, match="positive"):
        find_top(fitted(), csv, top)


def test_a_table_without_rows_is_refused(csv, out):
    csv.write_text(csv.read_text().splitlines()[0] + "\n")
    with nothing_left(out), pytest.raises(DataError, match="no rows"):
        score_table(fitted(), csv, out)
    with pytest.raises(DataError, match="no rows"):
        find_top(fitted(), csv, 5)


@pytest.mark.parametrize("name", ["scores.csv", "scores.parquet"])
def test_a_bad_value_in_the_last_batch_leaves_nothing_behind(name, csv, out, monkeypatch):
    small_batches(monkeypatch)
    lines = csv.read_text().splitlines()
    fields = lines[-1].split(",")
    csv.write_text("\n".join([*lines[:-1], ",".join([fields[0], "lots", *fields[2:]])]))
    with (
        nothing_left(out),
        pytest.raises(DataError, match="column amount: expected a number; got 'lots'"),
    ):
        score_table(fitted(), csv, out.with_name(name))


class FullDisk(io.FileIO):
    """A file on a disk that has no more room after 4 kB."""

    def write(self, data):
        if self.tell() + len(data) > 4096:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(data)


@pytest.mark.parametrize("name", ["scores.csv", "scores.parquet"])
def test_a_full_disk_leaves_nothing_behind(name, csv, out, monkeypatch):
    small_batches(monkeypatch)
    monkeypatch.setattr(os, "fdopen", FullDisk)
    with nothing_left(out), pytest.raises(DataError, match="No space left"):
        score_table(fitted(), csv, out.with_name(name))


@pytest.mark.parametrize("name", ["scores.csv", "scores.parquet"])
def test_a_full_disk_leaves_an_older_file_as_it_was(name, csv, out, monkeypatch):
    small_batches(monkeypatch)
    monkeypatch.setattr(os, "fdopen", FullDisk)
    old = out.with_name(name)
    old.write_text("mine")
    with pytest.raises(DataError):
        score_table(fitted(), csv, old, force=True)
    assert old.read_text() == "mine"
    assert os.listdir(out.parent) == [name]


def test_an_interruption_leaves_nothing_behind(csv, out, monkeypatch):
    small_batches(monkeypatch)
    real, turns = TableModel.score_batch, []

    def interrupt(self, batch):
        turns.append(batch.num_rows)
        if len(turns) == 3:
            raise KeyboardInterrupt
        return real(self, batch)

    monkeypatch.setattr(TableModel, "score_batch", interrupt)
    with nothing_left(out), pytest.raises(KeyboardInterrupt):
        score_table(fitted(), csv, out)


def test_a_key_that_csv_cannot_hold_is_refused_and_parquet_takes_it(out):
    nested = payments(60).set_column(0, "id", pa.array([[i] for i in range(60)]))
    with nothing_left(out), pytest.raises(InputError, match=r"write \.parquet"):
        score_table(fitted(), nested, out)
    score_table(fitted(), nested, out.with_suffix(".parquet"))


def test_rows_without_any_value_at_the_end_are_scored_with_a_warning(csv, out, caplog):
    n_columns = len(payments(1).column_names)
    with csv.open("a") as file:
        file.write(("," * (n_columns - 1) + "\n") * 2)
    assert score_table(fitted(), csv, out).n_rows == 302
    assert "the last 2 rows hold no value" in caplog.text
