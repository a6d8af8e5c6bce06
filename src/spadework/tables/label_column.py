"""Labels as a column of a table, whatever they are written as."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from spadework.errors import LabelError, suggest
from spadework.labels import normalize_labels
from spadework.tables.values import is_text, simple, to_text


def read_label_column(
    table: pa.Table,
    label: str,
    mapping: Mapping[str | None, int] | None,
    *,
    stated: bool = False,
) -> NDArray[np.int8]:
    """Read labels as 1, 0 and -1, (n_rows,); a mapping is by the text of the values.

    ``stated`` as of `normalize_labels`.
    """
    if label not in table.column_names:
        raise LabelError(
            f"there is no label column {label!r}; the table has "
            f"{', '.join(table.column_names[:20])}{suggest(label, table.column_names)}"
        )
    column = simple(table.column(label))
    if mapping is not None or is_text(column.type):
        texts = np.array(to_text(column).to_pylist(), object)
        return normalize_labels(texts, mapping, stated=stated)
    return normalize_labels(column.to_numpy(zero_copy_only=False), stated=stated)


def by_text(label_map: Mapping[Any, int]) -> dict[str | None, int]:
    """Return what labels mean by their text, None for missing ones."""
    texts = to_text(pa.array([None if k is None else str(k) for k in label_map]))
    return dict(zip(texts.to_pylist(), label_map.values(), strict=True))
