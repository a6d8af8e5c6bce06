"""Find a user's pictures and their labels, by folder or by table. No pixels are read."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from spadework.arrays import Labels
from spadework.errors import DataError, InputError, LabelError
from spadework.images.photo_files import (
    ENDINGS,
    LAYOUTS,
    folders_in,
    is_picture,
    no_pictures_message,
    pictures_below,
    refuse_some,
    visible,
    warn_of_others,
)
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework.tables.label_column import by_text, read_label_column
from spadework.tables.reading import read_table
from spadework.tables.values import find_filled

GOOD, DEFECT = "good", "defect"
FILE_COLUMNS = ("file", "path", "image", "name")
LABEL_COLUMN = "label"

_KINDS = {ANOMALY: DEFECT, NORMAL: GOOD, UNLABELED: ""}
_OWN_FOLDERS = (GOOD, DEFECT, "unlabeled")
_MVTEC_FOLDERS = ("train", "test", "ground_truth")
_SHOWN = 5


@dataclass(frozen=True)
class Photos:
    """Pictures on disk and what is known of them.

    Labels, (n_photos,), are 1 for anomalies, 0 for normal pictures, -1 for unlabeled
    ones; kinds the type of a defect, "good" and "". Names, no two the same, are paths
    below the folder with forward slashes, or as given in a list.
    """

    paths: tuple[Path, ...]
    labels: Labels
    names: tuple[str, ...]
    kinds: tuple[str, ...]


class _Photo(NamedTuple):
    """One picture and what its folder says of it."""

    path: Path
    label: int
    kind: str


def find_photos(
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    labels: Any = None,
    *,
    label_map: Mapping[Any, int] | None = None,
) -> Photos:
    """Find pictures and their labels.

    Parameters
    ----------
    source : folder, or list of paths
        A folder holds any of ``good/``, ``defect/<type>/`` and ``unlabeled/``, or the
        folders of MVTec AD; or, with none of these names, pictures that are all
        unlabeled. They are sorted by name; what is hidden is left out. A list of paths
        keeps its order and is unlabeled.
    labels : path or frame, optional
        A table with a column ``file`` (or ``path``, ``image``, ``name``), relative to
        the folder, and a column ``label``. It alone decides then; pictures it does not
        list are unlabeled.
    label_map : mapping from a label value to 1, 0 or -1, optional
        What the values of ``labels`` mean; 1, 0 and -1 need no mapping.

    Raises
    ------
    DataError
        If there is no such folder or no picture, if folders have unknown names, or if
        the table lists files that are not there.
    LabelError
        If labels are not understood, or nothing can be learnt from them.
    """
    if labels is None and label_map is not None:
        raise InputError("label_map says what values of labels mean; give labels too")
    if not isinstance(source, (str, os.PathLike)):
        if labels is not None:
            raise LabelError(
                "a table of labels names files relative to a folder; give the folder "
                "that holds the pictures instead of a list"
            )
        return _listed(source)
    folder = Path(source)
    if folder.is_file():
        raise DataError(
            f"{folder} is a file, not a folder. Give the folder that holds the pictures, "
            f"or a list of files"
        )
    if not folder.is_dir():
        raise DataError(f"{folder} does not exist; expected a folder of pictures")
    if labels is None:
        return _as_photos(_labeled_by_folder(folder), folder)
    return _labeled_by_table(folder, labels, label_map)


def _listed(source: Iterable[str | os.PathLike[str]]) -> Photos:
    """Return pictures that are named one by one, all unlabeled, in their order."""
    try:
        paths = tuple(Path(each) for each in source)
    except TypeError as error:
        raise InputError(
            f"pictures must be a folder or a list of paths ({error}); arrays of pixels "
            f"need no finding"
        ) from error
    if not paths:
        raise DataError("the list of pictures is empty: expected one path at least")
    refuse_some(
        [str(path) for path in paths if not path.is_file()],
        "of the listed pictures are not there, or are no files",
        "Correct the paths; a folder is given alone, not in a list",
    )
    names = tuple(path.as_posix() for path in paths)
    _refuse_repeated(names, "pictures are listed twice")
    labels = np.full(len(paths), UNLABELED, dtype=np.int8)
    return Photos(paths, labels, names, ("",) * len(paths))


def _labeled_by_folder(folder: Path) -> Iterator[_Photo]:
    """Find the pictures of a folder, labeled by the folders they lie in."""
    present = {sub.name.lower() for sub in folders_in(folder)}
    if present & {"train", "test"}:
        yield from _in_mvtec_folders(folder)
    elif present & set(_OWN_FOLDERS):
        _refuse_strangers(folder, _OWN_FOLDERS)
        for sub in folders_in(folder):
            match sub.name.lower():
                case "good":
                    yield from _all_as(sub, NORMAL)
                case "defect":
                    yield from _by_type(sub)
                case _:
                    yield from _all_as(sub, UNLABELED)
    else:
        yield from _all_as(folder, UNLABELED)


def _in_mvtec_folders(folder: Path) -> Iterator[_Photo]:
    """Find the pictures of train/good/, test/good/ and test/<type>/, and no masks."""
    _refuse_strangers(folder, _MVTEC_FOLDERS)
    for sub in folders_in(folder):
        match sub.name.lower():
            case "train":
                _refuse_strangers(sub, (GOOD,))
                yield from _all_as(sub, NORMAL)
            case "test":
                _refuse_strangers(sub, None)
                for kind in folders_in(sub):
                    is_good = kind.name.lower() == GOOD
                    yield from _all_as(kind, NORMAL if is_good else ANOMALY)


def _all_as(folder: Path, label: int) -> Iterator[_Photo]:
    """Find all pictures below a folder, with one label; defects are of its name."""
    kind = folder.name if label == ANOMALY else _KINDS[label]
    for path in pictures_below(folder):
        yield _Photo(path, label, kind)


def _by_type(folder: Path) -> Iterator[_Photo]:
    """Find the pictures of defect/: those of each type, and those of no type."""
    for entry in visible(folder):
        if entry.name.lower() == GOOD:
            raise DataError(
                f"{entry} is named good and lies among defects. Move it beside "
                f"{folder.name}/ if its pictures are normal, or rename it"
            )
        if entry.is_dir():
            yield from _all_as(entry, ANOMALY)
        elif is_picture(entry):
            yield _Photo(entry, ANOMALY, DEFECT)


def _as_photos(found: Iterable[_Photo], folder: Path) -> Photos:
    """Sort pictures by name; refuse to find none."""
    by_name = {photo.path.relative_to(folder).as_posix(): photo for photo in found}
    if not by_name:
        raise DataError(no_pictures_message(folder))
    warn_of_others(folder)
    names = tuple(sorted(by_name))
    photos = [by_name[name] for name in names]
    return Photos(
        tuple(photo.path for photo in photos),
        np.array([photo.label for photo in photos], dtype=np.int8),
        names,
        tuple(photo.kind for photo in photos),
    )


def refuse_unlabeled(photos: Photos, folder: str | os.PathLike[str]) -> None:
    """Refuse to learn from a folder of which no name labels any picture."""
    if (photos.labels != UNLABELED).any():
        return
    found = ", ".join(f"{sub.name}/" for sub in folders_in(Path(folder))[:_SHOWN])
    raise LabelError(
        f"no picture in {folder} is labeled: expected folders {GOOD}/ or {DEFECT}/ in "
        f"it, found {found or 'no folder'}. Rename or move folders, or list files and "
        f"labels in a table of labels"
    )


def _labeled_by_table(
    folder: Path, labels: Any, label_map: Mapping[Any, int] | None
) -> Photos:
    """Return all pictures below a folder, labeled by a table that lists files."""
    unlabeled = _as_photos(_all_as(folder, UNLABELED), folder)
    table = read_table(labels, types=dict.fromkeys(FILE_COLUMNS, pa.string()))
    table = table.filter(pa.array(find_filled(table)))
    rows = _rows_by_name(table, folder, set(unlabeled.names))
    row_of = [rows.get(name) for name in unlabeled.names]
    mapping = None if label_map is None else by_text(label_map)
    aligned = table.take(pa.array(row_of, type=pa.int64()))
    known = read_label_column(aligned, LABEL_COLUMN, mapping)
    known[[row is None for row in row_of]] = UNLABELED
    kinds = tuple(_KINDS[label] for label in known.tolist())
    return Photos(unlabeled.paths, known, unlabeled.names, kinds)


def _rows_by_name(table: pa.Table, folder: Path, names: set[str]) -> dict[str, int]:
    """Return the row of each picture that a table lists; refuse what is not there."""
    column = next((name for name in FILE_COLUMNS if name in table.column_names), None)
    if column is None:
        raise DataError(
            f"a table of labels must have a column {', '.join(FILE_COLUMNS[:-1])} or "
            f"{FILE_COLUMNS[-1]}, and a column {LABEL_COLUMN}; it has "
            f"{', '.join(table.column_names[:20])}"
        )
    texts = [str(text) for text in table.column(column).to_pylist()]
    listed = [_name_below(folder, text) for text in texts]
    refuse_some(
        [text for text, name in zip(texts, listed, strict=True) if name not in names],
        f"of the {len(texts):,} files in the table of labels are no pictures in {folder}",
        f"Write paths relative to this folder, of files that end in {', '.join(ENDINGS)}",
    )
    _refuse_repeated(listed, "files are in the table of labels twice")
    return {name: row for row, name in enumerate(listed)}


def _name_below(folder: Path, text: str) -> str:
    """Return how a picture is named below a folder, however a table spells it."""
    path = os.path.normpath(text.strip().replace("\\", "/"))
    if os.path.isabs(path):
        path = os.path.relpath(path, folder.absolute())
    return Path(path).as_posix()


def _refuse_repeated(names: Sequence[str], what: str) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    refuse_some(repeated, what, "List each once")


def _refuse_strangers(folder: Path, expected: tuple[str, ...] | None) -> None:
    """Refuse folders of unknown names, None for any name, and pictures beside them."""
    strange = [
        entry.name + ("/" if entry.is_dir() else "")
        for entry in visible(folder)
        if (entry.is_dir() and expected and entry.name.lower() not in expected)
        or (not entry.is_dir() and is_picture(entry))
    ]
    refuse_some(
        strange,
        f"names in {folder} do not say whether pictures are normal",
        f"Expected folders are {LAYOUTS}. Move or rename what is named above, or list "
        f"the files in a table of labels",
    )
