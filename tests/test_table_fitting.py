"""A plan says what becomes of a table before anything is fitted."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest

from fitted_payments import MAP, payments, small
from spadework.errors import InputError, LabelError
from spadework.table_fitting import fit_table, plan_table

N = 60
STATED = ["?", "unknown", "-999", "1900-01-01", "9999-12-31"]
DAYS = [dt.date(2024, 3, 1) + dt.timedelta(days=i) for i in range(N)]


def test_the_plan_counts_what_was_stated_by_column():
    table = pa.table(
        {
            "a": ["?", None, "NA", "-999", *map(str, range(N - 4))],
            "b": [float("inf"), None, *np.linspace(0, 1, N - 2) ** 2],
            "at": [*DAYS[1:], None],
            "kind": ["?", "shop", "web"] * (N // 3),
            "y": ["1", "0", "?"] * (N // 3),
        }
    )
    options = {"label": "y", "label_map": {"1": 1, "0": 0, "?": -1}}
    plan = plan_table(table, missing=STATED, **options)
    assert plan.stated == {"a": 2, "kind": 20}
    assert "said to be missing: 22 values (a 2, kind 20)" in plan.lines()
    unused = plan_table(table.drop_columns(["a"]), missing=["none"], **options)
    assert "said to be missing: 0 values" in unused.lines()
    silent = plan_table(table.drop_columns(["a"]), **options)
    assert not any("said to be" in line for line in silent.lines())


def test_labels_and_keys_are_left_as_they_are():
    table = pa.table(
        {"x": np.linspace(0, 9, N), "id": ["0"] * N, "y": [1, 0, -1] * (N // 3)}
    )
    plan = plan_table(table, label="y", keys=["id"], missing=["0", 0])
    assert plan.labels[:3].tolist() == [1, 0, -1]
    assert plan.table.column("id").to_pylist() == ["0"] * N


def test_columns_that_are_left_out_are_logged_with_the_reason(caplog):
    table = payments()
    amounts = [f"{v:.2f} {'kg' if i % 2 else 'g'}" for i, v in enumerate(range(240))]
    table = table.append_column("weight", pa.array(amounts))
    table = table.append_column("same", pa.array(["x"] * 240))
    fit_table(table, label="status", label_map=MAP, keys=["id"], detector=small())
    (record,) = caplog.records
    assert "weight: its numbers have several units" in record.getMessage()
    assert "same" not in record.getMessage()


def test_a_map_of_labels_is_refused_where_it_would_not_be_read():
    detector = small(label_map={1: 1, 0: 0})
    with pytest.raises(InputError, match="give label_map to fit_table"):
        fit_table(payments(), label="status", label_map=MAP, detector=detector)
    with pytest.raises(LabelError, match="label_map must be a dict"):
        fit_table(payments(), label="status", label_map=["fraud"])


def test_whole_numbers_of_any_length_and_a_number_for_missing_are_taken():
    frame = payments().to_pandas()
    frame["reference"] = [10**20 + 7 * i for i in range(len(frame))]
    plan = plan_table(frame, label="status", label_map=MAP, keys="id", missing=-999)
    assert "amount" in plan.encoder.roles["number"]


def test_the_plan_says_what_is_learnt_from_and_what_is_left_out():
    table = payments().append_column("same", pa.array([1] * 240))
    plan = plan_table(table, label="status", label_map=MAP, ignore=["rate"])
    shown = "\n".join(plan.lines())
    assert "240" in shown
    assert "12 anomalies" in shown
    assert "number:   1 (amount)" in shown
    assert "category: 1 (place)" in shown
    assert "date:     1 (at)" in shown
    assert "left out: id: nearly every row has a text of its own" in shown
    assert "left out: same: it has one value only" in shown


def test_a_key_given_twice_is_one_key():
    assert plan_table(
        payments(), label="status", label_map={"fraud": 1, "ok": 0}, keys=["id", "id"]
    ).keys == ("id",)


@pytest.mark.parametrize("wrong", ["label", "keys", "ignore", "categories"])
def test_a_column_that_is_not_there_is_refused_by_name(wrong):
    options = {"label": "status", "label_map": MAP}
    options[wrong] = "gone" if wrong == "label" else ["gone"]
    with pytest.raises(InputError, match=r"no column 'gone'.*amount"):
        plan_table(payments(), **options)


def test_a_key_with_the_name_of_a_result_is_refused():
    table = payments().rename_columns(["anomaly", *payments().column_names[1:]])
    with pytest.raises(InputError, match="another name"):
        plan_table(table, label="status", label_map=MAP, keys=["anomaly"])


def test_more_columns_than_memory_allows_are_refused():
    wide = {f"c{i}": np.arange(30) ** 2 % (7 + i) for i in range(2_001)}
    table = pa.table({**wide, "y": [1, 0, -1] * 10})
    with pytest.raises(InputError, match="2,001 features; at most 2,000"):
        plan_table(table, label="y")


def test_a_detector_of_ones_own_is_used():
    model = fit_table(
        payments().to_pandas(),
        label="status",
        label_map=MAP,
        keys=["id"],
        detector=small(threshold=1.25),
    )
    assert model.detector.threshold_ == 1.25


def test_a_detector_that_is_given_is_not_fitted_itself():
    detector = small()
    options = {"label": "status", "label_map": MAP, "keys": ["id"], "detector": detector}
    first = fit_table(payments(), **options)
    before = first.score(payments())
    fit_table(payments(seed=1), **options)
    assert first.score(payments()).equals(before)
    assert detector.label_map is None
    assert not hasattr(detector, "model_")


def test_a_name_alone_stands_for_a_list_of_one():
    options = {"label": "status", "label_map": MAP, "detector": small()}
    alone = fit_table(payments(), keys="id", ignore="rate", categories="place", **options)
    listed = fit_table(
        payments(), keys=["id"], ignore=["rate"], categories=["place"], **options
    )
    assert alone.score(payments()).equals(listed.score(payments()))


def test_columns_may_be_named_one_by_one():
    options = {"label": "status", "label_map": MAP, "detector": small()}
    roles = fit_table(payments(), ignore=iter(["id", "rate"]), **options).encoder.roles
    assert not {"id", "rate"} & {name for names in roles.values() for name in names}


@pytest.mark.parametrize(
    "wrong", [{"label": "Status"}, {"label": "status", "keys": "ids"}]
)
def test_a_name_that_is_not_there_is_answered_with_one_that_is_like_it(wrong):
    with pytest.raises(InputError, match=r"Did you mean '(status|id)'"):
        fit_table(payments(), label_map=MAP, **wrong)
