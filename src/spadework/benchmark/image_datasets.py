"""The paper's photos: which folder holds which kind (B.1). No pixels are read."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from spadework.benchmark.scenarios import Kinds
from spadework.errors import DataError, InputError

MVTEC_PAGE = "https://www.mvtec.com/company/research/datasets/mvtec-ad"
MVTEC_CATEGORIES = (
    "bottle",
    "cable",
    "capsule",
    "carpet",
    "grid",
    "hazelnut",
    "leather",
    "metal_nut",
    "pill",
    "screw",
    "tile",
    "toothbrush",
    "transistor",
    "wood",
    "zipper",
)
# The address ends in a dot.
MAGNETIC_TILE_PAGE = "https://github.com/abin24/Magnetic-tile-defect-datasets."
MAGNETIC_TILE_PHOTOS = {
    "Free": 952,
    "Blowhole": 115,
    "Crack": 57,
    "Break": 85,
    "Fray": 32,
    "Uneven": 103,
}


@dataclass(frozen=True)
class LabeledImages:
    """Photos whose truth is known, all mixed: a random 80 % of them trains.

    Attributes
    ----------
    paths : tuple of Path
    kind : ndarray of shape (n_photos,)
        0 for normal photos, 1, 2, ... for the kinds of anomaly.
    given : tuple of int
        Kinds that labelers know; the others are new.
    """

    paths: tuple[Path, ...]
    kind: Kinds
    given: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.paths) != len(self.kind):
            raise InputError(
                f"images need one kind per photo: {len(self.paths)} photos, "
                f"{len(self.kind)} kinds"
            )


def read_mvtec(folder: Path) -> LabeledImages:
    """Find the photos of one MVTec category: good is normal, odd types are given.

    Types of defects are counted from 1, in sorted order of their folders in test.
    """
    good = [
        *_some_photos(folder / "train" / "good"),
        *_some_photos(folder / "test" / "good"),
    ]
    types = sorted(
        path
        for path in (folder / "test").iterdir()
        if path.is_dir() and path.name != "good" and not _hidden(path)
    )
    if not types:
        raise DataError(
            f"{folder / 'test'} must hold a folder for each type of defect; it holds "
            f"only good. Unpack the category again from {MVTEC_PAGE}"
        )
    return _by_kind([good, *map(_some_photos, types)])


def read_magnetic_tile(folder: Path) -> LabeledImages:
    """Find the photos of magnetic tiles: free of defects is normal, odd types given.

    Types of defects are Blowhole, Crack, Break, Fray and Uneven, counted from 1.
    """
    photos = {
        name: _photos(folder / f"MT_{name}" / "Imgs", (".jpg",))
        for name in MAGNETIC_TILE_PHOTOS
    }
    wrong = [
        f"MT_{name}/Imgs must hold {expected} photos (*.jpg), found {len(photos[name])}"
        for name, expected in MAGNETIC_TILE_PHOTOS.items()
        if len(photos[name]) != expected
    ]
    if wrong:
        raise DataError(
            f"{folder} is not the whole data set: {'; '.join(wrong)}. Get it again from "
            f"{MAGNETIC_TILE_PAGE}"
        )
    return _by_kind(list(photos.values()))


def _by_kind(groups: Sequence[Sequence[Path]]) -> LabeledImages:
    """Put groups of photos one after the other; a group's position is its kind."""
    sizes = [len(group) for group in groups]
    return LabeledImages(
        tuple(path for group in groups for path in group),
        np.repeat(np.arange(len(groups), dtype=np.int64), sizes),
        given=tuple(range(1, len(groups), 2)),
    )


def _some_photos(folder: Path) -> list[Path]:
    """Find an MVTec folder's photos; raise where there are none, or one comes twice."""
    photos = _photos(folder, (".png", ".jpg"))
    if not photos:
        raise DataError(
            f"{folder} must hold photos (*.png or *.jpg), found none. Unpack the "
            f"category again from {MVTEC_PAGE}"
        )
    if len({path.stem for path in photos}) < len(photos):
        raise DataError(
            f"{folder} must hold each photo once, found some as *.png and *.jpg. Remove "
            "one of the two, or a photo may be trained on and tested on"
        )
    return photos


def _photos(folder: Path, endings: tuple[str, ...]) -> list[Path]:
    """Find a folder's photos in order of name; none where there is no folder."""
    if not folder.is_dir():
        return []
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix.lower() in endings and not _hidden(path)
    )


def _hidden(path: Path) -> bool:
    """Tell what tools leave behind, such as ``._000.png``, from what is unpacked."""
    return path.name.startswith(".")
