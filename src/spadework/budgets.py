"""Call rows of a scored table by a budget: so many, a share, or so many of each day.

Scored rows wait in a temporary file until all scores are known, so that no source is read
twice, and memory does not grow with them.
"""

import logging
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import ipc

from spadework.arrays import Flags, Floats, Labels, Positions
from spadework.core.budget import nth_highest, share_of
from spadework.errors import InputError
from spadework.table_model import ANOMALY, SCORE, TableModel
from spadework.tables.dates import to_days

_DAY = "\0day"
_NO_DAY = math.inf
"""Stands for the day of rows without a date, which are a day of their own."""

Tables = Iterable[pa.Table]
logger = logging.getLogger("spadework")


@dataclass(frozen=True)
class Budget:
    """How many rows to call: those with the highest scores, and never more.

    ``calls`` is a number of rows or, below 1, a share of them. With a ``date``, a column,
    it is a number of rows of each day.
    """

    calls: float
    date: str | None = None

    def __post_init__(self) -> None:
        whole = self.calls >= 1 and float(self.calls).is_integer()
        if not whole and (self.date is not None or not 0 < self.calls < 1):
            raise InputError(
                "a budget must be a whole number of rows from 1 on, or without days a "
                f"share of rows between 0 and 1; got {self.calls!r}"
            )

    @property
    def columns(self) -> list[str]:
        """Columns that are needed beside those of the model."""
        return [] if self.date is None else [self.date]

    def mark(
        self, scored: pa.Table, model: TableModel, batch: pa.RecordBatch
    ) -> pa.Table:
        """Put the day of each row of a batch beside its score; all have one if any do."""
        days = np.zeros(len(scored))
        if self.date is not None:
            days = _days(model, batch, self.date)
        return scored.append_column(_DAY, pa.array(days))

    def call(self, tables: Tables, folder: Path | None) -> Iterator[pa.Table]:
        """Yield scored tables, marked, with calls within the budget.

        Waiting rows are kept in a folder, or where temporary files are.
        """
        by_day = _ByDay(self.calls) if self.date is not None else None
        n_rows = 0
        with TemporaryFile(dir=folder) as file:
            with _writing(file) as write:
                for table in tables:
                    n_rows += table.num_rows
                    if by_day is not None:
                        by_day.look(table)
                    write(table)
            if not n_rows:
                return
            found = (
                by_day.lines if by_day else {0.0: self._line(lambda: _read(file), n_rows)}
            )
            for table in _read(file):
                yield _call(table, found)
        _say_what_was_cut(found)

    def _line(self, tables: Callable[[], Tables], n_rows: int) -> "_Line":
        """Find where the budget ends among the scores of all rows."""
        calls = self.calls
        n_calls = share_of(calls, n_rows) if calls < 1 else min(int(calls), n_rows)
        if not n_calls:
            raise InputError(
                f"{calls:.3%} of {n_rows:,} rows is less than one row; give a number"
            )
        last = nth_highest(lambda: map(_scores, tables()), n_calls)
        n_above = sum(int((_scores(table) > last).sum()) for table in tables())
        return _Line(last, n_calls - n_above)


@dataclass
class _Line:
    """The score of the last row to be called, and how many rows of it still may be."""

    score: float
    room: int
    n_left_out: int = 0

    def call(self, scores: Floats) -> Flags:
        """Call rows, (n_rows,): those above, and of those on the line the first ones."""
        called = scores > self.score
        tied = np.flatnonzero(scores == self.score)
        called[tied[: self.room]] = True
        self.n_left_out += max(0, len(tied) - self.room)
        self.room = max(0, self.room - len(tied))
        return called


class _ByDay:
    """The highest scores of each day, as many as are called."""

    def __init__(self, n_calls: float) -> None:
        self.n_calls = int(n_calls)
        self.best: dict[float, Floats] = {}

    def look(self, table: pa.Table) -> None:
        """Keep the highest scores of the days of a table."""
        scores = _scores(table)
        for day, rows in _by_day(table):
            both = np.append(self.best.get(day, np.empty(0)), scores[rows])
            self.best[day] = np.sort(both)[-self.n_calls :]

    @property
    def lines(self) -> dict[float, _Line]:
        """Where the budget of each day ends."""
        return {
            day: _Line(float(best[0]), int((best == best[0]).sum()))
            for day, best in self.best.items()
        }


def _call(table: pa.Table, lines: Mapping[float, _Line]) -> pa.Table:
    """Call the rows of a marked table, each by the line of its day."""
    scores, called = _scores(table), np.zeros(len(table), dtype=np.int8)
    for day, rows in _by_day(table):
        called[rows] = lines[day].call(scores[rows])
    return _with_calls(table.drop_columns([_DAY]), called)


def _by_day(table: pa.Table) -> Iterator[tuple[float, Positions]]:
    """Yield each day of a marked table with its rows in order."""
    days = table.column(_DAY).to_numpy()
    order = np.argsort(days, kind="stable")
    starts = np.flatnonzero(days[order][1:] != days[order][:-1]) + 1
    for rows in np.split(order, starts):
        if len(rows):
            yield float(days[rows[0]]), rows


def _say_what_was_cut(lines: Mapping[float, _Line]) -> None:
    """Say where rows of one score were parted, and which had no date."""
    cut = sum(line.n_left_out for line in lines.values())
    if cut:
        logger.warning(
            "the budget parts rows of the same score: earlier ones are called, and %d "
            "later ones are not",
            cut,
        )
    if _NO_DAY in lines:
        logger.warning("rows without a date are called as those of one day")


def call_above(scored: pa.Table, threshold: float) -> pa.Table:
    """Call the rows of a scored table that lie above a threshold."""
    return _with_calls(scored, (_scores(scored) > threshold).astype(np.int8))


def _with_calls(scored: pa.Table, calls: Labels) -> pa.Table:
    place = scored.column_names.index(ANOMALY)
    return scored.set_column(place, ANOMALY, pa.array(calls))


def _scores(table: pa.Table) -> Floats:
    return table.column(SCORE).to_numpy()


def _days(model: TableModel, batch: pa.RecordBatch, name: str) -> Floats:
    """Return the days of rows as whole numbers, `_NO_DAY` where missing; (n_rows,)."""
    if name not in batch.schema.names:
        raise InputError(
            f"there is no column {name!r} to tell days by; name one that holds dates"
        )
    learnt = {each.name: each for each in model.encoder.columns if each.role == "date"}
    read: Any = learnt[name].read if name in learnt else to_days
    try:
        days = read(batch.column(name))
    except pa.ArrowException as error:
        raise InputError(
            f"column {name} must hold dates such as 2025-03-01, with the year first, to "
            f"tell days by ({error})"
        ) from error
    return np.where(np.isnan(days), _NO_DAY, np.floor(days))


@contextmanager
def _writing(file: Any) -> Iterator[Callable[[pa.Table], None]]:
    """Yield what writes tables to a temporary file; the first one sets the columns."""
    writer: Any = None

    def write(table: pa.Table) -> None:
        nonlocal writer
        writer = writer or ipc.new_stream(file, table.schema)
        writer.write_table(table)

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()


def _read(file: Any) -> Iterator[pa.Table]:
    """Read a temporary file from its beginning, a batch at a time."""
    file.seek(0)
    for batch in ipc.open_stream(file):
        yield pa.Table.from_batches([batch])
