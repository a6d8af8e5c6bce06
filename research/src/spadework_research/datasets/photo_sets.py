"""The paper's photos: which folder holds which kind (B.1). No pixels are decoded."""

import re
import shutil
import zipfile
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np

from spadework.errors import DataError, InputError
from spadework.scenarios import Kinds

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
MAGNETIC_TILE_ARCHIVE = f"{MAGNETIC_TILE_PAGE}/archive/refs/heads/master.zip"
MAGNETIC_TILE_SHA256 = "c23a8865b4e33e5d712a438168aa08b40dbc2e882e62a6ec8ee7fff18445087f"
"""Of all photos, as `digest_photos` takes it: archives are packed anew now and then."""

MAGNETIC_TILE_PHOTOS = {
    "Free": 952,
    "Blowhole": 115,
    "Crack": 57,
    "Break": 85,
    "Fray": 32,
    "Uneven": 103,
}
_TILE = re.compile(
    rf"MT_({'|'.join(MAGNETIC_TILE_PHOTOS)})/Imgs/[^/\\]+\.(jpg|png)$", re.ASCII
)


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
    found = digest_photos(folder, [path for each in photos.values() for path in each])
    if found != MAGNETIC_TILE_SHA256:
        raise DataError(
            f"photos in {folder} are not the original ones: the sha256 over all of them "
            f"is {found}, expected {MAGNETIC_TILE_SHA256}. Get them again from "
            f"{MAGNETIC_TILE_PAGE}"
        )
    return _by_kind(list(photos.values()))


def digest_photos(folder: Path, photos: Sequence[Path]) -> str:
    """Digest the digests and the names of photos below a folder, in order of name."""
    every = sha256()
    for path in sorted(photos):
        name = path.relative_to(folder).as_posix()
        every.update(f"{sha256(path.read_bytes()).hexdigest()}  {name}\n".encode())
    return every.hexdigest()


def unpack_magnetic_tile(archive: Path, folder: Path) -> None:
    """Unpack photos and masks into a new folder: whole and original, or not at all.

    Only names such as ``MT_Free/Imgs/exp1_num_4.jpg`` are taken out, whatever folder of
    the archive they lie in.
    """
    part = folder.with_name(folder.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        with zipfile.ZipFile(archive) as packed:
            for member in packed.infolist():
                if found := _TILE.search(member.filename):
                    target = part / found[0]
                    target.parent.mkdir(parents=True, exist_ok=True)
                    with packed.open(member) as source, target.open("wb") as file:
                        shutil.copyfileobj(source, file)
        read_magnetic_tile(part)
    except (OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        shutil.rmtree(part, ignore_errors=True)
        raise DataError(
            f"{archive} cannot be unpacked ({error}). Make room or get it again from "
            f"{MAGNETIC_TILE_PAGE}"
        ) from error
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    part.rename(folder)


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
