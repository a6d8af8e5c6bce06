"""Folders of pictures at the command line: what each verb does with them."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from glob import glob, has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spadework.cli import library
from spadework.cli.models import in_words_of_the_command
from spadework.errors import DataError, InputError, SpadeworkError
from spadework.images.photo_files import ENDINGS

if TYPE_CHECKING:
    from spadework.images.detector import ImageSPADE
    from spadework.images.photos import Photos


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
    labels: Path | None,
    label_map: dict[str, int] | None,
    parameters: dict[str, Any],
    say: Callable[[str], None],
) -> "tuple[ImageSPADE, dict[str, Any]]":
    """Fit a detector on a folder of pictures; return it, and what it came to."""
    with words_of_the_command():
        photos = library.photos.find_photos(source, labels, label_map=label_map)
        library.photos.refuse_unlabeled(photos, source)
        detector = library.image_detector.ImageSPADE(**parameters)
        for line in _plan_lines(photos, source, detector):
            say(line)
        detector.fit(list(photos.paths), library.image_detector.in_words(photos.labels))
    return detector, _summarize(detector, photos)


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


def _plan_lines(photos: "Photos", source: str, detector: "ImageSPADE") -> list[str]:
    """Say what will be learnt from, before it takes time."""
    side = detector.size
    types = ", ".join(f"{name} {count:,}" for name, count in _types(photos).items())
    return [
        f"pictures: {len(photos.paths):,} in {source}, read as {side} x {side} pixels",
        f"labels: {library.labels.count_labels(photos.labels)}",
        f"defects: {types or 'none labeled'}",
        f"learner: {detector.learner}",
    ]


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
        "threshold": detector.threshold_,
    }


@contextmanager
def words_of_the_command() -> Iterator[None]:
    """Name options as the command line spells them."""
    try:
        yield
    except SpadeworkError as error:
        text = str(error).replace("on_corrupt='skip'", "--skip-corrupt")
        raise type(error)(in_words_of_the_command(text)) from error
