"""The trees of readings: how many, what each draws, how rows are scored out of bag."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn import config_context
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor

from spadework.arrays import Flags, Floats, Numbers, Positions, Rows
from spadework.core.cores import usable_cores
from spadework.core.trees import MAX_DEPTH, FlatForest, TreeNodes, flatten_trees
from spadework.labels import ANOMALY, NORMAL
from spadework.learners.blend import mean_of_unseen
from spadework.learners.contract import GrownReading
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

    X: Rows
    judged: Positions
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


def grow_trees(
    X: Rows,
    reading: Reading,
    n_trees: int,
    max_depth: int,
    judged: Positions,
    rng: np.random.Generator,
    advance: Advance,
) -> GrownReading:
    """Grow trees, and score the judged rows by those that have not drawn them.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    judged : ndarray of shape (n_judged,)
        Positions of rows.
    advance : callable
        Called once a tree.
    """
    limits: Any = {"max_depth": max_depth, "min_samples_leaf": reading.min_leaf}
    best_splits = partial(DecisionTreeRegressor, **limits)
    random_splits = partial(ExtraTreeRegressor, **limits)

    def plan(tree: int) -> Plan:
        if reading.wide and tree % 2 == 0:
            return Plan(reading.wide, partial(random_splits, max_features="sqrt"))
        if reading.wide:
            return Plan(reading.normal, partial(best_splits, max_features=MANY_COLUMNS))
        kind = best_splits if tree % RANDOM_TREES else random_splits
        return Plan(reading.normal, partial(kind, max_features="sqrt"))

    return _grow(X, reading.anomalous, plan, n_trees, judged, rng, advance)


def grow_whole_trees(
    X: Rows,
    reading: Reading,
    n_trees: int,
    judged: Positions,
    rng: np.random.Generator,
    advance: Advance,
) -> GrownReading:
    """Grow trees with random splits to the last row, and score as `grow_trees` does."""
    limits: Any = {"max_depth": MAX_DEPTH, "max_features": "sqrt"}
    plan = Plan(reading.whole, partial(ExtraTreeRegressor, **limits))
    return _grow(X, reading.anomalous, lambda _: plan, n_trees, judged, rng, advance)


class Plan(NamedTuple):
    """What a tree draws for normal, and what makes a tree of a ``random_state``."""

    normal: Draws
    make: Callable[..., Any]


def _grow(
    X: Rows,
    anomalous: Draws,
    plan: Callable[[int], Plan],
    n_trees: int,
    judged: Positions,
    rng: np.random.Generator,
    advance: Advance,
) -> GrownReading:
    """Grow each tree by its plan."""
    tree_rngs = rng.spawn(n_trees)
    place = np.full(len(X), -1, dtype=np.intp)
    place[judged] = np.arange(len(judged))
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
        nodes = model.tree_
        return TreeNodes(
            nodes.children_left,
            nodes.children_right,
            nodes.feature,
            nodes.threshold,
            nodes.value[:, 0, 0],
        )

    trees: list[TreeNodes] = []
    n_draws = plan(0).normal.n_draws + anomalous.n_draws
    with ThreadPoolExecutor(usable_cores()) as pool:
        share_out = pool.map if n_draws >= SHARED_DRAWS else map
        for tree in share_out(grow, range(n_trees)):
            trees.append(tree)
            advance("")
    forest = flatten_trees(trees, X.shape[1])
    held_out = out_of_bag_scores(forest, X[judged], in_bag)
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


def out_of_bag_scores(forest: FlatForest, X: Numbers, in_bag: Flags) -> Floats:
    """Score each row by the trees that have not drawn it, (n_samples,).

    A row that every tree has drawn is scored by all of them.
    """

    def mean(values: Floats, rows: slice) -> Floats:
        return mean_of_unseen(values, in_bag[:, rows])

    return np.concatenate(list(forest.map_blocks(X, mean)))
