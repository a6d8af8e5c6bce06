"""Keep the pixels of many pictures: few in memory, many in a file without a name."""

import shutil
import tempfile
from contextlib import suppress
from typing import Self

import numpy as np

from spadework.arrays import Pixels
from spadework.errors import DataError

MEMORY_BYTES = 64 << 20
"""Pixels that take more go to a temporary file."""


class PixelStore:
    """Pictures of one width and height, so many at most, put one behind the other.

    The file has no name from the start, so nothing is left of it whatever happens. It
    is written, not mapped, while it grows: a full disk is then an error that can be
    caught, and what was written does not count as memory of this process.
    """

    def __init__(self, n_photos: int, size: int) -> None:
        self._shape = (size, size, 3)
        self._n_added = 0
        n_bytes = n_photos * size * size * 3
        if n_bytes <= MEMORY_BYTES:
            self._place = np.empty((n_photos, *self._shape), dtype=np.uint8)
        else:
            free = shutil.disk_usage(tempfile.gettempdir()).free
            if free < n_bytes:
                raise _no_room(
                    f"{n_bytes / 1e9:.1f} GB are needed, {free / 1e9:.1f} are free"
                )
            self._place = tempfile.TemporaryFile(prefix="spadework-")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        if not isinstance(self._place, np.ndarray):
            # On a full disk, closing fails as writing did. A mapping stays open.
            with suppress(OSError):
                self._place.close()

    def add(self, picture: Pixels) -> None:
        """Put a picture of shape (size, size, 3) behind the others."""
        if isinstance(self._place, np.ndarray):
            self._place[self._n_added] = picture
        else:
            try:
                self._place.write(np.ascontiguousarray(picture).data)
                self._place.flush()
            except OSError as error:
                raise _no_room(str(error.strerror)) from error
        self._n_added += 1

    def pixels(self) -> Pixels:
        """Return the pictures, one at least, of shape (n_added, size, size, 3)."""
        if isinstance(self._place, np.ndarray):
            return self._place[: self._n_added]
        shape = (self._n_added, *self._shape)
        return np.memmap(self._place, np.uint8, "r+", shape=shape)


def _no_room(reason: str) -> DataError:
    """Say that pixels found no place, and what to do."""
    return DataError(
        f"the pixels of the pictures do not fit into {tempfile.gettempdir()} ({reason}). "
        f"Make room there, let the environment variable TMPDIR name a folder on another "
        f"disk, or read fewer or smaller pictures"
    )
