"""Numbers in text are numbers: with commas, currencies, percent signs and units."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fitted_columns import column_of
from spadework.errors import InputError
from spadework.tables.columns import CategoryColumn, NumberColumn
from spadework.tables.encoding import fit_encoder
from spadework.tables.numerals import COMMA, GROUPED, POINT
from spadework.tables.recognition import Ignored

N = 60
AMOUNTS = np.round(np.linspace(-2, 45, N) ** 3, 2)
WRITTEN = {
    "$": lambda v: f"${v:,.2f}".replace("$-", "-$"),
    "US$": lambda v: f"US$ {v:,.2f}",
    "€": lambda v: f"{v:.2f}\xa0€".replace(".", ","),
    "£": lambda v: f"(£{-v:,.2f})" if v < 0 else f"£{v:,.2f}",
    "¥": lambda v: f" ¥ ({-v:.2f}) " if v < 0 else f" ¥ {v:.2f} ",
    "%": lambda v: f"{v:.2f}\u202f%",
    "USD": lambda v: f"{v:,.2f} USD",
    "EUR": lambda v: f"{v:_.2f} EUR".replace(".", ",").replace("_", "."),
    "CHF": lambda v: f"CHF {v:_.2f}".replace("_", "\u2019"),
    "kg": lambda v: f"{v:.2f}kg",
    "°C": lambda v: f"{v:.2f} °C",
    "km/h": lambda v: f"{v:.2f} km/h",
}


def fit(texts):
    """Fit a column of text called x."""
    encoder = fit_encoder(pa.table({"x": texts, "other": np.arange(len(texts)) % 3}))
    return (*encoder.columns, *encoder.ignored)[0 if len(encoder.columns) > 1 else -1]


def read(column, texts):
    return column.read(pa.array(texts))


@pytest.mark.parametrize("unit", WRITTEN)
def test_numbers_with_one_sign_are_numbers(unit):
    texts = [WRITTEN[unit](value) for value in AMOUNTS]
    column = fit(texts)
    assert isinstance(column, NumberColumn)
    assert column.unit == unit
    np.testing.assert_allclose(read(column, texts), AMOUNTS)
    assert column.show(pa.array(texts))[-1] == texts[-1].strip()


@given(st.lists(st.integers(-(10**9), 10**9), min_size=2, unique=True))
def test_an_amount_is_read_as_the_number_it_is_made_from(cents):
    texts = [WRITTEN["$"](each / 100) for each in cents]
    np.testing.assert_allclose(read(fit(texts), texts), np.array(cents) / 100)


def test_an_amount_may_come_without_its_sign():
    column = fit([WRITTEN["$"](value) for value in AMOUNTS])
    assert read(column, ["5.50", "$1,000"]).tolist() == [5.5, 1000]
    assert column.read(pa.array([5.5, None]))[0] == 5.5


def test_two_currencies_in_one_column_are_refused_by_name():
    texts = [WRITTEN["$"](value) for value in AMOUNTS]
    with pytest.raises(InputError, match=r"1 of its values are no number, such as '€5'"):
        fit([*texts, "€5"])
    with pytest.raises(pa.ArrowInvalid, match=r"'€5' is not a number with \$"):
        read(fit(texts), ["€5"])


def test_a_share_is_never_taken_for_a_percentage():
    texts = [WRITTEN["%"](value) for value in AMOUNTS]
    with pytest.raises(InputError, match=r"2 of its values are no number, such as '0.5'"):
        fit([*texts, "0.5", "0.25"])
    column = fit(texts)
    with pytest.raises(pa.ArrowInvalid, match=r"'0\.5' is not a number with %"):
        read(column, ["0.5"])
    with pytest.raises(pa.ArrowInvalid, match="numbers without it may mean others"):
        column.read(pa.array([0.5]))
    assert np.isnan(column.read(pa.array([None], type=pa.float64()))).all()


def test_truth_is_no_percentage():
    column = fit([WRITTEN["%"](value) for value in AMOUNTS])
    with pytest.raises(pa.ArrowInvalid, match="'true' is not a number with %"):
        read(column, ["true"])


@pytest.mark.parametrize("n_percent", [1, 20])
def test_a_few_percent_signs_do_not_make_percentages_of_all(n_percent):
    numbers = [f"{value:.4f}" for value in AMOUNTS]
    with pytest.raises(InputError, match=f"{n_percent} of its values are no number"):
        fit([*numbers, *["5%"] * n_percent])


def test_whole_numbers_may_have_a_unit_behind_a_space():
    column = fit([f"{i % 20} days" for i in range(N)])
    assert read(column, ["3 days", "20 days"]).tolist() == [3, 20]


def test_a_measure_without_its_unit_or_with_another_is_refused():
    column = fit([WRITTEN["kg"](value) for value in AMOUNTS])
    for other in ["5", "5.5 g", "5.5 t"]:
        with pytest.raises(pa.ArrowInvalid, match=f"'{other}' is not a number with kg"):
            read(column, [other])
    with pytest.raises(pa.ArrowInvalid, match="numbers without it may mean others"):
        column.read(pa.array([5.5]))


def test_several_units_in_one_column_are_named_and_it_is_left_out():
    column = fit([f"{v:.1f} {'MB' if i % 3 else 'KB'}" for i, v in enumerate(AMOUNTS)])
    assert isinstance(column, Ignored)
    assert "several units, such as MB and KB" in column.why


def test_a_word_among_measures_is_refused_by_name():
    texts = [WRITTEN["kg"](value) for value in AMOUNTS]
    with pytest.raises(
        InputError, match="1 of its values are no number, such as 'heavy'"
    ):
        fit([*texts, "heavy"])


def test_points_that_may_part_thousands_of_a_currency_are_refused():
    with pytest.raises(InputError, match=r"such as '1\.234', whose points may part"):
        fit(["1.234 €", "999 €", "12.345 €"] * 9)


def test_an_amount_beyond_those_of_training_is_read_where_it_is_clear():
    column = fit([f"${i * 7 % 300}" for i in range(N)])
    assert read(column, ["$1,234.50", "$1,234,567"]).tolist() == [1234.5, 1234567]
    with pytest.raises(pa.ArrowInvalid, match=r"'\$1,234' has a mark that no number"):
        read(column, ["$1,234"])


def test_a_minus_may_stand_behind_its_number():
    texts = [f"{abs(v):.2f}{'-' if v < 0 else ''}".replace(".", ",") for v in AMOUNTS]
    np.testing.assert_allclose(read(fit(texts), texts), AMOUNTS)
    assert isinstance(fit(["1-", "2-", "3-"] * 30), CategoryColumn)


def test_brackets_around_all_values_are_no_losses():
    assert isinstance(fit(["(1)", "(2)", "(3)"] * 30), CategoryColumn)


@pytest.mark.parametrize("form", ["US{}", "{}A", "# {}", "ABC{}", "Zone {}", "$x{}"])
def test_numbers_with_anything_else_are_no_numbers(form):
    column = fit([form.format(i % 20) for i in range(N)])
    assert isinstance(column, CategoryColumn)
    assert isinstance(fit([form.format(i**2) for i in range(N)]), Ignored)


NUMBERS = np.round(np.linspace(-2, 45, N) ** 3, 2)


def european(value, mark="."):
    return f"{value:,.2f}".replace(",", "_").replace(".", ",").replace("_", mark)


@pytest.mark.parametrize("mark", ["", ".", " ", "\xa0", "\u202f"])
def test_decimal_commas_are_read_with_and_without_groups(mark):
    texts = [european(value, mark) for value in NUMBERS]
    column = column_of(texts)
    assert isinstance(column, NumberColumn)
    assert column.decimal == COMMA
    found = column.encode(pa.array(texts))[:, 0] + column.offset
    np.testing.assert_allclose(found, NUMBERS, rtol=1e-6)


def test_a_few_decimals_among_whole_numbers_make_decimal_commas():
    column = column_of([*map(str, range(0, 3 * N, 3)), "2,5", "7,25"])
    assert column.decimal == COMMA
    np.testing.assert_allclose(column.encode(pa.array(["2,5", "10"]))[:, 0], [2.5, 10])


def test_points_stay_points():
    assert column_of(["1.234", "12", "3"] * 9).decimal == POINT
    column = column_of(["1.234", "2.5", "3"] * 9)
    np.testing.assert_allclose(column.read(pa.array(["1.234", "2.5"])), [1.234, 2.5])


def test_missing_values_among_decimal_commas_are_missing():
    column = column_of(["2,5", "3,25", "8"] * 9 + ["n/a"])
    assert column.tells_missing
    assert column.encode(pa.array(["n/a", "2,5"]))[:, 1].tolist() == [1, 0]


def test_as_many_points_as_commas_are_refused():
    with pytest.raises(InputError, match="write all of them in one way"):
        column_of(["2,5", "3.25"] * 20)


@pytest.mark.parametrize("texts", [["1,234", "12,500"], ["$1,234", "$17"]])
def test_commas_that_may_part_thousands_are_refused(texts):
    with pytest.raises(InputError, match=r"column x holds numbers such as '1,234.*point"):
        column_of(texts * 9)


@pytest.mark.parametrize("sure", ["1,234.50", "1,234,567", "12.5"])
def test_commas_part_thousands_if_some_number_shows_it(sure):
    column = column_of([sure, *(f"{value:,.0f}" for value in range(0, 500_000, 9_999))])
    assert column.decimal == GROUPED
    found = column.encode(pa.array(["1,234", "-12,345.5", "7", sure]))[:, 0]
    expected = [1234, -12345.5, 7, float(sure.replace(",", ""))]
    np.testing.assert_allclose(found + column.offset, expected)
    with pytest.raises(pa.ArrowInvalid, match=r"'2,5' is not written as in training"):
        column.encode(pa.array(["2,5"]))


@pytest.mark.parametrize("small", ["0,125", "-0,500", "0,001"])
def test_a_comma_behind_a_zero_never_parts_thousands(small):
    column = column_of([f"{value:,.2f}" for value in NUMBERS])
    with pytest.raises(pa.ArrowInvalid, match=f"'{small}' is not written as in training"):
        column.read(pa.array([small]))
    with pytest.raises(InputError, match="write all of them in one way"):
        column_of([*(f"0,{i:03}" for i in range(1, N)), "12.5"])


def test_commas_that_may_part_thousands_can_be_categories_or_left_out():
    table = pa.table({"x": ["1,234", "12,500"] * 9, "y": [1.5, 2.5] * 9})
    assert isinstance(fit_encoder(table, categories=["x"]).columns[0], CategoryColumn)
    assert [c.name for c in fit_encoder(table, leave_out=["x"]).columns] == ["y"]


def test_both_notations_in_one_column_are_refused():
    with pytest.raises(InputError, match=r"after ',' and others, such as '4\.5'"):
        column_of(["2,5", "3,25", "8"] * 9 + ["4.5"])
