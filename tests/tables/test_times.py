"""Times of day are hours since midnight, whatever type and spelling they come in."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spadework.errors import InputError
from spadework.tables.columns import CategoryColumn, TimeColumn
from spadework.tables.dates import to_hours
from spadework.tables.encoding import fit_encoder

N = 60
NUMBERS = [i / 7 for i in range(N)]
TIMES = [dt.time(i % 24, i % 60) for i in range(N)]


def fit(values, **options):
    """Fit a column called x."""
    (column,) = fit_encoder(pa.table({"x": values}), **options).columns
    return column


@given(st.times())
def test_a_time_is_the_same_in_every_spelling_and_type(time):
    hours = (time.hour * 60 + time.minute) / 60
    for same in (
        pa.array([time.replace(second=0, microsecond=0)], pa.time32("s")),
        pa.array([f"{time:%H:%M}"]),
        pa.array([f" {time.hour}:{time:%M}:00.000 "]),
        pa.array([f"{time:%I:%M %p}"]),
        pa.array([f"{time:%I:%M\u202f%p}"]),
        pa.array([f"{time:%I:%M:00}{time:%p}".lower()]),
    ):
        np.testing.assert_allclose(to_hours(same), [hours])


@pytest.mark.parametrize("form", ["%H:%M", "%H:%M:%S", "%I:%M %p"])
def test_text_of_times_is_a_column_of_times(form):
    column = fit([*(f"{time:{form}}" for time in TIMES), "NA"])
    assert isinstance(column, TimeColumn)
    assert column.features == ["x: hour", "x is missing"]
    given = pa.array(["18:30", None, "6:30 PM"])
    np.testing.assert_allclose(column.encode(given)[[0, 2]], [[18.5, 0], [18.5, 0]])
    assert column.show(given) == ["18:30:00", "missing", "18:30:00"]


def test_a_stated_time_is_missing_however_it_is_written():
    column = fit([*(f"{time:%H:%M}" for time in TIMES), "?"], missing=["?", "23:59"])
    for same in (
        pa.array(["23:59", "?", "11:59 pm", "23:59:00"]),
        pa.array([dt.time(23, 59)]),
    ):
        assert column.is_missing(same).all()


@pytest.mark.parametrize("word", ["noon", "12:60", "13:00 PM", "2024-03-01"])
def test_what_is_no_time_of_day_is_refused_by_name(word):
    texts = [f"{time:%H:%M}" for time in TIMES]
    with pytest.raises(InputError, match=f"no time of day, such as '{word}' in row 60"):
        fit([*texts, word])
    with pytest.raises(pa.ArrowInvalid, match=f"'{word}' is no time of day such as"):
        fit(texts).encode(pa.array(["08:00", word]))


@pytest.mark.parametrize("form", ["{}:15:00", "{}:15", "-{}:15:30.5"])
def test_lengths_of_time_in_text_are_left_out_and_said(form):
    table = pa.table(
        {"x": [form.format(i) for i in range(N)], "y": [0.5, 1.5] * (N // 2)}
    )
    (left_out,) = fit_encoder(table).ignored
    assert left_out.why.startswith("it is like lengths of time")


def test_minutes_with_tenths_of_seconds_are_no_times_of_day():
    laps = [f"{i % 20:02}:{i * 7 % 60:02}.{i % 10}" for i in range(N)] * 4
    assert isinstance(fit(laps), CategoryColumn)
    fit(TIMES, missing=["00:00.0"])
    for wrong in ("01:23.5", "24:00"):
        with pytest.raises(pa.ArrowInvalid, match=f"'{wrong}' is no time of day"):
            fit(TIMES).read(pa.array([wrong]))


def test_the_last_second_of_a_day_is_shown_as_that():
    assert fit(TIMES).show(pa.array(["23:59:59.7"])) == ["23:59:59"]


def test_numbers_where_times_were_are_refused():
    with pytest.raises(pa.ArrowInvalid, match=r"expected times of day; got .* int64"):
        fit(TIMES).encode(pa.array([8]))


@pytest.mark.parametrize("text", ["36:15", "1:2:3:4", "ratio 3:20", "3:2"])
def test_what_has_colons_and_is_no_time_stays_what_it_is(text):
    assert isinstance(fit([text, f"{text}0x"] * N), CategoryColumn)
