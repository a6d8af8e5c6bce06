"""How far a setting is from the paper, and what each reading changes of that."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spadework_research.reproduction.options import Setting, complete, name_of
from spadework_research.reproduction.trials import (
    GIVEN_AND_MISSED,
    Aucs,
    Cell,
    PaperValue,
)


@dataclass
class Tried:
    """What is known of a setting: AUCs of each cell, one a seed."""

    setting: Setting
    aucs: dict[Cell, dict[int, float]] = field(default_factory=dict)

    @property
    def tables(self) -> set[str]:
        """Tables that it was run on."""
        return {table for table, _, _ in self.aucs}

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
