"""The three-valued label: 1 is an anomaly, 0 is normal, -1 is unlabeled.

Everything people use for labels is turned into these three values here, once.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spadework.arrays import Labels, Positions
from spadework.errors import LabelError

ANOMALY, NORMAL, UNLABELED = 1, 0, -1

_WORDS = {
    "anomaly": ANOMALY,
    "normal": NORMAL,
    "unlabeled": UNLABELED,
    "1": ANOMALY,
    "0": NORMAL,
    "-1": UNLABELED,
    "": UNLABELED,
}
_SHOWN_VALUES = 8
_NAMED_VALUES = 3

STATED = {ANOMALY: ANOMALY, NORMAL: NORMAL, UNLABELED: UNLABELED}
"""Map of labels that were read before: a detector need not ask what 0 means."""


class LabelCensus(NamedTuple):
    """How many rows carry each label, and the setting that follows."""

    n_anomalies: int
    n_normals: int
    n_unlabeled: int

    @property
    def n_labeled(self) -> int:
        """Rows labeled anomaly or normal."""
        return self.n_anomalies + self.n_normals

    @property
    def setting(self) -> str:
        """Which labels exist: P(ositive), N(egative), U(nlabeled)."""
        present = zip("PNU", self, strict=True)
        return "".join(letter for letter, count in present if count)

    def __str__(self) -> str:
        return (
            f"{self.setting}: {self.n_anomalies:,} anomalies, "
            f"{self.n_normals:,} normals, {self.n_unlabeled:,} unlabeled"
        )


def count_labels(labels: Labels) -> LabelCensus:
    """Count the rows of each label: 1, 0 and -1.

    >>> print(count_labels(np.array([1, 0, -1, -1], dtype=np.int8)))
    PNU: 1 anomalies, 1 normals, 2 unlabeled
    """
    counts = [int((labels == value).sum()) for value in (ANOMALY, NORMAL, UNLABELED)]
    return LabelCensus(*counts)


def normalize_labels(
    y: ArrayLike, mapping: Mapping[Any, int] | None = None, *, stated: bool = False
) -> Labels:
    """Turn labels as people keep them into 1, 0 and -1.

    Understood without a mapping: the numbers 1, 0 and -1 in any type, ``True``
    and ``False``, the words "anomaly", "normal" and "unlabeled" (any case), and
    as unlabeled: ``None``, ``NaN``, ``pd.NA`` and the empty string.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels of any of these types, mixed or not.
    mapping : mapping from a label value to 1, 0 or -1, optional
        Names every value in ``y``. Missing values (``None``, ``NaN``) are
        unlabeled unless the mapping says otherwise.
    stated : bool
        Whether it is known that 0 means normal; a mapping says so too.

    Returns
    -------
    labels : ndarray of shape (n_samples,), int8

    Raises
    ------
    LabelError
        For values that are not understood; for 0 and 1 alone without a mapping, since 0
        may mean "normal" or "not known"; for -1 and more rows of 1 than without a label,
        since -1 may mean an outlier; and for labels nothing can be learnt from.

    Examples
    --------
    >>> normalize_labels([1, 0, None, float("nan")])
    array([ 1,  0, -1, -1], dtype=int8)
    >>> normalize_labels(["fraud", "ok", ""], {"fraud": 1, "ok": 0, "": -1})
    array([ 1,  0, -1], dtype=int8)
    """
    labels = translate_labels(y, mapping)
    census = count_labels(labels)
    _refuse_unusable(census)
    if mapping is None and not stated:
        if census.setting == "PN":
            _refuse_ambiguous(as_vector(y), labels)
        if census.setting == "PU":
            _refuse_outlier_signs(as_vector(y), census)
    return labels


def translate_labels(y: ArrayLike, mapping: Mapping[Any, int] | None = None) -> Labels:
    """Turn labels into 1, 0 and -1, whether or not they can be learnt from."""
    values = as_vector(y)
    if mapping is None:
        return _read_values(values)
    return _apply_mapping(values, _checked_mapping(mapping))


def as_vector(y: ArrayLike) -> NDArray[Any]:
    """Return the labels as a 1-D numpy array; numbers stay numbers."""
    if y is None:
        raise LabelError(
            "this method requires y to be passed, but the target y is None: give 1 for "
            "an anomaly, 0 for normal and -1 for unlabeled rows"
        )
    try:
        if isinstance(y, np.ma.MaskedArray):
            known, y = ~np.ma.getmaskarray(y), y.data.astype(object)
            y = np.array(
                [v if k else None for v, k in zip(y, known, strict=True)], object
            )
        values = np.asarray(y)
    except ValueError as error:
        raise LabelError(f"labels must be one value per row: {error}") from error
    if values.dtype.kind in "US" and not isinstance(y, np.ndarray):
        # numpy turns a list of mixed types into text; keep what the user wrote.
        values = np.asarray(y, dtype=object)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise LabelError(
            f"labels must have one value per row, shape (n_samples,); "
            f"got an array of shape {values.shape}"
        )
    if len(values) == 0:
        raise LabelError("labels are empty: expected one value per row, got none")
    return values


def _read_values(values: NDArray[Any]) -> Labels:
    """Read labels that speak for themselves, without a mapping."""
    if values.dtype.kind in "biuf":
        return _read_numbers(values)
    unique, inverse = _unique_values(values)
    read = [_read_one(value) for value in unique]
    if None in read:
        pairs = zip(unique, read, strict=True)
        raise LabelError(_unknown_message([v for v, label in pairs if label is None]))
    return np.array(read, dtype=np.int8)[inverse]


def _read_numbers(values: NDArray[Any]) -> Labels:
    """Read a numeric label vector: 1, 0, -1, and NaN for unlabeled."""
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), UNLABELED, values)
    known = (values == ANOMALY) | (values == NORMAL) | (values == UNLABELED)
    if not known.all():
        raise LabelError(_unknown_message(list(np.unique(values[~known]))))
    return values.astype(np.int8)


def _read_one(value: Any) -> int | None:
    """Return 1, 0 or -1 for one label value, or None when it is not known."""
    if _is_missing(value):
        return UNLABELED
    if isinstance(value, str):
        return _WORDS.get(value.strip().lower())
    return int(value) if value in (ANOMALY, NORMAL, UNLABELED) else None


def _is_missing(value: Any) -> bool:
    """Tell None, NaN, NaT and pd.NA without importing pandas."""
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


def _unique_values(values: NDArray[Any]) -> tuple[list[Any], Positions]:
    """Distinct values in order of appearance, and the position of each row's."""
    positions: dict[Any, int] = {}
    inverse = np.empty(len(values), dtype=np.intp)
    for row, value in enumerate(values.tolist()):
        # True == 1 and 1.0 == 1 in a dict; all three read the same, so they may share.
        key = None if _is_missing(value) else value
        try:
            inverse[row] = positions.setdefault(key, len(positions))
        except TypeError as error:
            raise LabelError(
                f"labels must be single values; row {row} holds {value!r}"
            ) from error
    return list(positions), inverse


def _checked_mapping(mapping: Mapping[Any, int]) -> dict[Any, int]:
    """Return the mapping as a dict after checking that it maps to 1, 0 and -1."""
    if not isinstance(mapping, Mapping):
        raise LabelError(
            f"a label mapping must be a dict such as {{'fraud': 1}}; got {mapping!r}"
        )
    checked = {None if _is_missing(v) else v: label for v, label in mapping.items()}
    known = (ANOMALY, NORMAL, UNLABELED)
    pairs = checked.items()
    wrong = {v: to for v, to in pairs if _is_missing(to) or to not in known}
    if wrong:
        raise LabelError(
            f"a label mapping must map to 1 (anomaly), 0 (normal) or -1 (unlabeled); "
            f"got {wrong}"
        )
    return checked


def _apply_mapping(values: NDArray[Any], mapping: dict[Any, int]) -> Labels:
    """Translate every value through the user's mapping."""
    unique, inverse = _unique_values(values)
    read = [mapping.get(value, UNLABELED if value is None else None) for value in unique]
    unknown = [value for value, label in zip(unique, read, strict=True) if label is None]
    if unknown:
        raise LabelError(
            f"label_map has no entry for {_shown(unknown)}; "
            f"it names {_shown(list(mapping))}. Add the missing values "
            f"(to -1 if they say nothing about the row). {_hint(unknown)}".rstrip()
        )
    return np.array(read, dtype=np.int8)[inverse]


def _refuse_ambiguous(values: NDArray[Any], labels: Labels) -> None:
    """Raise for 0 without any unlabeled row: it may mean normal, or not known."""
    one, zero = (values[labels == label][0] for label in (ANOMALY, NORMAL))
    if isinstance(zero, str) and zero.strip().lower() == "normal":
        return
    one, zero = _shown([one]), _shown([zero])
    raise LabelError(
        f"labels hold only {zero} and {one}, and {zero} may mean 'normal' or 'not "
        f"known'. Say which with label_map: {{{one}: 1, {zero}: 0}} if {zero} rows are "
        f"known to be normal, {{{one}: 1, {zero}: -1}} if they are unlabeled"
    )


def _refuse_outlier_signs(values: NDArray[Any], census: LabelCensus) -> None:
    """Raise for -1 and more rows of 1 than unlabeled: scikit-learn's outlier signs."""
    signs = values.dtype.kind in "if" and (values == UNLABELED).any()
    if signs and census.n_unlabeled < census.n_anomalies:
        raise LabelError(
            f"labels hold -1, and 1 ({census.n_anomalies:,} rows) comes more often than "
            f"no label ({census.n_unlabeled:,} rows): -1 may mean 'outlier' or "
            f"'unlabeled'. Say which with label_map: {{-1: 1, 1: 0}} if -1 is an outlier "
            f"and 1 is normal, {{1: 1, -1: -1}} if most rows are labeled anomalies"
        )


def _refuse_unusable(census: LabelCensus) -> None:
    """Raise for labels that nothing can be learnt from."""
    if census.n_labeled == 0:
        raise LabelError(
            f"no row is labeled: all {census.n_unlabeled:,} are unlabeled (-1). "
            f"Label at least a few anomalies (1) or normals (0)"
        )
    if census.setting in ("P", "N"):
        name, value = ("anomaly", 1) if census.n_anomalies else ("normal", 0)
        raise LabelError(
            f"every row is labeled {name} ({value}): one class and no unlabeled "
            f"rows leave nothing to tell apart. Add unlabeled rows (-1) or rows of the "
            f"other class"
        )


def _unknown_message(unknown: list[Any]) -> str:
    """Say which label values were not understood, and how to name them."""
    pairs = [f"{_shown([value])}: ?" for value in unknown[:_NAMED_VALUES]]
    pairs += ["..."] if len(unknown) > _NAMED_VALUES else []
    return (
        f"unknown label value {_shown(unknown)}: expected 1 (anomaly), 0 (normal), "
        f"-1 or missing (unlabeled). Name your values with label_map: "
        f"{{{', '.join(pairs)}}} with 1, 0 or -1 in place of each ?"
    )


def _hint(unknown: list[Any]) -> str:
    """Say what labels of this kind cannot be."""
    if any(isinstance(value, float) and not value.is_integer() for value in unknown):
        return "Labels must be two classes, not continuous values"
    if any(isinstance(value, str) for value in unknown):
        return ""
    return "Only binary classification is supported."


def _shown(values: list[Any]) -> str:
    """List a few values for a message, plainly."""
    plain = [v.item() if isinstance(v, np.generic) else v for v in values]
    shown = ", ".join(repr(value) for value in plain[:_SHOWN_VALUES])
    rest = len(values) - _SHOWN_VALUES
    return shown + (f" and {rest} more" if rest > 0 else "")
