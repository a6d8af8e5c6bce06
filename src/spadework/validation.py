"""Checks of what comes in, once, at the edge."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.validation import validate_data

from spadework.arrays import Flags, Labels, Rows
from spadework.errors import InputError, LabelError, list_some
from spadework.labels import LabelCensus, as_vector, count_labels, normalize_labels
from spadework.parameters import check_positive_integer
from spadework.wrappers import refuse_wrapped

_NO_NUMBERS = (
    "could not convert string",
    "could not be promoted",
    "a real number, not 'datetime.",
    "a real number, not 'Timestamp'",
)
_SHOWN_COLUMNS = 8
_ROUNDINGS = 64  # steps of float64 that a few sums may lose
MOST_CALLED = 0.5
"""Share of rows that can be called, at most: what is more common is not an anomaly."""

_CHOICES = {
    "voting": ("unanimous", "majority"),
    "score_scale": ("log", "raw"),
    "scaling": ("minmax", "clipped", "asinh"),
}


def check_rows(estimator: BaseEstimator, X: ArrayLike, *, fitting: bool) -> Rows:
    """Return X as finite float32 rows, (n_samples, n_features), or say what is wrong.

    While fitting, the number and names of the columns are stored on the estimator.
    """
    if not fitting:
        _refuse_reordered(estimator, X)
    _refuse_times(X)
    # scikit-learn declares no types; X comes back as an array of one of the dtypes.
    validate: Any = validate_data
    either: Any = {"dtype": (np.float32, np.float64), "ensure_all_finite": False}
    try:
        rows: NDArray[Any] = validate(estimator, X, reset=fitting, **either)
    except (ValueError, TypeError) as error:
        if not any(each in str(error) for each in _NO_NUMBERS):
            raise
        raise InputError(
            f"{error}: a detector takes numbers. For a table with text or dates use "
            f"spadework.fit_table, which encodes the columns"
        ) from error
    finite = np.asarray(np.isfinite(rows).all(axis=0))
    if not finite.all():
        raise InputError(_not_finite_message(estimator, rows, ~finite))
    limit = float(np.finfo(np.float32).max)
    if max(rows.max(initial=0), -rows.min(initial=0)) > limit:
        raise InputError(
            f"X holds values beyond the range of float32 ({limit:.1e}); rescale them"
        )
    single = rows.astype(np.float32, copy=False)
    if fitting:
        _refuse_flattened(estimator, rows, single)
    return single


def new_generator(random_state: Any) -> np.random.Generator:
    """Return the generator that all random draws of a fit come from."""
    if isinstance(random_state, np.random.RandomState):
        random_state = random_state.randint(2**31)
    try:
        return np.random.default_rng(random_state)
    except (ValueError, TypeError) as error:
        raise InputError(
            f"random_state must be None, an integer from 0, a Generator or a "
            f"RandomState; got {random_state!r}"
        ) from error


def refuse_arguments(estimator: object, given: Mapping[str, Any]) -> None:
    """Refuse what ``fit`` was given beside rows and labels, such as sample_weight."""
    if given:
        raise InputError(
            f"fit of {type(estimator).__name__} takes X and y alone; got "
            f"{list_some(list(given))}, too. Leave that out. Rows cannot be weighted: "
            f"label those -1 whose labels should not count"
        )


def read_labels(y: ArrayLike, label_map: Mapping[Any, int] | None, n_rows: int) -> Labels:
    """Return the labels of so many rows as 1, 0 and -1; warn of a column of them."""
    if getattr(y, "shape", ())[1:] == (1,):
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected",
            DataConversionWarning,
            stacklevel=4,
        )
    values = as_vector(y)
    if len(values) != n_rows:
        raise LabelError(
            f"X and y must have one row and one label each: X has {n_rows} rows, "
            f"y has {len(values)} labels"
        )
    refuse_wrapped(values)
    return normalize_labels(values, label_map)


def _refuse_times(X: Any) -> None:
    """Refuse points in time, which would become numbers of nanoseconds."""
    kinds = getattr(X, "dtypes", getattr(X, "dtype", None))
    if any(map(_is_time, kinds if isinstance(kinds, Iterable) else [kinds])):
        raise InputError(
            "X holds dates or times: a detector takes numbers. For a table with text or "
            "dates use spadework.fit_table, which encodes the columns"
        )


def _is_time(kind: Any) -> bool:
    """Tell whether a type of numpy, pandas or polars is one of dates or times."""
    temporal = getattr(kind, "is_temporal", None)  # of polars
    return bool(temporal()) if temporal else getattr(kind, "kind", "") in ("m", "M")


@contextmanager
def unchanged_on_failure(estimator: object) -> Iterator[None]:
    """Put all attributes back if the work inside fails."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


def check_parameters(estimator: Any) -> None:
    """Refuse parameters of a detector that have no meaning, before any work is done."""
    for name, allowed in _CHOICES.items():
        value = getattr(estimator, name)
        if value not in allowed:
            raise InputError(f"{name} must be one of {allowed}; got {value!r}")
    if estimator.n_members is not None:
        check_positive_integer("n_members", estimator.n_members)
    if not _is_threshold_rule(estimator.thresholds):
        raise InputError(
            f"thresholds must be 'bounded', 'matching', 'otsu' or two percentiles such "
            f"as (10, 90); got {estimator.thresholds!r}"
        )


def named_or_given(learner: Any, known: Mapping[str, type[Any]]) -> Any:
    """Return a new learner of a known name, or the learner object that was given."""
    if isinstance(learner, str) and learner in known:
        return known[learner]()
    if isinstance(learner, (str, type)) or not hasattr(learner, "learn"):
        names = ", ".join(map(repr, known))
        raise InputError(f"learner must be {names} or a learner object; got {learner!r}")
    return learner


def check_threshold(threshold: Any) -> None:
    """Refuse a decision threshold that is neither "auto" nor a number."""
    number = isinstance(threshold, (int, float, np.number)) and np.isfinite(threshold)
    if not number and threshold != "auto":
        raise InputError(f"threshold must be 'auto' or a number; got {threshold!r}")


def check_budget(threshold: Any, contamination: Any, n_calls: Any) -> None:
    """Refuse a budget of calls that has no meaning, or that is not the only one."""
    given = {"threshold": None if threshold == "auto" else threshold}
    given |= {"contamination": contamination, "n_calls": n_calls}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise InputError(f"give {' or '.join(named)}: each decides which rows are called")
    if n_calls is not None:
        check_positive_integer("n_calls", n_calls)
    number = isinstance(contamination, (int, float, np.number))
    if contamination is not None and not (number and 0 < contamination <= MOST_CALLED):
        raise InputError(
            f"contamination must be a share of rows above 0 and up to {MOST_CALLED}; got "
            f"{contamination!r}"
        )


def check_counts(labels: Labels) -> None:
    """Refuse too few labels."""
    census = count_labels(labels)
    if census.n_labeled < 2:
        raise LabelError(
            f"one labeled row is too few to find thresholds ({census}); label at least 2"
        )


def refuse_constant(rows: Rows) -> None:
    """Refuse a table in which no row differs from another."""
    if (rows == rows[0]).all():
        raise InputError(
            "every column of X is constant, so no row differs from another; "
            "check how the table was read"
        )


def check_members(census: LabelCensus, n_members: int) -> None:
    """Refuse fewer unlabeled rows than members to split them among."""
    if 0 < census.n_unlabeled < n_members:
        raise LabelError(
            f"{census.n_unlabeled} unlabeled rows cannot be split among "
            f"n_members={n_members} members of the ensemble; give more unlabeled rows, "
            f"or lower n_members"
        )


def _is_threshold_rule(rule: Any) -> bool:
    """Tell a name of a rule, or a pair of percentiles, from anything else."""
    if isinstance(rule, str):
        return rule in ("bounded", "matching", "otsu")
    try:
        low, high = rule
        return bool(0 <= low <= high <= 100)
    except (TypeError, ValueError):
        return False


def _refuse_flattened(estimator: Any, rows: NDArray[Any], single: Rows) -> None:
    """Refuse columns whose differences all vanish in float32, such as Unix times.

    Those that differ by errors of rounding are constant.
    """
    if rows is single or not len(rows):
        return
    flat = (single == single[0]).all(axis=0)
    rounding = _ROUNDINGS * np.spacing(np.abs(rows[0, flat]))
    flat[flat] = np.ptp(rows[:, flat], axis=0) > rounding
    if flat.any():
        names = getattr(estimator, "feature_names_in_", np.arange(rows.shape[1]))
        raise InputError(
            f"columns {', '.join(map(str, names[flat][:_SHOWN_COLUMNS]))} differ only "
            f"beyond the precision of float32; subtract a constant from them, for "
            f"example their minimum"
        )


def _not_finite_message(estimator: Any, rows: NDArray[Any], bad: Flags) -> str:
    """Name the columns that hold NaN or infinity."""
    names = getattr(estimator, "feature_names_in_", np.arange(rows.shape[1]))
    shown = ", ".join(str(name) for name in names[bad][:_SHOWN_COLUMNS])
    more = int(bad.sum()) - _SHOWN_COLUMNS
    kind = "NaN" if np.isnan(rows).any() else "infinity"
    return (
        f"Input X contains {kind}. Columns with missing or infinite values: {shown}"
        f"{f' and {more} more' if more > 0 else ''}. Impute or drop them first, for "
        f"example with sklearn.impute.SimpleImputer, or use spadework.fit_table, which "
        f"takes missing values"
    )


def _refuse_reordered(estimator: Any, X: Any) -> None:
    """Name the columns that are not where they were in fit."""
    names = list(getattr(estimator, "feature_names_in_", []))
    given = list(getattr(X, "columns", []))
    if names != given and sorted(names) == sorted(map(str, given)):
        moved = [str(was) for was, now in zip(names, given, strict=True) if was != now]
        raise InputError(
            f"The feature names should match those that were passed during fit: they "
            f"must be in the same order; moved are {', '.join(moved[:_SHOWN_COLUMNS])}"
        )
