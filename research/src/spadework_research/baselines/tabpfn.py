"""TabPFN v2, from weights that lie in a package: a pretrained model on labels alone.

The weights of its regressor come with the sources of ``tabpfn-time-series`` (Apache-2.0;
Hollmann et al., 2025); those of its classifier would have to be fetched from a hub.
"""

import os
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin

from spadework.errors import InputError

WEIGHTS = "TABPFN_WEIGHTS"
"""Environment variable that names the file of weights."""

MAX_ROWS = 10_000
"""Rows that TabPFN v2 was made for: of more, so many are drawn."""


class TabPFN(ClassifierMixin, BaseEstimator):
    """TabPFN v2 with its defaults, as a regression of the class 0 or 1."""

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def fit(self, X: NDArray[np.float32], y: NDArray[np.int8]) -> Self:
        """Keep rows (n_samples, n_features) and their classes as a context."""
        rows = np.random.default_rng(self.random_state).permutation(len(X))[:MAX_ROWS]
        self.classes_ = np.array([0, 1])
        self.model_ = _library().TabPFNRegressor(
            model_path=_weights(), device="cpu", random_state=self.random_state
        )
        self.model_.fit(X[rows], y[rows].astype(np.float64))
        return self

    def predict_proba(self, X: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the expected class of rows, (n_samples, 2)."""
        anomalous = np.clip(self.model_.predict(X), 0.0, 1.0).astype(np.float64)
        return np.stack([1 - anomalous, anomalous], axis=1)


def _library() -> Any:
    try:
        return import_module("tabpfn")
    except ImportError as error:
        raise InputError(
            "this baseline needs tabpfn; install it with pip install "
            "'spadework-research[tabpfn]'"
        ) from error


def _weights() -> str:
    path = os.environ.get(WEIGHTS, "")
    if not Path(path).is_file():
        raise InputError(
            f"{WEIGHTS} must name the file of TabPFN's weights; got {path!r}. They lie "
            f"in the sources of a package: pip download --no-deps --no-binary :all: "
            f"tabpfn-time-series==0.1.3, and unpack tabpfn-v2-regressor-2noar4o2.ckpt"
        )
    return path
