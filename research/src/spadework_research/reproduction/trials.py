"""The paper's tabular cells: tables, scenarios, and what the paper has for each."""

import json
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import QuantileTransformer, StandardScaler

import spadework_research
from spadework import scenarios
from spadework.core.scaling import fit_scaler
from spadework_research.datasets.catalog import TableName, get_dataset

FAR = 3.0
GIVEN_AND_MISSED = ("new_types", "pu")
SCENARIOS = {
    "new_types": scenarios.new_types,
    "pu": scenarios.positives_only,
    "easiness": scenarios.easiness,
    "high_risk/0.010": scenarios.high_risk,
    "high_risk/0.015": scenarios.high_risk,
    "high_risk/0.025": scenarios.high_risk,
    "time/0.05": scenarios.time_varying,
    "time/0.10": scenarios.time_varying,
}

Cell = tuple[str, str, str]
"""Table, scenario, and over which anomalies: "overall", "given" or "missed"."""

_PAPER = Path(spadework_research.__file__).parent / "report" / "paper.json"


class PaperValue(NamedTuple):
    """A mean of the paper with its deviation, where it prints one."""

    mean: float
    std: float | None


class Aucs(NamedTuple):
    """AUC over all kinds of anomaly, over given ones, and over missed ones."""

    overall: float
    given: float
    missed: float


@cache
def make_trial(table: TableName, scenario: str, seed: int) -> scenarios.Trial:
    """Draw a trial of the paper's protocol."""
    make = SCENARIOS[scenario]
    _, _, share = scenario.partition("/")
    return make(read_table(table), seed, **({"share": float(share)} if share else {}))


@cache
def read_table(name: TableName) -> scenarios.LabeledTable:
    """Read a table; a sample of it where the data folder holds one as NAME.npz."""
    sample = Path(os.environ.get("SPADEWORK_DATA", ".")) / f"{name}.npz"
    if not sample.exists():
        return get_dataset(name).load()
    held = np.load(sample)
    given = tuple(held["given"].tolist())
    return scenarios.LabeledTable(held["X"].astype(np.float64), held["kind"], given)


def write_sample(name: TableName, n_rows: int, folder: Path) -> None:
    """Write a random sample of a table as NAME.npz."""
    table = get_dataset(name).load()
    rows = np.random.default_rng(0).choice(len(table.X), n_rows, replace=False)
    np.savez_compressed(
        folder / f"{name}.npz",
        X=table.X[rows].astype(np.float32),
        kind=table.kind[rows],
        given=np.array(table.given),
    )


def scale(
    X: NDArray[np.number], X_test: NDArray[np.number], scaling: str
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Scale training and test rows by what the training rows show.

    "clipped" is min-max scaling of columns cut at `FAR` interquartile ranges from the
    median, if they have one; "percentiles" of columns cut at the first and the last
    percentile, if they differ; "quantile" gives every value its rank.
    """
    X, X_test = X.astype(np.float64), X_test.astype(np.float64)
    if scaling in ("clipped", "percentiles"):
        low, high = _limits(X, scaling)
        X, X_test = np.clip(X, low, high), np.clip(X_test, low, high)
        return scale(X, X_test, "minmax")
    if scaling == "minmax" or scaling == "asinh":
        scaler: Any = fit_scaler(X, scaling, np.random.default_rng(0))
    elif scaling == "standard":
        scaler = StandardScaler().fit(X)
    else:
        scaler = QuantileTransformer(n_quantiles=min(1000, len(X)), random_state=0).fit(X)
    return (
        scaler.transform(X).astype(np.float32),
        scaler.transform(X_test).astype(np.float32),
    )


def _limits(
    X: NDArray[np.float64], scaling: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Where columns are cut."""
    if scaling == "percentiles":
        low, high = np.quantile(X, (0.01, 0.99), axis=0)
        middle, reach = (low + high) / 2, (high - low) / 2
    else:
        low, middle, high = np.quantile(X, (0.25, 0.5, 0.75), axis=0)
        reach = FAR * (high - low)
    reach = np.where(high > low, reach, np.inf)
    return middle - reach, middle + reach


def measure(
    scores: NDArray[np.floating], kinds: NDArray[np.int64], given: Sequence[int]
) -> Aucs:
    """AUCs of test scores; one half where there is nothing to tell apart."""
    scores = np.nan_to_num(scores, nan=0.0)
    normal = kinds == 0
    chosen = (kinds > 0, np.isin(kinds, given), (kinds > 0) & ~np.isin(kinds, given))
    return Aucs(
        *(
            round(
                float(roc_auc_score(kinds[normal | some] > 0, scores[normal | some])), 4
            )
            if some.any()
            else 0.5
            for some in chosen
        )
    )


def paper_cells(row: str = "SPADE") -> dict[Cell, PaperValue]:
    """Return the paper's cells of a row, with the deviations that it prints."""
    tables = json.loads(_PAPER.read_text(encoding="utf-8"))
    cells: dict[Cell, PaperValue] = {}
    for scenario in (*GIVEN_AND_MISSED, "easiness", "high_risk"):
        for column, value in tables[scenario][row].items():
            table, _, rest = column.partition("/")
            cell = (table, scenario, rest or "overall")
            if scenario == "high_risk":
                cell = (table, f"high_risk/{rest}", "overall")
            cells[cell] = PaperValue(**value)
    for share in ("0.05", "0.10"):
        fraud = tables["fraud"][row][f"creditcard/{share}"]
        cells["creditcard", f"time/{share}", "overall"] = PaperValue(**fraud)
    return cells
