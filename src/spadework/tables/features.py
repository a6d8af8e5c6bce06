"""What the columns of a table become, and what they have in common."""

import numpy as np
from numpy.typing import NDArray

from spadework.errors import InputError

Features = NDArray[np.float32]
"""Features of rows, (n_rows, n_features)."""

MISSING = "missing"


def check_column(name: object, missing: object, *flags: object) -> None:
    """Refuse a name, values that mean missing or flags of another type than theirs."""
    if not isinstance(name, str):
        raise InputError(f"a column needs text as its name; got {name!r}")
    if not isinstance(missing, tuple) or not all(isinstance(v, str) for v in missing):
        raise InputError(f"column {name} needs text that means missing")
    if not all(isinstance(flag, bool) for flag in flags):
        raise InputError(f"column {name} needs True or False")
