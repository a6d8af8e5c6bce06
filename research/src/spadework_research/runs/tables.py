"""The tables of the paper as experiments: which columns, which methods."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from spadework import scenarios
from spadework.errors import InputError
from spadework.scenarios import LabeledTable, Trial
from spadework_research.datasets.photo_sets import MVTEC_CATEGORIES
from spadework_research.runs.methods import (
    ABLATED,
    COMPARED,
    IMAGE_COMPARED,
    METHODS,
    PARTS,
    SWEPT,
    SWEPT_LITERAL,
)


@dataclass(frozen=True)
class Scenario:
    """How labels come to be, with the setting and the share of labels it has."""

    make: Callable[..., Trial]
    setting: str
    share: float


SCENARIOS: dict[str, Scenario] = {
    "new_types": Scenario(scenarios.new_types, "PNU", 0.05),
    "easiness": Scenario(scenarios.easiness, "PNU", 0.1),
    "pu": Scenario(scenarios.positives_only, "PU", 0.5),
    "nu": Scenario(scenarios.negatives_only, "NU", 0.05),
    "high_risk": Scenario(scenarios.high_risk, "PNU", 0.01),
    "time_varying": Scenario(scenarios.time_varying, "PNU", 0.05),
}


@dataclass(frozen=True)
class Column:
    """A data set under a scenario: one column of a table.

    ``key`` names it in file names and in the paper's tables. ``photos`` says what the
    data set is of.
    """

    key: str
    dataset: str
    scenario: str
    share: float
    photos: bool = False

    @property
    def setting(self) -> str:
        """Label setting of the scenario."""
        return SCENARIOS[self.scenario].setting

    def trial(self, table: LabeledTable, seed: int) -> Trial:
        """Draw the experiment of one seed."""
        return SCENARIOS[self.scenario].make(table, seed, share=self.share)


@dataclass(frozen=True)
class Table:
    """A table: its title, its columns, and the methods that are its rows."""

    name: str
    title: str
    columns: tuple[Column, ...]
    methods: tuple[str, ...]

    def applies(self, column: Column, method: str) -> bool:
        """Tell whether a method can be used on the data and labels of a column."""
        found = METHODS[method]
        make = found.make_images if column.photos else found.make
        return make is not None and column.setting in found.settings


_DATASETS = ("thyroid", "drug", "covertype")
_PHOTOS = ("magnetic_tile", *(f"mvtec_ad/{category}" for category in MVTEC_CATEGORIES))
PHOTO_SHARE = 0.2
IMAGES = "images"


def get_table(name: str) -> Table:
    """Return the table of that name."""
    if name not in TABLES:
        raise InputError(f"unknown table {name!r}; known are {', '.join(TABLES)}")
    return TABLES[name]


def _plain(scenario: str) -> tuple[Column, ...]:
    """One column per data set."""
    share = SCENARIOS[scenario].share
    return tuple(Column(name, name, scenario, share) for name in _DATASETS)


def _by_share(
    scenario: str, shares: dict[str, tuple[float, ...]], digits: int
) -> tuple[Column, ...]:
    """One column per data set and share of labels."""
    return tuple(
        Column(f"{name}-{share:.{digits}f}", name, scenario, share)
        for name, of_dataset in shares.items()
        for share in of_dataset
    )


def _by_scenario(names: tuple[str, ...]) -> tuple[Column, ...]:
    """One column per data set and scenario."""
    return tuple(
        Column(f"{dataset}-{name}", dataset, name, SCENARIOS[name].share)
        for name in names
        for dataset in _DATASETS
    )


def _photos() -> tuple[Column, ...]:
    """One column per scenario and set of photos, whose names may have a slash."""
    return tuple(
        Column(
            f"{name.replace('/', '-')}-{scenario}",
            name,
            scenario,
            PHOTO_SHARE,
            photos=True,
        )
        for scenario in ("new_types", "easiness")
        for name in _PHOTOS
    )


def _everywhere(tables: tuple[tuple[Column, ...], ...]) -> tuple[Column, ...]:
    """Columns of several tables in one, under keys that name the scenario."""
    return tuple(
        replace(column, key=f"{column.key}-{column.scenario}")
        for columns in tables
        for column in columns
    )


_HIGH_RISK: dict[str, tuple[float, ...]] = dict.fromkeys(_DATASETS, (0.01, 0.015, 0.025))
_FRAUD = {"creditcard": (0.05, 0.10), "xente": (0.10, 0.20)}

TABLES: dict[str, Table] = {
    table.name: table
    for table in (
        Table("new_types", "New types of anomalies", _plain("new_types"), COMPARED),
        Table("easiness", "Labels on easy rows", _plain("easiness"), COMPARED),
        Table("pu", "PU: only anomalies are labeled", _plain("pu"), COMPARED),
        Table("nu", "NU: only normals are labeled", _plain("nu"), COMPARED),
        Table(
            "high_risk",
            "Labels on high-risk rows",
            _by_share("high_risk", _HIGH_RISK, 3),
            COMPARED,
        ),
        Table(
            "fraud",
            "Fraud that changes with time",
            _by_share("time_varying", _FRAUD, 2),
            COMPARED,
        ),
        Table(
            "ablation",
            "Ablation of the published form",
            _by_scenario(("new_types", "easiness")),
            ABLATED,
        ),
        Table(
            "parts",
            "The default detector without each of its parts",
            _everywhere(
                (
                    _plain("new_types"),
                    _plain("easiness"),
                    _plain("pu"),
                    _plain("nu"),
                    _by_share("high_risk", _HIGH_RISK, 3),
                    _by_share("time_varying", _FRAUD, 2),
                )
            ),
            PARTS,
        ),
        Table(
            "alpha",
            "Weight of the pseudo-labels",
            _plain("new_types"),
            (*SWEPT, *SWEPT_LITERAL),
        ),
        Table(
            IMAGES,
            "Photos: new types, and labels on easy ones",
            _photos(),
            IMAGE_COMPARED,
        ),
    )
}
