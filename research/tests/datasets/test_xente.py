"""Xente's table is read by the names of its columns, in order of time, or refused."""

import gzip
import sys
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_payments import LATER, ROW, write
from real_data import load_table
from spadework.errors import DataError
from spadework_research.datasets.catalog import get_dataset
from spadework_research.datasets.xente import COLUMNS, read_xente


@pytest.fixture
def path(tmp_path):
    return tmp_path / "training.csv"


def refusal(path):
    """The message with which a file is refused; it names the file and the page."""
    with pytest.raises(DataError) as refused:
        read_xente(path)
    message = str(refused.value)
    assert message.startswith(f"{path}: ")
    assert message.endswith("xente-fraud-detection-challenge/data")
    return message


def test_features_are_numbers_hour_weekday_and_one_column_per_name(path):
    table = read_xente(write(path, [ROW, LATER]))
    thursday, sunday = 3, 6
    assert table.X.tolist() == [
        [1000, 1000, 2, 2, thursday, 0, 1, 1, 0, 1, 0, 0, 1],
        [-20, 20, 4, 23, sunday, 1, 0, 0, 1, 0, 1, 1, 0],
    ]
    assert table.X.dtype == np.float64


def test_rows_come_in_order_of_time_and_ties_in_order_of_the_file(path):
    ties = [LATER | {"Amount": str(amount)} for amount in (5, 3, 4)]
    table = read_xente(write(path, [*ties, ROW]))
    assert table.X[:, 0].tolist() == [1000, 5, 3, 4]
    assert table.kind.tolist() == [0, 1, 1, 1]


def test_frauds_are_given_and_the_first_half_trains(path):
    table = read_xente(write(path, [ROW] * 4 + [LATER]))
    assert table.given == (1,)
    assert table.n_train == 2
    assert table.kind.dtype == np.int64


@pytest.mark.parametrize("column", COLUMNS[:7])
def test_ids_currency_and_country_change_nothing(path, column):
    plain = read_xente(write(path, [ROW, LATER]))
    other = read_xente(write(path, [ROW | {column: "another"}, LATER]))
    np.testing.assert_array_equal(plain.X, other.X)


def test_columns_may_come_in_any_order(path):
    plain = read_xente(write(path, [ROW, LATER]))
    turned = read_xente(write(path, [ROW, LATER], COLUMNS[::-1]))
    np.testing.assert_array_equal(plain.X, turned.X)
    np.testing.assert_array_equal(plain.kind, turned.kind)


def test_byte_order_mark_windows_lines_and_blank_lines_do_not_matter(path):
    plain = read_xente(write(path, [ROW, LATER]))
    text = path.read_bytes().decode()
    assert "\r\n" in text
    path.write_bytes(b"\xef\xbb\xbf" + text.replace("\r\n", "\n").encode() + b"\n\n")
    np.testing.assert_array_equal(read_xente(path).X, plain.X)


def test_pandas_is_not_needed(path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert len(read_xente(write(path, [ROW])).X) == 1


times = st.datetimes(datetime(2018, 1, 1), datetime(2019, 12, 31))
names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=5)
rows = st.fixed_dictionaries(
    {
        "Amount": st.floats(allow_nan=False, allow_infinity=False),
        "TransactionStartTime": times.map(lambda time: f"{time:%Y-%m-%dT%H:%M:%SZ}"),
        "ProductCategory": names,
        "FraudResult": st.sampled_from("01"),
    }
).map(lambda drawn: ROW | drawn)


@given(drawn=st.lists(rows, min_size=1, max_size=20))
def test_every_row_arrives_whole_at_its_place_in_time(drawn, tmp_path_factory):
    table = read_xente(write(tmp_path_factory.mktemp("xente") / "training.csv", drawn))
    expected = sorted(drawn, key=lambda row: row["TransactionStartTime"])
    start = [
        datetime.fromisoformat(row["TransactionStartTime"]).astimezone(UTC)
        for row in expected
    ]
    categories = sorted({row["ProductCategory"] for row in drawn})
    np.testing.assert_array_equal(table.X[:, 0], [row["Amount"] for row in expected])
    np.testing.assert_array_equal(table.X[:, 3], [time.hour for time in start])
    np.testing.assert_array_equal(table.X[:, 4], [time.weekday() for time in start])
    np.testing.assert_array_equal(
        table.X[:, 7:-1],
        [[row["ProductCategory"] == name for name in categories] for row in expected],
    )
    np.testing.assert_array_equal(
        table.kind, [int(row["FraudResult"]) for row in expected]
    )


@pytest.mark.parametrize("column", COLUMNS)
def test_a_missing_column_is_named(path, column):
    kept = [name for name in COLUMNS if name != column]
    message = refusal(write(path, [ROW], kept))
    assert f"expected the 16 columns TransactionId, {COLUMNS[1]}" in message
    assert f"found 15, missing ['{column}'], too many []" in message


@pytest.mark.parametrize("surplus", ["Colour", "Amount"])
def test_unknown_and_repeated_columns_are_named(path, surplus):
    message = refusal(write(path, [ROW], [*COLUMNS, surplus]))
    assert f"found 17, missing [], too many ['{surplus}']" in message


@pytest.mark.parametrize("column", ["Amount", "Value", "PricingStrategy"])
@pytest.mark.parametrize("text", ["", "much", "1,5", "nan", "inf", "1e999"])
def test_a_bad_number_is_named_with_its_line_and_column(path, column, text):
    message = refusal(write(path, [ROW, ROW | {column: text}]))
    expected = f"line 3, column {column}: expected a finite number, found {text!r}"
    assert expected in message


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2018-11-15",
        "15/11/2018 02:18",
        "2018-13-15T02:18:49Z",
        "2018-02-29T02:18:49Z",
        "2018-11-15T24:18:49Z",
        "2018-11-15T02:18:49+03:00",
    ],
)
def test_a_bad_date_is_named_with_its_line_and_column(path, text):
    message = refusal(write(path, [ROW, ROW | {"TransactionStartTime": text}]))
    assert "line 3, column TransactionStartTime: expected a time such as" in message
    assert f"found {text!r}" in message


@pytest.mark.parametrize("text", ["2", "-1", "", "1.0", "yes"])
def test_a_fraud_result_other_than_0_and_1_is_refused(path, text):
    message = refusal(write(path, [ROW, ROW, ROW | {"FraudResult": text}]))
    expected = f"line 4, column FraudResult: expected 0 or 1, found {text!r}"
    assert expected in message


def test_a_category_without_a_name_is_refused(path):
    message = refusal(write(path, [ROW, ROW | {"ProviderId": ""}]))
    assert "line 3, column ProviderId: expected a name, found ''" in message


def test_line_numbers_count_lines_within_quotes(path):
    message = refusal(write(path, [ROW | {"BatchId": "a\nb"}, ROW | {"Amount": "x"}]))
    assert "line 4, column Amount" in message


@pytest.mark.parametrize("cut", [4, 8, 40])
def test_a_truncated_row_is_refused(path, cut):
    whole = write(path, [ROW, ROW]).read_text(encoding="utf-8").rstrip()
    path.write_text(whole[:-cut], encoding="utf-8")
    assert "line 3 must have 16 columns; it has " in refusal(path)


def test_a_row_with_too_many_cells_is_refused(path):
    with write(path, [ROW]).open("a") as file:
        file.write(",".join("x" * 17) + "\n")
    assert "line 3 must have 16 columns; it has 17" in refusal(path)


def test_an_empty_file_is_refused(path):
    path.touch()
    assert "expected a header in the first line, found nothing" in refusal(path)


def test_a_header_alone_is_refused(path):
    assert "expected rows below the header, found none" in refusal(write(path, []))


@pytest.mark.parametrize("tail", [b'"never closed', b"\xff\xfe"])
def test_what_is_not_csv_in_utf8_is_refused(path, tail):
    content = write(path, [ROW]).read_bytes()
    path.write_bytes(content + tail)
    assert "expected a CSV table in UTF-8" in refusal(path)


@given(content=st.binary(max_size=200))
def test_any_bytes_are_refused_and_never_crash(content, tmp_path_factory):
    path = tmp_path_factory.mktemp("xente") / "training.csv"
    path.write_bytes(content)
    refusal(path)


@pytest.fixture
def place(monkeypatch, tmp_path):
    monkeypatch.setenv("SPADEWORK_DATA", str(tmp_path))
    (tmp_path / "xente").mkdir()
    return tmp_path / "xente" / "training.csv"


def test_the_table_is_found_by_name(place):
    write(place, [LATER, ROW])
    assert get_dataset("xente").load().kind.tolist() == [0, 1]


def test_a_gzipped_copy_is_read_too(place):
    packed = place.with_name("training.csv.gz")
    packed.write_bytes(gzip.compress(write(place, [LATER, ROW]).read_bytes()))
    place.unlink()
    assert get_dataset("xente").load().kind.tolist() == [0, 1]


def test_a_cut_off_gzip_is_refused(place):
    packed = place.with_name("training.csv.gz")
    packed.write_bytes(gzip.compress(write(place, [LATER, ROW]).read_bytes())[:-20])
    place.unlink()
    with pytest.raises(DataError, match=r"training\.csv\.gz cannot be unpacked.*zindi"):
        get_dataset("xente").load()


def test_a_folder_in_place_of_the_file_is_refused(place):
    place.mkdir()
    with pytest.raises(DataError, match=r"training\.csv must be a file.*zindi"):
        get_dataset("xente").load()


def test_fetching_says_where_to_get_the_file_and_where_to_put_it(place):
    with pytest.raises(DataError, match=r"account.*zindi\.africa.*put it at") as refused:
        get_dataset("xente").fetch()
    assert str(place) in str(refused.value)


def test_the_real_table_is_that_of_the_paper():
    table = load_table("xente")
    assert len(table.X) == 95_662
    assert table.kind.mean() == pytest.approx(0.002, abs=0.00005)
    assert np.isfinite(table.X).all()
