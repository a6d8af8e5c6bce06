"""Labels in every spelling people use become 1, 0 and -1, or are refused."""

import re
from ast import literal_eval

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from spadework.errors import InputError, LabelError
from spadework.labels import count_labels, normalize_labels

NAN = float("nan")

SPELLINGS = {
    1: [1, 1.0, True, np.int64(1), np.float32(1), np.True_, "1", "anomaly", " Anomaly "],
    0: [0, 0.0, False, np.uint8(0), np.float64(0), np.False_, "0", "normal", "NORMAL"],
    -1: [-1, -1.0, None, NAN, np.float32(NAN), pd.NA, pd.NaT, "", " ", "-1", "Unlabeled"],
}

usable_labels = st.lists(st.sampled_from([1, 0, -1]), min_size=2, max_size=12).filter(
    lambda labels: (
        -1 in labels
        and set(labels) != {-1}
        and (0 in labels or labels.count(1) <= labels.count(-1))
    )
)


def spelled(labels, anomaly, normal, unlabeled):
    """Write 1, 0 and -1 with three other values."""
    return [{1: anomaly, 0: normal, -1: unlabeled}[label] for label in labels]


TABLES = {
    "list of ints": list,
    "tuple of floats": lambda y: tuple(spelled(y, 1.0, 0.0, -1.0)),
    "list with None": lambda y: spelled(y, 1, 0, None),
    "list of text with NaN": lambda y: spelled(y, "anomaly", "normal", NAN),
    "numpy int8": lambda y: np.array(y, dtype=np.int8),
    "numpy float16 with NaN": lambda y: np.array(spelled(y, 1, 0, NAN), dtype=np.float16),
    "numpy text": lambda y: np.array(spelled(y, "anomaly", "normal", "")),
    "numpy numbers as text": lambda y: np.array(y).astype(str),
    "numpy objects": lambda y: np.array(spelled(y, True, False, None), dtype=object),
    "column vector": lambda y: np.array(y)[:, None],
    "column vector of text": lambda y: [[word] for word in spelled(y, "1", "0", "")],
    "pandas int64": lambda y: pd.Series(y, index=range(7, 7 + len(y))),
    "pandas Int64": lambda y: pd.Series(spelled(y, 1, 0, pd.NA), dtype="Int64"),
    "pandas Float64": lambda y: pd.Series(spelled(y, 1.0, 0.0, pd.NA), dtype="Float64"),
    "pandas boolean": lambda y: pd.Series(
        spelled(y, True, False, pd.NA), dtype="boolean"
    ),
    "pandas string": lambda y: pd.Series(
        spelled(y, "anomaly", "normal", pd.NA), dtype="string"
    ),
    "pandas object": lambda y: pd.Series(spelled(y, "anomaly", 0, None), dtype=object),
    "pandas category": lambda y: pd.Series(
        spelled(y, "anomaly", "normal", None), dtype="category"
    ),
    "pandas frame": lambda y: pd.DataFrame({"label": y}),
    "nullable array": lambda y: pd.array(spelled(y, 1, 0, None), dtype="Int8"),
    "nullable truth": lambda y: pd.array(spelled(y, True, False, None), dtype="boolean"),
    "masked ints": lambda y: np.ma.masked_equal(y, -1),
    "masked truth": lambda y: np.ma.masked_array(np.equal(y, 1), np.equal(y, -1)),
    "polars ints": lambda y: pl.Series(spelled(y, 1, 0, None), dtype=pl.Int64),
    "polars floats": lambda y: pl.Series(spelled(y, 1.0, 0.0, None), dtype=pl.Float64),
    "polars booleans": lambda y: pl.Series(spelled(y, True, False, None)),
    "polars text": lambda y: pl.Series(spelled(y, "anomaly", "normal", None)),
    "polars frame": lambda y: pl.DataFrame({"label": y}),
}


@given(labels=usable_labels, data=st.data())
@examples(200)
def test_any_mix_of_spellings_gives_the_same_labels(labels, data):
    mixed = [data.draw(st.sampled_from(SPELLINGS[label])) for label in labels]
    np.testing.assert_array_equal(normalize_labels(mixed), labels)
    in_table = pd.Series(mixed, dtype=object)
    np.testing.assert_array_equal(normalize_labels(in_table), labels)


@pytest.mark.parametrize("spell", TABLES.values(), ids=TABLES.keys())
@given(labels=usable_labels)
@examples(25)
def test_every_kind_of_table_gives_the_same_labels(spell, labels):
    read = normalize_labels(spell(labels))
    assert read.dtype == np.int8
    np.testing.assert_array_equal(read, labels)


@given(labels=usable_labels)
@examples(50)
def test_labels_read_twice_are_the_labels_read_once(labels):
    once = normalize_labels(labels)
    np.testing.assert_array_equal(normalize_labels(once), once)


@pytest.mark.parametrize("dtype", [np.int8, np.float64, object, str])
def test_reading_labels_leaves_the_input_alone(dtype):
    y = np.array([1, 0, -1, -1]).astype(dtype)
    before = y.copy()
    normalize_labels(y)[:] = 0
    np.testing.assert_array_equal(y, before)


def test_reading_floats_leaves_nan_in_the_input():
    y = np.array([1.0, 0.0, NAN])
    normalize_labels(y)
    assert np.isnan(y[2])


@pytest.mark.parametrize(
    "box",
    [list, np.array, pd.Series, pl.Series, lambda y: np.array(y)[:, None]],
    ids=["list", "numpy text", "pandas", "polars", "column vector"],
)
@given(labels=usable_labels)
@examples(25)
def test_a_mapping_names_the_users_own_values(box, labels):
    words = spelled(labels, "fraud", "ok", "")
    mapping = {"fraud": 1, "ok": 0, "": -1}
    np.testing.assert_array_equal(normalize_labels(box(words), mapping), labels)


@given(labels=usable_labels)
@examples(25)
def test_a_mapping_may_turn_the_usual_numbers_around(labels):
    read = normalize_labels(spelled(labels, -1, 1, 0), {-1: 1, 1: 0, 0: -1})
    np.testing.assert_array_equal(read, labels)


def test_a_mapping_of_ints_reads_floats_and_numpy_scalars():
    y = [2.0, np.int64(5), 2, np.float32(5)]
    assert normalize_labels(y, {2: 1, 5: -1}).tolist() == [1, -1, 1, -1]


@pytest.mark.parametrize("missing", [None, NAN, np.float32(NAN), pd.NA, pd.NaT])
def test_missing_values_are_unlabeled_though_a_mapping_does_not_name_them(missing):
    assert normalize_labels(["fraud", missing], {"fraud": 1}).tolist() == [1, -1]


@pytest.mark.parametrize("missing", [None, NAN, np.float32(NAN), pd.NA])
def test_a_mapping_that_names_missing_values_is_obeyed(missing):
    read = normalize_labels(["fraud", missing, "?"], {"fraud": 1, missing: 0, "?": -1})
    assert read.tolist() == [1, 0, -1]


@pytest.mark.parametrize(
    "y",
    [
        [1, 0, 0],
        [1.0, 0.0, 0.0],
        [True, False, False],
        np.array([1, 0, 0], dtype=np.uint8),
        pd.Series([True, False, False]),
        ["1", "0", "0"],
    ],
    ids=["ints", "floats", "bools", "numpy", "pandas", "numbers as text"],
)
def test_only_zeros_and_ones_are_refused_with_a_mapping_for_either_reading(y):
    with pytest.raises(
        LabelError, match=r"'normal' or 'not known'.*label_map"
    ) as refusal:
        normalize_labels(y)
    advised = [literal_eval(text) for text in re.findall(r"\{.*?\}", str(refusal.value))]
    read = [normalize_labels(y, mapping).tolist() for mapping in advised]
    assert read == [[1, 0, 0], [1, -1, -1]]


@pytest.mark.parametrize("dtype", [np.int8, np.float64])
def test_signs_of_outliers_are_refused_with_a_mapping_for_either_reading(dtype):
    y = np.array([1, 1, 1, 1, -1]).astype(dtype)
    with pytest.raises(LabelError, match=r"\{-1: 1, 1: 0\} if -1 is an outlier"):
        normalize_labels(y)
    assert normalize_labels(y, {-1: 1, 1: 0}).tolist() == [0, 0, 0, 0, 1]
    assert normalize_labels(y, {1: 1, -1: -1}).tolist() == [1, 1, 1, 1, -1]
    assert normalize_labels(-y).tolist() == (-y).tolist()  # few are labeled anomalies


@pytest.mark.parametrize(("n_missing", "refused"), [(0, True), (1, True), (2, False)])
def test_a_missing_label_counts_as_one_more_row_without(n_missing, refused):
    y = [1, 1, 1, -1, *[NAN] * n_missing]
    if not refused:
        assert normalize_labels(y).tolist() == [1, 1, 1, -1, -1, -1]
        return
    said = rf"-1, and 1 \(3 rows\) .* no label \({n_missing + 1} rows\)"
    with pytest.raises(LabelError, match=said):
        normalize_labels(y)


def test_the_word_normal_says_that_rows_are_known_to_be_normal():
    assert normalize_labels(["anomaly", "Normal", "normal"]).tolist() == [1, 0, 0]


@pytest.mark.parametrize("y", [[-1, -1], [None, None], ["", NAN], np.full(3, NAN)])
def test_labels_that_are_all_unlabeled_are_refused(y):
    with pytest.raises(LabelError, match=r"no row is labeled: all \d are unlabeled"):
        normalize_labels(y)


def test_a_mapping_that_leaves_no_labels_is_refused():
    with pytest.raises(LabelError, match="no row is labeled: all 2 are unlabeled"):
        normalize_labels([0, 1], {0: -1, 1: -1})


@pytest.mark.parametrize("mapping", [None, {1: 1, 0: 0}])
@pytest.mark.parametrize(("value", "name"), [(1, "anomaly"), (0, "normal")])
def test_a_single_class_without_unlabeled_rows_is_refused(value, name, mapping):
    with pytest.raises(LabelError, match=rf"every row is labeled {name} \({value}\)"):
        normalize_labels([value] * 3, mapping)


@pytest.mark.parametrize(
    ("y", "named"),
    [
        ([1, 0, 2], "2"),
        ([1.0, 0.5, -1.0], "0.5"),
        ([1, np.inf, -1], "inf"),
        (["anomaly", "fraud", ""], "'fraud'"),
        (np.array([1, 0, 255], dtype=np.uint8), "255"),
        (np.array([1, 257, -1]), "257"),
        ([1, -1, "x", None, 7], "'x', 7"),
        (pd.Series([1, "3", pd.NA], dtype=object), "'3'"),
        (pl.Series(["anomaly", "odd", None]), "'odd'"),
    ],
)
def test_unknown_values_are_named_plainly_in_the_refusal(y, named):
    message = rf"unknown label value {re.escape(named)}: .*label_map: .*: \?.* each \?"
    with pytest.raises(LabelError, match=message):
        normalize_labels(y)


def test_a_refusal_lists_at_most_eight_unknown_values():
    with pytest.raises(LabelError, match=r"10, 11, .*, 17 and 3 more:"):
        normalize_labels([1, -1, *range(10, 21)])


def test_values_that_a_mapping_does_not_name_are_refused():
    message = r"no entry for 'hmm'; it names 'fraud', 'ok'"
    with pytest.raises(LabelError, match=message):
        normalize_labels(["fraud", "ok", "hmm"], {"fraud": 1, "ok": 0})


@pytest.mark.parametrize("label", [2, -2, 0.5, "anomaly", None])
def test_a_mapping_to_anything_but_the_three_labels_is_refused(label):
    with pytest.raises(LabelError, match=r"must map to 1 \(anomaly\), 0"):
        normalize_labels(["fraud", "ok"], {"fraud": 1, "ok": label})


@pytest.mark.parametrize("y", [[], np.empty(0), pd.Series([], dtype=float)])
def test_empty_labels_are_refused(y):
    with pytest.raises(LabelError, match="labels are empty"):
        normalize_labels(y)


@pytest.mark.parametrize(
    ("y", "shape"),
    [
        (np.zeros((3, 2)), "(3, 2)"),
        (np.zeros((1, 3)), "(1, 3)"),
        (np.zeros((3, 1, 1)), "(3, 1, 1)"),
        (1, "()"),
        ("anomaly", "()"),
    ],
)
def test_labels_that_are_not_one_per_row_are_refused(y, shape):
    with pytest.raises(LabelError, match=rf"one value per row.*{re.escape(shape)}"):
        normalize_labels(y)


def test_ragged_labels_are_refused():
    with pytest.raises(LabelError, match="one value per row"):
        normalize_labels([[1], [0, 1], [-1]])


def test_a_row_that_holds_several_values_is_refused_by_its_number():
    y = np.array([1, None, None], dtype=object)
    y[2] = [0, 1]
    with pytest.raises(LabelError, match=r"single values; row 2 holds \[0, 1\]"):
        normalize_labels(y)


def test_missing_y_is_refused():
    with pytest.raises(LabelError, match="requires y to be passed"):
        normalize_labels(None)


def test_label_errors_are_value_errors():
    with pytest.raises(ValueError, match="labels are empty") as refusal:
        normalize_labels([])
    assert isinstance(refusal.value, InputError)


@given(labels=st.lists(st.sampled_from([1, 0, -1]), max_size=20))
@examples(50)
def test_the_census_counts_every_row_once(labels):
    census = count_labels(np.array(labels, dtype=np.int8))
    assert census == (labels.count(1), labels.count(0), labels.count(-1))
    assert census.n_labeled + census.n_unlabeled == len(labels)


@pytest.mark.parametrize(
    ("labels", "setting"),
    [
        ([-1, 0, 1, 0], "PNU"),
        ([-1, 1], "PU"),
        ([0, -1, -1], "NU"),
        ([0, 1], "PN"),
        ([-1], "U"),
    ],
)
def test_the_setting_names_the_labels_that_exist(labels, setting):
    census = count_labels(np.array(labels, dtype=np.int8))
    assert census.setting == setting
    assert str(census).startswith(f"{setting}: ")
