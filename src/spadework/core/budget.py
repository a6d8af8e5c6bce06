"""Thresholds that call no more rows than asked: those with the highest scores."""

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from spadework.arrays import Floats

Keys = NDArray[np.uint64]

_BITS = 16  # of a score that are looked at in one pass
_SIGN = np.uint64(1 << 63)


def budget_threshold(scores: Floats, n_calls: int) -> float:
    """Return the lowest threshold above which at most so many scores lie.

    Scores, (n_scores,), that tie across the boundary are called all or none: none.

    Examples
    --------
    >>> budget_threshold(np.array([0.0, 1.0, 2.0, 4.0]), 2)
    1.5
    >>> budget_threshold(np.array([0.0, 2.0, 2.0, 4.0]), 2)
    3.0
    """
    if n_calls >= len(scores):
        return float(np.nextafter(scores.min(), -np.inf))
    highest_left_out = np.partition(scores, -n_calls - 1)[-n_calls - 1]
    above = scores[scores > highest_left_out]
    if not len(above):
        return float(highest_left_out)
    middle = (highest_left_out + above.min()) / 2
    return float(middle if middle < above.min() else highest_left_out)


def share_of(share: float, n_rows: int) -> int:
    """Return how many rows a share of them is, rounded down.

    >>> share_of(0.29, 100)
    29
    """
    return int(share * n_rows + 1e-9)


def nth_highest(parts: Callable[[], Iterable[Floats]], n: int) -> float:
    """Return the n-th highest of scores that come in parts, exactly, in constant memory.

    Parts, (n_part,) each, are asked for four times: a pass for each quarter of the bits
    of a float counts how many scores begin with what was found so far.

    Examples
    --------
    >>> nth_highest(lambda: [np.array([3.0, -1.0]), np.array([2.0, 5.0])], 3)
    2.0
    """
    start = np.uint64(0)
    for shift in map(np.uint64, range(64 - _BITS, -1, -_BITS)):
        counts = np.zeros(1 << _BITS, dtype=np.int64)
        for scores in parts():
            keys = _in_order(scores) >> shift
            digits = keys[keys >> np.uint64(_BITS) == start].astype(np.uint16)
            counts += np.bincount(digits, minlength=len(counts))
        upto = counts[::-1].cumsum()
        place = int(np.searchsorted(upto, n))
        n -= int(upto[place] - counts[-1 - place])
        start = start << np.uint64(_BITS) | np.uint64(len(counts) - 1 - place)
    return float(_out_of_order(np.array([start]))[0])


def _in_order(scores: Floats) -> Keys:
    """Turn floats into whole numbers in the same order, (n_scores,)."""
    bits = (scores + 0.0).view(np.uint64)  # -0.0 becomes 0.0
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _out_of_order(keys: Keys) -> Floats:
    """Undo `_in_order`."""
    return np.where(keys & _SIGN, keys & ~_SIGN, ~keys).view(np.float64)
