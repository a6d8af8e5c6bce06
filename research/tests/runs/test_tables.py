"""Tables point to data sets, methods and numbers of the paper that exist."""

import numpy as np
import pytest

from real_data import load_table
from spadework.errors import InputError
from spadework.labels import count_labels
from spadework.scenarios import LabeledTable
from spadework_research.datasets.catalog import DATASETS, ImageDataset
from spadework_research.runs import methods
from spadework_research.runs.methods import METHODS
from spadework_research.runs.tables import SCENARIOS, TABLES, Column, get_table

COLUMNS = [
    pytest.param(column, id=f"{table.name}-{column.key}")
    for table in TABLES.values()
    for column in table.columns
]


def made_table(n_rows=2000):
    """Normal rows and four kinds of anomalies, in order of time."""
    rng = np.random.default_rng(0)
    kind = rng.choice(5, n_rows, p=[0.8, 0.05, 0.05, 0.05, 0.05])
    X = rng.normal(0.5 * (kind[:, None] > 0), 1.0, (n_rows, 4))
    return LabeledTable(X, kind, given=(1, 2), n_train=n_rows // 2)


def test_an_unknown_table_lists_the_known_ones():
    with pytest.raises(InputError, match=f"'table_1'; known are {', '.join(TABLES)}"):
        get_table("table_1")


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_a_table_names_what_exists_and_each_column_once(table):
    assert TABLES[table.name] is table
    assert {column.dataset for column in table.columns} <= DATASETS.keys()
    assert {column.scenario for column in table.columns} <= SCENARIOS.keys()
    assert set(table.methods) <= METHODS.keys()
    assert len({column.key for column in table.columns}) == len(table.columns)
    assert len(set(table.methods)) == len(table.methods)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_every_column_has_methods_and_every_method_a_column(table):
    for column in table.columns:
        assert any(table.applies(column, method) for method in table.methods)
    settings = {column.setting for column in table.columns}
    if table.methods != methods.COMPARED:
        for method in table.methods:
            assert settings & set(METHODS[method].settings)


def test_photos_have_a_split_and_labels_of_their_own_and_names_fit_for_files():
    table = get_table("images")
    assert {column.dataset for column in table.columns} == {
        name for name, found in DATASETS.items() if isinstance(found, ImageDataset)
    }
    assert {column.share for column in table.columns} == {0.2}
    for column in table.columns:
        assert column.photos
        assert "/" not in column.key
        assert column.key.endswith(f"-{column.scenario}")
    others = [each for each in TABLES.values() if each is not table]
    assert not any(column.photos for each in others for column in each.columns)


def test_methods_apply_to_photos_or_tables_as_they_are_made():
    photos, table = get_table("images"), get_table("new_types")
    for name in ("spade", "spade_paper", "supervised", "srr"):
        assert photos.applies(photos.columns[0], name)
        assert table.applies(table.columns[0], name)
    for name in ("fixmatch", "linear", "patches"):
        assert photos.applies(photos.columns[0], name)
        assert not table.applies(table.columns[0], name)
    assert not photos.applies(photos.columns[0], "occ")


def test_a_method_applies_where_it_can_learn():
    table = get_table("pu")
    column = table.columns[0]
    assert column.setting == "PU"
    for name in ("spade", "negative_supervised", "elkan_noto", "srr"):
        assert table.applies(column, name)
    for name in ("supervised", "occ", "vime", "dann", "self_training"):
        assert not table.applies(column, name)


@pytest.mark.parametrize("column", COLUMNS)
def test_every_column_has_a_trial_in_its_setting(column):
    trial = column.trial(made_table(), seed=0)
    assert count_labels(trial.y).setting == column.setting
    assert len(trial.X) == len(trial.y) == 1000
    assert (trial.kind_test > 0).any()
    again = column.trial(made_table(), seed=0)
    np.testing.assert_array_equal(trial.y, again.y)


@pytest.mark.parametrize(
    "column", [each for each in COLUMNS if each.values[0].dataset in ("thyroid", "drug")]
)
def test_every_column_of_the_small_real_tables_has_a_trial(column):
    trial = column.trial(load_table(column.dataset), seed=0)
    found = count_labels(trial.y).setting
    # All of the few rows of high risk that are labeled may be anomalies.
    high_risk = column.scenario == "high_risk"
    assert found in ("PNU", "PU") if high_risk else found == column.setting
    assert (trial.kind_test > 0).any()


def test_a_larger_share_labels_more_rows():
    few, more = (
        Column("made", "made", "high_risk", share).trial(made_table(), seed=0)
        for share in (0.01, 0.025)
    )
    assert (few.y >= 0).sum() == 10
    assert (more.y >= 0).sum() == 25
