"""How labels came to be: the paper's scenarios as pure functions of (table, seed).

Each takes a `LabeledTable` whose truth is known and returns a `Trial`. Truth about the
training rows is dropped on the way, so that it cannot reach a fit.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from spadework.arrays import Floats, Labels, Numbers, Positions
from spadework.errors import InputError
from spadework.labels import ANOMALY, NORMAL, UNLABELED

Kinds = NDArray[np.int64]


@dataclass(frozen=True)
class LabeledTable:
    """A table whose truth is known.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Or the pixels of photos, (n_samples, height, width, 3).
    kind : ndarray of shape (n_samples,)
        0 for normal rows, 1, 2, ... for the kinds of anomaly.
    given : tuple of int
        Kinds that labelers know; the others are new.
    n_train : int, optional
        Where the table comes split, or in order of time: the first rows train.
    train_share : float
        Otherwise, a random share does.
    judged_by : ndarray of shape (n_samples, n_columns), optional
        What the logistic regression sees that tells easy and risky rows; X if None.
    """

    X: NDArray[np.number]
    kind: Kinds
    given: tuple[int, ...]
    n_train: int | None = None
    train_share: float = 0.5
    judged_by: Numbers | None = None

    def __post_init__(self) -> None:
        n_rows, n_kinds, share = len(self.X), len(self.kind), self.train_share
        if n_rows != n_kinds:
            raise InputError(
                f"a table needs one kind per row: {n_rows} rows, {n_kinds} kinds"
            )
        if self.judged_by is not None and len(self.judged_by) != n_rows:
            raise InputError(
                f"judged_by needs one row for each of the table: {n_rows} rows, "
                f"got {len(self.judged_by)}"
            )
        if not 0 < share < 1:
            raise InputError(f"train_share must be between 0 and 1; got {share!r}")


class Trial(NamedTuple):
    """One experiment: fit on (X, y), score X_test, compare with kind_test.

    ``y`` is 1, 0 or -1; kinds are those of the table.
    """

    X: NDArray[np.number]
    y: Labels
    X_test: NDArray[np.number]
    kind_test: Kinds
    given: tuple[int, ...]


def new_types(table: LabeledTable, seed: int, *, share: float = 0.05) -> Trial:
    """Label normals and given kinds only: new types of anomalies (B.2).

    A random ``share`` of the training rows is labeled, none of them of a new kind.
    """
    rng = np.random.default_rng(seed)
    train, test = _split(table, rng)
    known = np.flatnonzero(np.isin(table.kind[train], (0, *table.given)))
    chosen = rng.choice(known, round(share * len(train)), replace=False)
    return _trial(table, train, test, chosen)


def negatives_only(table: LabeledTable, seed: int, *, share: float = 0.05) -> Trial:
    """NU: as `new_types`, and of those labels only the normals are kept."""
    trial = new_types(table, seed, share=share)
    y = np.where(trial.y == ANOMALY, np.int8(UNLABELED), trial.y)
    return trial._replace(y=y)


def positives_only(table: LabeledTable, seed: int, *, share: float = 0.5) -> Trial:
    """PU (B.4): a share of the given kinds is labeled, nothing else."""
    rng = np.random.default_rng(seed)
    train, test = _split(table, rng)
    given = np.flatnonzero(np.isin(table.kind[train], table.given))
    chosen = rng.choice(given, round(share * len(given)), replace=False)
    return _trial(table, train, test, chosen)


def easiness(table: LabeledTable, seed: int, *, share: float = 0.1) -> Trial:
    """Labels on easy rows (B.3): the most confident of each class, if right.

    Confidence is that of a logistic regression on the whole training truth.
    """
    rng = np.random.default_rng(seed)
    train, test = _split(table, rng)
    risk = _logistic_risk(table, train)
    anomalous = table.kind[train] > 0
    chosen = []
    for truth, confidence in ((False, 1 - risk), (True, risk)):
        rows = np.flatnonzero(anomalous == truth)
        order = np.argsort(-confidence[rows], kind="stable")
        easiest = rows[order[: round(share * len(rows))]]
        chosen.append(easiest[confidence[easiest] > 0.5])
    return _trial(table, train, test, np.concatenate(chosen))


def high_risk(table: LabeledTable, seed: int, *, share: float = 0.01) -> Trial:
    """Labels on risky rows (D.1): half of the riskiest ``2 * share`` are checked."""
    rng = np.random.default_rng(seed)
    train, test = _split(table, rng)
    n_labeled = round(share * len(train))
    riskiest = np.argsort(-_logistic_risk(table, train), kind="stable")[: 2 * n_labeled]
    chosen = rng.choice(riskiest, n_labeled, replace=False)
    return _trial(table, train, test, chosen)


def time_varying(table: LabeledTable, seed: int, *, share: float = 0.05) -> Trial:
    """Old labels (5.4): the earliest ``share`` of the training rows is labeled.

    The table must be in order of time; the seed changes nothing.
    """
    if table.n_train is None:
        raise InputError("time_varying needs a table in order of time, with n_train set")
    train, test = _split(table, np.random.default_rng(seed))
    return _trial(table, train, test, np.arange(round(share * len(train))))


def training_kinds(table: LabeledTable, seed: int) -> Kinds:
    """Return the true kinds of a trial's training rows, in the order of its X.

    For analysis after a fit only. Every scenario draws its split before anything else,
    so the seed alone redraws it.
    """
    train, _ = _split(table, np.random.default_rng(seed))
    return table.kind[train]


def _split(table: LabeledTable, rng: np.random.Generator) -> tuple[Positions, Positions]:
    """Positions of training and test rows."""
    if table.n_train is not None:
        order, n_train = np.arange(len(table.X)), table.n_train
    else:
        order = rng.permutation(len(table.X))
        n_train = int(table.train_share * len(table.X))
    return order[:n_train], order[n_train:]


def _trial(
    table: LabeledTable, train: Positions, test: Positions, chosen: Positions
) -> Trial:
    """Label the chosen training rows and hide the truth about all others."""
    y = np.full(len(train), UNLABELED, dtype=np.int8)
    anomalous = table.kind[train[chosen]] > 0
    y[chosen] = np.where(anomalous, ANOMALY, NORMAL)
    return Trial(table.X[train], y, table.X[test], table.kind[test], table.given)


def _logistic_risk(table: LabeledTable, train: Positions) -> Floats:
    """Probability of an anomaly by a logistic regression on the full truth."""
    model = make_pipeline(MinMaxScaler(), LogisticRegression(max_iter=1000))
    seen = table.X if table.judged_by is None else table.judged_by
    X, anomalous = seen[train], table.kind[train] > 0
    return model.fit(X, anomalous).predict_proba(X)[:, 1]
