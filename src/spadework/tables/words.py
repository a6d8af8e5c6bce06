"""Values put into words, each set against ordinary rows."""

from collections.abc import Iterator

import numpy as np

from spadework.arrays import Singles
from spadework.tables import columns
from spadework.tables.columns import HOUR, WEEKDAY, Column, Features, find_missing
from spadework.tables.recognition import MAX_VALUES
from spadework.tables.values import Values

ODD_SHARE = 0.03
"""Share of ordinary rows below which a weekday or a time of day is said to be odd."""

_COMMON, _LETTERS = 0.5, 60
_SIDES = ("left", "right")
WEEKDAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


def put_into_words(column: Column, array: Values, usual: Features) -> list[str]:
    """Say what each value is, (n_rows,), and how many ordinary rows are like it.

    ``usual`` are the column's features in these, (n_ordinary, n_features).
    """
    if isinstance(column, columns.CategoryColumn):
        said = _category_words(column, array, usual)
    else:
        said = _point_words(column, array, usual)
    return [
        f"{column.name} is {_shorten(shown)}, {words}"
        for shown, words in zip(column.show(array), said, strict=True)
    ]


def _shorten(text: str) -> str:
    """Cut a long value."""
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 3]}..."


def in_rows(share: float, which: str = "ordinary") -> str:
    """Say in what share of rows, with the digits that matter at both ends."""
    if share <= 0:
        return f"no {which} row"
    if share >= 1:
        return f"all {which} rows"
    if share < 0.001:
        return f"less than 0.1% of {which} rows"
    if share > 0.999:
        return f"more than 99.9% of {which} rows"
    return f"{share:.1%}".replace(".0%", "%") + f" of {which} rows"


def _category_words(
    column: columns.CategoryColumn, array: Values, usual: Features
) -> Iterator[str]:
    """Say how common each value is: among ordinary rows, or in training if it is rare.

    Only common values have a feature of their own, by which to count ordinary rows.
    """
    own = column.encode(array)[:, : column.n_common]
    among_ordinary = own @ usual[:, : column.n_common].mean(axis=0)
    remembers_all = len(column.values) < MAX_VALUES
    new = "which was not seen in training" if remembers_all else "which is rare or new"
    for has_own, common, trained in zip(
        np.asarray(own.any(axis=1)), among_ordinary, column.shares(array), strict=True
    ):
        if has_own:
            yield f"as in {in_rows(common)}"
        else:
            yield f"as in {in_rows(trained, 'training')}" if trained else new


def _point_words(
    column: columns.MeasuredColumn, array: Values, usual: Features
) -> Iterator[str]:
    """Set numbers, dates and times of day against ordinary rows that have one."""
    lost = usual[:, -1] > 0 if column.tells_missing else np.zeros(len(usual), dtype=bool)
    others = usual[~lost]
    ordered = np.sort(others[:, 0])
    for row, text, missing in zip(
        column.encode(array), column.show(array), find_missing(column, array), strict=True
    ):
        if missing:
            counts = "" if text == columns.MISSING else "which counts as missing, "
            yield f"{counts}as in {in_rows(float(lost.mean()))}"
        elif not len(others):
            yield "and missing in all ordinary rows"
        elif isinstance(column, columns.DateColumn):
            odd = _odd_moment(column, row, others)
            yield odd or _compared(ordered, row[0], "later", "earlier")
        elif isinstance(column, columns.TimeColumn):
            odd = _odd_hour(row[0], others[:, 0])
            yield odd or _compared(ordered, row[0], "later", "earlier")
        else:
            yield _compared(ordered, row[0], "higher", "lower")


def _compared(ordered: Singles, value: np.float32, more: str, less: str) -> str:
    """Say how many of some ordered values lie below or above one, or share it."""
    start, stop = (int(np.searchsorted(ordered, value, side)) for side in _SIDES)
    below, shared = start / len(ordered), (stop - start) / len(ordered)
    above = (len(ordered) - stop) / len(ordered)
    if shared > _COMMON or _is_one_of_two(ordered, value):
        return f"as in {in_rows(shared)}"
    if max(below, above) < _COMMON:
        return "in the middle of ordinary rows"
    if below >= above:
        return f"{more} than in {in_rows(below)}"
    return f"{less} than in {in_rows(above)}"


def _is_one_of_two(ordered: Singles, value: np.float32) -> bool:
    """Tell a value that is a kind and no quantity: one of two, or of 0 and 1."""
    low, high = ordered[0], ordered[-1]
    if np.searchsorted(ordered, low, "right") < np.searchsorted(ordered, high):
        return False
    return value in (low, high) or {low, high, value} <= {0, 1}


def _odd_moment(column: columns.DateColumn, row: Singles, others: Features) -> str:
    """Say that a time of day or a weekday is odd, if it is."""
    odd = _odd_hour(row[HOUR], others[:, HOUR]) if column.tells_hour else ""
    same = float((others[:, WEEKDAY] == row[WEEKDAY]).mean())
    if odd or same >= ODD_SHARE:
        return odd
    return f"a {WEEKDAYS[int(row[WEEKDAY])]}, as in {in_rows(same)}"


def _odd_hour(hour: np.float32, others: Singles) -> str:
    """Say that a time of day is odd, if it is."""
    apart = np.abs(others - hour)
    near = float((np.minimum(apart, 24 - apart) <= 1).mean())
    if near >= ODD_SHARE:
        return ""
    return f"with {in_rows(near)} within an hour of that time of day"
