"""Labels as a column of a table, whatever they are written as."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from spadework.arrays import Labels
from spadework.errors import LabelError, suggest
from spadework.labels import UNLABELED, normalize_labels
from spadework.tables.values import is_text, simple, to_text


def read_label_column(
    table: pa.Table,
    label: str,
    mapping: Mapping[str | None, int] | None,
    *,
    stated: bool = False,
) -> Labels:
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
    if not isinstance(label_map, Mapping):
        raise LabelError(
            f"label_map must be a dict such as {{'fraud': 1, 'ok': 0}}; got {label_map!r}"
        )
    given = [None if key is None else str(key) for key in label_map]
    texts = to_text(pa.array(given, pa.string())).to_pylist()
    meanings: dict[str | None, int] = {}
    for key, text, meaning in zip(given, texts, label_map.values(), strict=True):
        if key and text is None and meaning != UNLABELED:
            raise LabelError(
                f"label_map names {key!r}, which reads as an empty cell: all empty cells "
                f"would be labeled {meaning}. Write another word in these rows"
            )
        if meanings.setdefault(text, meaning) != meaning:
            raise LabelError(
                f"label_map gives {text!r} two meanings, {meanings[text]} and {meaning}"
            )
    return meanings
