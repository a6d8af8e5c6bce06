"""A model of a table as it is: fitted, scored, saved and loaded."""

import dataclasses
import datetime as dt
from functools import cache

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

from spadework import SPADE, ForestLearner, load, save
from spadework.errors import DataError, InputError, LabelError, ModelFileError
from spadework.table_fitting import fit_table, plan_table
from spadework.table_model import RESULTS, name_rows

MAP = {"fraud": 1, "ok": 0}


def payments(n=240, seed=0):
    """Payments of which some have a large amount from a far place; few have a status."""
    rng = np.random.default_rng(seed)
    amount = rng.normal(50, 10, n)
    place = rng.choice(["here", "there"], n).astype(object)
    rate = rng.normal(size=n)
    is_fraud = rng.permutation(n) < n // 10
    amount[is_fraud] += 300
    place[is_fraud] = "far"
    status = np.full(n, None, dtype=object)
    status[np.flatnonzero(is_fraud)[::2]] = "fraud"
    status[np.flatnonzero(~is_fraud)[::5]] = "ok"
    start = dt.datetime(2024, 1, 1)
    rate = [None if i % 7 == 0 else float(each) for i, each in enumerate(rate)]
    return pa.table(
        {
            "id": [f"T{i:05}" for i in range(n)],
            "amount": amount,
            "place": place.tolist(),
            "rate": rate,
            "at": [start + dt.timedelta(hours=int(5 * i)) for i in rng.permutation(n)],
            "status": status.tolist(),
        }
    )


def small(**parameters):
    return SPADE(
        learner=ForestLearner(n_trees=5, max_depth=4), random_state=0, **parameters
    )


@cache
def fitted():
    """A model of the payments; never to be changed."""
    return fit_table(
        payments(), label="status", label_map=MAP, keys=["id"], detector=small()
    )


def columns_of(table):
    return {name: table.column(name).to_pylist() for name in table.column_names}


@pytest.mark.parametrize("change", [{"keys": (1,)}, {"label": None}, {"n_rows": 0}])
def test_a_model_of_nothing_or_of_columns_without_names_is_refused(change):
    with pytest.raises(InputError, match="text as names"):
        dataclasses.replace(fitted(), **change)


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


def test_flags_of_a_column_must_be_true_or_false():
    for column in fitted().encoder.columns:
        if hasattr(column, "tells_missing"):
            with pytest.raises(InputError, match="needs True or False"):
                dataclasses.replace(column, tells_missing=10**8)
        with pytest.raises(InputError, match="needs text as its name"):
            dataclasses.replace(column, name=True)


@pytest.mark.parametrize("n_empty", [0, 1, 30])
def test_empty_rows_at_the_end_are_left_out_and_said(n_empty):
    table = payments()
    empty = pa.table({f.name: pa.nulls(n_empty, f.type) for f in table.schema})
    plan = plan_table(pa.concat_tables([table, empty]), label="status", label_map=MAP)
    assert plan.table == table
    assert plan.n_empty == n_empty
    assert ("empty ones at the end" in plan.lines()[0]) == bool(n_empty)


def test_rows_with_a_single_value_and_empty_rows_in_between_stay():
    table = payments()
    empty = pa.table({f.name: pa.nulls(9, f.type) for f in table.schema})
    both = pa.concat_tables([table, empty, table[:1]])
    plan = plan_table(both, label="status", label_map=MAP)
    assert plan.table.num_rows == both.num_rows
    spare = empty.set_column(0, "id", pa.array([None] * 8 + ["T9"]))
    plan = plan_table(pa.concat_tables([table, spare]), label="status", label_map=MAP)
    assert plan.table.num_rows == table.num_rows + 9


def test_scores_come_with_the_keys_in_the_order_of_the_rows():
    found = fitted().score(payments())
    assert found.column_names == ["id", *RESULTS]
    assert found.column("id").to_pylist() == payments().column("id").to_pylist()
    scores = found.column("anomaly_score").to_numpy()
    called = found.column("anomaly").to_numpy()
    np.testing.assert_array_equal(called, scores > fitted().detector.threshold_)
    fraud = np.array(payments().column("status").to_pylist()) == "fraud"
    assert scores[fraud].min() > np.median(scores)
    probability = found.column("probability").to_numpy()
    np.testing.assert_array_equal(probability > 0.5, called == 1)


def test_every_source_of_the_same_rows_has_the_same_scores(tmp_path):
    table = payments(100, seed=1)
    pa_csv.write_csv(table, tmp_path / "a.csv")
    expected = columns_of(fitted().score(table))
    shuffled = table.select(["status", "at", "rate", "place", "amount", "id"])
    for source in (
        tmp_path / "a.csv",
        table.to_pandas(),
        pl.from_arrow(table),
        shuffled.append_column("new", pa.array([[1]] * 100)),
    ):
        assert columns_of(fitted().score(source)) == expected


def test_a_model_is_shown_in_a_line():
    shown = repr(fitted())
    assert shown.startswith(
        f"TableModel(fitted on {payments().num_rows:,} rows, label 's"
    )
    assert "number" in shown
    assert len(shown) < 200


def test_labels_themselves_are_refused_where_their_column_is_to_be_named():
    labels = payments().column("status").to_pandas()
    with pytest.raises(InputError, match="must be the name of a column; got Series"):
        fit_table(payments(), label=labels)


def test_no_rows_have_no_scores():
    found = fitted().score(payments().slice(0, 0))
    assert found.num_rows == 0
    assert found.column_names == ["id", *RESULTS]


def test_a_table_without_its_keys_is_refused():
    with pytest.raises(InputError, match="lacks the key columns id"):
        fitted().score(payments().drop_columns(["id"]))


def test_keys_are_kept_as_they_are(tmp_path):
    table = payments(50)
    numbered = table.set_column(0, "id", pa.array([f"{i:03}" for i in range(50)]))
    pa_csv.write_csv(numbered, tmp_path / "a.csv")
    found = fitted().score(tmp_path / "a.csv").column("id").to_pylist()
    assert found[:2] == ["000", "001"]
    countries = table.set_column(0, "id", pa.array(["NA", "null", None, "FR", ""] * 10))
    pa_csv.write_csv(countries, tmp_path / "b.csv")
    found = fitted().score(tmp_path / "b.csv").column("id").to_pylist()
    assert found[:5] == ["NA", "null", None, "FR", None]
    coded = table.set_column(0, "id", table.column("id").dictionary_encode())
    assert fitted().score(coded).column("id").to_pylist()[0] == "T00000"


def test_category_codes_keep_their_leading_zeros(tmp_path):
    table = payments(120)
    codes = [["007", "7", "08"][i % 3] for i in range(120)]
    pa_csv.write_csv(table.append_column("code", pa.array(codes)), tmp_path / "a.csv")
    plan = plan_table(
        tmp_path / "a.csv",
        label="status",
        label_map=MAP,
        keys=["id"],
        categories=["code"],
    )
    code = next(c for c in plan.encoder.columns if c.name == "code")
    assert set(code.values) == {"007", "7", "08"}


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


# Labels


@pytest.mark.parametrize(
    ("labels", "label_map"),
    [
        ([1, 0, -1, -1], None),
        ([1.0, 0.0, None, None], None),
        (["1", "0", "", "NA"], None),
        (["1.0", "0.0", None, "-1"], None),
        ([True, False, None, None], None),
        (["anomaly", "normal", "unlabeled", None], None),
        (["fraud", "ok", None, "open"], {"fraud": 1, "ok": 0, "open": -1}),
        (["fraud", "ok", "", ""], {"fraud": 1, "ok": 0, "": -1}),
        ([2.0, 1.0, None, 0.0], {2: 1, 1: 0, 0: -1}),
        ([2, 1, 0, 0], {"2": 1, "1.0": 0, 0.0: -1}),
        ([True, False, None, None], {True: 1, False: 0, None: -1}),
    ],
)
def test_labels_are_read_as_people_keep_them(labels, label_map):
    table = pa.table({"y": labels * 10, "x": np.arange(40) ** 2 % 17})
    plan = plan_table(table, label="y", label_map=label_map)
    assert plan.labels[:4].tolist() == [1, 0, -1, -1]
    coded = pa.table({"y": table.column("y").dictionary_encode(), "x": table.column("x")})
    again = plan_table(coded, label="y", label_map=label_map).labels
    assert again.tolist() == plan.labels.tolist()


def test_a_word_that_reads_as_an_empty_cell_labels_nothing():
    with pytest.raises(LabelError, match="'NA', which reads as an empty cell"):
        plan_table(payments(), label="status", label_map={"fraud": 1, "NA": 0})


def test_a_label_has_one_meaning():
    with pytest.raises(LabelError, match="'1' two meanings, 1 and 0"):
        plan_table(payments(), label="status", label_map={"1": 1, "1.0": 0})


def test_codes_of_unlabeled_rows_are_read_as_written(tmp_path):
    labeled, new = tmp_path / "a.csv", tmp_path / "b.csv"
    labeled.write_text("x,code,y\n" + "1,007,1\n2,012,0\n" * 10)
    new.write_text("x,code\n" + "3,A12\n4,007\n" * 10)
    plan = plan_table(labeled, label="y", unlabeled=new)
    assert set(plan.table.column("code").to_pylist()) == {"007", "012", "A12"}


def test_a_key_given_twice_is_one_key():
    assert plan_table(
        payments(), label="status", label_map={"fraud": 1, "ok": 0}, keys=["id", "id"]
    ).keys == ("id",)


def test_the_model_reads_labels_again_as_it_did():
    labels = fitted().read_labels(payments())
    assert np.bincount(labels + 1).tolist() == [240 - 12 - 44, 44, 12]


@pytest.mark.parametrize("training", [[1, 0, None, None], [1, -1, -1, -1]])
def test_zeros_of_later_rows_are_normal_if_they_were_in_training(training):
    table = pa.table({"y": training * 10, "x": np.arange(40) ** 2 % 17})
    model = fit_table(table, label="y", detector=small())
    later = pa.table({"y": [1, 0, 0]})
    if 0 in training:
        assert model.read_labels(later).tolist() == [1, 0, 0]
    else:
        with pytest.raises(LabelError, match="only 0 and 1"):
            model.read_labels(later)


def test_a_label_that_is_not_mapped_is_refused():
    with pytest.raises(LabelError, match="no entry for 'ok'"):
        plan_table(payments(), label="status", label_map={"fraud": 1})


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


def test_a_table_without_rows_is_refused():
    with pytest.raises(DataError, match="no rows"):
        plan_table(payments().slice(0, 0), label="status", label_map=MAP)


def test_more_columns_than_memory_allows_are_refused():
    wide = {f"c{i}": np.arange(30) ** 2 % (7 + i) for i in range(2_001)}
    table = pa.table({**wide, "y": [1, 0, -1] * 10})
    with pytest.raises(InputError, match="2,001 features; at most 2,000"):
        plan_table(table, label="y")


# Saving


@pytest.fixture
def saved(tmp_path):
    save(fitted(), tmp_path / "model.spade")
    return tmp_path / "model.spade"


def test_a_loaded_model_scores_the_same_to_the_bit(saved):
    table = payments(100, seed=2)
    loaded = load(saved)
    assert loaded.score(table).equals(fitted().score(table))
    assert loaded.encoder.encode(table).tobytes() == (
        fitted().encoder.encode(table).tobytes()
    )


def test_a_loaded_model_is_the_same_model(saved, tmp_path):
    loaded = load(saved)
    assert repr(loaded.encoder) == repr(fitted().encoder)
    for name in ("label", "label_map", "keys", "n_rows"):
        assert getattr(loaded, name) == getattr(fitted(), name)
    for name in ("X", "labels", "scores", "places"):
        one = getattr(loaded.reference, name)
        assert one.tobytes() == getattr(fitted().reference, name).tobytes()
    save(loaded, tmp_path / "again.spade")
    assert (tmp_path / "again.spade").read_bytes() == saved.read_bytes()


def test_a_loaded_model_knows_what_was_said_to_mean_missing(tmp_path):
    def with_place(place):
        table = payments(seed=2)
        places = [place, *table.column("place").to_pylist()[1:]]
        return table.set_column(2, "place", pa.array(places))

    options = {"label": "status", "label_map": MAP, "keys": ["id"]}
    model = fit_table(with_place("?"), missing=["?"], detector=small(), **options)
    save(model, tmp_path / "model.spade")
    loaded = load(tmp_path / "model.spade")
    expected = columns_of(model.score(with_place(None)))
    assert columns_of(loaded.score(with_place("?"))) == expected
    assert columns_of(loaded.score(with_place("!"))) != expected


def test_a_model_saved_before_values_could_be_said_to_mean_missing_is_the_same(saved):
    from test_persistence import find, rewrite

    def change(header, arrays):
        for column in find(header["model"], "TableEncoder")["columns"]["$tuple"]:
            del column["state"]["missing"]

    rewrite(saved, change)
    table = payments(100, seed=2)
    assert load(saved).score(table).equals(fitted().score(table))


@pytest.mark.parametrize("share", [0.05, 0.3, 0.6, 0.99])
def test_a_changed_byte_is_refused(saved, share):
    content = bytearray(saved.read_bytes())
    content[int(share * len(content))] ^= 1
    saved.write_bytes(content)
    with pytest.raises(ModelFileError):
        load(saved)


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("NumberColumn", "fill", "lots"),
        ("NumberColumn", "fill", {"$float": "nan"}),
        ("CategoryColumn", "n_common", 99),
        ("DateColumn", "origin", {"$float": "inf"}),
        ("NumberColumn", "missing", "?"),
        ("CategoryColumn", "missing", {"$tuple": [0]}),
        ("DateColumn", "missing", {"$tuple": [None]}),
        ("TableEncoder", "columns", {"$tuple": []}),
        ("TableModel", "nonsense", 1),
    ],
)
def test_a_model_with_impossible_parts_is_refused_though_its_checksum_fits(
    saved, name, key, value
):
    from test_persistence import find, rewrite

    def change(header, arrays):
        find(header["model"], name)[key] = value

    rewrite(saved, change)
    with pytest.raises(ModelFileError, match="do not fit together"):
        load(saved)


def test_an_encoding_of_another_width_is_refused_though_its_checksum_fits(saved):
    from test_persistence import find, rewrite

    def change(header, arrays):
        columns = find(header["model"], "TableEncoder")["columns"]["$tuple"]
        columns.pop()

    rewrite(saved, change)
    with pytest.raises(ModelFileError, match="width"):
        load(saved)


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


def test_a_whole_number_names_a_row_in_a_column_of_floats_too():
    whole, with_gap = pa.table({"id": [7, 8]}), pa.table({"id": [7.0, 8.5]})
    assert name_rows(whole, ["id"]) == ["id 7", "id 8"]
    assert name_rows(with_gap, ["id"]) == ["id 7", "id 8.5"]


def test_rows_without_keys_have_no_names():
    assert name_rows(pa.table({"id": [7, 8]}), []) == ["", ""]


def test_a_folder_stands_for_the_model_in_it(tmp_path):
    model = fit_table(payments(), label="status", label_map=MAP, detector=small())
    save(model, tmp_path / "model.spade")
    assert load(tmp_path).score(payments()).equals(model.score(payments()))


@pytest.mark.parametrize(
    "wrong", [{"label": "Status"}, {"label": "status", "keys": "ids"}]
)
def test_a_name_that_is_not_there_is_answered_with_one_that_is_like_it(wrong):
    with pytest.raises(InputError, match=r"Did you mean '(status|id)'"):
        fit_table(payments(), label_map=MAP, **wrong)
