"""Thresholds without validation data: partial matching (eq. 3, 4) and Otsu.

Partial matching looks for the tail of the unlabeled scores that is nearest, in
1-D Wasserstein distance, to the scores of the labeled rows. Everything here
works on the upper tail; the lower one is the upper tail of the negated scores.

With the m labeled scores sorted, their quantile function is constant on m cells
of width 1/m, and the distance of the tail of the ``size`` highest scores is

    D(size) = sum over cells of the integral of |labeled(t) - tail_size(t)| dt.

Prefix sums of the sorted unlabeled scores give each cell's integral without
looping over the tail, so one candidate costs O(m) whatever its size.

Small inputs try every candidate. Large ones are searched by branch and bound. A
smaller upper tail lies above a larger one at every quantile, so their distance
from each other is the difference of their means, and by the triangle inequality
every tail between the sizes lo and hi is at least

    (D(lo) + D(hi) - (mean of tail lo - mean of tail hi)) / 2

away from the labeled scores. Ranges whose bound cannot improve the best distance
found by more than ``SEARCH_TOLERANCE`` are dropped, the others are halved. The
distance returned is within that tolerance of the exhaustive one by construction.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from spadework.arrays import Flags, Floats, Labels, Positions
from spadework.errors import InputError
from spadework.labels import ANOMALY, NORMAL, UNLABELED

Tail = Literal["upper", "lower"]
Sizes = Positions

SEARCH_TOLERANCE = 5e-3
"""How far, relatively, a searched distance may lie above the exhaustive one."""

EXHAUSTIVE_CELLS = 1 << 16
"""Up to this many candidate-cell pairs every candidate is tried."""

FALSE_ALARMS = 0.05
"""Share of labeled normals above the threshold where no anomaly is labeled."""

MOST_ANOMALIES, FEW_ANOMALIES = 1 / 3, 0.1
"""Share of anomalies among labels above which these were sought and tell nothing of how
many there are, and what is guessed then. No larger share of unlabeled rows is called."""

_BATCH_CELLS = 1 << 20
_ROUNDING = 1e-12


def match_threshold(labeled: ArrayLike, unlabeled: ArrayLike, *, tail: Tail) -> float:
    """Partial matching: the threshold whose tail looks most like the labeled rows.

    Eq. 3 for ``tail="upper"``: the eta that minimises
    ``D_w(labeled, {u > eta})``; eq. 4 for ``tail="lower"``, with ``{u < eta}``.
    Of equally distant tails the smallest is taken.

    Parameters
    ----------
    labeled : array-like of shape (n_labeled,)
        Scores of the labeled rows of one class.
    unlabeled : array-like of shape (n_unlabeled,)
        Scores of the unlabeled rows.
    tail : "upper" or "lower"

    Returns
    -------
    threshold : float
        Halfway between the last score outside the tail and the first inside.

    Examples
    --------
    >>> match_threshold([9.0, 11.0], [0.0, 1.0, 2.0, 9.0, 11.0], tail="upper")
    5.5
    """
    sign = _sign(tail)
    ordered = _ordered(unlabeled, sign, "unlabeled")
    size = _match_tail(_ordered(labeled, sign, "labeled"), ordered)
    return sign * _cut_off(ordered, size)


def tail_size(labeled: ArrayLike, unlabeled: ArrayLike, *, tail: Tail) -> int:
    """Return how many unlabeled scores lie in the tail of `match_threshold`."""
    sign = _sign(tail)
    return _match_tail(
        _ordered(labeled, sign, "labeled"), _ordered(unlabeled, sign, "unlabeled")
    )


def tail_threshold(scores: ArrayLike, size: int, *, tail: Tail) -> float:
    """Return the threshold beyond which the ``size`` extreme scores lie.

    Scores that tie across the boundary cannot be parted; then the tail is smaller, or
    larger where all that it would hold are tied.

    Examples
    --------
    >>> tail_threshold([0.0, 1.0, 2.0, 2.0], 1, tail="upper")
    1.5
    """
    sign = _sign(tail)
    ordered = _ordered(scores, sign, "scores")
    if not 1 <= size <= len(ordered):
        raise InputError(f"a tail holds 1 to {len(ordered)} scores; got size={size}")
    n_tied = len(ordered) - int(np.searchsorted(ordered, ordered[-1]))
    if n_tied < len(ordered):
        size = max(size, n_tied)
    return sign * _cut_off(ordered, size)


def decide_threshold(scores: Floats, labels: Labels) -> float:
    """Decide the threshold above which rows are called anomalies.

    Three guesses at how many unlabeled rows lie above it can each be far off: how many
    score like labeled anomalies, how many do not score like labeled normals (both by
    partial matching), and as many as there are anomalies among labels, or few where
    most of these were evidently sought. The middle one is taken, up to a limit. Without
    labeled normals only the first can be made; without labeled anomalies the threshold
    is where few labeled normals would be called.

    Parameters
    ----------
    scores : ndarray of shape (n_samples,)
        Higher is more anomalous; NaN for rows that were not scored.
    labels : ndarray of shape (n_samples,), values 1, 0 and -1

    Examples
    --------
    >>> scores = np.array([9.0, 11.0, 0.0, 1.0, 2.0, 9.5, 10.5])
    >>> decide_threshold(scores, np.array([1, 1, -1, -1, -1, -1, -1], dtype=np.int8))
    5.75
    """
    scored = ~np.isnan(scores)
    anomalies, normals = (scores[scored & (labels == kind)] for kind in (ANOMALY, NORMAL))
    if not len(anomalies):
        return float(np.quantile(normals, 1 - FALSE_ALARMS))
    unlabeled = labels == UNLABELED
    with_unlabeled = bool(unlabeled.any())
    reference = scores[scored & unlabeled if with_unlabeled else scored]
    n_above = tail_size(anomalies, reference, tail="upper")
    if len(normals):
        # Of many labeled rows a sample is scored, which says nothing about shares.
        counted = labels[~unlabeled if with_unlabeled else scored]
        share = float((counted == ANOMALY).mean())
        if with_unlabeled and share > MOST_ANOMALIES:
            share = FEW_ANOMALIES
        not_normal = len(reference) - tail_size(normals, reference, tail="lower")
        n_above = int(np.median([n_above, not_normal, round(share * len(reference))]))
    if with_unlabeled:
        n_above = min(n_above, round(MOST_ANOMALIES * len(reference)))
    return tail_threshold(reference, max(1, n_above), tail="upper")


def otsu_threshold(scores: ArrayLike) -> float:
    """Otsu's threshold: the split with the least variance within its two classes.

    Every split of the sorted scores is tried, so no histogram is needed. With all
    scores equal there is no split, and the threshold is that score.

    Parameters
    ----------
    scores : array-like of shape (n_samples,)

    Examples
    --------
    >>> otsu_threshold([0.0, 1.0, 10.0, 11.0])
    5.5
    """
    ordered = _ordered(scores, 1, "scores")
    n_samples = len(ordered)
    centred = ordered - ordered.mean()
    sizes = np.arange(1, n_samples)
    lower_sums = np.cumsum(centred)[:-1]
    # Between-class variance, up to a constant, for classes around a mean of zero.
    between = lower_sums**2 / (sizes * (n_samples - sizes))
    splits = ordered[:-1] < ordered[1:]
    if not splits.any():
        return float(ordered[0])
    split = int(np.argmax(np.where(splits, between, -np.inf)))
    return _between(ordered[split], ordered[split + 1])


def _match_tail(labeled: Floats, unlabeled: Floats) -> int:
    """Size of the upper tail nearest to the labeled scores; both sorted."""
    matcher = _TailMatcher(labeled, unlabeled)
    sizes = matcher.candidate_sizes()
    if len(sizes) * len(labeled) <= EXHAUSTIVE_CELLS:
        return matcher.nearest(sizes)[1]
    return matcher.search(sizes, SEARCH_TOLERANCE)[1]


def _cut_off(ordered: Floats, size: int) -> float:
    """Return the threshold below the ``size`` highest of sorted scores."""
    if size == len(ordered):
        # Room for rounding, or a row scored again could fall out of the tail.
        room = 1e-9 * max(ordered[-1] - ordered[0], abs(ordered[0]))
        return float(min(ordered[0] - room, np.nextafter(ordered[0], -np.inf)))
    return _between(ordered[-size - 1], ordered[-size])


class _TailMatcher:
    """Distances of the labeled scores to upper tails of the unlabeled ones."""

    def __init__(self, labeled: Floats, unlabeled: Floats) -> None:
        self.labeled = labeled
        self.unlabeled = unlabeled
        self.prefix = np.concatenate([[0.0], np.cumsum(unlabeled)])

    def candidate_sizes(self) -> Sizes:
        """Tail sizes that a threshold can cut off: tied scores stay together."""
        n_unlabeled = len(self.unlabeled)
        starts = np.flatnonzero(np.diff(self.unlabeled) > 0) + 1
        return np.append(n_unlabeled - starts[::-1], n_unlabeled)

    def nearest(self, sizes: Sizes) -> tuple[float, int]:
        """Distance and size of the nearest of these tails, the smallest if tied."""
        distances = self.distances(sizes)
        tied = distances <= distances.min() * (1 + _ROUNDING)
        best = int(np.argmax(tied))
        return float(distances[best]), int(sizes[best])

    def search(self, sizes: Sizes, tolerance: float) -> tuple[float, int]:
        """Branch and bound over the sorted candidate sizes; see the module text."""
        low, high = np.array([0]), np.array([len(sizes) - 1])
        at_low, at_high = self.distances(sizes[low]), self.distances(sizes[high])
        best = min((at_low[0], sizes[0]), (at_high[0], sizes[-1]))
        while len(low):
            middle = (low + high) // 2
            at_middle = self.distances(sizes[middle])
            best = min(best, *zip(at_middle, sizes[middle], strict=True))
            low, high = np.append(low, middle), np.append(middle, high)
            at_low, at_high = np.append(at_low, at_middle), np.append(at_middle, at_high)
            spread = self._tail_mean(sizes[low]) - self._tail_mean(sizes[high])
            bound = (at_low + at_high - spread) / 2
            keep = (high - low > 1) & (bound * (1 + tolerance) < best[0])
            low, high = low[keep], high[keep]
            at_low, at_high = at_low[keep], at_high[keep]
        return float(best[0]), int(best[1])

    def distances(self, sizes: Sizes) -> Floats:
        """Exact Wasserstein distance of every tail, shape (n_sizes,)."""
        batch = max(1, _BATCH_CELLS // len(self.labeled))
        batches = range(0, len(sizes), batch)
        return np.concatenate([self._distances(sizes[i : i + batch]) for i in batches])

    def _distances(self, sizes: Sizes) -> Floats:
        """Distances of one batch of tails.

        Where a tail stays on one side of the labeled score, the integral of the
        difference is the difference of the means; where it crosses, the two parts
        of the cell count apart.
        """
        n_cells = len(self.labeled)
        excess = np.abs(self._cell_means(sizes) - self.labeled)
        row, cell = np.nonzero(self._crossings(sizes))
        if len(row):
            score, size = self.labeled[cell], sizes[row]
            left, right = size * (cell / n_cells), size * ((cell + 1) / n_cells)
            n_above = len(self.unlabeled) - np.searchsorted(self.unlabeled, score)
            split = (size - n_above).astype(np.float64)
            sums = self._tail_sums(size, np.stack([left, split, right], axis=1))
            below = score * (split - left) - (sums[:, 1] - sums[:, 0])
            above = (sums[:, 2] - sums[:, 1]) - score * (right - split)
            excess[row, cell] = (below + above) * n_cells / size
        return excess.sum(axis=1) / n_cells

    def _crossings(self, sizes: Sizes) -> Flags:
        """Cells in which a tail passes the labeled score, (n_sizes, n_cells)."""
        n_cells, cells = len(self.labeled), np.arange(len(self.labeled))
        start = (len(self.unlabeled) - sizes)[:, None]
        first = start + sizes[:, None] * cells // n_cells
        last = start - (-sizes[:, None] * (cells + 1) // n_cells) - 1
        starts_below = self.unlabeled[first] < self.labeled
        return starts_below & (self.unlabeled[last] > self.labeled)

    def _cell_means(self, sizes: Sizes) -> Floats:
        """Mean tail quantile in each labeled cell, shape (n_sizes, n_cells)."""
        n_cells = len(self.labeled)
        position = sizes[:, None] * (np.arange(n_cells + 1) / n_cells)
        sums = np.diff(self._tail_sums(sizes, position), axis=1)
        return sums * (n_cells / sizes[:, None])

    def _tail_sums(self, sizes: Sizes, position: Floats) -> Floats:
        """Sum of a tail's lowest scores up to fractional positions, row by row."""
        n_unlabeled = len(self.unlabeled)
        start = (n_unlabeled - sizes)[:, None]
        whole = position.astype(np.intp)
        index = start + whole
        partial = self.unlabeled[np.minimum(index, n_unlabeled - 1)]
        return self.prefix[index] - self.prefix[start] + (position - whole) * partial

    def _tail_mean(self, sizes: Sizes) -> Floats:
        """Mean score of every tail, shape (n_sizes,)."""
        return (self.prefix[-1] - self.prefix[len(self.unlabeled) - sizes]) / sizes


def _ordered(values: ArrayLike, sign: int, name: str) -> Floats:
    """Finite scores times a sign, ascending; what is sorted is not sorted again."""
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim != 1 or len(scores) == 0:
        raise InputError(
            f"{name} must be a non-empty vector of scores; got shape {scores.shape}"
        )
    if not np.isfinite(scores).all():
        raise InputError(f"{name} must be finite scores; got NaN or infinite values")
    if sign < 0:
        scores = -scores[::-1]
    return scores if (scores[:-1] <= scores[1:]).all() else np.sort(scores)


def _sign(tail: Tail) -> int:
    """Return 1 for the upper tail and -1 for the lower."""
    if tail not in ("upper", "lower"):
        raise InputError(f"tail must be 'upper' or 'lower'; got {tail!r}")
    return 1 if tail == "upper" else -1


def _between(low: float, high: float) -> float:
    """Halfway between two scores, and always below the higher one."""
    middle = low + (high - low) / 2
    return float(middle if middle < high else low)
