"""Read the rows of a fit: a table, and further rows without labels behind it."""

import logging
from typing import Any, NamedTuple

import pyarrow as pa

from spadework.errors import DataError, InputError, list_some
from spadework.tables.batches import Types, common_schema, text_in_some
from spadework.tables.databases import is_database
from spadework.tables.reading import hold_input, read_table
from spadework.tables.values import TEXT, count_empty_end, pc, plain

logger = logging.getLogger("spadework")

_NO_LABEL = "-1"


class TrainingRows(NamedTuple):
    """Rows to learn from, and how many were left out because they hold no value."""

    table: pa.Table
    n_empty: int


def read_training_rows(
    source: Any, query: str | None, types: Types, unlabeled: Any, label: str
) -> TrainingRows:
    """Read a table and, if there are, further rows, whose labels do not count.

    Source, query and types are those of `read_table`.
    """
    if is_database(unlabeled):
        raise InputError(
            "unlabeled rows come from files or frames. Those of a database join the "
            "query of the labeled rows, after UNION ALL and with NULL as their label"
        )
    source, unlabeled = map(hold_input, (source, unlabeled))
    table, n_empty = _without_empty_end(read_table(source, query=query, types=types))
    if not table.num_rows:
        raise DataError("the table has column names and no rows: nothing to learn from")
    if unlabeled is None or label not in table.column_names:
        return TrainingRows(table, n_empty)
    new, n_more = _without_empty_end(read_table(unlabeled, types=types))
    if as_written := text_in_some([table.schema, new.schema]):
        types = {**types, **as_written}
        table = read_table(source, query=query, types=types)[: table.num_rows]
        new = read_table(unlabeled, types=types)[: new.num_rows]
    _say_what_does_not_count(new, label)
    return TrainingRows(_with_unlabeled(table, new, label), n_empty + n_more)


def _without_empty_end(table: pa.Table) -> TrainingRows:
    """Leave out the rows without any value that spreadsheets write at the end."""
    n_empty = count_empty_end(table)
    return TrainingRows(table[: table.num_rows - n_empty], n_empty)


def _say_what_does_not_count(new: pa.Table, label: str) -> None:
    """Warn of labels among rows that are taken as unlabeled."""
    if label not in new.column_names:
        return
    values = plain(new.column(label)).drop_null().cast(TEXT)
    n_labels = int(pc.sum(pc.not_equal(values, _NO_LABEL)).as_py() or 0)
    if n_labels:
        logger.warning(
            "the unlabeled rows hold %s values in %s; they do not count. To learn from "
            "them, give these rows with the labeled ones, as one table of several files",
            f"{n_labels:,}",
            label,
        )


def _with_unlabeled(table: pa.Table, new: pa.Table, label: str) -> pa.Table:
    """Put rows without labels behind those of a table."""
    names = [name for name in table.column_names if name != label]
    missing = [name for name in names if name not in new.column_names]
    if missing:
        raise DataError(
            f"the unlabeled rows lack columns of the table: {list_some(missing)}"
        )
    nothing = pa.nulls(new.num_rows, table.schema.field(label).type)
    rows = new.select(names).append_column(label, nothing).select(table.column_names)
    try:
        return pa.concat_tables([table, rows], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        schema = common_schema([table.schema, rows.schema])  # what differs becomes text
    try:
        parts = [part.cast(schema, safe=False) for part in (table, rows)]
        return pa.concat_tables(parts)
    except pa.ArrowException as error:
        raise DataError(
            f"the unlabeled rows have columns of other types than the table: "
            f"{str(error).splitlines()[0][:200]}. Give both in the same types"
        ) from error
