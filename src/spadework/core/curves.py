"""Find values among sorted numbers, and draw lines between these, many at a time.

A bisection takes branches that no processor can foresee. Here a grid of even cells says
how many numbers lie in front of each cell, and only those inside it are compared.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_N_CELLS = 8_192


class _Grid(NamedTuple):
    """Even cells; the first and the last one reach to infinity.

    Attributes
    ----------
    low, scale : float
        Where the grid starts, and how many cells there are to one.
    in_front : ndarray of shape (n_cells,)
        How many numbers lie in lower cells.
    """

    low: Any
    scale: Any
    in_front: NDArray[np.int32]

    def cells_of(self, values: NDArray[np.floating]) -> NDArray[np.intp]:
        """Cell of each value, (n_values,); it never falls where values rise."""
        with np.errstate(over="ignore"):
            places = values - self.low
            places *= self.scale
        np.maximum(places, 0, out=places)
        np.minimum(places, _N_CELLS - 1, out=places)
        return places.astype(np.intp)


@dataclass(frozen=True)
class Cuts:
    """Sorted numbers to find values among, as ``np.searchsorted`` does.

    Attributes
    ----------
    numbers : ndarray of shape (n_numbers,)
        Rising, at least one.
    """

    numbers: NDArray[np.floating]

    def count(
        self, values: NDArray[np.floating], side: Literal["left", "right"] = "left"
    ) -> NDArray[np.intp]:
        """Count the numbers below each value, or not above it if ``side`` is "right".

        Values, (n_values,), are finite and of the type of the numbers.
        """
        numbers, steps = self._steps
        lies_before = np.less if side == "left" else np.less_equal
        counts = np.take(self._grid.in_front, self._grid.cells_of(values))
        probes, passed = np.empty_like(counts), np.empty(len(counts), dtype=bool)
        found = np.empty(len(counts), dtype=numbers.dtype)
        for step in steps:
            np.add(counts, step - 1, out=probes)
            np.take(numbers, probes, out=found, mode="wrap")  # skips a check
            lies_before(found, values, out=passed)
            np.multiply(passed, step, out=probes)
            np.add(counts, probes, out=counts)
        return counts.astype(np.intp)

    @cached_property
    def _grid(self) -> _Grid:
        """Lay cells over the numbers, of many over all but the outermost."""
        number = self.numbers.dtype.type
        limits = np.finfo(number)
        inner = self.numbers[1:-1] if len(self.numbers) > 3 else self.numbers
        low, high = (
            float(n) for n in np.clip(inner[[0, -1]], limits.min / 4, limits.max / 4)
        )
        cell = max((high - low) / (_N_CELLS - 3), float(limits.tiny))
        empty = _Grid(number(low - cell), number(1 / cell), np.empty(0, dtype=np.int32))
        inside = np.bincount(empty.cells_of(self.numbers), minlength=_N_CELLS)
        return empty._replace(in_front=(np.cumsum(inside) - inside).astype(np.int32))

    @cached_property
    def _steps(self) -> tuple[NDArray[np.floating], list[int]]:
        """Numbers with infinity behind them, and steps that bisect the fullest cell."""
        inside = np.diff(self._grid.in_front, append=len(self.numbers))
        steps = [1 << i for i in reversed(range(int(inside.max()).bit_length()))]
        behind = np.full(2 * steps[0], np.inf, dtype=self.numbers.dtype)
        return np.append(self.numbers, behind), steps


@dataclass(frozen=True)
class Curve:
    """Straight lines between points, level beyond them, as ``np.interp`` draws.

    Attributes
    ----------
    x, y : ndarray of shape (n_points,)
        With x rising strictly.
    """

    x: Floats
    y: Floats

    def __call__(self, values: NDArray[np.floating]) -> Floats:
        """Height at each value, (n_values,)."""
        values = values.astype(np.float64, copy=False)
        origin, slope, height = self.lines
        line = self._cuts.count(values, side="right")
        heights = values - np.take(origin, line)
        heights *= np.take(slope, line)
        heights += np.take(height, line)
        return heights

    @cached_property
    def lines(self) -> Floats:
        """Origin, slope and height of all lines, (3, n_points + 1).

        The outer ones are level, and so is one between points too close for a slope.
        """
        slope = np.zeros(len(self.x) + 1)
        with np.errstate(over="ignore"):
            slope[1:-1] = np.diff(self.y) / np.diff(self.x)
        slope[~np.isfinite(slope)] = 0.0
        return np.stack(
            [np.append(self.x[:1], self.x), slope, np.append(self.y[:1], self.y)]
        )

    @cached_property
    def _cuts(self) -> Cuts:
        return Cuts(self.x)
