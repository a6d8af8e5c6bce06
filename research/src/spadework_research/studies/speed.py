"""How fast the numerics and the default are, as ratios within one run.

``python -m spadework_research.studies.speed`` prints and keeps every measurement, and
writes the README's table; with names, such as ``photos``, it measures these and keeps the
rest. Covertype, the credit card table and the magnetic tiles must be there:
``spadework data fetch covertype creditcard magnetic_tile``.
"""

import json
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pa_parquet
from scipy.stats import wasserstein_distance
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.mixture import GaussianMixture
from threadpoolctl import threadpool_limits

from spadework import SPADE
from spadework.core.cores import usable_cores
from spadework.core.gaussian import SHARED, fit_gaussians
from spadework.core.matching import Tail, tail_size
from spadework.core.pseudo_labels import find_thresholds
from spadework.errors import InputError
from spadework.images.detector import ImageSPADE
from spadework.lazy import LazyModule
from spadework.persistence import save
from spadework.scenarios import LabeledTable, new_types
from spadework.table_fitting import fit_table
from spadework.tables.reading import read_table
from spadework_research.datasets.catalog import get_dataset
from spadework_research.datasets.photo_sets import LabeledImages
from spadework_research.datasets.photo_tables import TRAIN_SHARE
from spadework_research.places import results_folder
from spadework_research.runs.tables import PHOTO_SHARE

if TYPE_CHECKING:
    import catboost
else:  # it takes a second to load
    catboost = LazyModule("catboost")

RESULTS = results_folder() / "speed.json"
README = Path(__file__).parents[4] / "README.md"
_TABLE_START = "<!-- speed table: written by make bench -->"
_TABLE_END = "<!-- end of speed table -->"
TAILS: tuple[Tail, Tail] = ("upper", "lower")
MEMBERS = 5


def main() -> None:
    """Run the benchmarks that are named, or all, and write the results."""
    steps: dict[str, Callable[[], dict[str, float]]] = {
        "start_up": start_up,
        "partial_matching": partial_matching,
        "gaussians": lambda: gaussians(*covertype()[:2]),
        "fits": lambda: fits(*covertype()),
        "scoring": scoring,
        "growth": growth,
        "tables": tables,
        "photos": photos,
    }
    results: dict[str, Any] = json.loads(RESULTS.read_text()) if sys.argv[1:] else {}
    results["machine"] = {"processor": platform.processor(), "cores": usable_cores()}
    for name in sys.argv[1:] or steps:
        step = steps[name]
        results[name] = {key: float(f"{value:.4g}") for key, value in step().items()}
        print(name, json.dumps(results[name], indent=2), flush=True)
    RESULTS.write_text(json.dumps(results, indent=2) + "\n")
    README.write_text(with_table(README.read_text(), results))


def with_table(readme: str, results: dict[str, Any]) -> str:
    """Return the README with its speed table made from the results."""
    start, rest = readme.split(_TABLE_START)
    _, end = rest.split(_TABLE_END)
    return f"{start}{_TABLE_START}\n{speed_table(results)}{_TABLE_END}{end}"


def speed_table(results: dict[str, Any]) -> str:
    """Lay the results out as a Markdown table."""
    matching, gaussian = results["partial_matching"], results["gaussians"]
    fitted, fast = results["fits"], results["scoring"]
    grown, start = results["growth"], results["start_up"]
    scored, seen = results["tables"], results["photos"]
    rows = {
        "partial matching, 5 members, both tails, 1,000,000 unlabeled and 10,000 labeled "
        "scores": f"{matching['seconds']:.2f} s, {matching['times_faster']:,.0f} times "
        "faster than one scipy call per candidate",
        "5 Gaussians, fit and score": f"{gaussian['seconds']:.2f} s, "
        f"{gaussian['times_faster']:.1f} times faster than `GaussianMixture(1)`",
        "fit, 5,000 rows of 30 columns": f"{fitted['small_seconds']:.1f} s",
        "fit, Covertype": f"{fitted['fit_seconds']:.1f} s, "
        f"{fitted['share_of_catboost_time']:.0%} of the time of CatBoost's defaults on "
        "the same rows, unlabeled ones taken for normal",
        "score, one core, 30 columns": f"{fast['rows_per_second']:,.0f} rows/s, "
        f"{fast['times_faster']:.0f} times as fast as scikit-learn's forest of 300 trees",
        f"`spadework score`, {scored['n_rows'] / 1e6:.0f} million rows of 30 numbers, "
        "Parquet to Parquet": f"{scored['rows_per_core_second']:,.0f} rows/s a core, "
        f"{scored['peak_megabytes']:.0f} MB of memory",
        f"default on photos, {seen['n_photos']:,.0f} files": f"fit "
        f"{seen['fit_seconds']:.0f} s, score {seen['photos_per_second']:.0f} photos/s",
        "fit and score, 100,000 to 1,000,000 rows": f"{grown['seconds_100k']:.1f} s to "
        f"{grown['seconds_1m']:.1f} s, at most {grown['peak_memory_in_matrices']:.1f} "
        "times the memory of the float32 table",
        "`import spadework`, `from spadework import SPADE`, `spadework --help`": (
            f"{start['import_seconds']:.2f} s, {start['import_spade_seconds']:.1f} s, "
            f"{start['help_seconds']:.2f} s"
        ),
    }
    lines = ["| what | measured |", "|---|---|"]
    return "\n".join(lines + [f"| {k} | {v} |" for k, v in rows.items()]) + "\n"


def seconds(function: Callable[[], Any], repeats: int = 1) -> float:
    """Best wall-clock time of a call."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def start_up() -> dict[str, float]:
    """Time ``import spadework`` and ``spadework --help``, each in a new process."""

    def python(*arguments: str) -> float:
        command = [sys.executable, *arguments]
        return seconds(lambda: subprocess.run(command, capture_output=True), repeats=5)

    bare = python("-c", "pass")
    entry = "from spadework.cli import main; main()"
    return {
        "import_seconds": python("-c", "import spadework") - bare,
        "import_spade_seconds": python("-c", "from spadework import SPADE") - bare,
        "help_seconds": python("-c", entry, "--help"),
    }


def partial_matching() -> dict[str, float]:
    """Both tails of five members against one scipy call for each candidate.

    The scipy loop over all candidates would take days, so twenty candidates,
    spread evenly, are timed and multiplied.
    """
    rng = np.random.default_rng(0)
    n_unlabeled, n_labeled = 1_000_000, 10_000
    unlabeled = rng.chisquare(20, (n_unlabeled, MEMBERS))
    anomalies = rng.chisquare(30, (n_labeled, MEMBERS))
    normals = rng.chisquare(19, (n_labeled, MEMBERS))
    scores = np.concatenate([unlabeled, anomalies, normals])
    labels = np.repeat([-1, 1, 0], [n_unlabeled, n_labeled, n_labeled]).astype(np.int8)
    ours = seconds(lambda: find_thresholds(scores, labels, "matching", "log"), repeats=3)
    ordered, labeled = np.sort(unlabeled[:, 0]), anomalies[:, 0]
    sampled = np.linspace(1, n_unlabeled, 20).astype(int)
    timed = seconds(
        lambda: [wasserstein_distance(labeled, ordered[-size:]) for size in sampled]
    )
    one_by_one = timed / len(sampled) * n_unlabeled * MEMBERS * len(TAILS)
    small = rng.chisquare(20, 20_000)
    return {
        "seconds": ours,
        "scipy_seconds_extrapolated": one_by_one,
        "times_faster": one_by_one / ours,
        "worst_excess_over_exhaustive": max(
            _excess(labeled[:200], small, tail) for tail in TAILS
        ),
    }


def _excess(labeled: np.ndarray, unlabeled: np.ndarray, tail: Tail) -> float:
    """Relative excess of the distance found over every tenth candidate's, by scipy."""
    sign = 1 if tail == "upper" else -1
    ordered = np.sort(sign * unlabeled)
    size = tail_size(labeled, unlabeled, tail=tail)
    found = wasserstein_distance(sign * labeled, ordered[-size:])
    sizes = range(1, len(ordered) + 1, 10)
    best = min(wasserstein_distance(sign * labeled, ordered[-s:]) for s in sizes)
    return found / best - 1


def gaussians(X: np.ndarray, y: np.ndarray) -> dict[str, float]:
    """Five Gaussians on all of Covertype against five GaussianMixture(1)."""
    scaled, groups = _scaled(X), _groups(y)
    precise = scaled.astype(np.float64)
    theirs = np.empty((len(X), MEMBERS))

    def fit_mixtures() -> None:
        for member in range(MEMBERS):
            rows = precise[(groups == member) | (groups == SHARED)]
            mixture = GaussianMixture(1, random_state=0).fit(rows)
            theirs[:, member] = -mixture.score_samples(precise)

    ours_seconds = seconds(lambda: fit_gaussians(scaled, groups).score(scaled), repeats=3)
    theirs_seconds = seconds(fit_mixtures)
    ours = fit_gaussians(precise, groups).score(precise)
    return {
        "seconds": ours_seconds,
        "mixture_seconds": theirs_seconds,
        "times_faster": theirs_seconds / ours_seconds,
        "largest_relative_difference": float(np.abs(ours / theirs - 1).max()),
    }


def fits(
    X: np.ndarray, y: np.ndarray, X_test: np.ndarray, truth: np.ndarray
) -> dict[str, float]:
    """Fit the default on made rows, and on Covertype beside CatBoost's defaults."""
    rows, labels = _made_rows(5_000)
    SPADE(random_state=0).fit(rows[:500], labels[:500])  # loads torch
    small_seconds = seconds(lambda: SPADE(random_state=0).fit(rows, labels))
    start = time.perf_counter()
    detector = SPADE(random_state=0).fit(X, y)
    fit_seconds = time.perf_counter() - start
    model = catboost.CatBoostClassifier(
        random_seed=0, verbose=False, allow_writing_files=False
    )
    catboost_seconds = seconds(lambda: model.fit(X, y == 1))
    return {
        "small_seconds": small_seconds,
        "fit_seconds": fit_seconds,
        "catboost_seconds": catboost_seconds,
        "share_of_catboost_time": fit_seconds / catboost_seconds,
        "auc": float(roc_auc_score(truth, detector.anomaly_score(X_test))),
        "catboost_auc": float(roc_auc_score(truth, model.predict_proba(X_test)[:, 1])),
    }


def scoring() -> dict[str, float]:
    """Score rows of 30 columns on one core, by the default and by 300 trees."""
    X, y = _made_rows(300_000)
    detector = SPADE(random_state=0).fit(X[:5_000], y[:5_000])
    known = y[:5_000] >= 0
    forest = RandomForestClassifier(300, n_jobs=1, random_state=0)
    forest.fit(X[:5_000][known], y[:5_000][known])
    with threadpool_limits(1):
        ours = seconds(lambda: detector.model_.score(X), repeats=3)
        some = X[:20_000]
        theirs = seconds(lambda: forest.predict_proba(some), repeats=3)
    ours, theirs = len(X) / ours, len(some) / theirs
    return {
        "rows_per_second": ours,
        "forest_rows_per_second": theirs,
        "times_faster": ours / theirs,
    }


def _made_rows(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of 30 columns, a twentieth of them anomalies, and a tenth of them labeled."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, 30), dtype=np.float32)
    truth = rng.random(n_rows) < 0.05
    X[truth, :10] += 1
    return X, np.where(rng.random(n_rows) < 0.1, truth, -1).astype(np.int8)


_GROWTH_SCRIPT = """
import re, sys, time
import numpy as np
from spadework import SPADE
def peak():  # resource.getrusage would count the parent process in
    status = open("/proc/self/status").read()
    return int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) * 1024
warm_up = np.random.default_rng(0).random((200, 3))
SPADE(random_state=0).fit(warm_up, [1, 0] * 5 + [-1] * 190)
n_rows, n_features = int(sys.argv[1]), 54
rng, before = np.random.default_rng(0), peak()
X = rng.standard_normal((n_rows, n_features), dtype=np.float32)
y = np.full(n_rows, -1)
y[: n_rows // 20] = 0
X[: n_rows // 10 : 10] += 2
y[: n_rows // 20 : 10] = 1
start = time.perf_counter()
SPADE(random_state=0).fit(X, y).anomaly_score(X)
print(time.perf_counter() - start, (peak() - before) / X.nbytes)
"""


def growth() -> dict[str, float]:
    """Fit and score 100,000 and 1,000,000 rows of 54 columns in new processes."""
    measured = []
    for n_rows in (100_000, 1_000_000):
        command = [sys.executable, "-c", _GROWTH_SCRIPT, str(n_rows)]
        output = subprocess.run(command, capture_output=True, text=True, check=True)
        measured.append([float(value) for value in output.stdout.split()])
    (small_seconds, _), (large_seconds, memory) = measured
    return {
        "seconds_100k": small_seconds,
        "seconds_1m": large_seconds,
        "times_longer": large_seconds / small_seconds,
        "peak_memory_in_matrices": memory,
    }


_TABLES_SCRIPT = """
import re, sys, time
from spadework.persistence import load
from spadework.scoring import score_table
model, path, copies, out = sys.argv[1:]
model = load(model)
start = time.process_time()
counts = score_table(model, [path] * int(copies), out)
used = time.process_time() - start
status = open("/proc/self/status").read()
print(counts.n_rows, used, int(re.search(r"VmHWM:\\s+(\\d+)", status)[1]) / 1000)
"""


def tables() -> dict[str, float]:
    """Score the credit card table 71 times over, as ``spadework score`` does.

    A twentieth of the rows of the model are labeled, the first in time. Counted is
    the processor time of all threads, without the start of the process.
    """
    (path,) = get_dataset("creditcard").fetch()
    table = read_table(path)
    fraud = np.array(table.column("Class").to_pylist(), dtype=object)
    fraud[len(fraud) // 20 :] = None
    table = table.drop_columns(["Class"])
    with TemporaryDirectory() as folder:
        rows, model, out = (
            Path(folder) / name for name in ("a.parquet", "m", "b.parquet")
        )
        pa_parquet.write_table(table, rows)
        labeled = table.append_column("label", pa.array(fraud, pa.int64()))
        save(fit_table(labeled, label="label", label_map={1: 1, 0: 0}), model)
        command = [sys.executable, "-c", _TABLES_SCRIPT, model, rows, "71", out]
        output = subprocess.run(command, capture_output=True, text=True, check=True)
    n_rows, used, megabytes = map(float, output.stdout.split())
    return {
        "n_rows": n_rows,
        "rows_per_core_second": n_rows / used,
        "peak_megabytes": megabytes,
    }


def photos() -> dict[str, float]:
    """Fit the default on the files of magnetic tiles, and score the files left out."""
    images = get_dataset("magnetic_tile").load()
    if not isinstance(images, LabeledImages):
        raise InputError("the magnetic tiles are photos")
    numbers = np.arange(len(images.paths))[:, None]
    table = LabeledTable(numbers, images.kind, images.given, train_share=TRAIN_SHARE)
    trial = new_types(table, 0, share=PHOTO_SHARE)
    train, test = ([images.paths[i] for i in X[:, 0]] for X in (trial.X, trial.X_test))
    detector = ImageSPADE(random_state=0)
    start = time.perf_counter()
    detector.fit(train, trial.y)
    fit_seconds = time.perf_counter() - start
    scores = detector.anomaly_score(test)
    score_seconds = seconds(lambda: detector.anomaly_score(test), repeats=3)
    return {
        "n_photos": len(train),
        "fit_seconds": fit_seconds,
        "photos_per_second": len(test) / score_seconds,
        "auc": float(roc_auc_score(trial.kind_test > 0, scores)),
    }


def covertype() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows and labels to fit on, rows to score and which of them are anomalies."""
    X, y, X_test, kind_test, _ = new_types(get_dataset("covertype").load(), seed=0)
    return X.astype(np.float32), y, X_test.astype(np.float32), kind_test > 0


def _scaled(X: np.ndarray) -> np.ndarray:
    """Min-max scale the columns."""
    low, high = X.min(axis=0), X.max(axis=0)
    return (X - low) / np.where(high > low, high - low, 1)


def _groups(y: np.ndarray) -> np.ndarray:
    """Deal unlabeled rows to five members; share labeled normals; skip anomalies."""
    groups = np.random.default_rng(0).integers(0, MEMBERS, len(y))
    groups[y == 0], groups[y == 1] = SHARED, -2
    return groups


if __name__ == "__main__":
    main()
