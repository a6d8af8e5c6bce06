"""Work on many rows, shared out among the cores there are."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import TypeVar

from threadpoolctl import threadpool_limits

Result = TypeVar("Result")


def usable_cores() -> int:
    """Cores this process may run on, or what a container has of them."""
    from joblib import cpu_count  # reads quotas; half a second to import

    return cpu_count()


def map_blocks(
    function: Callable[[slice], Result], n_rows: int, block_rows: int
) -> Iterator[Result]:
    """Call a function with the slices of blocks of rows; results come in row order.

    >>> list(map_blocks(lambda rows: (rows.start, rows.stop), 5, 2))
    [(0, 2), (2, 4), (4, 5)]
    """

    def call(start: int) -> Result:
        return function(slice(start, min(start + block_rows, n_rows)))

    if n_rows <= block_rows:  # a pool would take longer than a few rows do
        yield from map(call, range(0, n_rows, block_rows))
        return
    with ThreadPoolExecutor(usable_cores()) as pool:
        yield from pool.map(call, range(0, n_rows, block_rows))


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Multiply on one thread: shared out, small products would wait for one another.

    The limit is that of the process. Whoever comes second waits: it must not take the
    limit of the first for what is to be put back.
    """
    with _limiting_blas, threadpool_limits(1, user_api="blas"):
        yield


_limiting_blas = Lock()
