"""Values are put into words as a person would, in the user's own spelling."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from spadework.tables.encoding import fit_encoder
from spadework.tables.words import in_rows, put_into_words


def words(usual, value):
    """Say one value of column x, where ordinary rows have the usual ones."""
    table = pa.table({"x": usual})
    (column,) = fit_encoder(table).columns
    array = pa.array([value], type=table.schema.field("x").type)
    (said,) = put_into_words(column, array, column.encode(table.column("x")))
    return said


AMOUNTS = [float(i) for i in range(200, 0, -1)]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (150.5, "x is 150.5, higher than in 75% of ordinary rows"),
        (20.0, "x is 20, lower than in 90% of ordinary rows"),
        (1234567.25, "x is 1,234,567, higher than in all ordinary rows"),
        (-5.0, "x is -5, lower than in all ordinary rows"),
        (None, "x is missing, as in no ordinary row"),
        (np.nan, "x is missing, as in no ordinary row"),
        (np.inf, "x is inf, which counts as missing, as in no ordinary row"),
    ],
)
def test_a_number_is_set_against_ordinary_rows(value, said):
    assert words(AMOUNTS, value) == said


def test_missing_numbers_are_counted_and_not_taken_for_the_middle_value():
    usual = [1.0, 2.0, 3.0, None]
    assert words(usual, None) == "x is missing, as in 25% of ordinary rows"
    assert words(usual, 2.5) == "x is 2.5, higher than in 66.7% of ordinary rows"


def test_a_number_in_the_middle_is_neither_high_nor_low():
    usual = [1, 1, 2, 2, 2, 3, 3]
    assert words(usual, 2) == "x is 2, in the middle of ordinary rows"


def test_a_number_that_most_rows_have_is_said_to_be_theirs():
    assert words([0] * 8 + [3, 7], 0) == "x is 0, as in 80% of ordinary rows"


@pytest.mark.parametrize(
    ("usual", "value", "shown"),
    [
        ([True] * 49 + [False], False, "false"),
        ([1] * 49 + [0], 0, "0"),
        (["True"] * 49 + ["False"], "False", "False"),
        (["yes"] * 49 + ["no"], "no", "no"),
        ([10.5] * 49 + [5.5], 5.5, "5.5"),
    ],
)
def test_one_of_two_values_is_neither_higher_nor_lower(usual, value, shown):
    assert words(usual, value) == f"x is {shown}, as in 2% of ordinary rows"


def test_a_truth_value_that_no_ordinary_row_has_is_said_so():
    table = pa.table({"x": [1.0] * 9 + [0.0]})
    (column,) = fit_encoder(table).columns
    ordinary = column.encode(pa.array([1.0] * 9))
    (said,) = put_into_words(column, pa.array([False]), ordinary)
    assert said == "x is false, as in no ordinary row"


def test_a_category_is_as_common_as_among_ordinary_rows():
    usual = ["web"] * 30 + ["shop"] * 69 + [None]
    assert words(usual, "web") == "x is web, as in 30% of ordinary rows"
    assert words(usual, None) == "x is missing, as in 1% of ordinary rows"
    assert words(usual, "Mars") == "x is Mars, which was not seen in training"


def test_a_rare_category_is_not_said_to_be_as_common_as_all_rare_ones_together():
    usual = ["large"] * 120 + [f"shop {i}" for i in range(60)] * 2
    assert words(usual, "shop 59") == "x is shop 59, as in 0.8% of training rows"


def test_numbers_in_text_are_shown_as_they_were_written():
    usual = [*map(str, range(95)), *["NA"] * 5]
    assert words(usual, "NA") == "x is missing, as in 5% of ordinary rows"
    assert words(usual, "94.0") == "x is 94.0, higher than in 98.9% of ordinary rows"


def by_day(n_days, hour=12, skip=()):
    days = (dt.datetime(2024, 1, 1, hour) + dt.timedelta(days=d) for d in range(n_days))
    return [day for day in days if day.weekday() not in skip]


def test_a_date_is_later_or_earlier_than_ordinary_rows():
    dates = [day.date() for day in by_day(100)]
    said = words(dates, dt.date(2030, 1, 4))
    assert said == "x is 2030-01-04, later than in all ordinary rows"
    said = words(dates, dates[10])
    assert said == "x is 2024-01-11, earlier than in 89% of ordinary rows"
    assert words([*dates, None], None) == "x is missing, as in 1% of ordinary rows"


def test_an_odd_time_of_day_is_said_before_the_day():
    usual = [*by_day(98), dt.datetime(2024, 1, 2, 23, 30), dt.datetime(2024, 1, 2, 9)]
    said = words(usual, dt.datetime(2030, 1, 3, 0, 15))
    assert said == (
        "x is 2030-01-03 00:15:00, with 1% of ordinary rows within an hour of that time "
        "of day"
    )


def test_an_odd_time_of_day_is_said_of_times_alone_too():
    usual = [dt.time(8 + i % 10, i % 60) for i in range(100)]
    assert words(usual, dt.time(2, 30)) == (
        "x is 02:30:00, with no ordinary row within an hour of that time of day"
    )
    said = words(usual, dt.time(9, 5))
    assert said == "x is 09:05:00, earlier than in 88% of ordinary rows"


def test_an_odd_weekday_is_named():
    usual = [day.date() for day in by_day(100, skip=(6,))]
    said = words(usual, dt.date(2024, 1, 14))
    assert said == "x is 2024-01-14, a Sunday, as in no ordinary row"


def test_a_column_that_only_unusual_rows_have_is_said_so():
    table = pa.table({"x": [None, None, 3.5, 4.5]})
    (column,) = fit_encoder(table).columns
    ordinary = column.encode(pa.nulls(2, pa.float64()))
    (said,) = put_into_words(column, pa.array([3.5]), ordinary)
    assert said == "x is 3.5, and missing in all ordinary rows"


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0, "no ordinary row"),
        (0.0004, "less than 0.1% of ordinary rows"),
        (0.5, "50% of ordinary rows"),
        (0.9996, "more than 99.9% of ordinary rows"),
        (1, "all ordinary rows"),
    ],
)
def test_shares_keep_the_digits_that_matter(share, said):
    assert in_rows(share) == said


def test_a_long_value_is_cut():
    long = "a very long name of a shop " * 5
    assert words([long, "shop"] * 20, long) == (
        f"x is {long[:57]}..., as in 50% of ordinary rows"
    )


STATED = ["?", "unknown", "-999", "1900-01-01", "9999-12-31"]


def fit(values, missing=STATED, **options):
    (column,) = fit_encoder(pa.table({"x": values}), missing=missing, **options).columns
    return column


def test_a_stated_value_is_shown_as_missing():
    values = pa.array([*map(str, range(95)), *["?"] * 5])
    column = fit(values)
    usual = column.encode(values)
    for array in (pa.array(["?"]), pa.array([-999.0]), pa.array([-999])):
        assert put_into_words(column, array, usual) == [
            "x is missing, as in 5% of ordinary rows"
        ]
