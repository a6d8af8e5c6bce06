"""How long sweeps took: one line each, beside the results they made."""

import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from spadework.errors import DataError

SWEEPS = "sweeps.jsonl"


class Sweep(NamedTuple):
    """Runs that ended, on how many cores at a time, and the seconds from start to end.

    ``gpu`` says whether those runs shared a GPU.
    """

    n_runs: int
    n_cores: int
    seconds: float
    gpu: bool = False


@contextmanager
def logged_sweep(
    folder: Path, n_cores: int, *, gpu: bool = False
) -> Iterator[Callable[[], None]]:
    """Yield what is called at the end of each run; note the sweep, broken off or not."""
    n_runs, start = 0, time.perf_counter()

    def ended() -> None:
        nonlocal n_runs
        n_runs += 1

    try:
        yield ended
    finally:
        if n_runs:
            sweep = Sweep(n_runs, n_cores, round(time.perf_counter() - start, 1), gpu)
            with (folder / SWEEPS).open("a", encoding="utf-8") as file:
                file.write(json.dumps(sweep._asdict()) + "\n")


def read_sweeps(folder: Path) -> list[Sweep]:
    """Read the sweeps that made the results below a folder, in order."""
    path = folder / SWEEPS
    if not path.exists():
        return []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        sweeps = [Sweep(**json.loads(line)) for line in lines]
        if not all(n > 0 and cores > 0 and s >= 0 for n, cores, s, _ in sweeps):
            raise ValueError("a sweep has runs, cores and seconds above zero")
    except (ValueError, TypeError) as error:
        raise DataError(f"{path} is not a list of sweeps: {error}. Remove it") from error
    return sweeps


def sum_sweeps(sweeps: Iterable[Sweep]) -> list[Sweep]:
    """Add up sweeps on as many cores, most cores first, those beside a GPU last.

    Examples
    --------
    >>> sum_sweeps([Sweep(5, 2, 60.0), Sweep(9, 16, 30.0), Sweep(1, 2, 15.0)])
    [Sweep(n_runs=9, n_cores=16, seconds=30.0, gpu=False),
     Sweep(n_runs=6, n_cores=2, seconds=75.0, gpu=False)]
    """
    alike: dict[tuple[bool, int], list[Sweep]] = defaultdict(list)
    for each in sweeps:
        alike[each.gpu, -each.n_cores].append(each)
    return [
        Sweep(sum(s.n_runs for s in found), -cores, sum(s.seconds for s in found), gpu)
        for (gpu, cores), found in sorted(alike.items())
    ]
