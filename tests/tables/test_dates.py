"""Points in time are the same moment in every spelling."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spadework.tables.dates import find_no_dates, to_days, to_hours
from spadework.tables.encoding import fit_encoder
from spadework.tables.unusable import ColumnsError
from spadework.tables.values import plain


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


N = 60
DATES = [f"{dt.date(2024, 3, 1) + dt.timedelta(days=i)}" for i in range(N)]


def refusal(columns, **options):
    """Say what is wrong with a table."""
    with pytest.raises(ColumnsError) as caught:
        fit_encoder(pa.table(columns), **options)
    return str(caught.value)


def with_word(values, word="pending", row=7):
    return [*values[:row], word, *values[row + 1 :]]


@pytest.mark.parametrize(
    "wrong",
    ["0000-00-00", "2024-02-30", "2024-02-30 12:00", "2024-03-01 25:00", "2024-13-1"],
)
def test_an_impossible_date_is_no_date(wrong):
    said = refusal({"at": with_word(DATES, wrong)})
    assert f"1 of its values are no date, such as '{wrong}' in row 7" in said


@given(
    st.lists(
        st.one_of(
            st.datetimes(dt.datetime(1, 1, 2), dt.datetime(9999, 12, 30)).map(str),
            st.from_regex(r"\d{4}-\d\d-\d\d([T ]\d\d(:\d\d){0,2})?", fullmatch=True),
            st.text(max_size=12),
        ),
        min_size=1,
        max_size=9,
    )
)
def test_a_text_is_no_date_exactly_if_it_cannot_be_read_as_one(texts):
    known = plain(pa.array(texts)).drop_null()
    for text, wrong in zip(known, find_no_dates(known), strict=True):
        try:
            to_days(pa.array([text.as_py()]))
        except pa.ArrowException:
            assert wrong
        else:
            assert not wrong


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


def test_clocks_that_cannot_be_read_are_told_without_trying_each(monkeypatch):
    n_tried = []

    def counting(texts, *given, **named):
        n_tried.append(len(texts))
        return to_days(texts, *given, **named)

    monkeypatch.setattr("spadework.tables.dates.to_days", counting)
    texts = pa.array([f"2025-03-{1 + i % 28:02} 0830" for i in range(5_000)])
    assert find_no_dates(texts).all()
    assert sum(n_tried) <= len(texts)
