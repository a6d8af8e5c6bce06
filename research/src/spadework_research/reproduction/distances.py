"""How far a setting is from the paper, and what each reading changes of that."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from spadework_research.reproduction.options import Setting, complete, name_of
from spadework_research.reproduction.trials import (
    GIVEN_AND_MISSED,
    Aucs,
    Cell,
    PaperValue,
)

NEAR, SEEDS = 0.02, 5
"""Difference of AUC that counts as reached, and seeds that tell a deviation."""

ROUNDING = 1e-9


@dataclass
class Tried:
    """What is known of a setting: AUCs of each cell, one a seed."""

    setting: Setting
    aucs: dict[Cell, dict[int, float]] = field(default_factory=dict)

    @property
    def tables(self) -> set[str]:
        """Tables that it was run on."""
        return {table for table, _, _ in self.aucs}

    def of_seeds(self, seeds: Collection[int]) -> "Tried":
        """Keep the results of some seeds, and the cells that have any."""
        kept = {
            cell: {seed: auc for seed, auc in of.items() if seed in seeds}
            for cell, of in self.aucs.items()
        }
        return Tried(self.setting, {cell: of for cell, of in kept.items() if of})

    def means(self) -> dict[Cell, float]:
        """Mean AUC over seeds of each cell."""
        return {cell: float(np.mean(list(of.values()))) for cell, of in self.aucs.items()}

    def spreads(self) -> dict[Cell, float]:
        """Deviation over seeds of each cell."""
        return {cell: float(np.std(list(of.values()))) for cell, of in self.aucs.items()}


def collect(lines: Iterable[Mapping[str, Any]]) -> dict[str, Tried]:
    """Gather results, one line a (setting, table, scenario, seed), by setting."""
    tried: dict[str, Tried] = {}
    for line in lines:
        name = name_of(line["setting"])
        of = tried.setdefault(name, Tried(complete(line["setting"]))).aucs
        both = line["scenario"] in GIVEN_AND_MISSED
        for which, auc in zip(
            Aucs._fields[: 3 if both else 1], line["auc"], strict=False
        ):
            cell = (line["table"], line["scenario"], which)
            of.setdefault(cell, {})[line["seed"]] = auc
    return tried


def distance(
    tried: Tried, paper: Mapping[Cell, PaperValue], tables: Iterable[str]
) -> float:
    """Mean absolute difference to the paper over the cells of some tables.

    Tables weigh the same, whatever number of their cells was run.
    """
    by_table = defaultdict(list)
    for cell, auc in tried.means().items():
        if cell in paper:
            by_table[cell[0]].append(abs(auc - paper[cell].mean))
    found = [np.mean(by_table[table]) for table in tables if table in by_table]
    return float(np.mean(found)) if found else float("inf")


def deviations(tried: Tried, paper: Mapping[Cell, PaperValue]) -> float:
    """Mean absolute difference in units of the paper's deviation, 0.001 at least.

    Over the cells for which the paper prints one.
    """
    off = []
    for cell, auc in tried.means().items():
        mean, spread = paper.get(cell, PaperValue(0.0, None))
        if spread is not None:
            off.append(abs(auc - mean) / max(spread, 0.001))
    return float(np.mean(off))


class Reached(NamedTuple):
    """How near a setting comes to the paper over its cells.

    Attributes
    ----------
    n_cells, n_run : int
        Cells of the paper, and those that were run.
    distance : float
        Mean absolute difference of AUC, all cells alike.
    deviations : float
        The same in units of the paper's deviations; see `deviations`.
    n_near : int
        Cells within `NEAR` or two of the paper's deviations.
    spread, paper_spread : float
        Mean deviations over seeds, ours and the paper's, of cells with `SEEDS` seeds.
    """

    n_cells: int
    n_run: int
    distance: float
    deviations: float
    n_near: int
    spread: float
    paper_spread: float


def reach(tried: Tried, paper: Mapping[Cell, PaperValue]) -> Reached:
    """Sum up a setting over the cells of the paper that it was run on."""
    means, spreads = tried.means(), tried.spreads()
    off = {cell: abs(means[cell] - paper[cell].mean) for cell in means if cell in paper}
    full = [cell for cell in off if len(tried.aucs[cell]) >= SEEDS]
    return Reached(
        len(paper),
        len(off),
        float(np.mean(list(off.values()))),
        deviations(tried, paper),
        sum(is_near(each, paper[cell]) for cell, each in off.items()),
        float(np.mean([spreads[cell] for cell in full])),
        float(np.mean([paper[cell].std or 0.0 for cell in full])),
    )


def is_near(difference: float, of: PaperValue) -> bool:
    """Tell whether a mean is within `NEAR` or two deviations of the paper's."""
    return abs(difference) <= max(NEAR, 2 * (of.std or 0.0)) + ROUNDING


class Moved(NamedTuple):
    """What a change adds to the distance, and its error by the jackknife over seeds."""

    distance: float
    error: float


def moved(
    changed: Tried,
    centre: Tried,
    paper: Mapping[Cell, PaperValue],
    tables: Collection[str],
) -> Moved:
    """Compare a change with the centre on the cells and seeds of both."""
    pair = _shared(changed, centre)
    seeds = sorted({seed for of in pair[0].aucs.values() for seed in of})
    whole, *parts = (
        distance(left[0], paper, tables) - distance(left[1], paper, tables)
        for left in (pair, *(_without(pair, seed, seeds) for seed in seeds))
    )
    n_seeds = len(parts)
    off = np.array(parts) - np.mean(parts)
    return Moved(whole, float(np.sqrt((n_seeds - 1) / n_seeds * np.sum(off**2))))


def _shared(first: Tried, second: Tried) -> tuple[Tried, Tried]:
    """Keep the cells and seeds that both were run on."""
    pair = Tried(first.setting), Tried(second.setting)
    for cell in first.aucs.keys() & second.aucs.keys():
        seeds = sorted(first.aucs[cell].keys() & second.aucs[cell].keys())
        for kept, whole in zip(pair, (first, second), strict=True):
            if seeds:
                kept.aucs[cell] = {seed: whole.aucs[cell][seed] for seed in seeds}
    return pair


def _without(
    pair: tuple[Tried, Tried], seed: int, seeds: Collection[int]
) -> tuple[Tried, Tried]:
    """Leave a seed out of both."""
    left = {*seeds} - {seed}
    return pair[0].of_seeds(left), pair[1].of_seeds(left)


def main_effects(
    distances: Mapping[str, float], settings: Mapping[str, Setting]
) -> dict[tuple[str, Any], tuple[float, int]]:
    """Mean distance of the settings with a reading, less that of all; and how many.

    Parameters
    ----------
    distances : mapping
        By name of the setting.
    settings : mapping
    """
    overall = float(np.mean(list(distances.values())))
    found = defaultdict(list)
    for name, each in distances.items():
        for option, reading in settings[name].items():
            found[option, reading].append(each)
    return {key: (float(np.mean(of)) - overall, len(of)) for key, of in found.items()}
