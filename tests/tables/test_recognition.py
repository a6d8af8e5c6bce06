"""Columns are taken for what they are, or left out with the reason."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from fitted_columns import column_of
from spadework.errors import InputError
from spadework.tables.columns import CategoryColumn, DateColumn, NumberColumn
from spadework.tables.encoding import fit_encoder
from spadework.tables.recognition import Ignored, fit_column

N = 60


def dates(form, n_days):
    """Days from the first of March 2025 on, as text."""
    start = dt.datetime(2025, 3, 1)
    days = [start + dt.timedelta(days=i % n_days) for i in range(200)]
    return pa.chunked_array([[f"{day:{form}}" for day in days]])


@pytest.mark.parametrize(
    ("form", "n_days", "why"),
    [
        ("%d/%m/%Y", 12, "the day or the month may come first"),
        ("%m/%d/%Y %H:%M", 12, "the day or the month may come first"),
        ("%d März %Y", 200, "it is like dates"),
        ("%d/%m/%Y at noon", 200, "it is like dates"),
        ("%d-%b-%y", 200, "it is like dates"),
        ("%d/%m/%y", 200, "it is like dates"),
        ("%m/%d/%y %H:%M", 200, "it is like dates"),
        ("%d.%m.%y", 200, "it is like dates"),
        ("%m/%d/%Y 2:58 PM", 12, "the day or the month may come first"),
    ],
)
def test_dates_of_unclear_order_are_left_out_and_said(form, n_days, why):
    found = fit_column("day", dates(form, n_days), as_category=False)
    assert isinstance(found, Ignored)
    assert found.why.startswith(why)
    assert "write them with the year first" in found.why


def test_dates_of_both_orders_in_one_column_are_left_out_and_said():
    both = [*dates("%d/%m/%Y", 60).to_pylist(), *dates("%m/%d/%Y", 60).to_pylist()]
    found = fit_column("day", pa.array(both), as_category=False)
    assert isinstance(found, Ignored)
    assert "the day comes first in some of its dates" in found.why


@pytest.mark.parametrize(
    "text", ["12-34-5678", "1.2.10", "12.34.56", "10.0.0.12", "99/12/2025", "3/4"]
)
def test_codes_that_are_no_dates_stay_what_they_are(text):
    texts = pa.chunked_array([[text, f"{text}0"] * 100])
    assert isinstance(fit_column("code", texts, as_category=False), CategoryColumn)


NOON = dt.datetime(2024, 3, 1, 12)


def why_ignored(values, name="x"):
    """Say why a column is left out."""
    table = pa.table({name: values, "other": np.linspace(0, 1, len(values)) ** 2})
    encoder = fit_encoder(table)
    assert [column.name for column in encoder.columns] == ["other"]
    ((ignored, why),) = encoder.ignored
    assert ignored == name
    return why


@pytest.mark.parametrize(
    "values",
    [
        pa.array(range(0, 3 * N, 3)),
        pa.array(np.linspace(0, 9, N) ** 2),
        pa.array(np.linspace(0, 9, N), pa.float16()),
        pa.array([Decimal(i * i) / 4 for i in range(N)]),
        pa.array([True, False] * (N // 2)),
        pa.array([str(i / 4) for i in range(N)]),
        pa.array([i / 4 for i in range(N)]).dictionary_encode(),
    ],
    ids=["int", "float", "half", "decimal", "bool", "text", "dictionary"],
)
def test_numbers_of_every_type_are_numbers(values):
    column = column_of(values)
    assert isinstance(column, NumberColumn)
    expected = [float(value) for value in values.to_pylist()]
    np.testing.assert_allclose(column.encode(values)[:, 0], expected, rtol=1e-3)


@pytest.mark.parametrize(
    "values",
    [
        pa.array([NOON.date() + dt.timedelta(days=3 * i) for i in range(N)]),
        pa.array([NOON + dt.timedelta(hours=5 * i) for i in range(N)]),
        pa.array(
            [NOON + dt.timedelta(hours=5 * i) for i in range(N)],
            pa.timestamp("ns", "America/New_York"),
        ),
        pa.array([f"2024-03-{1 + i % 28:02}" for i in range(N)]),
        pa.array([f"2024-03-{1 + i % 28:02}T12:00:00Z" for i in range(N)]),
        pa.array([f"2024-03-{1 + i % 28:02} 12:00:00.123456789" for i in range(N)]),
    ],
    ids=["date", "timestamp", "zoned", "text", "zoned_text", "nanosecond_text"],
)
def test_points_in_time_of_every_type_are_dates(values):
    assert isinstance(column_of(values), DateColumn)


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("x", pa.array([5] * N), "one value only"),
        ("x", pa.array(["a"] * N), "one value only"),
        ("row", pa.array(range(100, 100 + N)), "like an id"),
        ("row", pa.array([f"{i}" for i in range(100, 100 + N)]), "like an id"),
        ("payment_id", pa.array([i * i for i in range(N)]), "like an id"),
        ("paymentId", pa.array([i * i for i in range(N)]), "like an id"),
        ("Kundennummer", pa.array([i * i for i in range(N)]), "like an id"),
        ("orderNo", pa.array([i * i for i in range(N)]), "like an id"),
        ("__index_level_0__", pa.array([i * i for i in range(N)]), "like an id"),
        ("x", pa.array([f"T{i:05}" for i in range(N)]), "like an id"),
        ("x", pa.array([f"the {i} words of a customer" for i in range(N)]), "free text"),
        ("x", pa.array([[i] for i in range(N)]), "not understood"),
    ],
)
def test_a_column_that_tells_nothing_is_left_out_and_said(name, values, why):
    assert why in why_ignored(values, name)


@pytest.mark.parametrize("name", ["paid", "grid", "amount"])
def test_distinct_numbers_that_are_no_count_are_no_id(name):
    table = pa.table({name: [i * i for i in range(N)]})
    assert fit_encoder(table).columns[0].role == "number"


def test_a_table_of_nothing_but_ids_is_refused_with_the_reasons():
    with pytest.raises(InputError, match="a: every row has a number of its own"):
        fit_encoder(pa.table({"a": range(N)}))


def test_a_column_of_codes_is_a_category_when_told_so():
    column = column_of(pa.array([10, 20, 30] * 20), categories=["x"])
    assert isinstance(column, CategoryColumn)
    assert set(column.values) == {"10", "20", "30"}
