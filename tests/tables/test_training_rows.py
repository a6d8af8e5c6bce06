"""Rows to learn from are those that hold something, and unlabeled ones behind them."""

import pyarrow as pa
import pytest

from fitted_payments import MAP, payments
from spadework.errors import DataError
from spadework.table_fitting import plan_table


@pytest.mark.parametrize("n_empty", [0, 1, 30])
def test_empty_rows_at_the_end_are_left_out_and_said(n_empty):
    table = payments()
    empty = pa.table({f.name: pa.nulls(n_empty, f.type) for f in table.schema})
    plan = plan_table(pa.concat_tables([table, empty]), label="status", label_map=MAP)
    assert plan.table == table
    assert plan.n_empty == n_empty
    assert ("empty ones at the end" in plan.lines()[0]) == bool(n_empty)


def test_rows_with_a_single_value_and_empty_rows_in_between_stay():
    table = payments()
    empty = pa.table({f.name: pa.nulls(9, f.type) for f in table.schema})
    both = pa.concat_tables([table, empty, table[:1]])
    plan = plan_table(both, label="status", label_map=MAP)
    assert plan.table.num_rows == both.num_rows
    spare = empty.set_column(0, "id", pa.array([None] * 8 + ["T9"]))
    plan = plan_table(pa.concat_tables([table, spare]), label="status", label_map=MAP)
    assert plan.table.num_rows == table.num_rows + 9


def test_codes_of_unlabeled_rows_are_read_as_written(tmp_path):
    labeled, new = tmp_path / "a.csv", tmp_path / "b.csv"
    labeled.write_text("x,code,y\n" + "1,007,1\n2,012,0\n" * 10)
    new.write_text("x,code\n" + "3,A12\n4,007\n" * 10)
    plan = plan_table(labeled, label="y", unlabeled=new)
    assert set(plan.table.column("code").to_pylist()) == {"007", "012", "A12"}


def test_a_table_without_rows_is_refused():
    with pytest.raises(DataError, match="no rows"):
        plan_table(payments().slice(0, 0), label="status", label_map=MAP)


def test_labels_of_rows_that_are_taken_as_unlabeled_are_counted_and_said(caplog):
    table = payments()
    n_labels = table.num_rows - table.column("status").null_count
    plan = plan_table(table, label="status", label_map=MAP, unlabeled=table)
    (said,) = (record.getMessage() for record in caplog.records)
    assert f"hold {n_labels} values in status; they do not count" in said
    assert (plan.labels[table.num_rows :] == -1).all()


@pytest.mark.parametrize("values", [None, "", "-1"])
def test_rows_without_labels_are_taken_without_a_word(values, caplog):
    table = payments()
    new = table.drop_columns(["status"])
    if values is not None:
        new = new.append_column("status", pa.array([values] * new.num_rows))
    plan_table(table, label="status", label_map=MAP, unlabeled=new)
    assert not caplog.records
