"""Take frames of pandas, polars and pyarrow as tables."""

from typing import Any

import pyarrow as pa

from spadework.errors import DataError
from spadework.tables.batches import refuse_duplicates


def frame_to_table(frame: Any) -> pa.Table:
    """Turn a frame of pandas, polars or pyarrow into a table."""
    if isinstance(frame, pa.Table):
        return frame
    if isinstance(frame, pa.RecordBatch):
        return pa.Table.from_batches([frame])
    if hasattr(frame, "to_arrow"):
        return frame.to_arrow()
    if hasattr(frame, "columns") and hasattr(frame, "iloc"):
        return _from_pandas(frame)
    raise DataError(
        f"a table must be a path, a database URL or a frame of pandas, polars or "
        f"pyarrow; got {type(frame).__name__}"
    )


def _from_pandas(frame: Any) -> pa.Table:
    """Turn a frame of pandas into a table; columns of mixed types become text."""
    refuse_duplicates([str(name) for name in frame.columns], "the frame")
    arrays = {}
    for name in frame.columns:
        series = frame[name]
        try:
            array = pa.Array.from_pandas(series)
        except (pa.ArrowException, OverflowError):
            missing = series.isna()
            values = [None if m else str(v) for v, m in zip(series, missing, strict=True)]
            array = pa.array(values, type=pa.string())
        arrays[str(name)] = array
    return pa.table(arrays)
