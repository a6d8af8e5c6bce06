"""All tables at a glance: ranks, wins and losses, and what a fit costs."""

from collections import defaultdict
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from spadework_research.report.cells import Runs
from spadework_research.report.published import Measure
from spadework_research.runs.methods import COMPARED, METHODS, Method
from spadework_research.runs.results import FAILED, OK, Result
from spadework_research.runs.tables import TABLES

OURS = "spade"
SUMMARIZED = ("new_types", "easiness", "pu", "nu", "high_risk", "fraud")
TIE = 0.005
"""Mean AUCs that are no further apart count as a tie."""

Scores = Mapping[str, Mapping[str, float]]
"""Cell to method to mean."""


class AverageRank(NamedTuple):
    """Mean rank of a method over the cells it ran in, 1 is best."""

    rank: float
    n_cells: int


class Record(NamedTuple):
    """Ours against another method over the cells that both ran in."""

    wins: int
    ties: int
    losses: int
    difference: float


class Standing(NamedTuple):
    """A line of the summary; ``record`` is None for our own."""

    method: Method
    n_cells: int
    auc_rank: float
    precision_rank: float
    record: Record | None


class Cost(NamedTuple):
    """Medians over the runs of a method on a data set."""

    fit_seconds: float
    peak_memory_mb: float


class Failure(NamedTuple):
    """Seeds of a method in a column that failed for the same reason."""

    table: str
    column: str
    method: str
    reason: str
    seeds: list[int]


class Overview(NamedTuple):
    """What was run: counts, seeds, failures, versions by library.

    ``n_unknown`` counts results that no table has a place for. ``core_hours`` is the
    time of fitting and scoring, each run on one core and counted once where tables
    share it; ``gpu_hours`` is that of runs which shared a GPU.
    """

    n_runs: int
    n_unknown: int
    n_failed: int
    n_seeds: int
    core_hours: float
    gpu_hours: float
    failures: list[Failure]
    versions: dict[str, list[str]]


def mean_scores(runs: Runs, measure: Measure) -> dict[str, dict[str, float]]:
    """Return every summarized cell with the means of the methods that ran in it."""
    scores: dict[str, dict[str, float]] = defaultdict(dict)
    for table in (TABLES[name] for name in SUMMARIZED):
        for column in table.columns:
            for method in COMPARED:
                values = runs.values(table.name, column.key, method, measure)
                if values:
                    scores[f"{table.name}/{column.key}"][method] = float(np.mean(values))
    return scores


def average_ranks(scores: Scores) -> dict[str, AverageRank]:
    """Rank the methods in each cell, equal ones alike, and average over the cells."""
    ranks: dict[str, list[float]] = defaultdict(list)
    for cell in scores.values():
        for method, rank in zip(cell, rankdata([-s for s in cell.values()]), strict=True):
            ranks[method].append(float(rank))
    return {
        method: AverageRank(float(np.mean(found)), len(found))
        for method, found in ranks.items()
    }


def compare_with(scores: Scores, ours: str, other: str) -> Record | None:
    """Count wins, ties and losses of ours; None where the two never met."""
    gaps = np.array(
        [
            cell[ours] - cell[other]
            for cell in scores.values()
            if {ours, other} <= set(cell)
        ]
    )
    if not len(gaps):
        return None
    wins, losses = int((gaps > TIE).sum()), int((gaps < -TIE).sum())
    return Record(wins, len(gaps) - wins - losses, losses, float(gaps.mean()))


def summarize(runs: Runs) -> list[Standing]:
    """Return every method that ran, best average rank of AUC first."""
    auc = mean_scores(runs, "auc")
    by_auc = average_ranks(auc)
    by_precision = average_ranks(mean_scores(runs, "average_precision"))
    standings = [
        Standing(
            METHODS[name],
            found.n_cells,
            found.rank,
            by_precision[name].rank,
            None if name == OURS else compare_with(auc, OURS, name),
        )
        for name, found in by_auc.items()
    ]
    return sorted(standings, key=lambda each: (each.auc_rank, each.method.name))


def measure_costs(runs: Runs) -> dict[str, dict[str, Cost]]:
    """Return method and data set to cost: from new types, or fraud where it is not."""
    spent: dict[tuple[str, str], list[Result]] = defaultdict(list)
    for table in (TABLES["new_types"], TABLES["fraud"]):
        for column in table.columns:
            for method in COMPARED:
                found = runs.of(table.name, column.key, method)
                spent[method, column.dataset] += [
                    run for run in found if run.status == OK
                ]
    costs: dict[str, dict[str, Cost]] = defaultdict(dict)
    for (method, dataset), found in spent.items():
        if found:
            seconds = np.median([run.fit_seconds or 0.0 for run in found])
            memory = np.median([run.peak_memory_mb or 0.0 for run in found])
            costs[method][dataset] = Cost(float(seconds), float(memory))
    return costs


def survey(results: list[Result]) -> Overview:
    """Count what was run, with which versions."""
    versions: dict[str, set[str]] = defaultdict(set)
    for result in results:
        for library, version in result.versions.items():
            versions[library].add(version)
    return Overview(
        len(results),
        sum(not _is_known(result) for result in results),
        sum(result.status == FAILED for result in results),
        len({result.seed for result in results}),
        _hours([run for run in results if "gpu" not in run.versions]),
        _hours([run for run in results if "gpu" in run.versions]),
        _failures(results),
        {library: sorted(found) for library, found in sorted(versions.items())},
    )


def _hours(results: list[Result]) -> float:
    """Sum the time of all runs, a question that several tables ask counted once."""
    seconds = {
        (run.dataset, run.scenario, run.share, run.method, run.seed): (
            (run.fit_seconds or 0.0) + (run.score_seconds or 0.0)
        )
        for run in results
    }
    return sum(seconds.values()) / 3600


def _failures(results: list[Result]) -> list[Failure]:
    """Put failed runs together that differ in their seed alone."""
    seeds: dict[tuple[str, str, str, str], list[int]] = defaultdict(list)
    for run in results:
        if run.status == FAILED:
            seeds[run.table, run.column, run.method, run.reason or ""].append(run.seed)
    return [Failure(*where, sorted(found)) for where, found in seeds.items()]


def _is_known(result: Result) -> bool:
    """Tell whether a table has a place for the result."""
    table = TABLES.get(result.table)
    return (
        table is not None
        and result.method in table.methods
        and any(column.key == result.column for column in table.columns)
    )
