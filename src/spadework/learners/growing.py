"""The trees of readings: how many, what each draws, how rows are scored out of bag."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn import config_context
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor

from spadework.arrays import Floats, Positions
from spadework.core.cores import usable_cores
from spadework.core.trees import MAX_DEPTH, TreeNodes, flatten_trees
from spadework.labels import ANOMALY, NORMAL
from spadework.learners.blend import mean_of_unseen
from spadework.learners.contract import GrownReading, Task
from spadework.learners.readings import Draws, Reading, choose
from spadework.progress import Advance, progress

DRAW_BUDGET = 1 << 19
"""Draws of all trees of a reading, which sets how many trees there are by default."""

MIN_TREES, MAX_TREES = 64, 100

MAX_WHOLE_TREES = 300
"""Trees to the last row: each says yes or no, so more of them are needed."""

RANDOM_TREES = 4
"""One tree in so many takes random splits instead of the best ones; on wide draws all."""

MANY_COLUMNS = 0.5
"""Share of the columns that trees look at for a split where others draw wide ones; all
others look at the square root of their number."""

SHARED_DRAWS = 768
"""Draws of a tree from which trees grow side by side; smaller ones would only wait for
each other."""


class Plan(NamedTuple):
    """What a tree draws for normal, and what makes a tree of a ``random_state``."""

    normal: Draws
    make: Callable[..., Any]


@dataclass
class Grower:
    """Grows trees of readings, and counts them.

    Each reading has as many trees as `DRAW_BUDGET` allows, where their number is None.
    Trees that do not grow to the last row are of limited depth.
    """

    task: Task
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
        with progress(about, sum(n_trees.values()), verbose=self.verbose) as advance:
            return {
                name: self._grow(reading, self._planner(reading), n_trees[name], advance)
                for name, reading in readings.items()
            }

    def grow_whole(self, reading: Reading) -> GrownReading:
        """Grow trees with random splits to the last row."""
        n_draws = reading.whole.n_draws + reading.anomalous.n_draws
        n_trees = self._allowed(n_draws, MAX_WHOLE_TREES)
        limits: Any = {"max_depth": MAX_DEPTH, "max_features": "sqrt"}
        plan = Plan(reading.whole, partial(ExtraTreeRegressor, **limits))
        about = "growing trees to the last row"
        with progress(about, n_trees, verbose=self.verbose) as advance:
            return self._grow(reading, lambda _: plan, n_trees, advance)

    def _allowed(self, n_draws: int, most: int) -> int:
        """Trees of so many draws that the budget allows."""
        allowed = np.clip(DRAW_BUDGET // n_draws, MIN_TREES, most)
        return self.n_trees or int(allowed)

    def _planner(self, reading: Reading) -> Callable[[int], Plan]:
        """Return what plans each tree of a reading, by its number."""
        limits: Any = {"max_depth": self.max_depth, "min_samples_leaf": reading.min_leaf}
        best_splits = partial(DecisionTreeRegressor, **limits)
        random_splits = partial(ExtraTreeRegressor, **limits)

        def plan(tree: int) -> Plan:
            if reading.wide and tree % 2 == 0:
                return Plan(reading.wide, partial(random_splits, max_features="sqrt"))
            if reading.wide:
                many = partial(best_splits, max_features=MANY_COLUMNS)
                return Plan(reading.normal, many)
            kind = best_splits if tree % RANDOM_TREES else random_splits
            return Plan(reading.normal, partial(kind, max_features="sqrt"))

        return plan

    def _grow(
        self,
        reading: Reading,
        plan: Callable[[int], Plan],
        n_trees: int,
        advance: Advance,
    ) -> GrownReading:
        """Grow trees, and score the judged rows by those that have not drawn them."""
        X, judged, place = self.task.X, self.task.judged, self.task.places
        anomalous = reading.anomalous
        tree_rngs = self.task.rng.spawn(n_trees)
        in_bag = np.zeros((n_trees, len(judged)), dtype=bool)

        def grow(tree: int) -> TreeNodes:
            normal, make = plan(tree)
            rows, targets, weights = draw(normal, anomalous, tree_rngs[tree])
            places = place[rows]
            in_bag[tree, places[places >= 0]] = True
            seed = int(tree_rngs[tree].integers(2**31))
            model = make(random_state=seed)
            # Squared errors of 0 and 1 are Gini's impurity. On few rows, checking what is
            # known to be right takes longer than growing.
            with config_context(assume_finite=True, skip_parameter_validation=True):
                model.fit(X[rows], targets, sample_weight=weights, check_input=False)
            return TreeNodes.of(model.tree_, model.tree_.value[:, 0, 0])

        trees: list[TreeNodes] = []
        n_draws = plan(0).normal.n_draws + anomalous.n_draws
        with ThreadPoolExecutor(usable_cores()) as pool:
            share_out = pool.map if n_draws >= SHARED_DRAWS else map
            for tree in share_out(grow, range(n_trees)):
                trees.append(tree)
                advance("")
        self.n_grown += n_trees
        forest = flatten_trees(trees, X.shape[1])

        def mean(values: Floats, rows: slice) -> Floats:
            return mean_of_unseen(values, in_bag[:, rows])

        held_out = np.concatenate(list(forest.map_blocks(X[judged], mean)))
        return GrownReading(forest, held_out, np.logical_and.reduce(in_bag))


def draw(
    normal: Draws, anomalous: Draws, rng: np.random.Generator
) -> tuple[Positions, Floats, Floats]:
    """Draw the rows of one tree: distinct positions, targets, and weights.

    Both classes weigh the same together. Copies of a row count in its weight and not
    as rows, so that a leaf must hold different ones.
    """
    sides = ((NORMAL, normal), (ANOMALY, anomalous))
    rows, targets, weights = [], [], []
    for target, side in sides:
        chosen, copies = np.unique(choose(side, rng), return_counts=True)
        rows.append(chosen)
        targets.append(np.full(len(chosen), float(target)))
        weights.append(copies / side.n_draws)
    return np.concatenate(rows), np.concatenate(targets), np.concatenate(weights)
