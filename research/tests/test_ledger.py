"""Rows survive a kill at any byte, processes that share a ledger, and the fold."""

import multiprocessing

import pyarrow.parquet as pa_parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spadework.errors import DataError
from spadework_research import ledger as ledgers
from spadework_research.ledger import Ledger
from worker_jobs import append_and_fold

ROWS = [
    {"name": "a", "seed": 0, "auc": 0.1 + 0.2, "why": None, "versions": {"numpy": "2"}},
    {"name": "a", "seed": 1, "auc": None, "why": "too long", "versions": {}},
    {"name": "b", "seed": 0, "auc": 1.0, "why": None, "versions": {"torch": "2.13"}},
]


def made(folder, rows=()):
    ledger = Ledger(folder / "runs.parquet", ("name", "seed"))
    for row in rows:
        ledger.append(row)
    return ledger


def test_rows_come_back_from_the_journal_and_from_the_table(tmp_path):
    ledger = made(tmp_path, reversed(ROWS))
    assert ledger.read() == ROWS
    ledger.fold()
    assert ledger.read() == ROWS
    assert ledger.journal.read_bytes() == b""


def test_names_of_a_mapping_become_columns(tmp_path):
    ledger = made(tmp_path, ROWS)
    ledger.fold()
    names = ["name", "seed", "auc", "why", "versions.numpy", "versions.torch"]
    assert pa_parquet.read_schema(ledger.path).names == names


def test_an_empty_folder_holds_no_rows(tmp_path):
    ledger = made(tmp_path / "nowhere")
    ledger.fold()
    assert ledger.read() == []
    assert not (tmp_path / "nowhere").exists()


def test_a_later_row_takes_the_place_of_an_earlier_one_in_the_table_too(tmp_path):
    ledger = made(tmp_path, ROWS)
    ledger.fold()
    ledger.append(ROWS[1] | {"auc": 0.75})
    ledger.append(ROWS[1] | {"auc": 0.5})
    assert [row["auc"] for row in ledger.read()] == [0.1 + 0.2, 0.5, 1.0]


@given(cut=st.integers(1, 200), folded=st.integers(0, 2))
def test_what_is_cut_off_costs_the_last_row_alone(cut, folded, tmp_path_factory):
    ledger = made(tmp_path_factory.mktemp("cut"), ROWS[:folded])
    ledger.fold()
    for row in ROWS[folded:]:
        ledger.append(row)
    last = len(ledger.journal.read_bytes().splitlines(keepends=True)[-1])
    content = ledger.journal.read_bytes()
    ledger.journal.write_bytes(content[: len(content) - min(cut, last)])
    assert ledger.read() == ROWS[:-1]
    ledger.append(ROWS[-1])
    assert ledger.read() == ROWS


def test_a_fold_that_is_killed_before_it_ends_loses_nothing(tmp_path, monkeypatch):
    ledger = made(tmp_path, ROWS[:1])
    ledger.fold()
    ledger.append(ROWS[1])

    def killed(file):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(ledgers.pa_parquet, "write_table", lambda *_, **__: killed(None))
        with pytest.raises(KeyboardInterrupt):
            ledger.fold()
    assert ledger.read() == ROWS[:2]
    with monkeypatch.context() as patched:  # after the table is written
        patched.setattr(ledgers, "_sync", killed)
        with pytest.raises(KeyboardInterrupt):
            ledger.fold()
    assert ledger.read() == ROWS[:2]
    assert [each.name for each in tmp_path.glob(".*")] == []


def test_processes_share_a_ledger(tmp_path):
    context = multiprocessing.get_context("spawn")
    processes = [
        context.Process(target=append_and_fold, args=(tmp_path, number))
        for number in range(2)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    rows = made(tmp_path).read()
    assert [(row["name"], row["seed"]) for row in rows] == [
        (f"{number}", seed) for number in range(2) for seed in range(20)
    ]


@pytest.mark.parametrize("line", [b"{", b"3", b"[1]", b"\xff\xfe", b"", b"{}"])
def test_a_broken_line_is_named(tmp_path, line):
    ledger = made(tmp_path, ROWS[:1])
    with ledger.journal.open("ab") as file:
        file.write(line + b"\n")
    with pytest.raises(DataError, match=r"runs\.(journal, line 2|parquet: rows lack)"):
        ledger.read()


def test_a_table_that_is_cut_off_is_named(tmp_path):
    ledger = made(tmp_path, ROWS)
    ledger.fold()
    ledger.path.write_bytes(ledger.path.read_bytes()[:-20])
    with pytest.raises(DataError, match=r"runs\.parquet is not a whole table"):
        ledger.read()


def test_what_is_no_number_is_not_written(tmp_path):
    ledger = made(tmp_path)
    with pytest.raises(ValueError, match="JSON"):
        ledger.append(ROWS[0] | {"auc": float("nan")})
    assert ledger.read() == []
