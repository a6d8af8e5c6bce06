"""What each column is taken for, and that its numbers do not depend on its storage."""

import datetime as dt
import io
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from spadework.errors import InputError
from spadework.tables.columns import CategoryColumn, DateColumn, NumberColumn
from spadework.tables.dates import find_no_dates, to_days
from spadework.tables.encoding import TableEncoder, fit_encoder
from spadework.tables.frames import frame_to_table
from spadework.tables.reading import read_table
from spadework.tables.recognition import MAX_COMMON
from spadework.tables.unusable import ColumnsError
from spadework.tables.values import to_text

N = 60
NOON = dt.datetime(2024, 3, 1, 12)


def fit_one(values, **options):
    """Fit a column called x beside one that is always used."""
    table = pa.table({"x": values, "other": np.linspace(0, 1, len(values)) ** 2})
    return fit_encoder(table, **options)


def column_of(values, **options):
    found = fit_one(values, **options).columns[0]
    assert found.name == "x"
    return found


def why_ignored(values, name="x"):
    """Say why a column is left out."""
    table = pa.table({name: values, "other": np.linspace(0, 1, len(values)) ** 2})
    encoder = fit_encoder(table)
    assert [column.name for column in encoder.columns] == ["other"]
    ((ignored, why),) = encoder.ignored
    assert ignored == name
    return why


def read_again(source, encoder):
    """Read a source as a fitted model does."""
    types = {column.name: column.arrow_type for column in encoder.columns}
    return read_table(source, types=types, columns=list(types))


# What a column is


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


def test_whole_numbers_that_a_frame_declares_a_category_are_one():
    codes = pd.Series([10, 20, 30] * 20)
    frame = pd.DataFrame({"declared": codes.astype("category"), "number": codes})
    encoder = fit_encoder(frame_to_table(frame))
    assert encoder.roles == {"category": ["declared"], "number": ["number"]}
    features = encoder.encode(frame_to_table(frame))
    as_numbers = frame.astype({"declared": "int64"})
    np.testing.assert_array_equal(encoder.encode(frame_to_table(as_numbers)), features)


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


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_lengths_of_time_are_numbers_of_seconds(unit):
    values = pa.array(
        [*(dt.timedelta(hours=i % 7) for i in range(N)), None], pa.duration(unit)
    )
    column = column_of(values)
    assert isinstance(column, NumberColumn)
    assert column.encode(values)[[1, N]].tolist() == [[3_600, 0], [10_800, 1]]
    assert column.show(values)[1] == "3,600"


def test_a_date_is_told_by_its_day_weekday_and_hour():
    monday = dt.datetime(2024, 3, 4, 6)
    values = pa.array([monday, monday + dt.timedelta(days=8, hours=12), None])
    column = column_of(values)
    assert column.features == ["x: day", "x: weekday", "x: hour", "x is missing"]
    encoded = column.encode(values)
    np.testing.assert_allclose(encoded[0], [0.25, 0, 6, 0])
    np.testing.assert_allclose(encoded[1], [8.75, 1, 18, 0])
    assert encoded[2, 3] == 1
    assert column.show(values) == [
        "2024-03-04 06:00:00",
        "2024-03-12 18:00:00",
        "missing",
    ]


def test_a_day_that_is_very_far_off_is_a_date():
    values = pa.array([*(NOON.date() for _ in range(N)), dt.date(9999, 12, 31)])
    column = column_of(values)
    assert column.show(values)[-1] == "9999-12-31"
    np.testing.assert_array_equal(column.encode(values), column.encode(to_text(values)))


def test_times_with_a_zone_are_the_same_moment_in_every_zone():
    values = pa.array([NOON + dt.timedelta(hours=i) for i in range(N)], "timestamp[us]")
    column = column_of(values)
    in_utc = values.cast(pa.timestamp("us", "UTC"))
    shifted = [
        f"{NOON + dt.timedelta(hours=i + 2):%Y-%m-%dT%H:%M:%S}+02:00" for i in range(N)
    ]
    for same in (
        in_utc,
        in_utc.cast(pa.timestamp("ms", "Asia/Tokyo")),
        pa.array(shifted),
    ):
        np.testing.assert_array_equal(column.encode(same), column.encode(values))


def test_numbers_where_dates_were_are_refused():
    encoder = fit_one(pa.array([NOON + dt.timedelta(hours=i) for i in range(N)]))
    wrong = pa.table({"x": [1709294400], "other": [0.0]})
    with pytest.raises(InputError, match="column x was a date"):
        encoder.encode(wrong)


MARCH = [dt.datetime(2025, 3, 1, 8) + dt.timedelta(days=i) for i in range(31)]


@pytest.mark.parametrize(
    ("form", "first"),
    [
        ("{0.day}.{0.month}.{0.year} {0.hour}:30", "day"),
        ("{0:%d-%m-%Y} 08:30", "day"),
        ("{0.month}/{0.day}/{0.year} {0.hour}:30", "month"),
        (" {0:%m/%d/%Y} 08:30:00.000", "month"),
        ("{0.month}/{0.day}/{0.year} 8:30 AM", "month"),
        ("{0.month}/{0.day}/{0.year}, 8:30:00 a.m.", "month"),
        ("{0:%Y-%m-%d} 08:30AM", "year"),
        ("{0.day} {0:%b} {0.year} 8:30", "name"),
        ("{0:%d-%b-%Y} 08:30:00", "name"),
        ("{0:%B} {0.day}, {0.year} 8:30 AM", "name"),
        ("{0:%b} {0.day}, {0.year}, 8:30 am", "name"),
        ("{0.day}. {0:%B} {0.year} 08:30", "name"),
        ("{0:%b} {0.day:2} {0.year}  8:30AM", "name"),
        ("{0.year}-{0.month}-{0.day} 8:30", "name"),
        ("{0:%Y/%m/%d} 08:30", "name"),
        ("{0:%Y-%m-%d} 08:30:00,000", "name"),
        ("{0:%Y-%m-%d} 08:30:00 UTC", "name"),
        ("{0:%Y-%m-%d} 09:30:00 +0100", "name"),
    ],
)
def test_dates_are_read_in_the_order_and_the_spelling_of_their_column(form, first):
    texts = [form.format(day) for day in MARCH]
    column = fit_one(pa.array(texts * 4)).columns[0]
    iso = pa.array([f"{day:%Y-%m-%d %H}:30" for day in MARCH])
    assert column.first == first
    np.testing.assert_array_equal(column.read(pa.array(texts)), column.read(iso))
    # What is scored later need not tell.
    assert column.show(pa.array(texts[2:3])) == ["2025-03-03 08:30:00"]


@given(st.datetimes(dt.datetime(1000, 1, 1), dt.datetime(9999, 12, 31)))
def test_half_days_and_names_of_months_are_the_same_moment_as_iso(moment):
    iso = pa.array([f"{moment:%Y-%m-%d %H:%M:%S}"])
    for form, first in (
        ("%m/%d/%Y %I:%M:%S %p", "month"),
        ("%d.%m.%Y %I:%M:%S%p", "day"),
        ("%d %b %Y %H:%M:%S", "name"),
        ("%B %d, %Y %I:%M:%S %p", "name"),
    ):
        text = pa.array([moment.strftime(form)])
        assert to_days(text, first=first) == to_days(iso)


@pytest.mark.parametrize("wrong", ["30 Feb 2025", "3 Mai 2025", "3 Mar 2025 13:00 PM"])
def test_what_is_no_date_though_the_month_has_a_name_is_refused(wrong):
    encoder = fit_one(pa.array([f"{day:%d %b %Y}" for day in MARCH * 4]))
    with pytest.raises(InputError, match=f"'{wrong}' is no date such as 31 Jan 2025"):
        encoder.encode(pa.table({"x": ["3 Mar 2025", wrong], "other": [0.0] * 2}))


def test_months_by_name_may_stand_among_dates_with_the_year_first():
    texts = [f"{day:%Y-%m-%d}" for day in MARCH] + [f"{day:%d %b %Y}" for day in MARCH]
    (column, _) = fit_one(pa.array(texts * 2)).columns
    assert isinstance(column, DateColumn)
    first, second = np.split(column.read(pa.array(texts)), 2)
    np.testing.assert_array_equal(first, second)


def test_clocks_that_cannot_be_read_are_told_without_trying_each(monkeypatch):
    n_tried = []

    def counting(texts, *given, **named):
        n_tried.append(len(texts))
        return to_days(texts, *given, **named)

    monkeypatch.setattr("spadework.tables.dates.to_days", counting)
    texts = pa.array([f"2025-03-{1 + i % 28:02} 0830" for i in range(5_000)])
    assert find_no_dates(texts).all()
    assert sum(n_tried) <= len(texts)


def test_a_date_of_another_order_is_refused_later():
    days = pa.array([f"{day:%d.%m.%Y}" for day in MARCH * 4])
    encoder = fit_encoder(pa.table({"x": days}), missing=["01.01.1900"])
    encoder.encode(pa.table({"x": ["01.01.1900", "12.03.2025"]}))
    (column,) = encoder.columns
    given = pa.array(["01.01.1900", "1.1.1900", "12.03.2025"])
    assert column.is_missing(given).tolist() == [True, True, False]
    with pytest.raises(InputError, match=r"'03/14/2025' is no date such as 31.01.2025"):
        encoder.encode(pa.table({"x": ["03/14/2025"]}))


@pytest.mark.parametrize("word", ["yesterday", "2024-02-30", "31.01.2024"])
def test_words_where_dates_were_are_named(word):
    encoder = fit_one(pa.array([NOON + dt.timedelta(hours=i) for i in range(N)]))
    wrong = pa.table({"x": ["2024-03-01", None, word], "other": [0.0] * 3})
    with pytest.raises(InputError, match=f"'{word}' is no date such as"):
        encoder.encode(wrong)


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


def test_missing_is_a_category_of_its_own_and_new_values_are_none_of_the_common():
    column = column_of(pa.array(["a", "a", None, "b"] * 10))
    assert column.features == ["x = a", "x = missing", "x = b"] or column.features == [
        "x = a",
        "x = b",
        "x = missing",
    ]
    encoded = column.encode(pa.array(["a", "new", None]))
    assert encoded.sum(axis=1).tolist() == [1, 0, 1]
    assert encoded[2, column.values.index(None)] == 1


def test_a_category_of_many_values_tells_how_common_they_are_and_new_is_as_rare_as_once():
    values = ["a"] * 300 + [f"m{i % 100}" for i in range(300)] + ["once"]
    column = column_of(pa.array(values))
    assert column.n_common <= MAX_COMMON
    assert column.features[-1] == "x: how common"
    often, seldom, once, new = column.encode(pa.array(["a", "m5", "once", "new"]))[:, -1]
    assert often > seldom > once == new
    np.testing.assert_allclose(np.exp(often), 300 / 601, rtol=1e-5)
    np.testing.assert_allclose(
        column.shares(pa.array(["a", "new"])), [300 / 601, 0], rtol=1e-5
    )


def test_a_column_of_codes_is_a_category_when_told_so():
    column = column_of(pa.array([10, 20, 30] * 20), categories=["x"])
    assert isinstance(column, CategoryColumn)
    assert set(column.values) == {"10", "20", "30"}


def test_large_numbers_keep_their_differences():
    values = pa.array([1_700_000_000 + i * i for i in range(N)])
    encoded = column_of(values).encode(values)[:, 0]
    np.testing.assert_array_equal(np.diff(encoded), np.diff(np.arange(N) ** 2))


def test_nan_is_missing_as_none_is():
    nan = float("nan")
    assert to_text(pa.array([1.0, nan, None])).to_pylist() == ["1", None, None]
    column = column_of(pa.array([1.0, 2.0, None] * 8), categories=["x"])
    one, other = pa.array([1.0, nan]), pa.array([1.0, None])
    np.testing.assert_array_equal(column.encode(one), column.encode(other))


def test_whole_floats_beyond_the_range_of_integers_are_text_of_their_own():
    assert len(set(to_text(pa.array([1e19, 2e19, 1e300])).to_pylist())) == 3


# What the table must have


def test_columns_that_are_gone_are_named_and_what_to_do_is_said():
    encoder = fit_one(pa.array(np.linspace(0, 9, N)))
    with pytest.raises(InputError, match=r"lacks.*: x\. Add them"):
        encoder.encode(pa.table({"other": [1.0]}))


def test_extra_columns_and_the_order_of_columns_make_no_difference():
    encoder = fit_one(pa.array(np.linspace(0, 9, N)))
    table = pa.table({"x": [1.0, 2.0], "other": [3.0, 4.0]})
    changed = pa.table({"new": ["?", "!"], "other": [3.0, 4.0], "x": [1.0, 2.0]})
    np.testing.assert_array_equal(encoder.encode(changed), encoder.encode(table))


def test_owners_say_which_column_a_feature_comes_from():
    table = pa.table({"a": ["x", "y", None] * 8, "b": [1.5, None, 2.0] * 8})
    encoder = fit_encoder(table)
    assert encoder.owners.tolist() == [0, 0, 0, 1, 1]
    assert len(encoder.features) == 5


def test_an_encoder_without_columns_is_refused():
    with pytest.raises(InputError):
        TableEncoder((), ())


# The same numbers from every source

moments = st.datetimes(dt.datetime(1950, 1, 1), dt.datetime(2100, 1, 1))
words = st.sampled_from(["a", "b", "Zoë", "NA", "", "null", "True", "FALSE", "1.0", "01"])
columns = {
    "number": st.floats(-1e6, 1e6, width=32),
    "whole": st.integers(-(2**62), 2**62),
    "truth": st.booleans(),
    "word": words,
    "code": st.integers(-3, 3),
    "half": st.integers(-6, 6).map(lambda i: i / 2),
    "digits": st.sampled_from(["1", "2.50", "-3", "x", "1e3"]),
    "day": st.dates(dt.date(1900, 1, 1), dt.date(2100, 1, 1)),
    "moment": moments,
    "zoned": moments.map(lambda at: at.replace(tzinfo=dt.UTC)),
    "clock": st.times(),
}
TYPES = {
    "number": pa.float64(),
    "whole": pa.int64(),
    "truth": pa.bool_(),
    "word": pa.string(),
    "code": pa.int64(),
    "half": pa.float64(),
    "digits": pa.string(),
    "day": pa.date32(),
    "moment": pa.timestamp("us"),
    "zoned": pa.timestamp("us", "UTC"),
    "clock": pa.time64("us"),
}
AS_CATEGORY = ("code", "half", "word")
STATED = ("x", "2.5", "b", "2000-01-01", "-3")
rows = st.lists(
    st.fixed_dictionaries({name: st.none() | kind for name, kind in columns.items()}),
    min_size=2,
    max_size=8,
)


def fit_what_has_values(table, **options):
    """Fit an encoder on a table that may have columns without values."""
    try:
        return fit_encoder(table, missing=STATED, **options)
    except ColumnsError as error:
        empty = [column.name for column in error.empty]
        return fit_encoder(table, leave_out=empty, missing=STATED, **options)


def to_csv(write):
    out = io.BytesIO()
    write(out)
    return io.BytesIO(out.getvalue())


def to_parquet(table):
    out = io.BytesIO()
    pa_parquet.write_table(table, out)
    return pa_parquet.read_table(io.BytesIO(out.getvalue()))


def in_other_types(table):
    """The same values in types that mean the same."""
    words = table.column("word").cast(pa.string()).dictionary_encode()
    table = table.set_column(table.column_names.index("word"), "word", words)
    for name, kind in {
        "code": pa.float64(),
        "half": pa.float32(),
        "moment": pa.timestamp("ns"),
        "zoned": pa.timestamp("us", "Asia/Tokyo"),
        "digits": pa.large_string(),
        "clock": pa.time64("ns"),
        "truth": pa.int8(),
    }.items():
        place = table.column_names.index(name)
        table = table.set_column(place, name, table.column(name).cast(kind))
    return table.select(table.column_names[::-1])


SOURCES = {
    "arrow_csv": lambda t: to_csv(lambda out: pa_csv.write_csv(t, out)),
    "pandas_csv": lambda t: to_csv(lambda out: t.to_pandas().to_csv(out, index=False)),
    "polars_csv": lambda t: to_csv(pl.from_arrow(t).write_csv),
    "parquet": to_parquet,
    "pandas": lambda t: t.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.from_arrow,
    "other_types": in_other_types,
}


@given(training=rows, scored=rows)
@examples(60)
def test_every_source_of_the_same_rows_gives_the_same_matrix(training, scored):
    schema = pa.schema(list(TYPES.items()))
    fitted_on = pa.Table.from_pylist(training, schema=schema)
    try:
        encoder = fit_what_has_values(fitted_on, categories=AS_CATEGORY)
    except InputError:
        return  # nothing but constants
    table = pa.Table.from_pylist(scored, schema=schema)
    expected = encoder.encode(table)
    assert np.isfinite(expected).all()
    for name, make in SOURCES.items():
        found = encoder.encode(read_again(make(table), encoder))
        np.testing.assert_array_equal(found, expected, err_msg=name)


@given(training=rows)
@examples(30)
def test_fitting_on_a_frame_or_on_parquet_comes_to_the_same_encoding(training):
    table = pa.Table.from_pylist(training, schema=pa.schema(list(TYPES.items())))
    found = []
    for make in (lambda t: t, to_parquet, pl.from_arrow):
        try:
            read = read_table(make(table))
            found.append(repr(fit_what_has_values(read, categories=["code"])))
        except InputError as error:
            found.append(str(error))
    assert found[1:] == found[:-1]


def test_fitting_on_text_comes_to_the_same_encoding_as_on_typed_columns():
    rng = np.random.default_rng(0)
    table = pa.table(
        {
            "amount": rng.normal(size=N),
            "flag": rng.random(N) < 0.5,
            "kind": rng.choice(["web", "pos"], N),
            "at": [NOON + dt.timedelta(minutes=37 * i) for i in range(N)],
            "day": [NOON.date() + dt.timedelta(days=i) for i in range(N)],
            "zoned": pa.array(
                [NOON + dt.timedelta(minutes=7 * i) for i in range(N)],
                pa.timestamp("ms", "UTC"),
            ),
            "clock": [(NOON + dt.timedelta(minutes=7 * i)).time() for i in range(N)],
            "id": range(N),
        }
    )
    expected = repr(fit_encoder(table))
    for name in ("arrow_csv", "pandas_csv", "polars_csv"):
        assert repr(fit_encoder(read_table(SOURCES[name](table)))) == expected
