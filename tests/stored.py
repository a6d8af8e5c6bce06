"""One small table, as it is stored in tests."""

import pyarrow as pa
import pyarrow.ipc as pa_ipc

TABLE = pa.table(
    {
        "id": pa.array([7, 8, 9]),
        "amount": pa.array([1.5, None, -2.25]),
        "kind": pa.array(["web", None, 'a "quoted", one']),
        "flag": pa.array([True, False, None]),
    }
)
ROWS = TABLE.to_pylist()


def write_arrow(path, *, stream):
    """Write it as a stream or as a file of Arrow."""
    new = pa_ipc.new_stream if stream else pa_ipc.new_file
    with pa.OSFile(str(path), "wb") as file, new(file, TABLE.schema) as writer:
        writer.write_table(TABLE)
