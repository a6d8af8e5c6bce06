"""A model of a table as it is: fitted, scored, saved and loaded."""

import dataclasses

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest
from scipy.special import expit

from fitted_payments import MAP, fitted, payments, small
from spadework import load, save
from spadework.errors import InputError, LabelError, ModelFileError
from spadework.table_fitting import fit_table, plan_table
from spadework.table_model import RESULTS, name_rows


def columns_of(table):
    return {name: table.column(name).to_pylist() for name in table.column_names}


@pytest.mark.parametrize("change", [{"keys": (1,)}, {"label": None}, {"n_rows": 0}])
def test_a_model_of_nothing_or_of_columns_without_names_is_refused(change):
    with pytest.raises(InputError, match="text as names"):
        dataclasses.replace(fitted(), **change)


def test_flags_of_a_column_must_be_true_or_false():
    for column in fitted().encoder.columns:
        if hasattr(column, "tells_missing"):
            with pytest.raises(InputError, match="needs True or False"):
                dataclasses.replace(column, tells_missing=10**8)
        with pytest.raises(InputError, match="needs text as its name"):
            dataclasses.replace(column, name=True)


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
    np.testing.assert_array_equal(probability, expit(scores))  # they are log-odds


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
    for name in ("X", "labels", "scores", "places", "categories"):
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
    lost, other = (loaded.encoder.encode(with_place(each)) for each in (None, "!"))
    assert (lost != other).any()


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


def test_a_model_needs_the_marks_of_all_its_categories():
    reference = fitted().reference
    without = dataclasses.replace(reference, categories=reference.categories[:, :0])
    with pytest.raises(InputError, match="marks of all columns of categories"):
        dataclasses.replace(fitted(), reference=without)


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
