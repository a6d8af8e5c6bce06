"""Data sets come by name, from original files only, downloaded whole or not at all."""

import numpy as np
import pytest

from real_data import load_table
from spadework.errors import DataError, InputError
from spadework_research.datasets import catalog


@pytest.mark.parametrize("name", catalog.DATASETS)
def test_every_file_on_this_machine_is_the_original(name):
    load_table(name)


@pytest.mark.parametrize(
    ("name", "shape", "kinds"),
    [
        ("thyroid", (7200, 21), [6666, 166, 368]),
        ("drug", (1885, 30), [1429, 39, 97, 149, 50, 48, 73]),
        ("covertype", (581_012, 54), [495_141, 35_754, 2_747, 9_493, 17_367, 20_510]),
        ("creditcard", (284_807, 29), [284_315, 492]),
    ],
)
def test_classes_become_the_kinds_of_the_appendix(name, shape, kinds):
    table = load_table(name)
    assert table.X.shape == shape
    assert np.bincount(table.kind).tolist() == kinds
    assert np.isfinite(table.X).all()


def test_unknown_names_list_the_known_ones():
    with pytest.raises(InputError, match=r"'iris'; known are thyroid, drug, covertype"):
        catalog.get_dataset("iris")


def test_missing_files_are_named_with_their_page(monkeypatch, tmp_path):
    monkeypatch.setenv("SPADEWORK_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"spadework data fetch drug.*uci\.edu"):
        catalog.get_dataset("drug").load()


def test_a_source_that_needs_an_account_says_where_to_put_the_file(monkeypatch, tmp_path):
    monkeypatch.setenv("SPADEWORK_DATA", str(tmp_path))
    place = str(tmp_path / "creditcard" / "creditcard.csv")
    with pytest.raises(DataError, match=r"kaggle\.com.*put it at") as refusal:
        catalog.get_dataset("creditcard").fetch()
    assert place in str(refusal.value)


def test_a_changed_file_is_refused_with_its_checksum(monkeypatch, tmp_path):
    monkeypatch.setenv("SPADEWORK_DATA", str(tmp_path))
    path = tmp_path / "drug" / "drug_consumption.data"
    path.parent.mkdir()
    path.write_text("1,2,3\n")
    with pytest.raises(DataError, match=r"not the original.*sha256.*37333e8d"):
        catalog.get_dataset("drug").load()
