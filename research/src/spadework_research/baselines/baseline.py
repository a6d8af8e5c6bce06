"""The shell that baselines share: three parameters and the rows they learn from."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spadework.base import AnomalyDetector, Labels
from spadework.errors import InputError
from spadework.labels import UNLABELED

Unlabeled = Literal["ignore", "normal"]
"""What is done with unlabeled rows: left out, or taken for normal."""


class Baseline(AnomalyDetector):
    """A detector to compare with.

    Parameters
    ----------
    threshold : "auto" or float
    label_map : mapping, optional
    random_state : int, numpy Generator or RandomState, or None
    """

    def __init__(
        self,
        *,
        threshold: Literal["auto"] | float = "auto",
        label_map: Mapping[Any, int] | None = None,
        random_state: Any = None,
    ) -> None:
        self.threshold = threshold
        self.label_map = label_map
        self.random_state = random_state


def check_unlabeled(unlabeled: str) -> None:
    """Refuse a treatment of unlabeled rows that is not known."""
    if unlabeled not in ("ignore", "normal"):
        raise InputError(f"unlabeled must be 'ignore' or 'normal'; got {unlabeled!r}")


def classes_of(labels: Labels, unlabeled: Unlabeled) -> Labels:
    """Take unlabeled rows for normal, or leave them -1; (n_samples,)."""
    if unlabeled == "normal":
        return np.where(labels == UNLABELED, np.int8(0), labels)
    return labels


def new_seed(rng: np.random.Generator) -> int:
    """Draw a seed for a library that takes integers."""
    return int(rng.integers(2**31))


def log_odds(probability: NDArray[np.floating]) -> NDArray[np.float64]:
    """Spread probabilities out, so that 0.999 and 0.9999 stay apart; (n_samples,)."""
    p = np.clip(np.asarray(probability, dtype=np.float64), 1e-12, 1 - 1e-12)
    return np.log(p / (1 - p))
