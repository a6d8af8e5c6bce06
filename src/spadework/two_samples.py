"""Tests of whether two samples are from one source, with a known rate of false alarms.

A p-value up to ``a`` comes with a chance of ``a`` at most, or nearly so, where samples
are from one source. All tests are of samples that were encoded the same way.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2_contingency, ks_2samp, mannwhitneyu
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import StratifiedKFold

from spadework.arrays import Flags, Floats, Numbers, Rows

Counts = NDArray[np.int64]

N_EXPECTED = 10
"""Expected count of every cell from which the distribution of chi-square is trusted."""

_N_HIGHER = 10
"""Draws as extreme as what was found after which no more are needed."""

_N_AT_ONCE = 100
_MANY_VALUES = 300
_N_HALVES, _N_TREES = 2, 50


class Test(NamedTuple):
    """How far two samples lie apart, 0 (the same) to 1, and how likely so by chance."""

    __test__ = False  # not for pytest to collect

    distance: float
    p_value: float


class Telling(NamedTuple):
    """AUC with which held-out rows of two samples are told apart; 0.5 is chance."""

    auc: float
    p_value: float


def compare_numbers(first: Numbers, second: Numbers, n_draws: int) -> Test:
    """Compare numbers, each (n_rows,), by the test of Kolmogorov and Smirnov.

    Those of two values at most are compared by their counts, which finds smaller changes.
    """
    values, place = np.unique(np.concatenate([first, second]), return_inverse=True)
    if len(values) <= 2:
        return compare_counts(count_values(place, len(first)), n_draws)
    found: Any = ks_2samp(first, second, method="asymp")
    return Test(float(found.statistic), float(found.pvalue))


def count_values(codes: NDArray[np.integer], n_first: int) -> Counts:
    """Count codes from 0, (n_rows,), in the rows of two samples; (2, n_values)."""
    n_values = int(codes.max()) + 1
    sides = np.split(codes, [n_first])
    return np.stack([np.bincount(side, minlength=n_values) for side in sides])


def compare_counts(counts: Counts, n_draws: int) -> Test:
    """Compare how often values are in two samples, (2, n_values), by chi-square.

    The distance is the share of rows that would have to have another value. Where counts
    are small, rows are drawn anew for either sample, ``n_draws`` times at most, and the
    distance is what goes beyond that of such draws, as a share of the most there can be.
    """
    counts = counts[:, counts.sum(axis=0) > 0]
    if counts.shape[1] < 2:
        return Test(0.0, 1.0)
    distance = float(_distances(counts[1], counts.sum(axis=0)))
    expected = counts.sum(axis=1)[:, None] * counts.sum(axis=0) / counts.sum()
    if expected.min() >= N_EXPECTED:
        found: Any = chi2_contingency(counts, correction=False)
        return Test(distance, float(found.pvalue))
    return _compare_by_draws(counts, distance, n_draws)


def _compare_by_draws(counts: Counts, distance: float, n_draws: int) -> Test:
    """Compare small counts by drawing, until it is plain that they do not differ.

    Stopping after so many draws as extreme keeps the test exact (Besag and Clifford,
    1991).
    """
    rng = np.random.default_rng(0)
    totals, n_second = counts.sum(axis=0), int(counts[1].sum())
    method: Any = "marginals" if len(totals) < _MANY_VALUES else "count"
    limit = _unevenness(counts[1], totals) * (1 - 1e-9)
    by_chance, higher = 0.0, np.empty(0, dtype=bool)
    while len(higher) < n_draws and higher.sum() < _N_HIGHER:
        drawn = rng.multivariate_hypergeometric(totals, n_second, _N_AT_ONCE, method)
        if not len(higher):
            by_chance = float(_distances(drawn, totals).mean())
        higher = np.append(higher, _unevenness(drawn, totals) >= limit)
    distance = max(0.0, distance - by_chance) / max(1 - by_chance, 1e-9)
    if higher.sum() < _N_HIGHER:
        return Test(distance, float((higher.sum() + 1) / (len(higher) + 1)))
    return Test(distance, _N_HIGHER / float(np.flatnonzero(higher)[_N_HIGHER - 1] + 1))


def _unevenness(second: Counts, totals: Counts) -> Floats:
    """Chi-square up to a factor, of counts in the second sample, (..., n_values)."""
    expected = totals * (second.sum(axis=-1, keepdims=True) / totals.sum())
    return ((second - expected) ** 2 / totals).sum(axis=-1)


def _distances(second: Counts, totals: Counts) -> Floats:
    """Half the summed differences of shares, of counts in the second, (..., n_values)."""
    n_second = second.sum(axis=-1, keepdims=True)
    shares = (totals - second) / (totals.sum() - n_second) - second / n_second
    return np.abs(shares).sum(axis=-1) / 2


def tell_apart(first: Rows, second: Rows) -> Telling:
    """Tell two samples, each (n_rows, n_features), apart by trees.

    Either half of the rows is judged by trees that were learnt on the other half. Given
    these, ranks of held-out rows are as by chance (Mann and Whitney) where samples are
    from one source; the p-value is the lower of the two, doubled.
    """
    if not first.shape[1]:
        return Telling(0.5, 1.0)
    X = np.concatenate([first, second])
    which = np.repeat([0, 1], [len(first), len(second)])
    halves = StratifiedKFold(_N_HALVES, shuffle=True, random_state=0)
    told = [_judge(X, which, *parts) for parts in halves.split(X, which)]
    auc = float(np.mean([each.auc for each in told]))
    p_value = _N_HALVES * min(each.p_value for each in told)
    return Telling(max(0.5, auc), min(1.0, p_value))


def _judge(
    X: Rows, which: NDArray[np.integer], learnt: NDArray[Any], held_out: NDArray[Any]
) -> Telling:
    """Learn to tell rows apart from some rows, and tell others."""
    trees = ExtraTreesClassifier(
        _N_TREES, min_samples_leaf=5, class_weight="balanced", random_state=0
    )
    belief = trees.fit(X[learnt], which[learnt]).predict_proba(X[held_out])[:, 1]
    first, second = (belief[which[held_out] == side] for side in (0, 1))
    test: Any = mannwhitneyu(second, first, alternative="greater", method="asymptotic")
    return Telling(float(test.statistic) / (len(first) * len(second)), float(test.pvalue))


def find_certain(p_values: Sequence[float], level: float) -> Flags:
    """Tell which tests of many are beyond chance, by the rule of Holm; (n_tests,).

    One false alarm or more among all of them comes with a chance of ``level`` at most.
    """
    order = np.argsort(p_values, kind="stable")
    passed = np.asarray(p_values)[order] <= level / np.arange(len(order), 0, -1)
    certain = np.empty(len(order), dtype=bool)
    certain[order] = np.logical_and.accumulate(passed)
    return certain
