"""Results of made runs, for tests of what is reported of them."""

from spadework_research.runs.methods import SWEPT
from spadework_research.runs.results import FAILED, Result, write_result
from spadework_research.runs.tables import TABLES

VERSIONS = {"spadework": "0.1.0", "numpy": "2.0.0"}


def identity(table, column, method, seed):
    """What says which run it is, as the tables have it."""
    found = next(each for each in TABLES[table].columns if each.key == column)
    return {
        "table": table,
        "column": column,
        "dataset": found.dataset,
        "scenario": found.scenario,
        "share": found.share,
        "setting": found.setting,
        "method": method,
        "seed": seed,
        "versions": VERSIONS,
    }


def done(table, column, method, seed=0, auc=0.8, **measured):
    """A run that ended well."""
    measured = {
        "auc_given": auc,
        "auc_missed": auc,
        "average_precision": auc / 2,
        "fit_seconds": 1.0,
        "score_seconds": 0.1,
        "peak_memory_mb": 300.0,
        "n_train": 100,
        "n_test": 100,
        "n_labeled_anomalies": 5,
        "n_labeled_normals": 10,
    } | measured
    return Result(**identity(table, column, method, seed), auc=auc, **measured)


def failed(table, column, method, seed=0, reason="it broke"):
    """A run that broke off."""
    where = identity(table, column, method, seed)
    return Result(**where, status=FAILED, reason=reason)


def some_results():
    """Two seeds of a few methods, one of them failed, and all alphas."""
    return [
        *(
            done("new_types", "thyroid", method, seed, 0.7 + at / 20 + seed / 100)
            for at, method in enumerate(("supervised", "occ", "spade_paper", "spade"))
            for seed in (0, 1)
        ),
        done("new_types", "thyroid", "vime", 0),
        failed("new_types", "thyroid", "vime", 1),
        failed("new_types", "thyroid", "dann", 0),
        done("pu", "drug", "spade", 0, 0.9),
        *(done("alpha", "drug", method, 0, 0.6) for method in SWEPT),
    ]


def stored(results, folder):
    """Write results into a folder, and return it."""
    for result in results:
        write_result(result, folder)
    return folder
