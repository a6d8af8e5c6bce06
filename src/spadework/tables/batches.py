"""What readers of tables share: what is wanted, what comes out, and errors in words."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from spadework.errors import DataError

Types = Mapping[str, pa.DataType]

BATCH_ROWS = 32_768


class Wanted(NamedTuple):
    """Which columns to read, all if None, and the types of those that are known.

    The other types of text are those of its first rows, or of many if it is to be looked
    at ``afar``.
    """

    types: Types
    columns: Collection[str] | None
    afar: bool = False

    def pick(self, names: Sequence[str]) -> list[str]:
        """Return the names to read; all where none is wanted, for others to refuse."""
        if self.columns is None:
            return list(names)
        return [name for name in names if name in self.columns] or list(names)


class Batches(NamedTuple):
    """The schema of a table, and its record batches in order."""

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]


def in_slices(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Part batches that are too large to be worked on at once."""
    for batch in batches:
        for start in range(0, batch.num_rows, BATCH_ROWS):
            yield batch.slice(start, BATCH_ROWS)


def aligned(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Put a batch into the column order and types of a schema."""
    if batch.schema == schema:
        return batch
    columns = [batch.column(field.name).cast(field.type, safe=False) for field in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def common_schema(schemas: list[pa.Schema]) -> pa.Schema:
    """Return the one schema of all parts; they must have the same columns."""
    first = schemas[0]
    for other in schemas[1:]:
        absent = sorted(set(first.names) ^ set(other.names))
        if absent:
            raise DataError(
                f"the files do not have the same columns: {', '.join(absent[:8])} are "
                f"not in all of them"
            )
    types = {name: [s.field(name).type for s in schemas] for name in first.names}
    return pa.schema({name: _common_type(found) for name, found in types.items()})


def text_in_some(schemas: Sequence[pa.Schema]) -> dict[str, pa.DataType]:
    """Return the columns that all parts have and that only some have as text.

    To be read as they are written: 007 is no longer that once it was a number.
    """
    shared = set(schemas[0].names).intersection(*(each.names for each in schemas))
    kinds = {name: [each.field(name).type for each in schemas] for name in shared}
    return {
        name: pa.string()
        for name, types in kinds.items()
        if _common_type(types) == pa.string() and set(types) - {pa.string(), pa.null()}
    }


def _common_type(types: list[pa.DataType]) -> pa.DataType:
    """Return a type that all values fit into: numbers together, else text."""
    distinct = [kind for kind in dict.fromkeys(types) if not pa.types.is_null(kind)]
    if len(distinct) < 2:
        return distinct[0] if distinct else types[0]
    number = all(pa.types.is_integer(k) or pa.types.is_floating(k) for k in distinct)
    return pa.float64() if number else pa.string()


def refuse_duplicates(names: Sequence[str], source: Any) -> None:
    """Refuse columns of the same name."""
    twice = sorted(name for name, count in Counter(names).items() if count > 1)
    if twice == [""]:
        n_nameless = list(names).count("")
        above = "; remove what stands above the names, if the first line is a title"
        raise DataError(
            f"{source} has {n_nameless} columns without a name; give each one of its "
            f"own, or delete those that are empty{above * (len(names) - n_nameless == 1)}"
        )
    if twice:
        raise DataError(
            f"{source} has more than one column named {', '.join(map(repr, twice[:8]))}; "
            f"every column needs a name of its own"
        )


def as_data_error(error: Exception, name: str) -> DataError:
    """Put an error of a reader into words."""
    return DataError(f"{name} cannot be read: {str(error).splitlines()[0][:300]}")
