"""Write files whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from spadework.errors import DataError

STDOUT = "-"
"""Stands for standard output where a file could be named."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)

MODEL_FILE = "model.spade"
"""Name of the model in a folder that the commands write."""


def model_file(path: Path) -> Path:
    """Return the model file in a folder, or the file itself."""
    return path / MODEL_FILE if path.is_dir() else path


def check_place(path: Path, *, force: bool) -> None:
    """Refuse to write a file where there is no folder for it, or something else."""
    if path.is_dir():
        raise DataError(f"{path} is a folder; name a file in it")
    if not path.parent.is_dir():
        raise DataError(f"there is no folder {path.parent}; make it first")
    refuse_to_replace(path, force=force)


def check_ending(path: Path, *endings: str) -> None:
    """Refuse a file whose name says that it holds something else."""
    if path.suffix.lower() not in endings:
        raise DataError(f"{path} must end in {' or '.join(endings)}")


def refuse_to_replace(path: Path, *, force: bool) -> None:
    """Refuse to write over a file, unless that is wanted, and over what is no file."""
    if path.exists() and not path.is_file():
        raise DataError(f"{path} is not a file, and left as it is; name another place")
    if path.exists() and not force:
        raise DataError(f"{path} exists and is left as it is; give --force to replace it")


def write_whole(target: Path, content: bytes) -> None:
    """Write content to a file, whole or not at all; see `open_whole`."""
    with _saying_why(target), open_whole(target) as file:
        file.write(content)


@contextmanager
def open_new(out: Path, *, force: bool) -> Iterator[BinaryIO]:
    """Open a file that must not be there yet, unless forced; see `open_whole`."""
    target = Path(os.path.realpath(out))
    check_place(target, force=force)
    with _saying_why(out), open_whole(target) as file:
        yield file
        refuse_to_replace(target, force=force)


@contextmanager
def _saying_why(target: Path) -> Iterator[None]:
    """Say why a file could not be written."""
    try:
        yield
    except DataError:
        raise
    except OSError as error:
        raise DataError(
            f"{target} could not be written: {error.strerror or error}. Make room or "
            f"choose another place"
        ) from error


@contextmanager
def open_whole(target: Path) -> Iterator[BinaryIO]:
    """Open a file beside the target; at the end sync it and move it into place.

    Whatever interrupts it, the target holds either its old or its new content. An
    older file's permissions are kept, and a link stays a link.
    """
    target = Path(os.path.realpath(target))
    # Named before it is made: a signal in between leaves nothing that is not removed.
    name = target.parent / f".{target.name}.{secrets.token_hex(8)}"
    try:
        # Nobody else may read it where it takes the place of a file.
        mode = 0o600 if target.exists() else 0o666
        with os.fdopen(os.open(name, _NEW, mode), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            os.chmod(name, target.stat().st_mode & 0o777)
        os.replace(name, target)
    except BaseException:
        name.unlink(missing_ok=True)
        raise
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make the move itself durable, where folders can be opened."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
