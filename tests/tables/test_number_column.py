"""Numbers keep their differences, and are shown as they were written."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from fitted_columns import column_of, fit_one
from spadework.errors import InputError
from spadework.tables.columns import NumberColumn
from spadework.tables.encoding import fit_encoder

N = 60
NUMBERS = np.round(np.linspace(-2, 45, N) ** 3, 2)
WHOLE = [str(i) for i in range(0, 2 * N, 2)]


def european(value, mark="."):
    return f"{value:,.2f}".replace(",", "_").replace(".", ",").replace("_", mark)


def with_word(values, word="pending", row=7):
    return [*values[:row], word, *values[row + 1 :]]


def test_a_number_is_shown_as_it_was_written():
    column = column_of([european(value) for value in NUMBERS])
    assert column.show(pa.array(["1.234,50"])) == ["1.234,50"]


@pytest.mark.parametrize(
    ("training", "now"), [(["2,5", "7", "3,25"], "2.5"), (["2.5", "7", "NA"], "2,5")]
)
def test_the_other_notation_is_refused_after_training(training, now):
    table = pa.table({"x": (training[:2] * 9) + training})
    encoder = fit_encoder(table)
    with pytest.raises(InputError, match=f"'{now}' is not written as in training"):
        encoder.encode(pa.table({"x": [now]}))


def test_numbers_of_other_types_need_no_notation():
    column = column_of([european(value) for value in NUMBERS])
    found = column.encode(pa.array(NUMBERS))[:, 0] + column.offset
    np.testing.assert_allclose(found, NUMBERS, rtol=1e-6)


def test_what_parts_decimals_is_a_point_or_a_comma():
    with pytest.raises(InputError, match="decimals after ';'"):
        NumberColumn("x", 0.0, 0.0, False, True, ";")


def test_a_word_in_a_column_that_had_numbers_only_is_refused():
    encoder = fit_one(np.linspace(0, 9, N))
    wrong = pa.table({"x": ["1.5", "many"], "other": [0.0, 0.0]})
    with pytest.raises(
        InputError, match=r"column x was a number.*'many' is not a number.*Correct"
    ):
        encoder.encode(wrong)


@pytest.mark.parametrize("values", [WHOLE, ["0", "1"] * (N // 2)])
def test_a_new_word_is_refused_where_text_was_numbers(values):
    encoder = fit_encoder(pa.table({"x": with_word(values)}), missing=["pending"])
    encoder.encode(pa.table({"x": ["pending", "1", "NA"]}))
    with pytest.raises(InputError, match="'soon' is not a number"):
        encoder.encode(pa.table({"x": ["pending", "soon"]}))


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_lengths_of_time_are_numbers_of_seconds(unit):
    values = pa.array(
        [*(dt.timedelta(hours=i % 7) for i in range(N)), None], pa.duration(unit)
    )
    column = column_of(values)
    assert isinstance(column, NumberColumn)
    assert column.encode(values)[[1, N]].tolist() == [[3_600, 0], [10_800, 1]]
    assert column.show(values)[1] == "3,600"


def test_large_numbers_keep_their_differences():
    values = pa.array([1_700_000_000 + i * i for i in range(N)])
    encoded = column_of(values).encode(values)[:, 0]
    np.testing.assert_array_equal(np.diff(encoded), np.diff(np.arange(N) ** 2))
