"""What each column is taken for, and that its numbers do not depend on its storage."""

import datetime as dt
import io

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pa_parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitted_columns import fit_one
from properties import examples
from spadework.errors import InputError
from spadework.tables.encoding import TableEncoder, fit_encoder
from spadework.tables.reading import read_table
from spadework.tables.unusable import ColumnsError

N = 60
NOON = dt.datetime(2024, 3, 1, 12)


def read_again(source, encoder):
    """Read a source as a fitted model does."""
    types = {column.name: column.arrow_type for column in encoder.columns}
    return read_table(source, types=types, columns=list(types))


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


def test_marks_are_of_the_categories_in_their_order():
    table = pa.table({"a": ["x", "y"] * 12, "b": [1.5, 2.0] * 12, "c": ["y", "z"] * 12})
    encoder = fit_encoder(table)
    marks = encoder.mark(table)
    assert marks.shape == (24, 2)
    assert marks[0, 1] == marks[1, 0]
    assert [each.name for each in encoder.categories] == ["a", "c"]
    numbers = fit_encoder(table.select(["b"]))
    assert numbers.mark(table).shape == (24, 0)
    with pytest.raises(InputError, match="lacks columns"):
        encoder.mark(table.select(["a"]))


def test_an_encoder_without_columns_is_refused():
    with pytest.raises(InputError):
        TableEncoder((), ())


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
