"""Tables of KEEL are read with half of their rows normal, and methods are ranked."""

from dataclasses import replace

import numpy as np
import pytest

from spadework.errors import InputError
from spadework_research.studies.cells import Cell, Means
from spadework_research.studies.public import (
    METHODS,
    average_ranks,
    main,
    measure_cell,
    read_table,
    scenarios,
    summary,
)

SIZES = {"big": 300, "middle": 200, "small": 150, "rare": 100}


@pytest.fixture
def folder(tmp_path):
    """Hold a table of four classes: a number that tells them, a word, a constant."""
    rng = np.random.default_rng(0)
    lines = [
        f"{rng.normal(5 * place):.4f}, {rng.choice(['red', 'blue'])}, 1, {name}"
        for place, (name, size) in enumerate(SIZES.items())
        for _ in range(size)
    ]
    text = "@relation made\n@data\n\n" + "\n".join(lines) + "\n"
    (tmp_path / "made.dat").write_text(text)
    return tmp_path


def test_the_largest_classes_that_make_half_of_the_rows_are_normal(folder):
    table = read_table(folder / "made.dat")
    kinds = np.bincount(table.kind)
    assert kinds[0] == SIZES["big"] + SIZES["middle"]
    assert kinds[1:].sum() == 55  # of 250: a tenth of all that is left
    assert len(kinds) == 3
    assert table.given == (1,)


def test_words_become_columns_and_constants_are_left_out(folder):
    X = read_table(folder / "made.dat").X
    assert X.shape[1] == 3
    np.testing.assert_array_equal(X[:, 1] + X[:, 2], 1)


def test_a_table_of_one_kind_of_anomalies_has_no_new_types(folder):
    table = read_table(folder / "made.dat")
    assert scenarios(table).keys() == {"easiness", "PU", "high risk", "new types", "NU"}
    assert all(way(table, 0).kind_test.any() for way in scenarios(table).values())
    one_kind = replace(table, kind=np.minimum(table.kind, 1))
    assert scenarios(one_kind).keys() == {"easiness", "PU", "high risk"}


def test_a_cell_is_measured_on_the_table_that_it_names(folder):
    cell = Cell("made", "PU", "negative_occ")
    found = measure_cell(folder, range(2), cell)
    assert 0.5 < found.auc <= 1


def test_ranks_are_those_of_counting_who_is_better():
    first, second, third = METHODS[:3]
    measured = {
        Cell("one", "PU", first): Means(0.9, 0.5),
        Cell("one", "PU", second): Means(0.9, 0.5),
        Cell("one", "PU", third): Means(0.8, 0.5),
        Cell("two", "PU", second): Means(0.7, 0.5),
        Cell("two", "PU", third): Means(0.8, 0.5),
    }
    assert average_ranks(measured) == {first: 1, second: 1.5, third: 2}


def test_the_summary_tells_how_far_methods_lie_from_the_default():
    measured = {
        Cell("one", "PU", "spade"): Means(0.9, 0.5),
        Cell("one", "PU", "occ"): Means(0.8, 0.5),
        Cell("two", "PU", "occ"): Means(0.99, 0.5),  # nothing to compare it with
    }
    lines = {line.split()[0]: line.split()[1:] for line in summary(measured)}
    assert lines["occ"] == ["-0.1000", "-0.1000", "1.50"]
    assert lines["spade"] == ["+0.0000", "+0.0000", "1.00"]


def test_a_folder_without_tables_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"tables of the KEEL repository"):
        main(tmp_path, [], "public.json")
