"""The encoding of a table as nodes of a graph: one input a column.

Numbers come as doubles (NaN where missing), categories as text (empty where missing),
dates as days since 1970 and times of day as hours since midnight, in doubles (NaN where
missing). What a user said means missing may come as it is.
"""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from spadework.export.graph import DOUBLE, FLOAT, INT64, STRING, Graph
from spadework.tables.columns import (
    CategoryColumn,
    Column,
    DateColumn,
    NumberColumn,
    TimeColumn,
)
from spadework.tables.dates import days_among, hours_among
from spadework.tables.encoding import TableEncoder
from spadework.tables.numerals import numbers_among, to_numbers
from spadework.tables.values import words_among

_FLOAT_MAX = float(np.finfo(np.float32).max)


def table_inputs(encoder: TableEncoder) -> dict[str, int]:
    """Return the inputs of a graph, each (batch,), with the codes of their types."""
    return {
        column.name: STRING if isinstance(column, CategoryColumn) else DOUBLE
        for column in encoder.columns
    }


def table_feed(encoder: TableEncoder, table: pa.Table) -> dict[str, NDArray[Any]]:
    """Return the values of a table as the inputs of a graph want them."""
    return {
        column.name: _feed(column, table.column(column.name).combine_chunks())
        for column in encoder.columns
    }


def _feed(column: Column, array: pa.Array) -> NDArray[Any]:
    if isinstance(column, CategoryColumn):
        texts = column.read(array).to_pylist()
        return np.array(["" if text is None else text for text in texts], dtype=object)
    if isinstance(column, NumberColumn):
        return to_numbers(array, column.notation, column.missing)
    return column.read(array)


def add_encoder(graph: Graph, encoder: TableEncoder) -> str:
    """Add what encodes columns; return the name of rows, (batch, n_features), float32."""
    parts = []
    for column in encoder.columns:
        values = graph.add("Unsqueeze", column.name, np.array([1]))
        if isinstance(column, NumberColumn):
            parts.append(_add_number(graph, column, values))
        elif isinstance(column, DateColumn):
            parts.append(_add_date(graph, column, values))
        elif isinstance(column, TimeColumn):
            parts.append(_add_time(graph, column, values))
        else:
            parts.append(_add_category(graph, column, values))
    return graph.add("Concat", *parts, axis=1)


def _add_number(graph: Graph, column: NumberColumn, values: str) -> str:
    missing = graph.add("Or", graph.add("IsNaN", values), graph.add("IsInf", values))
    stated = numbers_among(column.missing, column.notation)
    missing = _add_stated(graph, missing, values, stated)
    known = graph.add("Where", missing, column.fill, values)
    centred = graph.add("Sub", known, column.offset)
    limited = graph.add("Clip", centred, -_FLOAT_MAX, _FLOAT_MAX)
    number = graph.add("Cast", limited, to=FLOAT)
    if not column.tells_missing:
        return number
    return graph.add("Concat", number, graph.add("Cast", missing, to=FLOAT), axis=1)


def _add_stated(graph: Graph, missing: str, values: str, stated: list[float]) -> str:
    """Add that some values mean missing, beside those that are."""
    for value in stated:
        missing = graph.add("Or", missing, graph.add("Equal", values, value))
    return missing


def _add_category(graph: Graph, column: CategoryColumn, values: str) -> str:
    codes = {value or "": code for code, value in enumerate(column.values)}
    if "" in codes:
        codes |= dict.fromkeys(words_among(column.missing), codes[""])
    code = graph.add(
        "LabelEncoder",
        values,
        domain="ai.onnx.ml",
        keys_strings=list(codes),
        values_int64s=list(codes.values()),
        default_int64=len(column.values),
    )
    parts = []
    if column.n_common:
        common = np.arange(column.n_common, dtype=np.int64)[None]
        parts.append(graph.add("Cast", graph.add("Equal", code, common), to=FLOAT))
    if column.tells_rarity:
        parts.append(graph.add("Gather", column.log_shares, code))
    return graph.add("Concat", *parts, axis=1)


def _add_date(graph: Graph, column: DateColumn, values: str) -> str:
    stated = days_among(column.missing, column.first)
    missing = _add_stated(graph, graph.add("IsNaN", values), values, stated)
    days = graph.add("Where", missing, column.origin + column.fill, values)
    whole = graph.add("Floor", days)
    number = graph.add("Cast", graph.add("Add", whole, 3.0), to=INT64)
    weekday = graph.add("Cast", graph.add("Mod", number, np.array([7])), to=DOUBLE)
    parts = [graph.add("Sub", days, column.origin), weekday]
    if column.tells_hour:
        parts.append(graph.add("Mul", graph.add("Sub", days, whole), 24.0))
    if column.tells_missing:
        parts.append(graph.add("Cast", missing, to=DOUBLE))
    return graph.add("Cast", graph.add("Concat", *parts, axis=1), to=FLOAT)


def _add_time(graph: Graph, column: TimeColumn, values: str) -> str:
    stated = hours_among(column.missing)
    missing = _add_stated(graph, graph.add("IsNaN", values), values, stated)
    hours = graph.add("Cast", graph.add("Where", missing, column.fill, values), to=FLOAT)
    if not column.tells_missing:
        return hours
    return graph.add("Concat", hours, graph.add("Cast", missing, to=FLOAT), axis=1)
