"""Ranks of scores among those of other rows."""

import numpy as np

from spadework.arrays import Floats


def share_below(scores: Floats, others: Floats) -> Floats:
    """Share of the others that score lower, ties counting half: (n_scores,).

    Its mean is the area under the ROC curve of the scores against the others.

    Examples
    --------
    >>> share_below(np.array([0.0, 2.0, 9.0]), np.array([1.0, 2.0, 3.0, 4.0]))
    array([0.   , 0.375, 1.   ])
    """
    ordered = np.sort(others)
    below, upto = (np.searchsorted(ordered, scores, side) for side in ("left", "right"))
    return (below + upto) / (2 * len(others))


def blend_by_rank(own: Floats, other: Floats, weight: float) -> Floats:
    """Order rows by two scores, (n_rows,) each, and keep the values of the first.

    Scores are compared by the log-odds of their ranks; the other has a weight, where
    the first has 1.

    Examples
    --------
    >>> blend_by_rank(np.array([5.0, 1.0, 3.0]), np.array([0.0, 2.0, 9.0]), 0.0)
    array([5., 1., 3.])
    >>> blend_by_rank(np.array([5.0, 1.0, 3.0]), np.array([0.0, 2.0, 9.0]), 2.0)
    array([1., 3., 5.])
    """
    order = _rank_log_odds(own) + weight * _rank_log_odds(other)
    blended = np.empty(len(own))
    blended[np.argsort(order, kind="stable")] = np.sort(own)
    return blended


def _rank_log_odds(scores: Floats) -> Floats:
    """Log-odds of the share of rows that score lower, half a row away from 0 and 1."""
    n_rows = len(scores)
    below = share_below(scores, scores) * n_rows
    return np.log(below + 0.5) - np.log(n_rows - below + 0.5)
