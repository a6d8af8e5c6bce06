"""Grow the trees of one table's readings: how many each gets, and how that is shown."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spadework.learners.contract import GrownReading
from spadework.learners.growing import grow_trees, grow_whole_trees
from spadework.learners.readings import Reading
from spadework.progress import progress

DRAW_BUDGET = 1 << 19
"""Draws of all trees of a reading, which sets how many trees there are by default."""

MIN_TREES, MAX_TREES = 64, 100

MAX_WHOLE_TREES = 300
"""Trees to the last row: each says yes or no, so more of them are needed."""


@dataclass
class Grower:
    """Grows trees, and counts them.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
    judged : ndarray of shape (n_judged,)
        Positions of the rows that trees score which have not drawn them.
    rng : numpy Generator
    n_trees : int, optional
        Trees of each reading; by default as many as `DRAW_BUDGET` allows.
    max_depth : int
        Of trees that do not grow to the last row.
    verbose : bool
    n_grown : int
        Trees of all readings so far.
    """

    X: NDArray[np.float32]
    judged: NDArray[np.intp]
    rng: np.random.Generator
    n_trees: int | None
    max_depth: int
    verbose: bool
    n_grown: int = 0

    def grow(
        self, readings: Mapping[str, Reading], about: str = "growing trees"
    ) -> dict[str, GrownReading]:
        """Grow the trees of every reading, and say what about."""
        n_trees = {
            name: self._allowed(reading.n_draws, MAX_TREES)
            for name, reading in readings.items()
        }
        total = sum(n_trees.values())
        self.n_grown += total
        with progress(about, total, verbose=self.verbose) as advance:
            return {
                name: grow_trees(
                    self.X,
                    reading,
                    n_trees[name],
                    self.max_depth,
                    self.judged,
                    self.rng,
                    advance,
                )
                for name, reading in readings.items()
            }

    def grow_whole(self, reading: Reading) -> GrownReading:
        """Grow trees to the last row."""
        n_draws = reading.whole.n_draws + reading.anomalous.n_draws
        n_trees = self._allowed(n_draws, MAX_WHOLE_TREES)
        self.n_grown += n_trees
        about = "growing trees to the last row"
        with progress(about, n_trees, verbose=self.verbose) as advance:
            return grow_whole_trees(
                self.X, reading, n_trees, self.judged, self.rng, advance
            )

    def _allowed(self, n_draws: int, most: int) -> int:
        """Trees of so many draws that the budget allows."""
        allowed = np.clip(DRAW_BUDGET // n_draws, MIN_TREES, most)
        return self.n_trees or int(allowed)
