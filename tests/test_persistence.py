"""A saved model comes back to the bit, or not at all."""

import json
import os
import pickle
from copy import deepcopy
from functools import cache

import numpy as np
import pandas as pd
import pytest
import safetensors.numpy
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import spadework
from mismatch import in_setting, mismatch_data
from properties import examples
from spadework import (
    SPADE,
    ForestLearner,
    NetworkLearner,
    TreeLearner,
    load,
    persistence,
    save,
)
from spadework.errors import ModelFileError

METHODS = ("anomaly_score", "decision_function", "predict", "predict_proba")
ROWS = mismatch_data(120, seed=1)[0]


def small(**parameters):
    return SPADE(**{"learner": TreeLearner(n_trees=5), "random_state": 0, **parameters})


def forest(**parameters):
    return small(learner=ForestLearner(n_trees=5), **parameters)


def network(**parameters):
    learner = NetworkLearner(n_networks=2, max_epochs=2, warmup_epochs=1, batch_size=64)
    return small(learner=learner, **parameters)


X, Y, TRUTH = mismatch_data(120, seed=0)
WORDS = np.array(["ok", "frånd", None], dtype=object)[Y]
MAP = {"frånd": 1, "ok": 0, None: -1}
STATED = {"label_map": {1: 1, 0: 0}}
KINDS = {
    "trees": lambda: small().fit(X, Y),
    "by_name": lambda: SPADE(random_state=None).fit(X, Y),
    "labels_alone": lambda: small(learner=TreeLearner(pseudo_labels=False)).fit(X, Y),
    "fully_labeled": lambda: small(**STATED).fit(X, TRUTH),
    "PU": lambda: small().fit(X, in_setting(Y, "PU")),
    "NU": lambda: small().fit(X, in_setting(Y, "NU")),
    "named": lambda: small().fit(pd.DataFrame(X, columns=list("abcdéfg ")), Y),
    "words": lambda: small(label_map=MAP).fit(X, WORDS),
    "threshold": lambda: small(threshold=0.1 + 0.2).fit(X, Y),
    "budget": lambda: small(contamination=np.float64(0.1)).fit(X, Y),
    "numpy_parameters": lambda: small(
        n_members=np.int64(2), threshold=np.float32(0.1)
    ).fit(X, Y),
    "forest": lambda: forest().fit(X, Y),
    "isolation_forest": lambda: forest(one_class="isolation_forest", n_members=2).fit(
        X, Y
    ),
    "neighbours": lambda: forest(one_class="neighbours", n_members=2).fit(X, Y),
    "svm": lambda: forest(one_class="svm", n_members=2).fit(X, Y),
    "percentiles": lambda: forest(thresholds=(10, 90.5), voting="majority").fit(X, Y),
    "network": lambda: network().fit(X, Y),
    "fully_labeled_network": lambda: network(**STATED).fit(X, TRUTH),
    "paper": lambda: SPADE.paper(learner__max_epochs=2, random_state=0).fit(X, Y),
}
WITH_MEMBERS = KINDS.keys() & {
    "forest",
    "isolation_forest",
    "neighbours",
    "svm",
    "percentiles",
    "network",
    "paper",
}
"""Models that hold one-class classifiers."""


@cache
def model(kind="trees"):
    """A fitted model of a kind; never to be changed."""
    return KINDS[kind]()


def rows_for(detector):
    """Fresh rows in the form the detector was fitted on."""
    names = getattr(detector, "feature_names_in_", None)
    return ROWS if names is None else pd.DataFrame(ROWS, columns=names)


def parameters(detector):
    """Everything get_params tells, but learners by their name."""
    learner = type(detector.get_params()["learner"]).__name__
    return {**detector.get_params(), "learner": learner}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.spade"


@pytest.fixture
def saved(path):
    """The path of saved trees."""
    save(model(), path)
    return path


def rewrite(path, change):
    """Change a file's header and arrays, and make its checksum right again."""
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    metadata = json.loads(content[8 : 8 + length])["__metadata__"]
    header, arrays = json.loads(metadata["spadework"]), safetensors.numpy.load(content)
    header = change(header, arrays) or header
    write_signed(path, json.dumps(header), arrays)


def write_signed(path, text, arrays):
    """Write a file whose checksum fits its content."""
    digest = persistence._digest(text, arrays)
    metadata = {"spadework": text, "sha256": digest}
    path.write_bytes(safetensors.numpy.save(arrays, metadata))


def find(header, name):
    """The state of the first object of a class in a header."""
    if isinstance(header, dict):
        if header.get("$class") == name:
            return header["state"]
        header = list(header.values())
    if isinstance(header, list):
        found = (find(item, name) for item in header)
        return next((state for state in found if state is not None), None)
    return None


def assert_refused(path, match=None):
    with pytest.raises(ModelFileError, match=match):
        load(path)


# Round trips


@pytest.mark.parametrize("kind", KINDS)
def test_a_loaded_model_scores_the_same_to_the_bit(kind, path):
    save(model(kind), path)
    loaded = load(path)
    rows = rows_for(loaded)
    for method in METHODS:
        expected = getattr(model(kind), method)(rows)
        found = getattr(loaded, method)(rows)
        assert found.dtype == expected.dtype
        assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_a_loaded_model_tells_the_same_about_its_fit(kind, path):
    original = model(kind)
    save(original, path)
    loaded = load(path)
    assert set(vars(loaded)) == set(vars(original))
    assert parameters(loaded) == parameters(original)
    for name in ("setting_", "census_", "threshold_", "history_", "n_features_in_"):
        assert getattr(loaded, name) == getattr(original, name)
    assert (loaded.share_, loaded.trust_) == (original.share_, original.trust_)
    assert loaded.likely_shares_ == original.likely_shares_
    assert loaded.calls_ == original.calls_
    assert type(loaded.calls_) is type(original.calls_)
    assert type(loaded.census_) is type(original.census_)
    np.testing.assert_array_equal(loaded.classes_, original.classes_)


@pytest.mark.parametrize("kind", KINDS)
def test_pseudo_labels_come_back_to_the_bit(kind, path):
    original = model(kind)
    save(original, path)
    loaded = load(path)
    if original.pseudo_labels_ is None:
        assert loaded.pseudo_labels_ is None
        return
    pairs = [(loaded.pseudo_labels_, original.pseudo_labels_)]
    if kind in WITH_MEMBERS:
        rows = rows_for(loaded)
        pairs.append((loaded.pseudo_label(rows), original.pseudo_label(rows)))
    for found, expected in pairs:
        assert found.labels.tobytes() == expected.labels.tobytes()
        assert found.votes.tobytes() == expected.votes.tobytes()
        for one, other in zip(found.thresholds, expected.thresholds, strict=True):
            assert one.tobytes() == other.tobytes()


def test_column_names_come_back_and_are_checked(path):
    save(model("named"), path)
    loaded = load(path)
    assert list(loaded.feature_names_in_) == list("abcdéfg ")
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(pd.DataFrame(ROWS, columns=list("hijklmno")))


def test_a_loaded_model_can_be_fitted_and_saved_again(saved):
    loaded = load(saved).fit(X, Y)
    save(loaded, saved)
    again = load(saved).anomaly_score(ROWS)
    np.testing.assert_array_equal(again, model().anomaly_score(ROWS))


def test_a_model_that_has_scored_is_pickled_as_before(path):
    save(model("by_name"), path)
    loaded = load(path)
    before = len(pickle.dumps(loaded))
    loaded.anomaly_score(ROWS)
    assert len(pickle.dumps(loaded)) == before


def test_a_loaded_model_can_be_pickled(saved):
    copy = pickle.loads(pickle.dumps(load(saved)))
    expected = model().anomaly_score(ROWS)
    np.testing.assert_array_equal(copy.anomaly_score(ROWS), expected)


def test_saving_leaves_the_model_as_it_was(path):
    before = pickle.dumps(model())
    save(model(), path)
    assert pickle.dumps(model()) == before


def test_saving_twice_gives_the_same_bytes(tmp_path):
    contents = set()
    for turn in range(8):
        save(model(), tmp_path / str(turn))
        contents.add((tmp_path / str(turn)).read_bytes())
    assert len(contents) == 1


def test_paths_may_be_text_and_relative(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save(model(), "here.spade")
    assert load("here.spade").threshold_ == model().threshold_
    assert os.listdir() == ["here.spade"]


label_maps = st.dictionaries(
    st.text() | st.integers() | st.none() | st.floats(allow_nan=False),
    st.sampled_from([1, 0, -1]),
    max_size=4,
)
valid_parameters = st.fixed_dictionaries(
    {
        "threshold": st.just("auto") | st.floats(allow_nan=False, allow_infinity=False),
        "thresholds": st.sampled_from(["matching", "otsu"])
        | st.tuples(st.floats(0, 50), st.integers(50, 100)),
        "n_members": st.none() | st.integers(1, 2**40),
        "label_map": st.none() | label_maps,
        "random_state": st.none() | st.integers(0, 2**80),
        "use_labeled_normals": st.booleans(),
        "learner__n_trees": st.integers(1, 10**6),
        "learner__pseudo_labels": st.booleans(),
    }
)


@given(changes=valid_parameters)
@settings(examples(20), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_parameters_come_back_with_value_and_type(changes, tmp_path):
    changed = deepcopy(model()).set_params(**changes)
    target = tmp_path / "hypothesis.spade"
    save(changed, target)
    found = load(target).get_params()
    for name, value in changes.items():
        assert found[name] == value
        assert type(found[name]) is type(value)


# Nothing in a file is executed


@pytest.mark.parametrize(
    "kind", ["trees", "network", "isolation_forest", "neighbours", "svm"]
)
def test_loading_needs_no_pickle(kind, path, monkeypatch):
    save(model(kind), path)

    def refuse(*args, **kwargs):
        raise AssertionError("unpickled")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, refuse)
    monkeypatch.setattr(torch, "load", refuse)
    expected = model(kind).anomaly_score(ROWS)
    np.testing.assert_array_equal(load(path).anomaly_score(ROWS), expected)


def test_a_pickle_is_not_a_model_file(path):
    path.write_bytes(pickle.dumps(model()))
    assert_refused(path, "not a spadework model")


@pytest.mark.parametrize("name", ["Path", "system", "CustomMembers", "IsolationForest"])
def test_a_class_outside_the_list_is_refused_by_name(saved, name):
    def change(header, arrays):
        header["model"] = {"$class": name, "state": {}}

    rewrite(saved, change)
    assert_refused(saved, f"'{name}' is not one of")


def test_a_listed_class_that_is_no_model_is_refused(saved):
    def change(header, arrays):
        state = {"n_anomalies": 1, "n_normals": 2, "n_unlabeled": 3}
        header["model"] = {"$class": "LabelCensus", "state": state}

    rewrite(saved, change)
    assert_refused(saved, "expected a model; got LabelCensus")


@pytest.mark.parametrize("name", ["evil_", "fit", "__class__", "_private"])
def test_an_unknown_attribute_of_an_estimator_is_refused_by_name(saved, name):
    def change(header, arrays):
        find(header, "SPADE")[name] = 1

    rewrite(saved, change)
    assert_refused(saved, name)


def test_attributes_of_the_users_own_are_refused_when_saving(path):
    marked = deepcopy(model())
    marked.trained_on = "2026-11-18"
    with pytest.raises(ModelFileError, match="trained_on of its own"):
        save(marked, path)
    assert not path.exists()


def test_an_array_that_is_used_twice_is_refused(saved):
    def change(header, arrays):
        trees = find(header, "SymmetricTrees")
        trees["columns"] = trees["borders"]

    rewrite(saved, change)
    assert_refused(saved, "do not fit together")


def test_an_array_that_nothing_uses_is_refused(saved):
    def change(header, arrays):
        arrays["spare"] = np.zeros(3)

    rewrite(saved, change)
    assert_refused(saved, "nothing needs spare")


def test_an_unknown_attribute_of_a_record_is_refused_by_name(saved):
    def change(header, arrays):
        find(header, "SymmetricTrees")["extra"] = 1

    rewrite(saved, change)
    assert_refused(saved, "extra")


def test_an_unknown_kind_of_value_is_refused(saved):
    def change(header, arrays):
        find(header, "SPADE")["random_state"] = {"$eval": "1 + 1"}

    rewrite(saved, change)
    assert_refused(saved, r"\$eval")


# Files that are not whole models


def test_a_rewritten_file_with_a_right_checksum_loads(saved):
    rewrite(saved, lambda header, arrays: None)
    expected = model().anomaly_score(ROWS)
    np.testing.assert_array_equal(load(saved).anomaly_score(ROWS), expected)


@pytest.mark.parametrize("version", [5, 3, 2, 1, "4", None])
def test_another_format_version_is_refused_with_the_version_that_wrote_it(saved, version):
    def change(header, arrays):
        header["format_version"] = version
        header["spadework_version"] = "17.4"

    rewrite(saved, change)
    assert_refused(saved, f"(?s)format {version!r}.*written by spadework 17.4")


def test_a_file_says_which_version_wrote_it(saved):
    seen = {}
    rewrite(saved, lambda header, arrays: seen.update(header))
    assert seen["spadework_version"] == spadework.__version__
    assert seen["format_version"] == 4


@pytest.mark.parametrize("kind", ["trees", "network"])
def test_a_file_cut_off_anywhere_is_refused(kind, path):
    save(model(kind), path)
    content = path.read_bytes()
    end_of_header = 8 + int.from_bytes(content[:8], "little")
    edges = [1, 7, 8, 9, end_of_header - 1, end_of_header, end_of_header + 1]
    cuts = {*edges, *np.linspace(0, len(content) - 1, 40).astype(int).tolist()}
    for cut in sorted(cuts):
        path.write_bytes(content[:cut])
        assert_refused(path, "cut off|not a spadework model")


@pytest.mark.parametrize("kind", ["trees", "network"])
def test_a_single_flipped_bit_anywhere_is_refused(kind, path):
    save(model(kind), path)
    content = path.read_bytes()
    end_of_header = 8 + int.from_bytes(content[:8], "little")
    rng = np.random.default_rng(0)
    places = [
        *range(8),
        *rng.integers(8, end_of_header, 60),
        *rng.integers(end_of_header, len(content), 60),
    ]
    for place in places:
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        assert_refused(path)


@pytest.mark.parametrize(
    ("was", "becomes"),
    [(b'"F64"', b'"I64"'), (b'"I64"', b'"U64"'), (b"borders", b"Borders")],
)
def test_a_relabeled_array_is_refused(saved, was, becomes):
    content = saved.read_bytes()
    assert was in content
    saved.write_bytes(content.replace(was, becomes, 1))
    assert_refused(saved, "changed since it was saved|damaged")


def test_bytes_after_the_end_are_refused(saved):
    saved.write_bytes(saved.read_bytes() + b"\0")
    assert_refused(saved, "damaged")


JUNK = {
    "empty": b"",
    "one byte": b"\x01",
    "text": b"To whom it may concern: this is not a model.\n" * 99,
    "json": b'{"spadework": 1, "sha256": 2}',
    "random": np.random.default_rng(0).bytes(5_000),
    "zeros": bytes(5_000),
    "huge header": (2**62).to_bytes(8, "little") + b"{}",
    "largest header": (2**64 - 1).to_bytes(8, "little") + b"{}" * 99,
    "deep list": (200_017).to_bytes(8, "little") + b'{"__metadata__":' + b"[" * 200_001,
    "deep dict": (500_000).to_bytes(8, "little") + b'{"a":' * 100_000,
    "header is a list": (8).to_bytes(8, "little") + b"[1,2,3] ",
    "header is null": (8).to_bytes(8, "little") + b"null    ",
    "metadata is a list": (24).to_bytes(8, "little") + b'{"__metadata__":[1,2]}  ',
    "not utf-8": (8).to_bytes(8, "little") + b"\xff" * 8,
    "huge number": (8).to_bytes(8, "little") + b"1e999999",
    "many digits": (9_999).to_bytes(8, "little") + b"1" * 9_999,
}


@pytest.mark.parametrize("name", JUNK)
def test_junk_is_refused(name, path):
    path.write_bytes(JUNK[name])
    assert_refused(path, "not a spadework model")


def test_another_safetensors_file_is_refused(path):
    path.write_bytes(safetensors.numpy.save({"a": np.ones(3)}, {"format": "pt"}))
    assert_refused(path, "not a spadework model")


def test_metadata_that_is_not_text_is_refused(path):
    header = json.dumps({"__metadata__": {"spadework": 1, "sha256": ["x"]}}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    assert_refused(path)


def test_an_array_type_that_numpy_lacks_is_refused(path):
    metadata = {"spadework": "{}", "sha256": "0"}
    array = {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}
    header = json.dumps({"__metadata__": metadata, "a": array}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header + bytes(4))
    assert_refused(path)


@pytest.mark.parametrize(
    "text",
    ["[]", "null", "1", '"model"', "{}", "", "{", "[" * 100_000, '{"a":' * 100_000],
    ids=lambda text: f"{text[:8]} ({len(text)})",
)
def test_a_signed_header_of_another_form_is_refused(path, text):
    write_signed(path, text, {})
    assert_refused(path)


def test_a_missing_file_is_reported_as_missing(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nothing\.spade"):
        load(tmp_path / "nothing.spade")


# Signed files whose parts do not fit together


def array_of(header, arrays, name, field):
    """The array of a field of the first object of a class, and its key."""
    key = find(header, name)[field]["$array"]
    arrays[key] = arrays[key].copy()
    return arrays[key], key


def column_outside(header, arrays):
    array_of(header, arrays, "SymmetricTrees", "columns")[0][-1, -1] = 8


def column_below_zero(header, arrays):
    array_of(header, arrays, "SymmetricTrees", "columns")[0][0, 0] = -1


def fractional_columns(header, arrays):
    array, key = array_of(header, arrays, "SymmetricTrees", "columns")
    arrays[key] = array.astype(np.float64)


def border_not_a_number(header, arrays):
    array_of(header, arrays, "SymmetricTrees", "borders")[0][0, 0] = np.nan


def fewer_borders_than_columns(header, arrays):
    array, key = array_of(header, arrays, "SymmetricTrees", "borders")
    arrays[key] = np.ascontiguousarray(array[:, :-1])


def values_of_fewer_trees(header, arrays):
    array, key = array_of(header, arrays, "SymmetricTrees", "values")
    arrays[key] = array[:-1]


def value_beyond_numbers(header, arrays):
    array_of(header, arrays, "SymmetricTrees", "values")[0][0, 0] = np.inf


def intercept_not_a_number(header, arrays):
    find(header, "SymmetricTrees")["intercept"] = "zero"


def list_for_an_array(header, arrays):
    find(header, "SymmetricTrees")["columns"] = [0]


def number_for_an_array(header, arrays):
    find(header, "SymmetricTrees")["columns"] = 0


def unknown_array(header, arrays):
    find(header, "SymmetricTrees")["columns"] = {"$array": "no such array"}


def array_key_not_text(header, arrays):
    find(header, "SymmetricTrees")["columns"] = {"$array": [1]}


def trust_not_a_trust(header, arrays):
    find(header, "SPADE")["trust_"] = {"$class": "LabelTrust", "state": {"recall": 1.0}}


def child_far_outside(header, arrays):
    array_of(header, arrays, "FlatForest", "left")[0][0] = 10**9


def child_before_its_parent(header, arrays):
    array_of(header, arrays, "FlatForest", "left")[0][1] = 0


def negative_child(header, arrays):
    array_of(header, arrays, "FlatForest", "left")[0][0] = -1


def feature_outside(header, arrays):
    array_of(header, arrays, "FlatForest", "feature")[0][0] = 8


def leaf_value_not_a_number(header, arrays):
    array_of(header, arrays, "FlatForest", "value")[0][0] = np.nan


def root_outside(header, arrays):
    array_of(header, arrays, "FlatForest", "roots")[0][-1] = 10**9


def node_arrays_of_different_length(header, arrays):
    array, key = array_of(header, arrays, "FlatForest", "value")
    arrays[key] = array[:-1]


def node_arrays_with_two_axes(header, arrays):
    array, key = array_of(header, arrays, "FlatForest", "left")
    arrays[key] = array[:, None]


def fractional_children(header, arrays):
    array, key = array_of(header, arrays, "FlatForest", "left")
    arrays[key] = array.astype(np.float64)


def no_trees(header, arrays):
    array, key = array_of(header, arrays, "FlatForest", "roots")
    arrays[key] = array[:0]


def number_for_a_record(header, arrays):
    find(header, "SPADE")["model_"] = 3


def nothing_for_a_record(header, arrays):
    find(header, "SPADE")["model_"] = None


def state_not_a_dict(header, arrays):
    header["model"]["state"] = [1, 2]


def no_state(header, arrays):
    del header["model"]["state"]


def class_not_a_name(header, arrays):
    header["model"]["$class"] = ["SPADE"]


def no_model(header, arrays):
    del header["model"]


def more_features_than_the_model(header, arrays):
    find(header, "SPADE")["n_features_in_"] = 9


def features_beyond_memory(header, arrays):
    find(header, "SPADE")["n_features_in_"] = 2**50


def features_not_a_number(header, arrays):
    find(header, "SPADE")["n_features_in_"] = "eight"


def threshold_not_a_number(header, arrays):
    find(header, "SPADE")["threshold_"] = "high"


def other_classes(header, arrays):
    array, key = array_of(header, arrays, "SPADE", "classes_")
    arrays[key] = array[:1]


def other_voting(header, arrays):
    find(header, "SPADE")["voting"] = "plurality"


def census_not_a_census(header, arrays):
    find(header, "SPADE")["census_"] = "many"


def setting_not_a_setting(header, arrays):
    find(header, "SPADE")["setting_"] = 7


def scaler_of_fewer_columns(header, arrays):
    for name in ("centre", "unit"):
        array, key = array_of(header, arrays, "AsinhScaler", name)
        arrays[key] = array[:-1]


def scaler_of_more_columns(header, arrays):
    for name in ("centre", "unit"):
        array, key = array_of(header, arrays, "AsinhScaler", name)
        arrays[key] = np.hstack([array, array])


def units_below_zero(header, arrays):
    array, key = array_of(header, arrays, "AsinhScaler", "unit")
    arrays[key] = -array


def gaussians_of_another_width(header, arrays):
    array, key = array_of(header, arrays, "GaussianEnsemble", "means")
    arrays[key] = np.ascontiguousarray(array[:, :-1])
    array, key = array_of(header, arrays, "GaussianEnsemble", "factors")
    arrays[key] = np.ascontiguousarray(array[:, :-1, :-1])


def factors_of_another_shape(header, arrays):
    array, key = array_of(header, arrays, "GaussianEnsemble", "factors")
    arrays[key] = array[:-1]


def fewer_thresholds_than_members(header, arrays):
    for state in (
        find(header, "FittedPseudoLabeler")["thresholds"],
        find(header, "PseudoLabels")["thresholds"],
    ):
        for field in ("normal", "anomaly"):
            key = state["state"][field]["$array"]
            arrays[key] = arrays[key][:2]


def without_a_weight(header, arrays):
    weights = find(header, "NetworkModel")["weights"]["$tuple"][1]["$dict"]
    del weights[0]


def weight_of_another_shape(header, arrays):
    networks = find(header, "NetworkModel")["weights"]["$tuple"]
    key = networks[1]["$dict"][-1][1]["$array"]
    arrays[key] = np.append(arrays[key], np.float32(0))


def device_of_another_world(header, arrays):
    find(header, "NetworkModel")["device"] = "abacus"


BREAKAGES = {
    "trees": (
        column_outside,
        column_below_zero,
        fractional_columns,
        border_not_a_number,
        fewer_borders_than_columns,
        values_of_fewer_trees,
        value_beyond_numbers,
        intercept_not_a_number,
        list_for_an_array,
        number_for_an_array,
        unknown_array,
        array_key_not_text,
        number_for_a_record,
        nothing_for_a_record,
        state_not_a_dict,
        no_state,
        class_not_a_name,
        no_model,
        more_features_than_the_model,
        features_beyond_memory,
        features_not_a_number,
        threshold_not_a_number,
        trust_not_a_trust,
        other_classes,
        other_voting,
        census_not_a_census,
        setting_not_a_setting,
        scaler_of_fewer_columns,
        scaler_of_more_columns,
        units_below_zero,
    ),
    "forest": (
        child_far_outside,
        child_before_its_parent,
        negative_child,
        feature_outside,
        leaf_value_not_a_number,
        root_outside,
        node_arrays_of_different_length,
        node_arrays_with_two_axes,
        fractional_children,
        no_trees,
        scaler_of_fewer_columns,
        gaussians_of_another_width,
        factors_of_another_shape,
        fewer_thresholds_than_members,
    ),
    "network": (
        without_a_weight,
        weight_of_another_shape,
        device_of_another_world,
        scaler_of_fewer_columns,
        scaler_of_more_columns,
        gaussians_of_another_width,
    ),
}


@pytest.mark.parametrize(
    ("kind", "break_model"),
    [(kind, change) for kind, changes in BREAKAGES.items() for change in changes],
    ids=lambda each: each if isinstance(each, str) else each.__name__,
)
def test_a_signed_file_with_unsound_parts_is_refused(kind, break_model, path):
    save(model(kind), path)
    rewrite(path, break_model)
    assert_refused(path, "model.spade")


@pytest.mark.parametrize(
    "name",
    [
        "setting_",
        "census_",
        "model_",
        "threshold_",
        "classes_",
        "n_features_in_",
        "history_",
        "pseudo_labels_",
        "pseudo_labeler_",
        "share_",
        "trust_",
    ],
)
def test_a_signed_file_without_an_attribute_is_refused_by_its_name(saved, name):
    def change(header, arrays):
        del find(header, "SPADE")[name]

    rewrite(saved, change)
    assert_refused(saved, name)


def test_a_file_from_before_calls_were_counted_is_read_without_them(saved):
    def change(header, arrays):
        del find(header, "SPADE")["calls_"], find(header, "SPADE")["likely_shares_"]

    rewrite(saved, change)
    assert load(saved).calls_ is load(saved).doubt is None


@pytest.mark.parametrize("name", ["trees", "scaler"])
def test_a_signed_file_without_a_part_of_the_trees_is_refused(saved, name):
    def change(header, arrays):
        del find(header, "TreeModel")[name]

    rewrite(saved, change)
    assert_refused(saved, name)


# What cannot be saved, and where


def test_an_unfitted_model_is_not_saved(path):
    with pytest.raises(NotFittedError):
        save(SPADE(), path)
    assert not path.exists()


def test_another_estimator_is_not_saved(path):
    other = LogisticRegression().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(
        ModelFileError,
        match="only fitted ImageSPADE, InContextDetector, SPADE, TableModel",
    ):
        save(other, path)
    assert not path.exists()


class MeanDistance:
    def fit(self, X):
        self.mean = X.mean(axis=0)

    def score(self, X):
        return np.abs(X - self.mean).sum(axis=1)


@pytest.mark.parametrize(
    ("parameter", "value", "match"),
    [
        ("one_class", MeanDistance(), r"one_class is a .*MeanDistance.*of your own"),
        ("random_state", np.random.default_rng(0), "random_state is a .*Generator"),
    ],
)
def test_objects_that_are_not_plain_data_are_refused(tmp_path, parameter, value, match):
    fitted = forest(**{parameter: value}).fit(X, Y)
    with pytest.raises(ModelFileError, match=match):
        save(fitted, tmp_path / "model.spade")
    assert os.listdir(tmp_path) == []


def test_a_folder_is_not_replaced(tmp_path):
    with pytest.raises(ModelFileError, match="is a folder"):
        save(model(), tmp_path)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "content",
    [
        b"my only copy of the data\n",
        b"",
        b"sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e7304 data.csv\n",
        b'{"project": "spadework", "notes": "keep"}',
        safetensors.numpy.save({"a": np.ones(3)}, {"format": "pt"}),
    ],
    ids=["text", "empty", "checksums", "json", "safetensors"],
)
def test_a_file_that_is_no_model_is_left_as_it_is(tmp_path, content):
    target = tmp_path / "notes.txt"
    target.write_bytes(content)
    with pytest.raises(ModelFileError, match="is not a spadework model"):
        save(model(), target)
    assert target.read_bytes() == content
    assert os.listdir(tmp_path) == ["notes.txt"]


@pytest.mark.parametrize("kind", ["forest", "network", "isolation_forest", "named"])
def test_an_older_model_is_replaced(path, kind):
    for _ in range(3):
        save(model(kind), path)
    save(model(), path)
    assert load(path).threshold_ == model().threshold_
    assert os.listdir(path.parent) == ["model.spade"]


def test_a_missing_folder_is_named_and_nothing_else(tmp_path):
    folder = tmp_path / "not there"
    with pytest.raises((ModelFileError, FileNotFoundError)) as caught:
        save(model(), folder / "model.spade")
    message = str(caught.value)
    assert "not there" in message
    assert ".model.spade." not in message
    assert os.listdir(tmp_path) == []
