"""Real tables for tests, with hidden anomaly types; skipped where they are absent.

The files are read from the folder named by SPADEWORK_DATA, or from shared/data
beside the checkout.
"""

import os
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from pyarrow import csv

BESIDE_CHECKOUT = Path(__file__).parents[2] / "shared" / "data"


class Scenario(NamedTuple):
    """Training rows with three-valued labels, and test rows with their truth."""

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    truth: np.ndarray


def find_data(name: str) -> Path:
    """Return a file of the data folder, or skip the test with the reason."""
    path = Path(os.environ.get("SPADEWORK_DATA", BESIDE_CHECKOUT)) / name
    if not path.exists():
        pytest.skip(f"needs {name}: set SPADEWORK_DATA to the folder that holds it")
    return path


def scenario(name: str, setting: str, seed: int = 0) -> Scenario:
    """Label 5% of the known kinds (PNU, NU), or half the given anomalies (PU)."""
    X, kind, n_train = _TABLES[name]()
    rng = np.random.default_rng(seed)
    order = np.arange(len(X)) if name == "thyroid" else rng.permutation(len(X))
    train, test = order[:n_train], order[n_train:]
    y = np.full(n_train, -1)
    known = np.flatnonzero(kind[train] < 2)
    chosen = rng.choice(known, n_train // 20, replace=False)
    if setting == "PU":
        given = np.flatnonzero(kind[train] == 1)
        chosen = rng.choice(given, len(given) // 2, replace=False)
    if setting == "NU":
        chosen = chosen[kind[train][chosen] == 0]
    y[chosen] = kind[train][chosen]
    return Scenario(X[train], y, X[test], kind[test] > 0)


@cache
def _thyroid() -> tuple[np.ndarray, np.ndarray, int]:
    files = [find_data(f"thyroid/ann-{part}.data") for part in ("train", "test")]
    lines = [line.replace(",", " ") for file in files for line in file.open()]
    table = np.loadtxt(lines)
    n_train = sum(1 for _ in files[0].open())
    return table[:, :-1], _kinds(table[:, -1], normal=[3], given=[1]), n_train


@cache
def _drug() -> tuple[np.ndarray, np.ndarray, int]:
    lines = find_data("drug/drug_consumption.data").read_text().split()
    cells = [line.replace("CL", "").split(",")[1:] for line in lines]
    table = np.array(cells, dtype=float)
    meth = 26
    features = np.delete(table, meth, axis=1)
    kind = _kinds(table[:, meth], normal=[0], given=[1, 2, 3])
    return features, kind, len(table) // 2


@cache
def _covertype() -> tuple[np.ndarray, np.ndarray, int]:
    options = csv.ReadOptions(autogenerate_column_names=True)
    table = csv.read_csv(find_data("covertype/covtype.data.gz"), read_options=options)
    rows = np.random.default_rng(0).choice(len(table), 40_000, replace=False)
    values = np.column_stack([column.to_numpy()[rows] for column in table.columns])
    kind = _kinds(values[:, -1], normal=[1, 2], given=[3, 4, 5])
    return values[:, :-1].astype(np.float32), kind, 20_000


def _kinds(classes: np.ndarray, *, normal: list[int], given: list[int]) -> np.ndarray:
    """Return 0 for normal rows, 1 for given and 2 for missed kinds of anomaly."""
    return np.where(np.isin(classes, normal), 0, np.where(np.isin(classes, given), 1, 2))


_TABLES = {"thyroid": _thyroid, "drug": _drug, "covertype": _covertype}
