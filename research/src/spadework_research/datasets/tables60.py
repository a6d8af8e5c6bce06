"""Sixty public tables with labels drawn already: for choosing, in two halves."""

import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spadework.errors import InputError


class RealTable(NamedTuple):
    """A table with few labels, and rows to score whose truth is known.

    Attributes
    ----------
    name, scenario : str
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        1, 0 or -1.
    X_test : ndarray of shape (n_test, n_features)
    truth : ndarray of shape (n_test,)
        1 or 0.
    """

    name: str
    scenario: str
    X: NDArray[np.float32]
    y: NDArray[np.int8]
    X_test: NDArray[np.float32]
    truth: NDArray[np.int8]

    @property
    def half(self) -> str:
        """Half of the tables, by name: "A" to choose on, "B" to confirm on."""
        return "B" if zlib.crc32(self.name.encode()) % 2 else "A"


def read_tables(path: Path) -> list[RealTable]:
    """Read an archive with keys ``NAME|SCENARIO|X``, ``y``, ``T`` and ``k``."""
    if not path.exists():
        raise InputError(f"{path} must be the archive of tables (.npz), but is not there")
    archive = np.load(path)
    problems = sorted({key.rsplit("|", 1)[0] for key in archive.files})
    return [_problem(archive, key) for key in problems]


def _problem(archive: Mapping[str, NDArray[np.number]], key: str) -> RealTable:
    name, scenario = key.split("|")
    return RealTable(
        name,
        scenario,
        archive[f"{key}|X"].astype(np.float32),
        archive[f"{key}|y"].astype(np.int8),
        archive[f"{key}|T"].astype(np.float32),
        (archive[f"{key}|k"] > 0).astype(np.int8),
    )
