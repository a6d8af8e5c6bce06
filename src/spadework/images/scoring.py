"""Score any number of pictures in constant memory, in their order."""

import csv
import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spadework.arrays import Flags, Floats, Pixels, Positions
from spadework.errors import DataError, InputError
from spadework.files import STDOUT, open_new, write_whole
from spadework.images.detector import ImageSPADE, patch_model
from spadework.images.heat import encode_picture, heat_range, overlay
from spadework.images.photos import Photos
from spadework.images.reading import iter_photos
from spadework.progress import progress

COLUMNS = ("file", "anomaly_score", "anomalous")
_DELIMITERS = {".csv": ",", ".tsv": "\t"}


class PhotoCounts(NamedTuple):
    """Pictures that were scored, called anomalous, written, and not readable."""

    n_pictures: int
    n_anomalies: int
    n_written: int
    n_unreadable: int


def score_photos(
    detector: ImageSPADE,
    photos: Photos,
    out: Path | str,
    *,
    top: int | None = None,
    only_anomalies: bool = False,
    heat_maps: Path | None = None,
    force: bool = False,
    verbose: bool = False,
) -> PhotoCounts:
    """Write names, scores and calls of pictures, and a heat map of each if wanted.

    Parameters
    ----------
    detector : ImageSPADE
        With ``on_corrupt="skip"``, files that cannot be read get empty cells.
    out : path ending in .csv or .tsv, or "-" for standard output
        Written beside its place and moved there when whole.
    top : int, optional
        Only so many pictures with the highest scores, highest first.
    only_anomalies : bool
        Only pictures that are called anomalous.
    heat_maps : path of a folder, optional
        Where each picture that is written is laid under its heat map, as PNG.
    force : bool
        Replace what is there.
    """
    if top is not None and top < 1:
        raise InputError(f"top must be a positive number; got {top}")
    draw = _HeatMaps(detector, photos, heat_maps, force=force)
    best, best_scores = np.empty(0, dtype=np.intp), np.empty(0)
    n_anomalies = n_written = n_unreadable = 0
    with (
        _open_table(out, force=force) as write,
        progress("scoring", len(photos.paths), verbose=verbose) as advance,
    ):
        for rows, pixels, scores in _scored(detector, photos):
            called, read = scores > detector.threshold_, ~np.isnan(scores)
            n_anomalies += int(called.sum())
            n_unreadable += int((~read).sum())
            kept = called if only_anomalies else np.ones(len(rows), dtype=bool)
            if top is None:
                _write(write, detector, photos, rows[kept], scores[kept])
                n_written += int(kept.sum())
                draw.draw(rows[read], pixels, kept[read])
            else:
                best = np.append(best, rows[kept & read])
                best_scores = np.append(best_scores, scores[kept & read])
                order = np.argsort(-best_scores, kind="stable")[:top]
                best, best_scores = best[order], best_scores[order]
            for _ in rows:
                advance("")
        if top is not None:
            _write(write, detector, photos, best, best_scores)
            n_written = len(best)
            draw.draw_files(best)
    return PhotoCounts(len(photos.paths), n_anomalies, n_written, n_unreadable)


def _scored(
    detector: ImageSPADE, photos: Photos
) -> Iterator[tuple[Positions, Pixels, Floats]]:
    """Score pictures a few at a time.

    Yields the positions of all pictures, (n,), the pixels of those that were read, and
    scores, (n,), NaN where there are no pixels.
    """
    start = 0
    chunks = iter_photos(photos.paths, detector.size, on_corrupt=detector.on_corrupt)
    for read, pixels in chunks:
        rows = np.arange(start, read[-1] + 1)
        scores = np.full(len(rows), np.nan)
        scores[read - start] = detector.anomaly_score(pixels)
        yield rows, pixels, scores
        start = int(read[-1]) + 1
    if start < len(photos.paths):
        rows = np.arange(start, len(photos.paths))
        nothing = np.empty((0, detector.size, detector.size, 3), dtype=np.uint8)
        yield rows, nothing, np.full(len(rows), np.nan)


def _write(
    write: Any, detector: ImageSPADE, photos: Photos, rows: Positions, scores: Floats
) -> None:
    """Write one line a picture; what was not read has empty cells."""
    for row, score in zip(rows.tolist(), scores.tolist(), strict=True):
        answers = (score, int(score > detector.threshold_))
        write([photos.names[row], *(("", "") if np.isnan(score) else answers)])


@contextmanager
def _open_table(out: Path | str, *, force: bool) -> Iterator[Any]:
    """Yield what writes a line of the table, which appears when all is written."""
    if str(out) == STDOUT:
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(COLUMNS)
        yield writer.writerow
        return
    suffix = Path(out).suffix.lower()
    if suffix not in _DELIMITERS:
        raise InputError(f"{out} must end in .csv or .tsv")
    with open_new(Path(out), force=force) as file:
        # Names of files need not be UTF-8.
        text = io.TextIOWrapper(
            file, "utf-8", "surrogateescape", newline="", write_through=True
        )
        writer = csv.writer(text, delimiter=_DELIMITERS[suffix], lineterminator="\n")
        writer.writerow(COLUMNS)
        yield writer.writerow
        text.detach()


class _HeatMaps:
    """Writes heat maps into a folder, or nothing where there is none."""

    def __init__(
        self, detector: ImageSPADE, photos: Photos, folder: Path | None, *, force: bool
    ) -> None:
        self._detector, self._photos, self._folder = detector, photos, folder
        if folder is None:
            return
        model = patch_model(detector)
        if folder.exists() and not folder.is_dir():
            raise DataError(f"{folder} is a file; name a folder for the heat maps")
        if folder.is_dir() and any(folder.iterdir()) and not force:
            raise DataError(
                f"{folder} exists and is left as it is; give --force to write into it"
            )
        self._range = heat_range(model.bank)

    def draw(self, rows: Positions, pixels: Pixels, kept: Flags) -> None:
        """Draw those pictures that are kept; rows and pixels of n pictures."""
        if self._folder is None or not kept.any():
            return
        chosen = pixels[kept]
        drawn = overlay(chosen, self._detector.heat_map(chosen), self._range)
        for row, picture in zip(rows[kept].tolist(), drawn, strict=True):
            target = self._folder / heat_name(self._photos.names[row])
            target.parent.mkdir(parents=True, exist_ok=True)
            write_whole(target, encode_picture(picture, "PNG"))

    def draw_files(self, rows: Positions) -> None:
        """Read these pictures again and draw them all."""
        if self._folder is None:
            return
        paths = [self._photos.paths[row] for row in rows.tolist()]
        for at, pixels in iter_photos(paths, self._detector.size):
            self.draw(rows[at], pixels, np.ones(len(at), dtype=bool))


def heat_name(name: str) -> Path:
    """Return where the heat map of a picture goes below a folder.

    >>> heat_name("good/1.png"), heat_name("../a/1.jpg")
    (PosixPath('good/1.png'), PosixPath('a/1.jpg.png'))
    """
    path = Path(name)
    below = Path(*(part for part in path.parts if part not in (path.anchor, "..")))
    is_png = below.suffix.lower() == ".png"
    return below if is_png else below.with_name(f"{below.name}.png")
