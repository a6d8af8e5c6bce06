"""Sixty tables are read as problems, in two halves that their names decide."""

import numpy as np
import pytest

from spadework.errors import InputError
from spadework_research.datasets.tables60 import read_tables


def archive(path):
    parts = {
        "X": np.ones((4, 2), np.float64),
        "y": np.array([1, 0, -1, -1]),
        "T": np.zeros((3, 2), np.float64),
        "k": np.array([0, 2, 1]),
    }
    names = ("WineFraud|risk", "NetworkThreat|nu")
    np.savez(path, **{f"{n}|{key}": part for n in names for key, part in parts.items()})
    return path


def test_problems_come_in_the_order_of_their_names_with_what_tests_truth(tmp_path):
    one, two = read_tables(archive(tmp_path / "tables.npz"))
    assert (one.name, one.scenario) == ("NetworkThreat", "nu")
    assert (two.name, two.scenario) == ("WineFraud", "risk")
    assert one.X.dtype == np.float32
    assert one.y.tolist() == [1, 0, -1, -1]
    assert one.truth.tolist() == [0, 1, 1]


def test_names_decide_the_half(tmp_path):
    halves = [table.half for table in read_tables(archive(tmp_path / "tables.npz"))]
    assert halves == ["A", "B"]


def test_an_archive_that_is_not_there_is_named(tmp_path):
    with pytest.raises(InputError, match=r"none\.npz must be the archive"):
        read_tables(tmp_path / "none.npz")
