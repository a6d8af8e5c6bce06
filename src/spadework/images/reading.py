"""Read pictures of any size and mode as squares of colour pixels, in their order.

What is transparent is laid on white. Grey of 16 bits is scaled by its full range: 65,535
becomes 255. Of files with several pictures the first is read. The orientation that
cameras note is applied, colour profiles are not.
"""

import logging
import os
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from spadework.arrays import Pixels, Positions
from spadework.core.cores import usable_cores
from spadework.errors import DataError, InputError
from spadework.images.arrays import check_images, eight_bit
from spadework.images.decoding import Unreadable, decode, load_pillow, resize_pixels
from spadework.images.storing import PixelStore
from spadework.parameters import check_positive_integer
from spadework.progress import progress

logger = logging.getLogger("spadework")

OnCorrupt = Literal["refuse", "skip"]
Paths = Iterable[str | os.PathLike[str]]
Chunk = tuple[Positions, Pixels]

DEFAULT_SIZE = 256
_AHEAD_PER_WORKER = 4
_SHOWN = 5


class ReadPhotos(NamedTuple):
    """Pictures that were read, and which of the paths these are, (n_kept,), ascending.

    Pixels, (n_kept, size, size, 3), are in memory, or mapped from a temporary file that
    goes when the array does.
    """

    pixels: Pixels
    kept: Positions


def read_photos(
    paths: Sequence[str | os.PathLike[str]],
    size: int = DEFAULT_SIZE,
    *,
    on_corrupt: OnCorrupt = "refuse",
    verbose: bool = False,
) -> ReadPhotos:
    """Read pictures as squares of colour pixels, in bounded memory.

    Parameters
    ----------
    paths : sequence of paths
        JPEG, PNG, BMP, TIFF or WebP files of any size and mode.
    size : int
        Width and height of what comes out; the shape of a picture is not kept.
    on_corrupt : {"refuse", "skip"}
        Files that cannot be read are an error when all were tried, or are left out and
        named in the log.

    Raises
    ------
    DataError
        If pictures cannot be read, or the disk has no room for their pixels.
    InputError
        If a parameter has no meaning, or Pillow is not installed.
    """
    _check_reading(paths, size, on_corrupt)
    if not len(paths):
        raise InputError("there are no pictures to read: expected one path at least")
    kept: list[int] = []
    corrupt: list[Unreadable] = []
    with (
        PixelStore(len(paths), size) as store,
        closing(_decoded(paths, size, ahead=0)) as pictures,
        progress("reading pictures", len(paths), verbose=verbose) as advance,
    ):
        for row, picture in enumerate(pictures):
            if isinstance(picture, Unreadable):
                corrupt.append(picture)
            elif not corrupt or on_corrupt == "skip":
                store.add(picture)
                kept.append(row)
            advance(f"{len(corrupt)} corrupt" if corrupt else "")
        _answer_corrupt(corrupt, len(paths), on_corrupt)
        if not kept:
            raise DataError("no picture is left: none of the files could be read")
        return ReadPhotos(store.pixels(), np.array(kept, dtype=np.int64))


def iter_photos(
    paths: Paths,
    size: int = DEFAULT_SIZE,
    chunk: int = 64,
    *,
    on_corrupt: OnCorrupt = "refuse",
) -> Iterator[Chunk]:
    """Read pictures chunk by chunk, the next one while the last is worked on.

    Parameters are those of `read_photos`, but paths may come from an iterator. Corrupt
    pictures are refused when the turn of their chunk comes, or make it shorter. Yields
    which of the paths these are, (n,), n from 1 to chunk, and pixels, (n, size, size, 3).
    """
    _check_reading(paths, size, on_corrupt)
    check_positive_integer("chunk", chunk)
    return _chunks(paths, size, chunk, on_corrupt)


def as_pixels(images: Any, size: int = DEFAULT_SIZE) -> Pixels:
    """Return pictures that are arrays as squares of colour pixels.

    Parameters
    ----------
    images : ndarray of shape (n, H, W), (n, H, W, 1) or (n, H, W, 3), or list of arrays
        Values are uint8, or floats from 0 to 1. In a list each picture may have a size
        of its own. Others are refused with an InputError.

    Returns
    -------
    pixels : ndarray of shape (n, size, size, 3), uint8
        A copy; mapped from a temporary file if it is large, as of `read_photos`.
    """
    check_positive_integer("size", size)
    pictures = check_images(images)
    with PixelStore(len(pictures), size) as store:
        for row, picture in enumerate(pictures):
            store.add(resize_pixels(eight_bit(picture, row), size))
        return store.pixels()


def _chunks(paths: Paths, size: int, chunk: int, on_corrupt: str) -> Iterator[Chunk]:
    """Yield what `iter_photos` promises, for parameters that were checked."""
    with closing(_decoded(paths, size, ahead=chunk)) as pictures:
        numbered = enumerate(pictures)
        while taken := list(islice(numbered, chunk)):
            good = [(i, each) for i, each in taken if not isinstance(each, Unreadable)]
            corrupt = [each for _, each in taken if isinstance(each, Unreadable)]
            _answer_corrupt(corrupt, len(taken), on_corrupt)
            if good:
                indices = np.array([i for i, _ in good], dtype=np.int64)
                yield indices, np.stack([picture for _, picture in good])


def _decoded(
    paths: Paths, size: int, *, ahead: int
) -> Generator[Pixels | Unreadable, None, None]:
    """Decode pictures in threads and in order, a bounded number of them ahead."""
    load_pillow()
    n_workers = usable_cores()
    most = ahead + _AHEAD_PER_WORKER * n_workers
    waiting: deque[Future[Pixels | Unreadable]] = deque()
    executor = ThreadPoolExecutor(n_workers, thread_name_prefix="spadework-pictures")
    try:
        for path in paths:
            waiting.append(executor.submit(decode, Path(path), size))
            if len(waiting) > most:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        executor.shutdown(cancel_futures=True)


def _answer_corrupt(corrupt: list[Unreadable], n_tried: int, on_corrupt: str) -> None:
    """Raise for pictures that cannot be read, or log that they are left out."""
    if not corrupt:
        return
    shown = ", ".join(str(each) for each in corrupt[:_SHOWN])
    more = f" and {len(corrupt) - _SHOWN:,} more" if len(corrupt) > _SHOWN else ""
    what = f"{len(corrupt):,} of {n_tried:,} pictures cannot be read: {shown}{more}"
    if on_corrupt == "refuse":
        raise DataError(
            f"{what}. Replace or remove these files, or leave them out with "
            f"on_corrupt='skip'"
        )
    logger.warning("%s; left out", what)


def _check_reading(paths: Paths, size: int, on_corrupt: str) -> None:
    """Refuse parameters that have no meaning, before any work is done."""
    if isinstance(paths, (str, os.PathLike)):
        raise InputError(
            f"paths must be a list of files; got {os.fspath(paths)!r}. find_photos lists "
            f"those of a folder"
        )
    check_positive_integer("size", size)
    check_on_corrupt(on_corrupt)


def check_on_corrupt(on_corrupt: str) -> None:
    """Refuse what says nothing of files that cannot be read."""
    if on_corrupt not in ("refuse", "skip"):
        raise InputError(f"on_corrupt must be 'refuse' or 'skip'; got {on_corrupt!r}")
