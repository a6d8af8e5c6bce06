"""How many anomalies there should be among the rows that are called, and among all.

A detector whose scores are log-odds says how likely each row is an anomaly. All these
log-odds may be too high or too low together, as the share of anomalies is a guess; how
far, the model says itself, which has learnt that from made tables.
"""

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import expit, logit

from spadework.arrays import Floats
from spadework.errors import InputError

LEVEL = 0.9
"""How often intervals should hold the truth."""

MISFIT = 0.75
"""How far log-odds may be off besides, as real tables are no made ones.

On half A of sixty public tables, where it was chosen, intervals then hold the truth in
87 % of them among all rows, in 93 % among calls and in 87 % among the 200 highest scores;
without it in 80, 83 and 83 %. On half B it is 97, 80 and 87 %, at a second look: the
first was at the model's doubt alone, made 1.25 times as wide, with 97, 73 and 77 %.
"""

NOISE = 1.645
"""Standard deviations of a count, on either side, that hold it at that level."""

FEWEST_LABELED = 10
"""Labeled anomalies from which on calls can be judged."""

WIDEST = 10
"""Ratio of the ends of an interval from which on it says little."""


def cost_threshold(cost_missed: float, cost_call: float) -> float:
    """Return the log-odds above which a call costs less than not to call.

    An anomaly that is missed costs one sum, and to look at a called row the other.

    >>> cost_threshold(20, 10)
    0.0
    """
    if not 0 < cost_call < cost_missed < np.inf:
        raise InputError(
            f"a call must cost more than nothing and less than a missed anomaly, or none "
            f"or all rows are called; got {cost_call:g} and {cost_missed:g}"
        )
    return float(logit(cost_call / cost_missed))


class Expected(NamedTuple):
    """How many anomalies there should be among some rows: between low and high."""

    mean: float
    low: int
    high: int

    def __str__(self) -> str:
        return f"{self.mean:,.0f} ({self.low:,} to {self.high:,})"


@dataclass(frozen=True)
class Doubt:
    """How much lower and how much higher the log-odds of all rows may be."""

    lower: float
    upper: float

    @classmethod
    def of(cls, share: float, likely: tuple[float, float]) -> Self:
        """Tell it from the predicted share of anomalies, and the ends of likely ones."""
        ends = np.abs(np.clip(logit(likely) - logit(share), (-np.inf, 0), (0, np.inf)))
        return cls(*np.hypot(ends, MISFIT).tolist())

    def weigh(self, scores: Floats) -> Floats:
        """Sum up scores, (n_rows,), as `expect` needs them, (3, 2); sums may be added."""
        shifts = np.array([0.0, -self.lower, self.upper])
        chances = expit(scores + shifts[:, None])
        return np.stack([chances.sum(axis=1), (chances * (1 - chances)).sum(axis=1)], 1)

    def expect(self, sums: Floats, n_rows: int) -> Expected:
        """Tell how many of so many rows should be anomalies."""
        means, variances = sums.T
        spread = NOISE * np.sqrt(variances)
        low = max(0, int(np.floor(means[1] - spread[1])))
        high = min(n_rows, int(np.ceil(means[2] + spread[2])))
        return Expected(float(means[0]), low, high)


@dataclass(frozen=True)
class Calls:
    """How many unlabeled rows a fitted detector calls, and what to expect of that.

    Attributes
    ----------
    n_rows, n_called : int
        Unlabeled rows of the training table, and how many of them are called.
    among_calls, among_rows : Expected
        How many of the calls, and of all these rows, should be anomalies, with intervals
        that should hold the truth nine times of ten.
    n_labeled : int
        Labeled anomalies of the training table.
    """

    n_rows: int
    n_called: int
    among_calls: Expected
    among_rows: Expected
    n_labeled: int

    @classmethod
    def of(cls, scores: Floats, threshold: float, doubt: Doubt, n_labeled: int) -> Self:
        """Count calls among unlabeled rows by their log-odds, (n_rows,)."""
        called = scores[scores > threshold]
        among_calls, among_rows = (
            doubt.expect(doubt.weigh(each), len(each)) for each in (called, scores)
        )
        return cls(len(scores), len(called), among_calls, among_rows, n_labeled)

    def __str__(self) -> str:
        return (
            f"{self.n_called:,} of {self.n_rows:,} unlabeled rows are called; of these, "
            f"{self.among_calls} should be anomalies, and of all unlabeled rows "
            f"{self.among_rows}."
        )

    def as_plain(self) -> dict[str, Any]:
        """Return it as plain values, for machines."""
        plain = asdict(self)
        for name in ("among_calls", "among_rows"):
            plain[name] = getattr(self, name)._asdict()
        return plain

    @property
    def warning(self) -> str | None:
        """Say why calls rest on too little, if they do."""
        why: list[str] = []
        if self.n_labeled < FEWEST_LABELED:
            why.append(
                f"{self.n_labeled or 'no'} anomalies are labeled, and fewer than "
                f"{FEWEST_LABELED} tell little of the others"
            )
        low, high = self.among_calls.low, self.among_calls.high
        if high > WIDEST * max(1, low):
            why.append(
                f"from {low:,} to {high:,} of {self.n_called:,} calls may be right"
            )
        if not why:
            return None
        return (
            f"calls rest on little: {', and '.join(why)}. Label some of the top rows and "
            f"fit again, or call as many rows as you can look at"
        )
