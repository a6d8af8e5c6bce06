"""Categories tell their values, and of many how common they are."""

import numpy as np
import pyarrow as pa

from fitted_columns import column_of
from spadework.tables.recognition import MAX_COMMON


def test_missing_is_a_category_of_its_own_and_new_values_are_none_of_the_common():
    column = column_of(pa.array(["a", "a", None, "b"] * 10))
    assert column.features == ["x = a", "x = missing", "x = b"] or column.features == [
        "x = a",
        "x = b",
        "x = missing",
    ]
    encoded = column.encode(pa.array(["a", "new", None]))
    assert encoded.sum(axis=1).tolist() == [1, 0, 1]
    assert encoded[2, column.values.index(None)] == 1


def test_a_category_of_many_values_tells_how_common_they_are_and_new_is_as_rare_as_once():
    values = ["a"] * 300 + [f"m{i % 100}" for i in range(300)] + ["once"]
    column = column_of(pa.array(values))
    assert column.n_common <= MAX_COMMON
    assert column.features[-1] == "x: how common"
    often, seldom, once, new = column.encode(pa.array(["a", "m5", "once", "new"]))[:, -1]
    assert often > seldom > once == new
    np.testing.assert_allclose(np.exp(often), 300 / 601, rtol=1e-5)
    np.testing.assert_allclose(
        column.shares(pa.array(["a", "new"])), [300 / 601, 0], rtol=1e-5
    )
