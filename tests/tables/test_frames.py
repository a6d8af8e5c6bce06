"""Frames of every library are the same table."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pa_parquet
import pytest

from spadework.errors import DataError
from spadework.tables.encoding import fit_encoder
from spadework.tables.frames import frame_to_table
from spadework.tables.reading import read_table
from stored import ROWS, TABLE


def test_whole_numbers_that_a_frame_declares_a_category_are_one():
    codes = pd.Series([10, 20, 30] * 20)
    frame = pd.DataFrame({"declared": codes.astype("category"), "number": codes})
    encoder = fit_encoder(frame_to_table(frame))
    assert encoder.roles == {"category": ["declared"], "number": ["number"]}
    features = encoder.encode(frame_to_table(frame))
    as_numbers = frame.astype({"declared": "int64"})
    np.testing.assert_array_equal(encoder.encode(frame_to_table(as_numbers)), features)


@pytest.mark.parametrize(
    "frame", [TABLE, TABLE.to_batches()[0], TABLE.to_pandas(), pl.from_arrow(TABLE)]
)
def test_every_frame_gives_the_same_table(frame):
    assert read_table(frame).to_pylist() == ROWS


def test_wanted_columns_of_parquet_and_frames_are_picked(tmp_path):
    pa_parquet.write_table(TABLE, tmp_path / "a.parquet")
    for source in (tmp_path / "a.parquet", TABLE, TABLE.to_pandas()):
        found = read_table(source, columns=["kind", "id"])
        assert found.column_names == ["id", "kind"]


def test_a_pandas_column_of_mixed_types_becomes_text():
    frame = pd.DataFrame({"a": [1, "x", None], "b": [1, 2, 3]}, dtype=object)
    found = read_table(frame)
    assert found.column("a").to_pylist() == ["1", "x", None]
    assert found.column("b").to_pylist() == [1, 2, 3]


def test_frames_with_two_columns_of_one_name_are_refused():
    for frame in (
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]),
    ):
        with pytest.raises(DataError, match="more than one column named 'a'"):
            read_table(frame)
