"""Checks a table of numbers once, at the edge."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from spadework.errors import InputError

_SHOWN_COLUMNS = 8


def check_rows(
    estimator: BaseEstimator, X: ArrayLike, *, fitting: bool
) -> NDArray[np.float32]:
    """Return X as finite float32 rows, or say what is wrong with it.

    While fitting, the number and names of the columns are stored on the
    estimator; later they must be the same.
    """
    # scikit-learn declares no types; X comes back as an array of one of the dtypes.
    validate: Any = validate_data
    rows: NDArray[Any] = validate(
        estimator,
        X,
        reset=fitting,
        dtype=(np.float32, np.float64),
        ensure_all_finite=False,
    )
    finite = np.asarray(np.isfinite(rows).all(axis=0))
    if not finite.all():
        raise InputError(_not_finite_message(estimator, rows, ~finite))
    limit = float(np.finfo(np.float32).max)
    if rows.dtype != np.float32 and np.abs(rows).max(initial=0) > limit:
        raise InputError(
            f"X holds values beyond the range of float32 ({limit:.1e}); rescale them"
        )
    return rows.astype(np.float32, copy=False)


def _not_finite_message(
    estimator: Any, rows: NDArray[Any], bad: NDArray[np.bool_]
) -> str:
    """Name the columns that hold NaN or infinity."""
    names = getattr(estimator, "feature_names_in_", np.arange(rows.shape[1]))
    shown = ", ".join(str(name) for name in names[bad][:_SHOWN_COLUMNS])
    more = int(bad.sum()) - _SHOWN_COLUMNS
    kind = "NaN" if np.isnan(rows).any() else "infinity"
    return (
        f"Input X contains {kind}. Columns with missing or infinite values: {shown}"
        f"{f' and {more} more' if more > 0 else ''}. Impute or drop them first, for "
        f"example with sklearn.impute.SimpleImputer"
    )
