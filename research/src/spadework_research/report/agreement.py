"""How near our runs of the paper's baselines come to the paper's numbers."""

from collections.abc import Mapping
from typing import NamedTuple

from spadework_research.report.cells import Head, Runs, auc_heads, measure_cell
from spadework_research.report.published import (
    SPADE_ROW,
    explain,
    is_within,
    paper_value,
)
from spadework_research.runs.methods import COMPARED, METHODS, Method
from spadework_research.runs.tables import IMAGES, TABLES, Table


class BaselineCell(NamedTuple):
    """A number of a baseline: the paper's, and ours if it was run."""

    table: Table
    head: Head
    method: Method
    paper: float
    std: float | None
    ours: float
    difference: float
    within: bool
    explanation: str


class Agreement(NamedTuple):
    """All baseline cells that were run, and how many the paper has."""

    cells: list[BaselineCell]
    n_published: int

    @property
    def n_within(self) -> int:
        """Cells that agree."""
        return sum(cell.within for cell in self.cells)

    @property
    def outside(self) -> list[BaselineCell]:
        """Cells that do not agree."""
        return [cell for cell in self.cells if not cell.within]


def compare_baselines(runs: Runs, sentences: Mapping[str, str]) -> Agreement:
    """Set every baseline cell of the paper's comparison tables against ours."""
    cells: list[BaselineCell] = []
    n_published = 0
    for table, head, method in _baseline_cells():
        paper = paper_value(table.name, head.column, head.measure, method.paper)
        if paper is None:
            continue
        n_published += 1
        ours = measure_cell(runs, table, head.column, method.name, head.measure)
        if ours.mean is None or ours.difference is None:
            continue
        cells.append(
            BaselineCell(
                table,
                head,
                method,
                paper.mean,
                paper.std,
                ours.mean,
                ours.difference,
                is_within(ours.difference, paper.std),
                explain(table.name, head.column, method.name, sentences),
            )
        )
    return Agreement(cells, n_published)


def _baseline_cells() -> list[tuple[Table, Head, Method]]:
    """List tables, columns and methods of the paper, without SPADE and ablations.

    Photos are left out; their table shows each difference.
    """
    baselines = [
        METHODS[name] for name in COMPARED if METHODS[name].paper not in (None, SPADE_ROW)
    ]
    return [
        (table, head, method)
        for table in TABLES.values()
        if table.name != IMAGES
        for head in auc_heads(table)
        for method in baselines
        if method.name in table.methods
    ]
