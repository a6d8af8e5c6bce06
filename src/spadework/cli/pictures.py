"""Folders of pictures at the command line: what each verb does with them."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from spadework.cli import library
from spadework.cli.models import in_words_of_the_command, save_into
from spadework.errors import DataError, InputError, SpadeworkError
from spadework.images.photo_files import ENDINGS

if TYPE_CHECKING:
    from spadework.images.detector import ImageSPADE
    from spadework.images.photos import Photos

_COMPARED = 64
"""Pictures, at most, that an exported graph is compared on."""


def is_folder(sources: list[str]) -> bool:
    """Tell a folder, which holds pictures, from a table."""
    return len(sources) == 1 and Path(sources[0]).is_dir()


def refuse_options(what: str, **given: Any) -> None:
    """Refuse options that have no meaning for what is given, by their names."""
    for name, value in given.items():
        if value not in (None, False, []):
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} has no meaning for {what}; leave it out")


def fit_pictures(
    source: str,
    target: Path,
    *,
    labels: Path | None,
    label_map: dict[str, int] | None,
    learner: str | None,
    size: int | None,
    skip_corrupt: bool,
    threshold: float | None,
    seed: int,
    quiet: bool,
    as_json: bool,
) -> None:
    """Fit a model on a folder of pictures, say what it came to, and write it."""
    from rich.console import Console

    console = Console(stderr=True, quiet=quiet, soft_wrap=True, highlight=False)
    size = library.photo_reading.DEFAULT_SIZE if size is None else size
    with _words_of_the_command():
        photos = library.photos.find_photos(source, labels, label_map=label_map)
        library.photos.refuse_unlabeled(photos, source)
        learner = learner or "pretrained"
        for line in _plan_lines(photos, source, size, learner):
            console.print(line, markup=False)
        detector = library.image_detector.ImageSPADE(
            learner=learner,  # type: ignore[arg-type]  # fit refuses any other name
            size=size,
            on_corrupt="skip" if skip_corrupt else "refuse",
            threshold="auto" if threshold is None else threshold,
            random_state=seed,
            verbose=not quiet,
        )
        detector.fit(list(photos.paths), library.image_detector.in_words(photos.labels))
    save_into(target, detector)
    facts = _summarize(detector, photos)
    if as_json:
        print(json.dumps({**facts, "model": str(target)}))
        return
    if facts["left_out"]:
        console.print(f"left out: {facts['left_out']:,} pictures that cannot be read")
    console.print(f"trust:  {facts['trust']}", markup=False)
    console.print(f"calls:  pictures that score above {facts['threshold']:.3f}")
    console.print(f"model:  {target}", markup=False)


def score_pictures(
    detector: "ImageSPADE",
    sources: list[str],
    out: Path,
    *,
    top: int | None,
    only_anomalies: bool,
    heat_maps: Path | None,
    skip_corrupt: bool,
    force: bool,
    quiet: bool,
    as_json: bool,
) -> None:
    """Score pictures and say how many were called anomalous."""
    with _words_of_the_command():
        detector.on_corrupt = "skip" if skip_corrupt else "refuse"
        counts = library.photo_scoring.score_photos(
            detector,
            find_pictures(sources),
            out,
            top=top,
            only_anomalies=only_anomalies,
            heat_maps=heat_maps,
            force=force,
            verbose=not quiet,
        )
    if as_json:
        typer.echo(json.dumps(counts._asdict()), err=str(out) == "-")
    elif not quiet:
        unreadable = counts.n_unreadable
        typer.echo(
            f"{counts.n_pictures - unreadable:,} pictures scored, "
            f"{counts.n_anomalies:,} called anomalous, {counts.n_written:,} written to "
            f"{out}{f', {unreadable:,} could not be read' if unreadable else ''}",
            err=True,
        )


def report_pictures(
    detector: "ImageSPADE",
    sources: list[str],
    out: Path,
    *,
    skip_corrupt: bool,
    quiet: bool,
) -> None:
    """Write the report on a folder of pictures."""
    with _words_of_the_command():
        detector.on_corrupt = "skip" if skip_corrupt else "refuse"
        detector.verbose = not quiet
        library.picture_report.write_picture_page(detector, find_pictures(sources), out)


def export_pictures(
    detector: "ImageSPADE", sources: list[str], out: Path
) -> tuple[int, float]:
    """Write a model of pictures as ONNX, once it scores some of these the same.

    Returns how many pictures were compared, and how far scores differ at most.
    """
    with _words_of_the_command():
        paths = find_pictures(sources).paths
        sample = list(paths[:: -(-len(paths) // _COMPARED)])
        return len(sample), library.export.export_onnx(detector, out, sample=sample)


def find_pictures(sources: list[str]) -> "Photos":
    """Find the pictures of a folder, or of files and globs in their order."""
    if is_folder(sources):
        return library.photos.find_photos(sources[0])
    files = [file for source in sources for file in _expanded(source)]
    strange = [file for file in files if Path(file).suffix.lower() not in ENDINGS]
    if strange:
        raise InputError(
            f"the model was fitted on pictures and {strange[0]} is none: give a folder, "
            f"or files that end in {', '.join(ENDINGS)}"
        )
    return library.photos.find_photos(files)


def _expanded(source: str) -> list[str]:
    """Return the files that a glob matches, or the file itself."""
    if Path(source).exists() or not has_magic(source):
        return [source]
    found = sorted(glob(source, recursive=True))
    if not found:
        raise DataError(f"no file matches {source}")
    return found


def _plan_lines(photos: "Photos", source: str, size: int, learner: str) -> list[str]:
    """Say what will be learnt from, before it takes time."""
    lines = [
        f"pictures: {len(photos.paths):,} in {source}, read as {size} x {size} pixels",
        f"labels: {library.labels.count_labels(photos.labels)}",
    ]
    types = _types(photos)
    if types:
        shown = ", ".join(f"{name} {count:,}" for name, count in types.items())
        lines.append(f"defects: {shown}")
    if not (photos.labels == library.labels.ANOMALY).any() and not types:
        lines.append("defects: none labeled")
    return [*lines, f"learner: {learner}"]


def _types(photos: "Photos") -> dict[str, int]:
    """Count the pictures of each type of defect."""
    pairs = zip(photos.kinds, photos.labels.tolist(), strict=True)
    counts = Counter(kind for kind, label in pairs if label == library.labels.ANOMALY)
    return dict(sorted(counts.items()))


def _summarize(detector: "ImageSPADE", photos: "Photos") -> dict[str, Any]:
    """Return what a fit came to, as plain values."""
    census = detector.census_
    return {
        "pictures": sum(census),
        "left_out": len(photos.paths) - sum(census),
        "census": census._asdict(),
        "setting": detector.setting_,
        "defects": _types(photos),
        "size": detector.size,
        "learner": detector.learner,
        "trust": str(detector.trust_) if detector.trust_ else "not judged",
        "threshold": detector.threshold_,
    }


@contextmanager
def _words_of_the_command() -> Iterator[None]:
    """Name options as the command line spells them."""
    try:
        yield
    except SpadeworkError as error:
        text = str(error).replace("on_corrupt='skip'", "--skip-corrupt")
        raise type(error)(in_words_of_the_command(text)) from error
