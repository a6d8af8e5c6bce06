"""What means missing is missing, wherever and however it is written."""

import datetime as dt
import io

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitted_columns import column_of
from properties import examples
from spadework.tables.encoding import fit_encoder
from spadework.tables.reading import read_table
from spadework.tables.values import to_text

N = 60


def test_nan_is_missing_as_none_is():
    nan = float("nan")
    assert to_text(pa.array([1.0, nan, None])).to_pylist() == ["1", None, None]
    column = column_of(pa.array([1.0, 2.0, None] * 8), categories=["x"])
    one, other = pa.array([1.0, nan]), pa.array([1.0, None])
    np.testing.assert_array_equal(column.encode(one), column.encode(other))


def test_whole_floats_beyond_the_range_of_integers_are_text_of_their_own():
    assert len(set(to_text(pa.array([1e19, 2e19, 1e300])).to_pylist())) == 3


STATED = ["?", "unknown", "-999", "1900-01-01", "9999-12-31"]
DAYS = [dt.date(2024, 3, 1) + dt.timedelta(days=i) for i in range(N)]


def fit(values, missing=STATED, **options):
    (column,) = fit_encoder(pa.table({"x": values}), missing=missing, **options).columns
    return column


def test_stated_words_are_missing_in_numbers_dates_and_categories():
    number = fit([*map(str, range(N)), "?"])
    day = fit([*map(str, DAYS), "unknown"])
    kind = fit(["web", "shop", "?"] * 20)
    assert (number.role, day.role, kind.role) == ("number", "date", "category")
    assert number.features == ["x", "x is missing"]
    assert number.encode(pa.array(["?", "3", None]))[:, 1].tolist() == [1, 0, 1]
    assert day.encode(pa.array(["unknown", "2024-03-02"]))[:, -1].tolist() == [1, 0]
    assert set(kind.values) == {"web", "shop", None}


@pytest.mark.parametrize(
    "values",
    [
        pa.array([-999, *range(N)]),
        pa.array([-999.0, *range(N)]),
        pa.array(["-999", *map(str, range(N))]),
        pa.array(["-999.00", *map(str, range(N))]),
        pa.array([" -0999 ", *map(str, range(N))]),
        pa.array(["-999,0", *(f"{i},0" for i in range(N))]),
    ],
    ids=["int", "float", "text", "decimals", "zeros", "comma"],
)
def test_a_stated_number_is_missing_however_it_is_written(values):
    column = fit(values)
    assert column.tells_missing
    assert column.fill == np.median(range(N))
    assert column.encode(values)[:, 1].tolist() == [1] + [0] * N


@pytest.mark.parametrize(
    "first",
    [
        dt.date(1900, 1, 1),
        dt.date(9999, 12, 31),
        dt.datetime(1900, 1, 1),
        "1900-01-01",
        "1900-01-01 00:00",
        "9999-12-31T00:00:00",
    ],
)
def test_a_stated_day_is_missing_however_it_is_written(first):
    others = {
        dt.date: DAYS,
        dt.datetime: [dt.datetime.combine(day, dt.time()) for day in DAYS],
        str: list(map(str, DAYS)),
    }
    values = pa.array([first, *others[type(first)]])
    column = fit(values)
    assert column.encode(values)[:, -1].tolist() == [1] + [0] * N
    assert column.origin > 0


def test_codes_are_compared_as_text():
    column = fit(["007", "7", "08"] * 20, missing=["7"], categories=["x"])
    assert set(column.values) == {"007", "08", None}


def test_stated_truth_is_not_the_number_that_stands_for_it():
    column = fit([1.0, 0.0, 2.5] * 20, missing=["false"])
    assert not column.tells_missing
    for values in (pa.array([True, False] * 30), pa.array(["TRUE", "False"] * 30)):
        column = fit(values, missing=["false"])
        assert column.encode(values)[:2, 1].tolist() == [0, 1]


cells = {
    "number": st.sampled_from(["1", "2.50", "-999", "-999.0", "?", "unknown", None]),
    "day": st.sampled_from(["2024-03-01", "2024-04-01", "1900-01-01", "?", None]),
    "kind": st.sampled_from(["web", "shop", "?", "-999", "-999.0", "1900-01-01", None]),
}
rows = st.lists(st.fixed_dictionaries(cells), min_size=1, max_size=8)
TRAINING = pa.table(
    {
        "number": ["1", "2.50", "?"] * 10,
        "day": ["2024-03-01", "2024-04-01", "unknown"] * 10,
        "kind": ["web", "shop", "?"] * 10,
    }
)


@given(scored=rows)
@examples(20)
def test_stated_values_are_missing_from_every_source(scored):
    encoder = fit_encoder(TRAINING, missing=STATED)
    assert [c.role for c in encoder.columns] == ["number", "date", "category"]
    table = pa.Table.from_pylist(scored, schema=TRAINING.schema)
    blank = pa.table(
        {
            name: [None if _is_stated(each) else each for each in column.to_pylist()]
            for name, column in zip(table.column_names, table.columns, strict=True)
        },
        schema=table.schema,
    )
    expected = encoder.encode(blank)
    types = {column.name: column.arrow_type for column in encoder.columns}
    text = io.BytesIO()
    pa_csv.write_csv(table, text)
    for source in (table, table.to_pandas(), io.BytesIO(text.getvalue())):
        found = encoder.encode(read_table(source, types=types, columns=list(types)))
        np.testing.assert_array_equal(found, expected)


def _is_stated(cell):
    return cell in STATED or cell == "-999.0"


def test_infinities_in_text_are_missing_as_they_are_in_numbers():
    numbers = [*range(N), float("inf"), float("-inf")]
    for values in (numbers, [str(each) for each in numbers]):
        column = fit(values)
        assert column.role == "number"
        assert column.encode(pa.array(["inf", "-Infinity", "3"]))[:, 1].tolist() == [
            1,
            1,
            0,
        ]
