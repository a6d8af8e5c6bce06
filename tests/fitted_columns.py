"""Columns as they are fitted, for tests of what each kind of them promises."""

import numpy as np
import pyarrow as pa

from spadework.tables.encoding import fit_encoder


def fit_one(values, **options):
    """Fit a column called x beside one that is always used."""
    table = pa.table({"x": values, "other": np.linspace(0, 1, len(values)) ** 2})
    return fit_encoder(table, **options)


def column_of(values, **options):
    """Return what a column called x is fitted to."""
    found = fit_one(values, **options).columns[0]
    assert found.name == "x"
    return found
