"""Score a table of any size in constant memory, in the order of its rows."""

import logging
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
from numpy.typing import NDArray

from spadework.arrays import Floats
from spadework.budgets import Budget, call_above
from spadework.calls import Doubt, Expected
from spadework.errors import DataError, InputError
from spadework.files import STDOUT, open_new
from spadework.lost_columns import LostColumn, warn_of_lost
from spadework.progress import progress
from spadework.table_model import ANOMALY, SCORE, TableModel, name_rows
from spadework.tables.reading import open_table
from spadework.tables.values import count_empty_end

ROW = "row"
"""Names a row, counted from 0, where a model has no key columns."""

pc: Any = pyarrow.compute
logger = logging.getLogger("spadework")


class Counts(NamedTuple):
    """Rows that were read, called anomalous, and written; columns that say nothing.

    ``expected`` is how many of the calls should be anomalies, if the model can tell.
    """

    n_rows: int
    n_anomalies: int
    n_written: int
    lost_columns: list[LostColumn]
    expected: Expected | None = None


def score_table(
    model: TableModel,
    source: Any,
    out: Path | str,
    *,
    query: str | None = None,
    top: int | None = None,
    only_anomalies: bool = False,
    threshold: float | None = None,
    budget: Budget | None = None,
    force: bool = False,
    verbose: bool = False,
) -> Counts:
    """Score every row of a source and write keys, scores, probabilities and calls.

    Parameters
    ----------
    source : path, glob, list of paths, "-", database URL, or a frame
    out : path ending in .csv, .tsv or .parquet, or "-" for CSV on standard output
        Written beside its place and moved there when whole.
    query : str, optional
        What to ask a database.
    top : int, optional
        Only so many rows with the highest scores, highest first.
    only_anomalies : bool
        Only rows that are called anomalous.
    threshold : float, optional
        Score above which rows are called, in place of the model's.
    budget : Budget, optional
        How many rows to call, in place of a threshold.
    force : bool
        Replace a file that is there.
    """
    if top is not None:
        _check_top(top)
    if threshold is not None and budget is not None:
        raise InputError("give a threshold or a budget, and not both")
    watch = model.watch_columns()
    n_rows = n_empty = 0

    def score_batches() -> Iterator[pa.Table]:
        nonlocal n_rows, n_empty
        for batch in batches:
            scored = _with_rows(model, model.score_batch(batch), n_rows)
            watch.look(batch)
            n_empty = count_empty_end(batch)
            n_rows += batch.num_rows
            advance(f"{n_rows:,} rows")
            if threshold is not None:
                scored = call_above(scored, threshold)
            yield scored if budget is None else budget.mark(scored, model, batch)

    with (
        _open_output(out, force=force) as write,
        _open_batches(model, source, query, budget.columns if budget else ()) as batches,
        progress("scoring", None, verbose=verbose) as advance,
    ):
        tables = score_batches()
        if budget is not None:
            tables = budget.call(tables, _folder_of(out))
        calls = _CallCounter(model.detector.doubt)
        n_written = _write(calls.count(tables), write, top, only_anomalies=only_anomalies)
        _refuse_no_rows(n_rows)
    if n_empty:
        logger.warning(
            "the last %d rows hold no value, which is odd in itself: leave them out, a "
            "spreadsheet may have written them",
            n_empty,
        )
    lost = watch.found()
    warn_of_lost(lost)
    return Counts(n_rows, calls.n_calls, n_written, lost, calls.expected)


def find_top(
    model: TableModel, source: Any, top: int, *, query: str | None = None
) -> tuple[NDArray[np.int64], pa.Table]:
    """Find the rows with the highest scores, highest first.

    Returns their numbers, counted from 0, (n_top,), and the columns a model needs.
    """
    _check_top(top)
    numbers, scores = np.empty(0, dtype=np.int64), np.empty(0)
    rows: pa.Table | None = None
    n_rows = 0
    with _open_batches(model, source, query) as batches:
        for batch in batches:
            found = model.score_batch(batch).column(SCORE).to_numpy()
            scores = np.append(scores, found)
            numbers = np.append(numbers, np.arange(n_rows, n_rows + batch.num_rows))
            n_rows += batch.num_rows
            order = np.argsort(-scores, kind="stable")[:top]
            table = pa.Table.from_batches([batch])
            both = table if rows is None else pa.concat_tables([rows, table])
            rows, scores, numbers = both.take(order), scores[order], numbers[order]
    _refuse_no_rows(n_rows)
    return numbers, rows


def find_named(
    model: TableModel, source: Any, names: Sequence[str], *, query: str | None = None
) -> tuple[NDArray[np.int64], pa.Table]:
    """Find the rows whose key is one of these names, in their order in the table.

    Returns what `find_top` does.
    """
    if len(model.keys) != 1:
        raise InputError(
            f"rows are found by one key column, and the model has "
            f"{', '.join(model.keys) or 'none'}; name rows by their numbers"
        )
    wanted = {f"{model.keys[0]} {name}": name for name in names}
    missed, n_rows, numbers, parts = set(wanted), 0, [], []
    with _open_batches(model, source, query) as batches:
        for batch in batches:
            model.refuse_without_keys(batch.schema.names)
            table = pa.Table.from_batches([batch])
            titles = name_rows(table, model.keys)
            found = [place for place, title in enumerate(titles) if title in wanted]
            missed.difference_update(titles)
            numbers += [n_rows + place for place in found]
            parts.append(table.take(pa.array(found, pa.int64())))
            n_rows += batch.num_rows
    _refuse_no_rows(n_rows)
    if missed:
        raise InputError(
            f"no row of {n_rows:,} has {model.keys[0]} "
            f"{', '.join(name for title, name in wanted.items() if title in missed)}"
        )
    return np.array(numbers, dtype=np.int64), pa.concat_tables(parts)


def _write(
    tables: Iterator[pa.Table],
    write: Callable[[pa.Table], None],
    top: int | None,
    *,
    only_anomalies: bool,
) -> int:
    """Write what is wanted of scored tables; return how many rows that are."""
    n_written = 0
    best: pa.Table | None = None
    for scored in tables:
        if only_anomalies:
            scored = scored.filter(pc.equal(scored.column(ANOMALY), 1))
        if top is None:
            write(scored)
            n_written += scored.num_rows
        else:
            best = _keep_best(best, scored, top)
    if best is not None:
        write(best)
        n_written = best.num_rows
    return n_written


class _CallCounter:
    """Counts the calls of scored tables that pass, and what to expect of them."""

    def __init__(self, doubt: Doubt | None) -> None:
        self.doubt = doubt
        self.n_calls = 0
        self.sums: Floats = np.zeros((3, 2))

    def count(self, tables: Iterator[pa.Table]) -> Iterator[pa.Table]:
        """Pass tables on."""
        for scored in tables:
            called = scored.filter(pc.equal(scored.column(ANOMALY), 1))
            self.n_calls += called.num_rows
            if self.doubt is not None:
                self.sums += self.doubt.weigh(called.column(SCORE).to_numpy())
            yield scored

    @property
    def expected(self) -> Expected | None:
        """How many of the calls should be anomalies; None where that is not told."""
        if self.doubt is None:
            return None
        return self.doubt.expect(self.sums, self.n_calls)


def _folder_of(out: Path | str) -> Path | None:
    """Return the folder of a file; None where there is none, as of standard output."""
    return None if str(out) == STDOUT else Path(out).absolute().parent


def _check_top(top: int) -> None:
    if top < 1:
        raise InputError(f"top must be a positive number; got {top}")


def _refuse_no_rows(n_rows: int) -> None:
    if not n_rows:
        raise DataError("the table has column names and no rows: nothing to score")


def _with_rows(model: TableModel, scored: pa.RecordBatch, start: int) -> pa.Table:
    """Put the numbers of the rows in front where the model has no keys."""
    table = pa.Table.from_batches([scored])
    if model.keys:
        return table
    return table.add_column(0, ROW, pa.array(np.arange(start, start + len(table))))


def _keep_best(best: pa.Table | None, scored: pa.Table, top: int) -> pa.Table:
    """Keep the rows with the highest scores, highest first; of equals the earlier."""
    both = scored if best is None else pa.concat_tables([best, scored])
    order = np.argsort(-both.column(SCORE).to_numpy(), kind="stable")[:top]
    return both.take(pa.array(order))


@contextmanager
def _open_batches(
    model: TableModel, source: Any, query: str | None, more: Sequence[str] = ()
) -> Iterator[Iterator[pa.RecordBatch]]:
    """Open a table, and yield its batches, with the columns that are needed.

    These are the model's, and more, which are read as text where they are text.
    """
    types = {**dict.fromkeys(more, pa.string()), **model.types}
    needed: Any = {"types": types, "columns": [*model.columns, *more]}
    with open_table(source, query=query, **needed) as (_, batches):
        yield batches


@contextmanager
def _open_output(out: Path | str, *, force: bool) -> Iterator[Callable[[pa.Table], None]]:
    """Yield what writes tables to a file, which appears when all is written."""
    if str(out) == STDOUT:
        with _writing(sys.stdout.buffer, ".csv") as write:
            yield write
        return
    suffix = Path(out).suffix.lower()
    if suffix not in (".csv", ".tsv", ".parquet"):
        raise InputError(f"{out} must end in .csv, .tsv or .parquet")
    with open_new(Path(out), force=force) as file, _writing(file, suffix) as write:
        yield write


@contextmanager
def _writing(file: Any, suffix: str) -> Iterator[Callable[[pa.Table], None]]:
    """Yield what writes tables as text or Parquet; the first one sets the columns."""
    writer: Any = None

    def write(table: pa.Table) -> None:
        nonlocal writer
        if writer is None:
            writer = _open_writer(file, suffix, table.schema)
        writer.write_table(table)

    try:
        yield write
    finally:
        if writer is not None:
            writer.close()


def _open_writer(file: Any, suffix: str, schema: pa.Schema) -> Any:
    if suffix == ".parquet":
        # Scores hardly repeat: to look for those that do takes most of the time.
        return pa_parquet.ParquetWriter(file, schema, use_dictionary=False)
    delimiter = "\t" if suffix == ".tsv" else ","
    options = pa_csv.WriteOptions(delimiter=delimiter, quoting_style="needed")
    try:
        return pa_csv.CSVWriter(file, schema, write_options=options)
    except pa.ArrowException as error:
        raise InputError(
            f"a key column cannot be written as text ({error}); write .parquet"
        ) from error
