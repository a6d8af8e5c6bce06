"""How often ``spadework compare`` finds a change where there is none, and where one is.

``python -m spadework_research.studies.false_alarms`` halves real tables at random, over
and over. A model is fitted on one half and compared with the other, with its own half,
and with the other half after one column was changed. Of the other half, unlabeled rows
count: labels are not drawn at random, so rows with one differ from the rest. Thyroid and
Covertype must be there: ``spadework data fetch thyroid covertype``.
"""

import datetime as dt
import json
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from scipy.stats import beta

from spadework import SPADE, TreeLearner
from spadework.cli.payments import write_payments
from spadework.differences import compare_table
from spadework.progress import progress
from spadework.scenarios import LabeledTable
from spadework.table_fitting import fit_table
from spadework.table_model import TableModel
from spadework.tables.reading import read_table
from spadework.tables.values import pc
from spadework_research.datasets.catalog import get_dataset
from spadework_research.places import results_folder
from spadework_research.studies.small import breast_cancer, digits

RESULTS = results_folder() / "false_alarms.json"
LABEL = "status"
N_HALVES = 40
"""Halvings of every table."""

_MOST_ROWS, _MOST_COLUMNS = 2_000, 12
_N_SHOPS, _MISSING_SHARE = 150, 0.1


class Alarms(NamedTuple):
    """What was said of so many halves of a table.

    Of halves that do not differ, how often the advice was not to keep the model, rows
    were told apart, and a column was called different; of the model's own half, how often
    the advice was not to keep it; of changed halves, how often the changed column came
    first among those that are called different.
    """

    table: str
    n_halves: int
    advised: int
    told_apart: int
    columns: int
    own_rows: int
    found: int


def payments() -> pa.Table:
    """Return the payments of the guide."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "payments.csv"
        write_payments(file, 0)
        return read_table(file).drop_columns(["id", "note"])


def catalogued(name: str) -> LabeledTable:
    """Load a table, a sample of its rows if they are many."""
    table: Any = get_dataset(name).load()
    rows = np.random.default_rng(0).permutation(len(table.X))[:20_000]
    return LabeledTable(table.X[rows], table.kind[rows], table.given)


def dressed(load: Callable[[], LabeledTable]) -> pa.Table:
    """Give a table of numbers missing values, a moment, and categories few and many.

    What is missing, and which category a row has, depends on its numbers.
    """
    table, rng = load(), np.random.default_rng(0)
    X = table.X[:, np.ptp(table.X, axis=0) > 0][:, :_MOST_COLUMNS].astype(np.float64)
    rank = X.argsort(axis=0).argsort(axis=0) / len(X)
    lost = rng.random(len(X)) < 2 * _MISSING_SHARE * rank[:, 1]
    shop = _N_SHOPS * rng.random(len(X)) ** (1 + 2 * rank[:, 0])
    kind = np.where(rng.random(len(X)) < rank[:, -1], "web", "shop")
    start, days = dt.datetime(2026, 1, 5), rng.uniform(0, 60, len(X))
    status = np.where(table.kind > 0, "bad", "good").astype(object)
    status[rng.random(len(X)) > np.where(table.kind > 0, 0.5, 0.1)] = None
    return pa.table(
        {
            **{f"x{i}": column for i, column in enumerate(X.T) if i != 1},
            "x1": pa.array(X[:, 1], mask=lost),
            "shop": [f"S{int(each):03}" for each in shop],
            "kind": kind.tolist(),
            "at": [start + dt.timedelta(minutes=int(1_440 * each)) for each in days],
            LABEL: status.tolist(),
        }
    )


TABLES: dict[str, Callable[[], pa.Table]] = {
    "payments": cache(payments),
    "thyroid": cache(partial(dressed, partial(catalogued, "thyroid"))),
    "covertype": cache(partial(dressed, partial(catalogued, "covertype"))),
    "breast cancer": cache(partial(dressed, breast_cancer)),
    "digits, 1 and 2": cache(partial(dressed, partial(digits, 1))),
}


def change(table: pa.Table, name: str, rng: np.random.Generator) -> pa.Table:
    """Change a column in 40 % of the rows: empty it, or, of numbers, take the highest."""
    column = table.column(name).combine_chunks()
    changed = pa.array(rng.random(len(column)) < 0.4)
    highest = pa.scalar(None, column.type)
    if pa.types.is_floating(column.type):
        highest = pc.max(column)
    values = pc.if_else(changed, highest, column)
    return table.set_column(table.column_names.index(name), name, values)


def fit_half(table: pa.Table) -> TableModel:
    """Fit a model that takes little time; what is compared does not depend on it."""
    fast = SPADE(learner=TreeLearner(n_trees=20, pseudo_labels=False), random_state=0)
    statuses = {"fraud": 1, "bad": 1, "ok": 0, "good": 0}
    found = set(table.column(LABEL).to_pylist())
    mapping = {key: value for key, value in statuses.items() if key in found}
    return fit_table(table, label=LABEL, label_map=mapping, detector=fast)


def measure(name: str, n_halves: int) -> Alarms:
    """Halve a table so many times, and count what is said of its halves."""
    table, said = TABLES[name](), []
    with progress(f"halving {name}", n_halves, verbose=True) as advance:
        for seed in range(n_halves):
            said.append(_compare_halves(table, np.random.default_rng(seed)))
            advance("")
    return Alarms(name, n_halves, *np.sum(said, axis=0).tolist())


def _compare_halves(table: pa.Table, rng: np.random.Generator) -> list[bool]:
    """Say what is counted in `Alarms` of one pair of halves."""
    rows = rng.permutation(table.num_rows)[:_MOST_ROWS]
    first, second = (table.take(pa.array(half)) for half in np.array_split(rows, 2))
    model, second = fit_half(first), second.filter(second.column(LABEL).is_null())
    same = compare_table(model, second)
    own = compare_table(model, first)
    columns = [
        each for each in model.encoder.columns if each.role in ("number", "category")
    ]
    name = str(rng.choice([each.name for each in columns]))
    moved = compare_table(model, change(second, name, rng)).difference.certain
    return [
        same.advice != "keep",
        same.difference.tells_apart,
        bool(same.difference.certain),
        own.advice != "keep",
        bool(moved) and moved[0].name == name,
    ]


def bound(n_found: int, n: int) -> float:
    """Upper bound of a share, at 95 % (Clopper and Pearson)."""
    return 1.0 if n_found == n else float(beta.ppf(0.95, n_found + 1, n - n_found))


def lines(found: list[Alarms]) -> list[str]:
    """Lay results out, a table in each line, and their sum."""
    sums = np.sum([each[1:] for each in found], axis=0).tolist()
    whole = Alarms("together", *sums)
    names = Alarms._fields[1:]
    shown = [" " * 18 + " ".join(f"{name:>10}" for name in names)]
    shown += [
        f"{each.table:18}" + " ".join(f"{value:10}" for value in each[1:])
        for each in [*found, whole]
    ]
    most = bound(whole.advised, whole.n_halves)
    return [*shown, f"false alarms: {whole.advised / whole.n_halves:.1%}, <= {most:.1%}"]


def main() -> None:
    """Measure every table, print and write."""
    found = [measure(name, N_HALVES) for name in TABLES]
    rows = ",\n".join(json.dumps(each._asdict()) for each in found)
    RESULTS.write_text(f"[\n{rows}\n]\n", encoding="utf-8")
    print("\n".join(lines(found)))


if __name__ == "__main__":
    main()
