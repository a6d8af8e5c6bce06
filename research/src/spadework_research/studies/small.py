"""How the default does on small tables, of which few rows are labeled.

``python -m spadework_research.studies.small`` takes tables that come with scikit-learn,
labels them in the ways of the paper, and sets the default beside its pseudo-labeler,
its predictor on labels alone, and other methods. It prints the mean over seeds of every
cell and keeps all of them; cells that are there are measured again only for methods that
are named behind it.
"""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_wine

from spadework.scenarios import (
    LabeledTable,
    Trial,
    easiness,
    high_risk,
    negatives_only,
    new_types,
    positives_only,
)
from spadework_research.places import results_folder
from spadework_research.runs.methods import get_method
from spadework_research.studies.cells import Cell, Means, measure, run_cells

RESULTS = results_folder() / "small.json"
SEEDS = range(5)
METHODS: tuple[str, ...] = (
    "spade",
    "in_context",
    "spade_labels_only",
    "tuned_forest",
    "catboost",
    "negative_extra_trees",
    "elkan_noto_forest",
    "bagging_pu_balanced",
    "negative_occ_isolation_forest",
)
SCENARIOS: dict[str, Callable[[LabeledTable, int], Trial]] = {
    "new types": partial(new_types, share=0.1),
    "easiness": easiness,
    "PU": positives_only,
    "NU": partial(negatives_only, share=0.1),
    "high risk": partial(high_risk, share=0.05),
}


def wine(normal: int) -> LabeledTable:
    """One cultivar is normal, the next is known, the last is new."""
    data: Any = load_wine()
    return LabeledTable(data.data, (data.target - normal) % 3, given=(1,))


def breast_cancer() -> LabeledTable:
    """Malignant cases: large ones are known, small ones are new."""
    data: Any = load_breast_cancer()
    radius, malignant = data.data[:, 0], data.target == 0
    large = radius > np.median(radius[malignant])
    return LabeledTable(data.data, np.where(malignant, np.where(large, 1, 2), 0), (1,))


def digits(first: int) -> LabeledTable:
    """Two digits are anomalies, of which one is known; a sixth of them is there."""
    data: Any = load_digits()
    kind = np.select([data.target == first, data.target == first + 1], [1, 2])
    there = (kind == 0) | (np.arange(len(kind)) % 6 == 0)
    return LabeledTable(data.data[there], kind[there], given=(1,))


TABLES: dict[str, Callable[[], LabeledTable]] = {
    "wine, 0 normal": partial(wine, 0),
    "wine, 1 normal": partial(wine, 1),
    "wine, 2 normal": partial(wine, 2),
    "breast cancer": breast_cancer,
    "digits, 1 and 2": partial(digits, 1),
    "digits, 6 and 7": partial(digits, 6),
}


def measure_cell(cell: Cell) -> Means | None:
    """Mean AUC and average precision over seeds; None where labels allow no fit."""
    table = TABLES[cell.table]()
    trial_of = partial(SCENARIOS[cell.scenario], table)
    return measure(get_method(cell.method).detector, trial_of, SEEDS)


def rows(measured: dict[Cell, Means]) -> Iterator[str]:
    """Lay AUCs out as lines, a cell each, and their means over cells all share."""
    yield " " * 28 + " ".join(f"{name[:10]:>10}" for name in METHODS)
    whole = []
    for table, scenario in product(TABLES, SCENARIOS):
        found = [measured.get(Cell(table, scenario, method)) for method in METHODS]
        shown = ["" if each is None else f"{each.auc:.3f}" for each in found]
        yield f"{table}, {scenario}".ljust(28) + " ".join(f"{v:>10}" for v in shown)
        if None not in found:
            whole.append([each.auc for each in found if each])
    means = np.mean(whole, axis=0)
    yield "mean of whole lines".ljust(28) + " ".join(f"{v:>10.3f}" for v in means)


def main(anew: list[str]) -> None:
    """Measure, print and write."""
    cells = [Cell(*each) for each in product(TABLES, SCENARIOS, METHODS)]
    print("\n".join(rows(run_cells(RESULTS, cells, anew, measure_cell, SEEDS))))


if __name__ == "__main__":
    main(sys.argv[1:])
