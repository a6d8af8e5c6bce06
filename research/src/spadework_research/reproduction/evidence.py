"""Watch the literal and the nearest reading of the paper while they train.

``python -m spadework_research.reproduction.evidence`` trains both on three cells, with
and without pseudo-labels, and writes down each epoch; it walks from the literal reading
to the nearest, one change after another; and it measures how scaling leaves the columns
of Thyroid. The page on the reproduction is built from what it writes.
"""

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score

from spadework import scenarios
from spadework.arrays import Labels, Numbers
from spadework.core import networks, training
from spadework.core.pseudo_labels import (
    FittedPseudoLabeler,
    PseudoLabeler,
    PseudoLabels,
)
from spadework.core.scaling import Scaling, fit_scaler
from spadework.detector import SPADE
from spadework.labels import ANOMALY, UNLABELED
from spadework.learners.network import MAX_STEPS, MIN_BATCH, NetworkLearner
from spadework.learners.one_class import make_one_class
from spadework_research.datasets.catalog import TableName
from spadework_research.places import results_folder
from spadework_research.reproduction.trials import make_trial, read_table

RESULTS = results_folder() / "reproduction_evidence.json"

CASES: tuple[tuple[TableName, str], ...] = (
    ("thyroid", "new_types"),
    ("thyroid", "pu"),
    ("drug", "new_types"),
)
SEEDS = (0, 1, 2)
EPOCHS = 100
"""Epochs that are watched, whatever patience would have done."""

STEPS: dict[str, dict[str, Any]] = {
    "literal": {},
    "clipped": {"scaling": "clipped"},
    "one_layer": {"learner__n_layers": 1},
    "glorot": {"learner__start": "glorot"},
    "batches": {"learner__batch_size": 128, "learner__max_epochs": 100},
}
"""Changes that lead from the literal reading to the nearest, each on top of the last."""

SCALINGS: tuple[Scaling, ...] = ("minmax", "clipped")

DEAD = 1e-6
"""Deviation over all rows below which a dimension of the code says nothing."""


class Drawn(NamedTuple):
    """A trial with the truth about its training rows.

    Attributes
    ----------
    trial : Trial
    anomalous : ndarray of shape (n_train,)
    """

    trial: scenarios.Trial
    anomalous: NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class Watched(PseudoLabeler):
    """A pseudo-labeler that keeps what it labeled last."""

    last: list[PseudoLabels] = field(default_factory=list)

    def fit(
        self, X: Numbers, labels: Labels, rng: np.random.Generator
    ) -> tuple[FittedPseudoLabeler, PseudoLabels]:
        """Fit and label, and keep the labels."""
        fitted, pseudo = super().fit(X, labels, rng)
        self.last[:] = [pseudo]
        return fitted, pseudo


def draw(table: TableName, scenario: str, seed: int) -> Drawn:
    """Draw a trial of the paper's protocol, and say which training rows are anomalies.

    Rows are numbered, and the trial of the numbers is drawn a second time.
    """
    whole = read_table(table)
    numbers = np.arange(len(whole.X))[:, None]
    make = {"new_types": scenarios.new_types, "pu": scenarios.positives_only}[scenario]
    numbered = make(replace(whole, X=numbers), seed)
    anomalous = whole.kind[numbered.X.ravel().astype(np.int64)] > 0
    return Drawn(make_trial(table, scenario, seed), anomalous)


def watch(
    drawn: Drawn, *, literal: bool, alpha: float, seed: int, epochs: int = EPOCHS
) -> dict[str, list[float | None]]:
    """Train and measure every epoch.

    Returns
    -------
    curves : dict of lists, one value an epoch
        ``auc`` of the test rows; ``loss`` on the labels; ``total`` loss; ``dead``,
        the share of the code's dimensions that are constant; ``precision``, the share
        of true anomalies among pseudo-anomalies, None where there are none; and how
        many these are, ``called``, as a share of the true anomalies.
    """
    detector = SPADE.paper(literal=literal, learner__alpha=alpha)
    learner = detector.learner
    if not isinstance(learner, NetworkLearner):
        raise TypeError(f"expected the network learner of the paper, got {learner!r}")
    rng = np.random.default_rng(seed)
    trial = drawn.trial
    train, test = (each.astype(np.float64) for each in (trial.X, trial.X_test))
    scaler = fit_scaler(train, detector.scaling, rng)
    X, X_test = (networks.to_tensor(each, scaler) for each in (train, test))
    network = networks.new_network(
        X.shape[1],
        n_layers=learner.n_layers,
        linear_code=learner.linear_code,
        start=learner.start,
        rng=rng,
    )
    labeler = _labeler(detector)
    unlabeled = drawn.anomalous[trial.y == UNLABELED]
    curves: dict[str, list[float | None]] = {}

    def note(epoch: training.Epoch) -> None:
        scores = training.predict_logits(network, X_test)
        code = training.encode(network, X)
        called = labeler.last[0].labels == ANOMALY
        found = {
            "auc": float(roc_auc_score(trial.kind_test > 0, scores)),
            "loss": epoch.labeled,
            "total": epoch.loss,
            "dead": float((code.std(axis=0) < DEAD).mean()),
            "precision": float(unlabeled[called].mean()) if called.any() else None,
            "called": float(called.sum() / unlabeled.sum()),
        }
        for name, value in found.items():
            rounded = None if value is None else round(value, 4)
            curves.setdefault(name, []).append(rounded)

    with training.one_thread():
        options = _options(learner, len(X), epochs)
        training.train_network(network, X, trial.y, labeler, options, rng, note)
    return curves


def walk(trial: scenarios.Trial, seed: int) -> dict[str, dict[str, float]]:
    """AUC and epochs of the readings between the literal one and the nearest."""
    found, changes = {}, {}
    for name, change in STEPS.items():
        changes |= change
        detector = SPADE.paper(literal=True, random_state=seed, **changes)
        scores = detector.fit(trial.X, trial.y).anomaly_score(trial.X_test)
        auc = float(roc_auc_score(trial.kind_test > 0, scores))
        found[name] = {"auc": round(auc, 4), "epochs": len(detector.history_)}
    return found


def columns(table: TableName = "thyroid", seed: int = 0) -> list[dict[str, Any]]:
    """Say of every column what it tells, and how much of its range the rows take up.

    Returns
    -------
    rows : list of dict
        ``auc`` of the column alone, the better way round; by scaling ``share``, the
        part of [0, 1] between the first and the third quartile; and ``normal`` and
        ``anomaly``, the scaled values of these rows at every second percentile.
    """
    drawn = draw(table, "new_types", seed)
    X = drawn.trial.X.astype(np.float64)
    scaled = {name: _scaled(X, name) for name in SCALINGS}
    found = []
    for column, values in enumerate(X.T):
        auc = float(roc_auc_score(drawn.anomalous, values))
        row: dict[str, Any] = {"column": column, "auc": round(max(auc, 1 - auc), 4)}
        for name, of in scaled.items():
            low, high = np.quantile(of[:, column], (0.25, 0.75))
            row[name] = {
                "share": round(float(high - low), 4),
                "normal": _percentiles(of[~drawn.anomalous, column]),
                "anomaly": _percentiles(of[drawn.anomalous, column]),
            }
        found.append(row)
    return found


def _scaled(X: NDArray[np.float64], scaling: Scaling) -> NDArray[np.floating]:
    """Rows in a scaling that is fitted on them."""
    return fit_scaler(X, scaling, np.random.default_rng(0)).transform(X)


def _percentiles(values: NDArray[np.floating]) -> list[float]:
    """Every second percentile, from the least to the most."""
    return np.quantile(values, np.linspace(0, 1, 51)).round(4).tolist()


def measure() -> dict[str, Any]:
    """Measure all of it."""
    return {
        "columns": columns(),
        "curves": list(_curves()),
        "walks": [
            {"table": table, "scenario": scenario, "seed": seed, "steps": steps}
            for table, scenario in CASES
            for seed in SEEDS
            for steps in (walk(make_trial(table, scenario, seed), seed),)
        ],
    }


def _curves() -> Iterator[dict[str, Any]]:
    for table, scenario in CASES:
        for seed in SEEDS:
            drawn = draw(table, scenario, seed)
            for literal in (True, False):
                for alpha in (1.0, 0.0):
                    curves = watch(drawn, literal=literal, alpha=alpha, seed=seed)
                    yield {
                        "table": table,
                        "scenario": scenario,
                        "seed": seed,
                        "literal": literal,
                        "alpha": alpha,
                        "curves": curves,
                    }


def _labeler(detector: SPADE) -> Watched:
    """Return the pseudo-labeler of a detector's parameters."""
    names = [each.name for each in fields(PseudoLabeler)]
    own: dict[str, Any] = {name: getattr(detector, name) for name in names}
    own["one_class"] = make_one_class(detector.one_class)
    return Watched(**own)


def _options(
    learner: NetworkLearner, n_rows: int, epochs: int
) -> training.TrainingOptions:
    """Return the options of a learner that trains so many epochs."""
    names = [each.name for each in fields(training.TrainingOptions)]
    own: dict[str, Any] = {name: getattr(learner, name) for name in names}
    own["batch_size"] = learner.batch_size or max(MIN_BATCH, n_rows // MAX_STEPS)
    own |= {"max_epochs": epochs, "patience": epochs}
    return training.TrainingOptions(**own)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    asked.out.write_text(json.dumps(measure()) + "\n", encoding="utf-8")
