"""Files of pictures in folders: which there are, and what else lies there."""

import logging
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from spadework.errors import DataError

ENDINGS = (".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".bmp", ".tif", ".tiff", ".webp")
NOT_READ = (".gif", ".heic", ".heif", ".avif", ".jp2", ".raw", ".dng", ".cr2", ".nef")
"""Endings of pictures that are not read."""

LAYOUTS = (
    "good/, defect/<type>/ and unlabeled/ (any of them), or those of MVTec AD: "
    "train/good/, test/good/ and test/<type>/"
)
"""Folders that label the pictures in them."""

logger = logging.getLogger("spadework")

_TABLES = (".csv", ".tsv", ".parquet", ".arrow", ".gz", ".zst")
_SHOWN = 5


def pictures_below(folder: Path, above: tuple[str, ...] = ()) -> Iterator[Path]:
    """Find pictures at any depth; a link back to a folder above is not followed."""
    place = os.path.realpath(folder)
    if place in above:
        return
    for entry in visible(folder):
        if entry.is_dir():
            yield from pictures_below(entry, (*above, place))
        elif is_picture(entry):
            yield entry


def folders_in(folder: Path) -> list[Path]:
    """Return the folders directly in a folder."""
    return [entry for entry in visible(folder) if entry.is_dir()]


def visible(folder: Path) -> list[Path]:
    """Return what lies in a folder, sorted, without what is hidden."""
    try:
        entries = sorted(folder.iterdir())
    except PermissionError as error:
        raise DataError(
            f"{folder} may not be read ({error.strerror}); ask for permission to it, or "
            f"take it out of the folder of pictures"
        ) from error
    return [entry for entry in entries if not entry.name.startswith(".")]


def is_picture(path: Path) -> bool:
    """Tell files that are read, by their ending."""
    return path.suffix.lower() in ENDINGS


def warn_of_others(folder: Path) -> None:
    """Log how many pictures below a folder are of kinds that are not read."""
    endings = _endings_below(folder)
    others = {end: endings[end] for end in NOT_READ if end in endings}
    if others:
        logger.warning(
            f"left out: {sum(others.values()):,} pictures in {folder} that end in "
            f"{', '.join(others)}; save them as JPEG or PNG"
        )


def _endings_below(folder: Path) -> Counter[str]:
    """Count files at any depth by their endings, without those that are hidden."""
    return Counter(
        Path(name).suffix.lower() or "no ending"
        for _, _, names in os.walk(folder)
        for name in names
        if not name.startswith(".")
    )


def refuse_some(wrong: Sequence[str], what: str, advice: str) -> None:
    """Raise if there is anything wrong; name the first few and count all."""
    if wrong:
        more = f" and {len(wrong) - _SHOWN:,} more" if len(wrong) > _SHOWN else ""
        shown = ", ".join(wrong[:_SHOWN])
        raise DataError(f"{len(wrong):,} {what}: {shown}{more}. {advice}")


def no_pictures_message(folder: Path) -> str:
    """Say that a folder has no pictures, and what it has instead."""
    endings = _endings_below(folder)
    hint = "; a table is given by its files" if endings.keys() & set(_TABLES) else ""
    counts = (f"{count:,} with {end}" for end, count in endings.most_common(_SHOWN))
    found = f"files, {', '.join(counts)}" if endings else "no file at all"
    return (
        f"no picture in {folder}: expected files that end in {', '.join(ENDINGS)}, in "
        f"folders {LAYOUTS}; found {found}{hint}"
    )
