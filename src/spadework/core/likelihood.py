"""How much likelier a score is for anomalies than for other rows."""

import numpy as np
from scipy.optimize import isotonic_regression

from spadework.arrays import Floats, Positions

HALF_A_ROW = 0.5
"""Rows that are added to each step, so that no step is without anomalies or others."""

ROUNDING = 1e-12
"""Difference up to which two shares are one, but for errors of rounding."""


def likelihood_ratio(anomalies: Floats, others: Floats, at: Floats) -> Floats:
    """Log of the ratio of two densities of scores, which rises with it, (n_scores,).

    Isotonic regression finds the steps, such that the share of anomalies rises from each
    to the next. Between the scores of two rows the ratio is a line, beyond all of them
    that of the last one.

    Examples
    --------
    >>> anomalies, others = np.array([3.0, 4.0]), np.array([0.0, 1.0, 2.0, 4.0])
    >>> likelihood_ratio(anomalies, others, np.array([1.0, 3.5, 9.0])).round(2)
    array([-1.36,  1.1 ,  1.1 ])
    """
    scores, row = np.unique(np.concatenate([anomalies, others]), return_inverse=True)
    n_anomalies = np.bincount(row[: len(anomalies)], minlength=len(scores))
    n_others = np.bincount(row[len(anomalies) :], minlength=len(scores))
    masses = n_anomalies / len(anomalies), n_others / len(others)
    mass = masses[0] + masses[1]
    share = isotonic_regression(masses[0] / mass, weights=mass).x
    starts = np.flatnonzero(np.diff(share, prepend=-1.0) > ROUNDING)
    ratio = _smoothed(n_anomalies, starts) - _smoothed(n_others, starts)
    rising = np.maximum.accumulate(ratio)
    lengths = np.diff(starts, append=len(scores))
    return np.interp(at, scores, np.repeat(rising, lengths))


def _smoothed(counts: Positions, starts: Positions) -> Floats:
    """Log of the share of rows in each step, (n_steps,)."""
    in_step = np.add.reduceat(counts, starts)
    return np.log((in_step + HALF_A_ROW) / (counts.sum() + HALF_A_ROW))
