"""Columns without values, or of two kinds, are refused with a way to go on."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from spadework.table_fitting import plan_table
from spadework.tables.encoding import fit_encoder
from spadework.tables.unusable import ColumnsError

N = 60
OTHER = np.linspace(0, 1, N) ** 2
NUMBERS = [str(i) for i in range(0, 2 * N, 2)]
DATES = [f"{dt.date(2024, 3, 1) + dt.timedelta(days=i)}" for i in range(N)]


def refusal(columns, **options):
    """Say what is wrong with a table."""
    with pytest.raises(ColumnsError) as caught:
        fit_encoder(pa.table(columns), **options)
    return str(caught.value)


def with_word(values, word="pending", row=7):
    return [*values[:row], word, *values[row + 1 :]]


@pytest.mark.parametrize(
    "values",
    [
        pa.nulls(N),
        pa.array([None] * N, pa.string()),
        pa.array([None] * N, pa.list_(pa.int8())),
        pa.array([float("nan"), float("inf")] * (N // 2)),
        pa.array(["NA", ""] * (N // 2)),
        pa.array([" ", " n/a "] * (N // 2)),
        pa.array(["NA", None] * (N // 2)).dictionary_encode(),
    ],
    ids=["null", "text", "list", "not finite", "words", "spaces", "dictionary"],
)
def test_a_column_without_values_is_refused_and_can_be_left_out(values):
    columns = {"x": values, "other": OTHER}
    said = refusal(columns)
    assert said.startswith("column x has no value in any of the 60 rows")
    assert "ignore=['x']" in said
    assert [c.name for c in fit_encoder(pa.table(columns), leave_out=["x"]).columns] == [
        "other"
    ]


def test_all_columns_without_values_are_named_at_once():
    said = refusal({"a": pa.nulls(N), "other": OTHER, "b": ["", "NA"] * (N // 2)})
    assert said.startswith("2 columns have no value in any of the 60 rows")
    assert "ignore=['a', 'b']" in said


def test_very_many_columns_without_values_do_not_flood_the_screen():
    empty = {f"column_{i}": pa.nulls(N) for i in range(5_000)}
    said = refusal({**empty, "other": OTHER})
    assert said.startswith("5,000 columns have no value")
    assert "'column_29'] and 4,970 more to leave out" in said


def test_one_value_is_enough():
    values = pa.array([None] * (N - 1) + [3.5])
    assert [c.name for c in fit_encoder(pa.table({"x": values})).columns] == ["x"]


def test_a_column_of_what_was_said_to_mean_missing_has_no_values():
    for values in (["?"] * N, [-9] * N, ["-9.00"] * N, [dt.date(1900, 1, 1)] * N):
        columns = {"x": values, "other": OTHER}
        said = refusal(columns, missing=["?", "-9", "1900-01-01"])
        assert said.startswith("column x has no value")


def test_what_a_delimiter_at_the_end_of_lines_makes_is_left_out():
    encoder = fit_encoder(pa.table({"x": OTHER, "": pa.nulls(N)}))
    ((name, why),) = encoder.ignored
    assert (name, why[:33]) == ("", "it has neither a name nor values:")


def test_empty_labels_keys_and_ignored_columns_are_fine():
    table = pa.table(
        {
            "x": OTHER,
            "key": pa.nulls(N),
            "no": pa.nulls(N),
            "y": [1, 0, None] * (N // 3),
        }
    )
    plan = plan_table(table, label="y", keys=["key"], ignore=["no"])
    assert [column.name for column in plan.encoder.columns] == ["x"]


def test_a_word_among_numbers_is_refused_with_its_row_and_every_way_out():
    assert refusal({"x": with_word(NUMBERS), "other": OTHER}) == (
        "column x: 1 of its values are no number, such as 'pending' in row 7 (counted "
        "from 0). Correct the table, or say what such values mean: missing=['pending'] "
        "if that is missing, categories=['x'] if these are codes, or leave out with "
        "ignore=['x']"
    )


@pytest.mark.parametrize(
    "values",
    [
        NUMBERS,
        [f"{i}.25" for i in range(N)],
        [f"{i},25" for i in range(N)],
        ["true", "false"] * (N // 2),
        ["1", "0"] * (N // 2),
        DATES,
        [f"{day} 12:30:00" for day in DATES],
        [f"{day}T12:30:00Z" for day in DATES],
    ],
    ids="whole decimals commas truth bits dates times zoned".split(),
)
@pytest.mark.parametrize("way", ["correct", "missing", "categories", "leave_out"])
def test_every_way_out_of_a_stray_word_leads_on(values, way):
    columns = {"x": with_word(values), "other": OTHER}
    assert "'pending' in row 7" in refusal(columns)
    options = {
        "correct": {},
        "missing": {"missing": ["pending"]},
        "categories": {"categories": ["x"]},
        "leave_out": {"leave_out": ["x"]},
    }
    if way == "correct":
        columns["x"] = values
    assert fit_encoder(pa.table(columns), **options[way]).columns[-1].name == "other"


def test_all_columns_of_two_kinds_and_all_their_words_are_named_at_once():
    said = refusal(
        {
            "a": with_word(with_word(NUMBERS), "?", 9),
            "at": with_word(DATES, "soon", 3),
            "empty": pa.nulls(N),
        }
    )
    assert said.startswith("column empty has no value")
    assert (
        "Also column a: 2 of its values are no number, such as 'pending' in row 7" in said
    )
    assert "column at: 1 of its values are no date, such as 'soon' in row 3" in said
    assert "missing=['pending', '?', 'soon']" in said
    assert "ignore=['a', 'at']" in said


def test_very_many_columns_of_two_kinds_do_not_flood_the_screen():
    said = refusal({f"c{i}": with_word(NUMBERS, f"word {i}") for i in range(100)})
    assert "and 96 more columns" in said
    assert "missing=['word 0', 'word 1', 'word 2', 'word 3'] and 96 more" in said
    assert len(said) < 1500


@pytest.mark.parametrize(
    "word", ["NA", "n/a", "null", "NaN", "", " ", " NA ", "#N/A", "N/A"]
)
@pytest.mark.parametrize("values", [NUMBERS, DATES], ids=["numbers", "dates"])
def test_what_is_known_to_mean_missing_is_no_stray_word(word, values):
    (column,) = fit_encoder(pa.table({"x": with_word(values, word)})).columns
    assert column.role in ("number", "date")
    assert column.tells_missing


def test_where_most_values_are_numbers_words_are_not_taken_for_a_category():
    third = [str(i) if i % 3 else f"about {i}" for i in range(N)]
    assert "20 of its values are no number" in refusal({"x": third})


def test_codes_that_are_numbers_and_words_make_a_category():
    (column,) = fit_encoder(pa.table({"x": ["1", "2", "unknown"] * 20})).columns
    assert column.role == "category"


def dates(form, n_days):
    """Days from the first of March 2025 on, as text."""
    start = dt.datetime(2025, 3, 1)
    days = [start + dt.timedelta(days=i % n_days) for i in range(200)]
    return pa.chunked_array([[f"{day:{form}}" for day in days]])
