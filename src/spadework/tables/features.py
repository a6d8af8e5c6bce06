"""What the columns of a table become, and what they have in common."""

import numpy as np
from numpy.typing import NDArray

from spadework.errors import InputError

Features = NDArray[np.float32]
"""Features of rows, (n_rows, n_features)."""

MISSING = "missing"


def check_missing(name: str, stated: object) -> None:
    """Refuse values that mean missing in a column unless they are given as text."""
    if not isinstance(stated, tuple) or not all(isinstance(v, str) for v in stated):
        raise InputError(f"column {name} needs text that means missing")
