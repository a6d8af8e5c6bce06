"""Run settings on the paper's cells, and choose further ones by what came out.

One line of JSON is written for each setting, table and scenario. What is there
already is not run again, so that a study can be stopped at any time and taken up again.

    python -m spadework_research.reproduction.study --settings FILE --out FOLDER
"""

import argparse
import json
import os
import time
from collections.abc import Iterator, Sequence
from multiprocessing import get_context
from pathlib import Path
from queue import Empty, Queue
from typing import Any, NamedTuple

import numpy as np
import torch

from spadework_research.datasets.catalog import TableName
from spadework_research.reproduction.choosing import choose, factorial
from spadework_research.reproduction.distances import Tried, collect, distance
from spadework_research.reproduction.options import (
    ABLATIONS,
    Setting,
    complete,
    name_of,
    one_factor,
    reduce,
)
from spadework_research.reproduction.training import as_tensors, fit_all
from spadework_research.reproduction.trials import (
    Cell,
    PaperValue,
    make_trial,
    measure,
    paper_cells,
    scale,
)

CHEAP: tuple[TableName, ...] = ("thyroid", "drug")
ALL: tuple[TableName, ...] = (*CHEAP, "covertype")
NEAR = 0.02
"""Distance beyond the nearest setting up to which another is run on Covertype."""

SCENARIOS = ("new_types", "pu", "easiness", "high_risk/0.015")
ABLATED = ("new_types", "easiness")
RESULTS = "reproduction.jsonl"
BY_SEED = ("seed", "auc", "epochs", "pseudo")


class Task(NamedTuple):
    """Networks of one setting that are trained together."""

    setting: Setting
    table: TableName
    scenarios: tuple[str, ...]
    seeds: tuple[int, ...]

    @property
    def keys(self) -> list[tuple[str, str, str, int]]:
        """What identifies each line that comes of it."""
        name = name_of(self.setting)
        return [
            (name, self.table, s, seed) for s in self.scenarios for seed in self.seeds
        ]


def run_task(task: Task) -> list[dict[str, Any]]:
    """Train and test; one line for each scenario and seed."""
    torch.set_num_threads(1)
    setting = complete(task.setting)
    drawn = [(s, seed) for s in task.scenarios for seed in task.seeds]
    trials = [make_trial(task.table, s, seed) for s, seed in drawn]
    scaled = [scale(trial.X, trial.X_test, setting["scaling"]) for trial in trials]
    X, labels, X_test = as_tensors(
        np.stack([train for train, _ in scaled]),
        np.stack([trial.y for trial in trials]),
        np.stack([test for _, test in scaled]),
    )
    fitted = fit_all(X, labels, X_test, setting, [seed for _, seed in drawn])
    return [
        {
            "setting": reduce(setting),
            "table": task.table,
            "scenario": scenario,
            "seed": seed,
            "auc": measure(one.scores, trial.kind_test, trial.given),
            "epochs": one.epochs,
            "pseudo": one.pseudo,
        }
        for (scenario, seed), trial, one in zip(drawn, trials, fitted, strict=True)
    ]


class Study:
    """The queue of tasks, filled again from what has come out.

    Parameters
    ----------
    centre : dict
        Setting whose options are changed one at a time, and the changes that come
        nearest crossed with each other.
    others : list of settings
        Further ones to begin with.
    lines : list
        Results that are there already.
    limit : int
        Settings at most, those of ablations not counted.
    n_finalists : int
        Settings that get the ablations, alpha = 0 and more seeds.
    """

    def __init__(
        self,
        centre: Setting,
        others: Sequence[Setting],
        lines: list[dict[str, Any]],
        paper: dict[Cell, PaperValue],
        *,
        limit: int = 200,
        n_finalists: int = 0,
        more_seeds: Sequence[int] = (3, 4),
    ) -> None:
        self.centre, self.lines, self.paper = centre, lines, paper
        self.first = [*one_factor(centre), *others]
        self.limit, self.n_finalists = limit, n_finalists
        self.more_seeds = tuple(more_seeds)
        self.asked = _keys(lines)
        self.waiting: list[Task] = []

    def next_task(self) -> Task | None:
        """Return the next task that was not asked for, if there is one."""
        while not self.waiting:
            more = self._more()
            if not more:
                return None
            self.waiting = more
        return self.waiting.pop(0)

    def _more(self) -> list[Task]:
        """Ask for what tells most: finalists, then Covertype, then further settings."""
        tried = {
            name: each
            for name, each in collect(self.lines).items()
            if not is_ablated(each.setting)
        }
        for tasks in (self._finals(tried), self._begun(), self._promoted(tried)):
            if new := self._unasked(tasks):
                return new
        judged = {
            name: (each.setting, distance(each, self.paper, ALL))
            for name, each in tried.items()
            if {*CHEAP} <= each.tables
        }
        if new := self._unasked(self._crossed(judged)):
            return new
        names = {name_of(each) for each in self.first} | tried.keys()
        if len(names) >= self.limit or len(judged) < 5:
            return []
        chosen = choose(judged, taken=names, seed=len(names))
        self.first.append(chosen)
        return self._unasked(self._cheap(chosen))

    def _crossed(self, judged: dict[str, tuple[Setting, float]]) -> Iterator[Task]:
        """Return the fractional factorial, once all changes of the centre are judged."""
        names = {name_of(each) for each in one_factor(self.centre)}
        done = {(line["table"], name_of(line["setting"])) for line in self.lines}
        under_way = {(table, name) for name, table, *_ in self.asked} - done
        if names <= judged.keys() and not any(name in names for _, name in under_way):
            distances = {name: far for name, (_, far) in judged.items()}
            crossed = factorial(self.centre, distances)
            self.first += [each for each in crossed if each not in self.first]
            for setting in crossed:
                yield from self._cheap(setting)

    def _begun(self) -> Iterator[Task]:
        for setting in self.first:
            yield from self._cheap(setting)

    def _cheap(self, setting: Setting) -> Iterator[Task]:
        for table in CHEAP:
            yield Task(setting, table, SCENARIOS, (0, 1, 2))

    def _promoted(self, tried: dict[str, Tried]) -> Iterator[Task]:
        """Covertype for what is nearly as near as the nearest on the other tables."""
        far = {
            name: distance(each, self.paper, CHEAP)
            for name, each in tried.items()
            if {*CHEAP} <= each.tables
        }
        for name in sorted(far, key=far.__getitem__):
            if far[name] < min(far.values()) + NEAR:
                setting = reduce(tried[name].setting)
                yield Task(setting, "covertype", SCENARIOS[:3], (0, 1))

    def _finals(self, tried: dict[str, Tried]) -> Iterator[Task]:
        """More seeds, all shares of risky labels, alpha = 0, and the ablations."""
        ready = [each for each in tried.values() if {*ALL} <= each.tables]
        ready.sort(key=lambda each: distance(each, self.paper, ALL))
        shares = ("high_risk/0.010", "high_risk/0.025")
        for each in ready[: self.n_finalists]:
            setting = reduce(each.setting)
            for change in ABLATIONS.values():
                for table in CHEAP:
                    yield Task(
                        setting | change, table, ABLATED, (0, 1, 2, *self.more_seeds)
                    )
                yield Task(setting | change, "covertype", ABLATED, (0, 1))
            for table in CHEAP:
                yield Task(setting, table, SCENARIOS, self.more_seeds)
                yield Task(setting, table, shares, (0, 1, 2, *self.more_seeds))

    def _unasked(self, tasks: Iterator[Task]) -> list[Task]:
        """Tasks of which no line was asked for, and note that they are."""
        new = []
        for task in tasks:
            if not self.asked.intersection(task.keys):
                self.asked.update(task.keys)
                new.append(task)
        return new


class Listed:
    """A queue of given tasks, of which those that were run are left out."""

    def __init__(self, tasks: Sequence[Task], lines: list[dict[str, Any]]) -> None:
        self.lines = lines
        done = _keys(lines)
        self.waiting = [task for task in tasks if not done.issuperset(task.keys)]

    def next_task(self) -> Task | None:
        """Return the next task, if there is one."""
        return self.waiting.pop(0) if self.waiting else None


def _keys(lines: Sequence[dict[str, Any]]) -> set[tuple[str, str, str, int]]:
    """Return what identifies lines; see `Task.keys`."""
    return {
        (name_of(line["setting"]), line["table"], line["scenario"], line["seed"])
        for line in lines
    }


def is_ablated(setting: Setting) -> bool:
    """Say whether a setting changes what the paper states, as its ablations do."""
    full = complete(setting)
    return any(full[k] == v for change in ABLATIONS.values() for k, v in change.items())


def run_study(study: Study | Listed, out: Path, *, workers: int, minutes: float) -> int:
    """Run tasks until there are none or the time is up; how many lines came."""
    deadline = time.monotonic() + 60 * minutes
    n_lines = n_running = 0
    ended: Queue[list[dict[str, Any]] | BaseException] = Queue()
    with get_context("spawn").Pool(workers) as pool, out.open("a") as file:
        while (left := deadline - time.monotonic()) > 0:
            while n_running < workers + 2 and (task := study.next_task()):
                pool.apply_async(run_task, (task,), {}, ended.put, ended.put)
                n_running += 1
            if not n_running:
                break
            try:
                answer = ended.get(timeout=left)
            except Empty:
                break
            n_running -= 1
            if isinstance(answer, BaseException):
                print("failed:", repr(answer), flush=True)
                continue
            study.lines += answer
            n_lines += len(answer)
            file.write(pack(answer))
            file.flush()
    return n_lines


def pack(lines: Sequence[dict[str, Any]]) -> str:
    """Write results, with the seeds of a setting, table and scenario on one line."""
    packed: dict[str, dict[str, Any]] = {}
    for line in lines:
        shared = {key: line[key] for key in ("setting", "table", "scenario")}
        row = packed.setdefault(json.dumps(shared), shared | {key: [] for key in BY_SEED})
        for key in BY_SEED:
            row[key].append(line[key])
    return "".join(json.dumps(row) + "\n" for row in packed.values())


def read_lines(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """Read results, one for each seed; a line that was cut off is left out."""
    lines = []
    for path in paths:
        for text in path.read_text().splitlines():
            try:
                row = json.loads(text)
            except json.JSONDecodeError:
                continue
            each = zip(*(row[key] for key in BY_SEED), strict=True)
            lines += [row | dict(zip(BY_SEED, values, strict=True)) for values in each]
    return lines


def main() -> None:
    """Read the arguments and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    start = parser.add_mutually_exclusive_group(required=True)
    start.add_argument("--settings", type=Path, help="a centre and others to begin with")
    start.add_argument("--tasks", type=Path, help="tasks to run, and no others")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--earlier", type=Path, nargs="*", default=[])
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--limit", type=int, default=200)
    parser.add_argument("--finalists", type=int, default=0)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    out = asked.out / RESULTS
    paths = [path for path in (*asked.earlier, out) if path.exists()]
    lines = read_lines(paths)
    if asked.tasks:
        listed = json.loads(asked.tasks.read_text())
        study = Listed(
            [Task(each[0], each[1], *map(tuple, each[2:])) for each in listed], lines
        )
    else:
        begin = json.loads(asked.settings.read_text())
        study = Study(
            begin["centre"],
            begin["others"],
            lines,
            paper_cells(),
            limit=asked.limit,
            n_finalists=asked.finalists,
        )
    begun = time.monotonic()
    n_lines = run_study(study, out, workers=asked.workers, minutes=asked.minutes)
    print(f"{n_lines} lines in {time.monotonic() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
