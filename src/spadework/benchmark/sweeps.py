"""How long sweeps took: one line each, beside the results they made."""

import json
import time
from collections.abc import Callable, Iterator
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
