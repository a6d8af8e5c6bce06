"""A plan says what becomes of a table before anything is fitted."""

import datetime as dt

import numpy as np
import pyarrow as pa

from spadework.table_fitting import plan_table

N = 60
STATED = ["?", "unknown", "-999", "1900-01-01", "9999-12-31"]
DAYS = [dt.date(2024, 3, 1) + dt.timedelta(days=i) for i in range(N)]


def test_the_plan_counts_what_was_stated_by_column():
    table = pa.table(
        {
            "a": ["?", None, "NA", "-999", *map(str, range(N - 4))],
            "b": [float("inf"), None, *np.linspace(0, 1, N - 2) ** 2],
            "at": [*DAYS[1:], None],
            "kind": ["?", "shop", "web"] * (N // 3),
            "y": ["1", "0", "?"] * (N // 3),
        }
    )
    options = {"label": "y", "label_map": {"1": 1, "0": 0, "?": -1}}
    plan = plan_table(table, missing=STATED, **options)
    assert plan.stated == {"a": 2, "kind": 20}
    assert "said to be missing: 22 values (a 2, kind 20)" in plan.lines()
    unused = plan_table(table.drop_columns(["a"]), missing=["none"], **options)
    assert "said to be missing: 0 values" in unused.lines()
    silent = plan_table(table.drop_columns(["a"]), **options)
    assert not any("said to be" in line for line in silent.lines())


def test_labels_and_keys_are_left_as_they_are():
    table = pa.table(
        {"x": np.linspace(0, 9, N), "id": ["0"] * N, "y": [1, 0, -1] * (N // 3)}
    )
    plan = plan_table(table, label="y", keys=["id"], missing=["0", 0])
    assert plan.labels[:3].tolist() == [1, 0, -1]
    assert plan.table.column("id").to_pylist() == ["0"] * N
