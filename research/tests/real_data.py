"""Real tables for tests; a test is skipped where the files are absent."""

from functools import cache

import numpy as np
import pytest

from spadework import scenarios
from spadework.scenarios import LabeledTable, Trial
from spadework_research.datasets.catalog import get_dataset

SCENARIOS = {
    "PNU": scenarios.new_types,
    "PU": scenarios.positives_only,
    "NU": scenarios.negatives_only,
}


@cache
def load_table(name: str) -> LabeledTable:
    """Load a data set, or skip the test with the reason."""
    dataset = get_dataset(name)
    if dataset.find() is None:
        pytest.skip(f"needs the files of {name}: set SPADEWORK_DATA to their folder")
    return dataset.load()


def trial(name: str, setting: str, seed: int = 0) -> Trial:
    """Return a trial in one setting; of Covertype, a sample of 40,000 rows."""
    table = load_table(name)
    if name == "covertype":
        rows = np.random.default_rng(0).choice(len(table.X), 40_000, replace=False)
        table = LabeledTable(table.X[rows], table.kind[rows], table.given)
    return SCENARIOS[setting](table, seed)
