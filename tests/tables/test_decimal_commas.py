"""Numbers with decimal commas are numbers, and never silently another number."""

import numpy as np
import pyarrow as pa
import pytest

from spadework.errors import DataError, InputError
from spadework.tables.columns import CategoryColumn, NumberColumn
from spadework.tables.encoding import fit_encoder
from spadework.tables.numerals import COMMA, GROUPED, POINT
from spadework.tables.reading import read_table

N = 60
NUMBERS = np.round(np.linspace(-2, 45, N) ** 3, 2)


def european(value, mark="."):
    return f"{value:,.2f}".replace(",", "_").replace(".", ",").replace("_", mark)


def fit(texts):
    """Fit a column of text called x."""
    (column,) = fit_encoder(pa.table({"x": texts})).columns
    return column


@pytest.mark.parametrize("mark", ["", ".", " ", "\xa0", "\u202f"])
def test_decimal_commas_are_read_with_and_without_groups(mark):
    texts = [european(value, mark) for value in NUMBERS]
    column = fit(texts)
    assert isinstance(column, NumberColumn)
    assert column.decimal == COMMA
    found = column.encode(pa.array(texts))[:, 0] + column.offset
    np.testing.assert_allclose(found, NUMBERS, rtol=1e-6)


def test_a_few_decimals_among_whole_numbers_make_decimal_commas():
    column = fit([*map(str, range(0, 3 * N, 3)), "2,5", "7,25"])
    assert column.decimal == COMMA
    np.testing.assert_allclose(column.encode(pa.array(["2,5", "10"]))[:, 0], [2.5, 10])


def test_points_stay_points():
    assert fit(["1.234", "12", "3"] * 9).decimal == POINT
    column = fit(["1.234", "2.5", "3"] * 9)
    np.testing.assert_allclose(column.read(pa.array(["1.234", "2.5"])), [1.234, 2.5])


def test_missing_values_among_decimal_commas_are_missing():
    column = fit(["2,5", "3,25", "8"] * 9 + ["n/a"])
    assert column.tells_missing
    assert column.encode(pa.array(["n/a", "2,5"]))[:, 1].tolist() == [1, 0]


def test_as_many_points_as_commas_are_refused():
    with pytest.raises(InputError, match="write all of them in one way"):
        fit(["2,5", "3.25"] * 20)


def test_a_number_is_shown_as_it_was_written():
    column = fit([european(value) for value in NUMBERS])
    assert column.show(pa.array(["1.234,50"])) == ["1.234,50"]


@pytest.mark.parametrize("texts", [["1,234", "12,500"], ["$1,234", "$17"]])
def test_commas_that_may_part_thousands_are_refused(texts):
    with pytest.raises(InputError, match=r"column x holds numbers such as '1,234.*point"):
        fit(texts * 9)


@pytest.mark.parametrize("sure", ["1,234.50", "1,234,567", "12.5"])
def test_commas_part_thousands_if_some_number_shows_it(sure):
    column = fit([sure, *(f"{value:,.0f}" for value in range(0, 500_000, 9_999))])
    assert column.decimal == GROUPED
    found = column.encode(pa.array(["1,234", "-12,345.5", "7", sure]))[:, 0]
    expected = [1234, -12345.5, 7, float(sure.replace(",", ""))]
    np.testing.assert_allclose(found + column.offset, expected)
    with pytest.raises(pa.ArrowInvalid, match=r"'2,5' is not written as in training"):
        column.encode(pa.array(["2,5"]))


@pytest.mark.parametrize("small", ["0,125", "-0,500", "0,001"])
def test_a_comma_behind_a_zero_never_parts_thousands(small):
    column = fit([f"{value:,.2f}" for value in NUMBERS])
    with pytest.raises(pa.ArrowInvalid, match=f"'{small}' is not written as in training"):
        column.read(pa.array([small]))
    with pytest.raises(InputError, match="write all of them in one way"):
        fit([*(f"0,{i:03}" for i in range(1, N)), "12.5"])


def test_commas_that_may_part_thousands_can_be_categories_or_left_out():
    table = pa.table({"x": ["1,234", "12,500"] * 9, "y": [1.5, 2.5] * 9})
    assert isinstance(fit_encoder(table, categories=["x"]).columns[0], CategoryColumn)
    assert [c.name for c in fit_encoder(table, leave_out=["x"]).columns] == ["y"]


def test_both_notations_in_one_column_are_refused():
    with pytest.raises(InputError, match=r"after ',' and others, such as '4\.5'"):
        fit(["2,5", "3,25", "8"] * 9 + ["4.5"])


@pytest.mark.parametrize(
    ("training", "now"), [(["2,5", "7", "3,25"], "2.5"), (["2.5", "7", "NA"], "2,5")]
)
def test_the_other_notation_is_refused_after_training(training, now):
    table = pa.table({"x": (training[:2] * 9) + training})
    encoder = fit_encoder(table)
    with pytest.raises(InputError, match=f"'{now}' is not written as in training"):
        encoder.encode(pa.table({"x": [now]}))


def test_numbers_of_other_types_need_no_notation():
    column = fit([european(value) for value in NUMBERS])
    found = column.encode(pa.array(NUMBERS))[:, 0] + column.offset
    np.testing.assert_allclose(found, NUMBERS, rtol=1e-6)


def test_a_text_file_with_commas_is_refused_where_points_were_in_training(tmp_path):
    (tmp_path / "a.csv").write_text("x;y\n1;2,5\n")
    with pytest.raises(DataError, match="Decimals came after a point in training"):
        read_table(tmp_path / "a.csv", types={"y": pa.float64()})


def test_what_parts_decimals_is_a_point_or_a_comma():
    with pytest.raises(InputError, match="decimals after ';'"):
        NumberColumn("x", 0.0, 0.0, False, True, ";")
