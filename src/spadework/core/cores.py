"""Work on many rows, shared out among the cores there are."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Result = TypeVar("Result")


def usable_cores() -> int:
    """Cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def map_blocks(
    function: Callable[[slice], Result], n_rows: int, block_rows: int
) -> Iterator[Result]:
    """Call a function with the slices of blocks of rows; results come in row order.

    >>> list(map_blocks(lambda rows: (rows.start, rows.stop), 5, 2))
    [(0, 2), (2, 4), (4, 5)]
    """

    def call(start: int) -> Result:
        return function(slice(start, min(start + block_rows, n_rows)))

    with ThreadPoolExecutor(usable_cores()) as pool:
        yield from pool.map(call, range(0, n_rows, block_rows))
