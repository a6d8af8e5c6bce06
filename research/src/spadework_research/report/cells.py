"""What the tables show: means over seeds, beside the paper's, and what is missing."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal, NamedTuple

import numpy as np

from spadework_research.report.published import (
    Measure,
    paper_rows,
    paper_value,
)
from spadework_research.runs.methods import METHODS, Method
from spadework_research.runs.results import OK, Result
from spadework_research.runs.tables import Column, Table

State = Literal["ran", "failed", "not run", "not applicable"]
SHOWN_DIGITS = 3

_BY_KIND = ("new_types", "pu", "nu")
_KINDS: dict[Measure, str] = {
    "auc": "overall",
    "auc_given": "given",
    "auc_missed": "missed",
}


class Runs:
    """Results by table, column and method, in order of their seeds."""

    def __init__(self, results: Iterable[Result]) -> None:
        self._of: dict[tuple[str, str, str], list[Result]] = defaultdict(list)
        self._seeds: dict[tuple[str, str], set[int]] = defaultdict(set)
        for result in sorted(results, key=lambda result: result.seed):
            self._of[result.table, result.column, result.method].append(result)
            self._seeds[result.table, result.column].add(result.seed)

    def of(self, table: str, column: str, method: str) -> list[Result]:
        """Return the runs of a method in a column, failed ones too."""
        return self._of.get((table, column, method), [])

    def values(self, table: str, column: str, method: str, measure: str) -> list[float]:
        """Return what the runs that ended well have measured."""
        found = self.of(table, column, method)
        measured = [getattr(run, measure) for run in found if run.status == OK]
        return [value for value in measured if value is not None]

    def n_seeds(self, table: str, column: str) -> int:
        """Count the seeds that any method was run with in a column."""
        return len(self._seeds.get((table, column), ()))


@dataclass(frozen=True)
class Cell:
    """One number of a table, or why there is none.

    Attributes
    ----------
    state : str
    mean : float, optional
        Over the seeds that ran.
    std : float, optional
        Of a sample (ddof=1), so None for a single seed.
    n_ran, n_seeds : int
        Seeds that ran, of those that the column was run with.
    paper : float, optional
        The paper's mean.
    best : bool
        Whether no mean of the column is shown as higher.
    """

    state: State
    mean: float | None = None
    std: float | None = None
    n_ran: int = 0
    n_seeds: int = 0
    paper: float | None = None
    best: bool = False

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's."""
        if self.mean is None or self.paper is None:
            return None
        return self.mean - self.paper

    @property
    def note(self) -> str:
        """Say so where seeds are missing."""
        if self.state != "ran" or self.n_ran == self.n_seeds:
            return ""
        return f"{self.n_ran} of {self.n_seeds} seeds"


class Head(NamedTuple):
    """A column of a shown table: what it measures, and its two lines of title."""

    column: Column
    measure: Measure
    group: str
    label: str

    @property
    def title(self) -> str:
        """Both lines in one."""
        return f"{self.group} {self.label}".strip()


class Row(NamedTuple):
    """A method's cells; ``published`` where the paper has a row for it."""

    method: Method
    published: bool
    cells: list[Cell]


class TableView(NamedTuple):
    """A table as it is shown; ``groups`` are the first line's titles and widths."""

    heads: list[Head]
    groups: list[tuple[str, int]]
    rows: list[Row]


def without_absent_photos(table: Table, runs: Runs) -> Table:
    """Leave out the sets of photos that no method was run on: there are many."""
    columns = tuple(
        column
        for column in table.columns
        if not column.photos or runs.n_seeds(table.name, column.key)
    )
    return replace(table, columns=columns)


def view_table(table: Table, runs: Runs) -> TableView:
    """Lay out a table with the AUCs that the paper has."""
    return _view(table, runs, auc_heads(table))


def view_average_precision(table: Table, runs: Runs) -> TableView:
    """Lay out the same table with average precisions, which the paper has not."""
    measure: Measure = "average_precision"
    overall = [head for head in auc_heads(table) if head.measure == "auc"]
    if table.name in _BY_KIND:
        overall = [head._replace(group="", label=head.group) for head in overall]
    return _view(table, runs, [head._replace(measure=measure) for head in overall])


def auc_heads(table: Table) -> list[Head]:
    """Return the columns of a table, by kind of anomaly where the paper does so."""
    if table.name in _BY_KIND:
        return [
            Head(column, measure, column.dataset, label)
            for column in table.columns
            for measure, label in _KINDS.items()
        ]
    scenarios = {column.scenario for column in table.columns}
    times = Counter((column.scenario, column.dataset) for column in table.columns)

    def title(column: Column) -> tuple[str, str]:
        scenario, dataset = column.scenario, column.dataset
        share = f"{column.share:.1%}" if times[scenario, dataset] > 1 else ""
        if len(scenarios) > 1:
            return scenario.replace("_", " "), f"{dataset} {share}".rstrip()
        return (dataset, share) if share else ("", dataset)

    return [Head(column, "auc", *title(column)) for column in table.columns]


def order_rows(table: Table) -> list[str]:
    """Return the methods of a table: the paper's in its order, ours, then the others.

    Of the others, those that apply in no column come last. A table that has at most
    one row of the paper is a series, and keeps its order.
    """
    rows = paper_rows(table.name)
    if len({METHODS[name].paper for name in table.methods}.intersection(rows)) < 2:
        return list(table.methods)

    def place(name: str) -> tuple[int, bool]:
        row = METHODS[name].paper
        if row in rows:
            return rows.index(row), name == "spade"
        return len(rows), not any(table.applies(each, name) for each in table.columns)

    return sorted(table.methods, key=place)


def measure_cell(
    runs: Runs, table: Table, column: Column, method: str, measure: Measure
) -> Cell:
    """Average one measure over the seeds of a method in a column."""
    paper = paper_value(table.name, column, measure, METHODS[method].paper)
    published = paper.mean if paper else None
    found = runs.of(table.name, column.key, method)
    values = runs.values(table.name, column.key, method, measure)
    if values:
        return Cell(
            "ran",
            mean=float(np.mean(values)),
            std=float(np.std(values, ddof=1)) if len(values) > 1 else None,
            n_ran=len(values),
            n_seeds=runs.n_seeds(table.name, column.key),
            paper=published,
        )
    if not table.applies(column, method) or any(run.status == OK for run in found):
        return Cell("not applicable")
    return Cell("failed" if found else "not run", paper=published)


def mark_best(cells: Sequence[Cell]) -> list[Cell]:
    """Mark the cells whose mean, as it is shown, is the highest of a column."""
    means = [_shown(cell) for cell in cells]
    best = max(means, default=-np.inf)
    return [
        replace(cell, best=cell.mean is not None and mean == best)
        for cell, mean in zip(cells, means, strict=True)
    ]


def _view(table: Table, runs: Runs, heads: list[Head]) -> TableView:
    methods = order_rows(table)
    columns = [
        mark_best(
            [measure_cell(runs, table, h.column, name, h.measure) for name in methods]
        )
        for h in heads
    ]
    published = paper_rows(table.name)
    rows = [
        Row(METHODS[name], METHODS[name].paper in published, list(cells))
        for name, cells in zip(methods, zip(*columns, strict=True), strict=True)
    ]
    groups = [(name, len(list(same))) for name, same in groupby(h.group for h in heads)]
    return TableView(heads, groups if any(name for name, _ in groups) else [], rows)


def _shown(cell: Cell) -> float:
    """Return the mean with the digits that are printed."""
    return -np.inf if cell.mean is None else round(cell.mean, SHOWN_DIGITS)
