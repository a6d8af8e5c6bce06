"""Where our SPADE stands, cell by cell: the paper, the best baseline, labels alone."""

from collections.abc import Iterable
from statistics import mean, median, stdev
from typing import NamedTuple

from spadework_research.report.cells import Head, Runs, auc_heads, measure_cell
from spadework_research.report.summary import OURS, SUMMARIZED
from spadework_research.runs.methods import METHODS, SPADES, Method
from spadework_research.runs.results import OK, Result
from spadework_research.runs.tables import TABLES, Column, Table

LABELS_ONLY = "spade_labels_only"
HARM = 0.005
"""AUC by which the default may stay below the same trees on labels alone."""

SLOW = 3
"""Times that a fit may take as long as that of labels alone."""


class Rival(NamedTuple):
    """The best other method in a cell, and the standard error of its mean."""

    method: Method
    mean: float
    error: float


class Verdict(NamedTuple):
    """One cell: our mean, and what it is held against; None where that was not run.

    ``labels_only`` is the mean difference to the same trees on labels alone, over
    the seeds that both ran with; ``times`` how many times as long a fit takes, the
    median over seeds of one sweep.
    """

    table: Table
    head: Head
    ours: float
    paper: float | None
    rival: Rival | None
    labels_only: float | None
    times: float | None

    @property
    def difference(self) -> float | None:
        """Ours minus the paper's SPADE."""
        return None if self.paper is None else self.ours - self.paper

    @property
    def beats_paper(self) -> bool:
        """Whether our mean, as it is shown, is at least the paper's."""
        return self.difference is not None and round(self.difference, 3) >= 0

    @property
    def beats_rival(self) -> bool:
        """Whether our mean is at least the rival's, less its standard error."""
        return self.rival is not None and self.ours >= self.rival.mean - self.rival.error

    @property
    def harms(self) -> bool:
        """Whether labels alone would have done clearly better."""
        return self.labels_only is not None and self.labels_only < -HARM

    @property
    def slow(self) -> bool:
        """Whether a fit takes much longer than that of labels alone."""
        return self.times is not None and self.times > SLOW


class Verdicts(NamedTuple):
    """All cells, with the counts that matter."""

    cells: list[Verdict]

    @property
    def against_paper(self) -> list[Verdict]:
        """Cells that the paper has too."""
        return [cell for cell in self.cells if cell.paper is not None]

    @property
    def against_rivals(self) -> list[Verdict]:
        """Cells with another method: those of the AUC over all kinds."""
        return [cell for cell in self.cells if cell.rival is not None]

    @property
    def against_labels(self) -> list[Verdict]:
        """Cells in which labels alone were run."""
        return [cell for cell in self.cells if cell.labels_only is not None]

    @property
    def against_times(self) -> list[Verdict]:
        """Cells in which fits of labels alone were timed beside ours."""
        return [cell for cell in self.cells if cell.times is not None]

    @property
    def mean_difference(self) -> float | None:
        """Mean difference to the paper over its overall cells."""
        gaps = [
            cell.difference
            for cell in self.against_paper
            if cell.head.measure == "auc" and cell.difference is not None
        ]
        return mean(gaps) if gaps else None


def judge(runs: Runs, tables: Iterable[str] = SUMMARIZED) -> Verdicts:
    """Hold our SPADE against the paper, the best other method, and labels alone."""
    cells = []
    for table in (TABLES[name] for name in tables):
        for head in auc_heads(table):
            ours = measure_cell(runs, table, head.column, OURS, head.measure)
            if ours.mean is None:
                continue
            overall = head.measure == "auc"
            cells.append(
                Verdict(
                    table,
                    head,
                    ours.mean,
                    ours.paper,
                    _rival(runs, table, head.column) if overall else None,
                    _labels_only(runs, table, head.column) if overall else None,
                    _times(runs, head.column) if overall else None,
                )
            )
    return Verdicts(cells)


def _rival(runs: Runs, table: Table, column: Column) -> Rival | None:
    """Find the best method that is not SPADE."""
    rivals = []
    for name in table.methods:
        values = runs.values(table.name, column.key, name, "auc")
        if values and name not in SPADES:
            error = stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
            rivals.append(Rival(METHODS[name], mean(values), error))
    return max(rivals, key=lambda rival: rival.mean, default=None)


def _labels_only(runs: Runs, table: Table, column: Column) -> float | None:
    """Mean of ours minus labels alone, over the seeds of both."""
    alone = {
        run.seed: run.auc
        for run in _part(runs, column, LABELS_ONLY)
        if run.status == OK and run.auc is not None
    }
    gaps = [
        run.auc - alone[run.seed]
        for run in runs.of(table.name, column.key, OURS)
        if run.seed in alone and run.auc is not None
    ]
    return mean(gaps) if gaps else None


def _times(runs: Runs, column: Column) -> float | None:
    """Median of our fit times over those of labels alone, seed by seed."""
    alone = {run.seed: run.fit_seconds for run in _part(runs, column, LABELS_ONLY)}
    times = [
        run.fit_seconds / seconds
        for run in _part(runs, column, OURS)
        if run.fit_seconds and (seconds := alone.get(run.seed))
    ]
    return median(times) if times else None


def _part(runs: Runs, column: Column, method: str) -> list[Result]:
    """Return the runs of a method in the sweep over the default's parts."""
    return runs.of("parts", f"{column.key}-{column.scenario}", method)
