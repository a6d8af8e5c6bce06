"""Fetch original files into a cache: resumed, checked, whole or not there at all."""

import gzip
import hashlib
import os
import urllib.error
import urllib.request
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from spadework.errors import DataError
from spadework.progress import progress

_BLOCK = 1 << 20


@dataclass(frozen=True)
class SourceFile:
    """One original file of a data set.

    Attributes
    ----------
    name : str
        Path below the data folder, such as ``thyroid/ann-train.data``.
    sha256 : str, optional
        None where it is not known; the reader then checks what it can.
    url : str, optional
        Public address; None where a source needs an account.
    page : str
        The page that a person can visit for the file.
    """

    name: str
    sha256: str | None
    url: str | None
    page: str

    def place(self, folder: Path) -> Path | None:
        """Return where the file lies in a folder, as it is or gzipped."""
        plain = folder / self.name
        packed = plain.with_name(plain.name + ".gz")
        return next((path for path in (plain, packed) if path.exists()), None)


def download(source: SourceFile, folder: Path, *, verbose: bool) -> Path:
    """Download a file into the folder, unless it is there and whole.

    What has arrived stays in a ``.part`` file if the connection breaks, and the
    next call goes on from there. Only a file whose checksum fits gets its name.
    """
    present = source.place(folder)
    if present is not None:
        check_file(present, source)
        return present
    target = folder / source.name
    if source.url is None:
        raise DataError(
            f"{source.name} cannot be downloaded without an account. Get it from "
            f"{source.page} and put it at {target}"
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(target.name + ".part")
    try:
        _receive(source.url, part, label=source.name, verbose=verbose)
    except (OSError, urllib.error.URLError) as error:
        raise DataError(
            f"{source.name} could not be downloaded from {source.url}: {error}. Try "
            f"again to go on where it stopped, or get it from {source.page} and put it "
            f"at {target}"
        ) from error
    try:
        check_file(part, source)
    except DataError:
        part.unlink()
        raise
    os.replace(part, target)
    return target


def check_file(path: Path, source: SourceFile) -> None:
    """Raise unless the file is, byte for byte, the original one, once unpacked.

    Where its checksum is not known, it must only be readable to its end.
    """
    packed = path.suffix == ".gz" and not source.name.endswith(".gz")
    digest = hashlib.sha256()
    try:
        with gzip.open(path) if packed else path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(
            f"{path} cannot be unpacked ({error}); remove it and get it again from "
            f"{source.page}"
        ) from error
    except OSError as error:
        raise DataError(
            f"{path} must be a file that can be read ({error}); remove it and get it "
            f"again from {source.page}"
        ) from error
    if source.sha256 is not None and digest.hexdigest() != source.sha256:
        raise DataError(
            f"{path} is not the original {source.name}: its sha256 is "
            f"{digest.hexdigest()}, expected {source.sha256} ({path.stat().st_size:,} "
            f"bytes). It may be cut off; remove it and fetch it again from {source.page}"
        )


def _receive(url: str, part: Path, *, label: str, verbose: bool) -> None:
    """Append to the part file what the server has beyond it."""
    done = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(url, headers={"Range": f"bytes={done}-"})
    try:
        response = urllib.request.urlopen(request, timeout=60)
    except urllib.error.HTTPError as error:
        if error.code == 416:  # nothing beyond what is there
            return
        raise
    with response:
        resumed = response.status == 206
        rest = int(response.headers.get("Content-Length", 0))
        total = max(1, -(-rest // _BLOCK))
        with (
            part.open("ab" if resumed else "wb") as file,
            progress(f"fetching {label}", total, verbose=verbose) as advance,
        ):
            received = _copy(response.read, file.write, advance)
    if received < rest:
        raise OSError(f"the connection broke off after {received:,} of {rest:,} bytes")


def _copy(
    read: Callable[[int], bytes],
    write: Callable[[bytes], object],
    advance: Callable[[str], None],
) -> int:
    """Copy block by block; return how many bytes there were."""
    received = 0
    while block := read(_BLOCK):
        write(block)
        received += len(block)
        advance("")
    return received
