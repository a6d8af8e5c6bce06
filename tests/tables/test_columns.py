"""Columns keep what tells rows apart, whatever their values are written like."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from fitted_columns import column_of, fit_one
from spadework.errors import InputError
from spadework.tables.columns import (
    CategoryColumn,
    DateColumn,
    NumberColumn,
    TimeColumn,
    find_missing,
)
from spadework.tables.encoding import fit_encoder
from spadework.tables.recognition import MAX_COMMON
from spadework.tables.values import to_text

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


def test_values_of_a_category_have_marks_that_tell_them_apart_new_ones_too():
    column = column_of(pa.array(["web", "shop", None, "web"] * 10))
    marks = column.mark(pa.array(["new", "web", None, "shop", "newer", "web"]))
    assert marks.dtype == np.uint64
    assert len(set(marks.tolist())) == 5
    assert marks[1] == marks[5]
    assert [column.name_of(int(mark)) for mark in marks[:4]] == [
        "a new value",
        "web",
        "missing",
        "shop",
    ]
    assert column.mark(pa.array([], pa.string())).shape == (0,)


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


TIMES = [dt.time(i % 24, i % 60) for i in range(N)]


@pytest.mark.parametrize("form", ["%H:%M", "%H:%M:%S", "%I:%M %p"])
def test_text_of_times_is_a_column_of_times(form):
    column = column_of([*(f"{time:{form}}" for time in TIMES), "NA"])
    assert isinstance(column, TimeColumn)
    assert column.features == ["x: hour", "x is missing"]
    given = pa.array(["18:30", None, "6:30 PM"])
    np.testing.assert_allclose(column.encode(given)[[0, 2]], [[18.5, 0], [18.5, 0]])
    assert column.show(given) == ["18:30:00", "missing", "18:30:00"]


def test_a_stated_time_is_missing_however_it_is_written():
    column = column_of(
        [*(f"{time:%H:%M}" for time in TIMES), "?"], missing=["?", "23:59"]
    )
    for same in (
        pa.array(["23:59", "?", "11:59 pm", "23:59:00"]),
        pa.array([dt.time(23, 59)]),
    ):
        assert find_missing(column, same).all()


@pytest.mark.parametrize("word", ["noon", "12:60", "13:00 PM", "2024-03-01"])
def test_what_is_no_time_of_day_is_refused_by_name(word):
    texts = [f"{time:%H:%M}" for time in TIMES]
    with pytest.raises(InputError, match=f"no time of day, such as '{word}' in row 60"):
        column_of([*texts, word])
    with pytest.raises(pa.ArrowInvalid, match=f"'{word}' is no time of day such as"):
        column_of(texts).encode(pa.array(["08:00", word]))


@pytest.mark.parametrize("form", ["{}:15:00", "{}:15", "-{}:15:30.5"])
def test_lengths_of_time_in_text_are_left_out_and_said(form):
    table = pa.table(
        {"x": [form.format(i) for i in range(N)], "y": [0.5, 1.5] * (N // 2)}
    )
    (left_out,) = fit_encoder(table).ignored
    assert left_out.why.startswith("it is like lengths of time")


def test_minutes_with_tenths_of_seconds_are_no_times_of_day():
    laps = [f"{i % 20:02}:{i * 7 % 60:02}.{i % 10}" for i in range(N)] * 4
    assert isinstance(column_of(laps), CategoryColumn)
    column_of(TIMES, missing=["00:00.0"])
    for wrong in ("01:23.5", "24:00"):
        with pytest.raises(pa.ArrowInvalid, match=f"'{wrong}' is no time of day"):
            column_of(TIMES).read(pa.array([wrong]))


def test_the_last_second_of_a_day_is_shown_as_that():
    assert column_of(TIMES).show(pa.array(["23:59:59.7"])) == ["23:59:59"]


def test_numbers_where_times_were_are_refused():
    with pytest.raises(pa.ArrowInvalid, match=r"expected times of day; got .* int64"):
        column_of(TIMES).encode(pa.array([8]))


@pytest.mark.parametrize("text", ["36:15", "1:2:3:4", "ratio 3:20", "3:2"])
def test_what_has_colons_and_is_no_time_stays_what_it_is(text):
    assert isinstance(column_of([text, f"{text}0x"] * N), CategoryColumn)


NOON = dt.datetime(2024, 3, 1, 12)


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


def test_a_date_of_another_order_is_refused_later():
    days = pa.array([f"{day:%d.%m.%Y}" for day in MARCH * 4])
    encoder = fit_encoder(pa.table({"x": days}), missing=["01.01.1900"])
    encoder.encode(pa.table({"x": ["01.01.1900", "12.03.2025"]}))
    (column,) = encoder.columns
    given = pa.array(["01.01.1900", "1.1.1900", "12.03.2025"])
    assert find_missing(column, given).tolist() == [True, True, False]
    with pytest.raises(InputError, match=r"'03/14/2025' is no date such as 31.01.2025"):
        encoder.encode(pa.table({"x": ["03/14/2025"]}))


@pytest.mark.parametrize("word", ["yesterday", "2024-02-30", "31.01.2024"])
def test_words_where_dates_were_are_named(word):
    encoder = fit_one(pa.array([NOON + dt.timedelta(hours=i) for i in range(N)]))
    wrong = pa.table({"x": ["2024-03-01", None, word], "other": [0.0] * 3})
    with pytest.raises(InputError, match=f"'{word}' is no date such as"):
        encoder.encode(wrong)
