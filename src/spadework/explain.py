"""Why a row has its score: shares of the original columns, in words.

The score of a row, less the mean score of ordinary rows, is shared among the columns
by Shapley's rule: each column gets what it changes when it takes the row's value, on
average over the orders in which columns do so. Orders and ordinary rows are drawn, a
few of each; the shares of a row add up exactly, whatever was drawn.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from spadework.errors import InputError
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework.table_model import Reference, TableModel
from spadework.tables.columns import Column
from spadework.tables.frames import frame_to_table
from spadework.tables.words import put_into_words

N_ORDERS = 4
"""Pairs of an order and its reverse that shares are averaged over."""

N_NEAREST = 3
_STEP_VALUES = 1 << 24
_SHOWN_REASONS = 5

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Reason:
    """What one column adds to a score, and how unusual its value is.

    ``share`` is in units of the score. ``words`` sets the value against ordinary rows.
    """

    column: str
    share: float
    words: str


@dataclass(frozen=True)
class Explanation:
    """Why one row has its score.

    Attributes
    ----------
    score, baseline : float
        Score of the row, and the mean score of ordinary rows; the shares of all
        columns are their difference.
    anomalous : bool
    reasons : list of Reason
        All columns, the largest share first.
    nearest : list of (int, str, float)
        Nearest labeled training rows: their number, label, and distance.
    pseudo_label : str
        What the one-class classifiers say about the row; empty where there are none.
    """

    score: float
    baseline: float
    anomalous: bool
    reasons: list[Reason]
    nearest: list[tuple[int, str, float]]
    pseudo_label: str

    def __str__(self) -> str:
        called = "anomalous" if self.anomalous else "normal"
        lines = [f"score {self.score:.3f}, called {called}; ordinary {self.baseline:.3f}"]
        lines += [
            f"  {each.share:+.3f}  {each.words}" for each in self.reasons[:_SHOWN_REASONS]
        ]
        if self.nearest:
            near = ", ".join(f"row {row} ({label})" for row, label, _ in self.nearest)
            lines.append(f"  nearest labeled: {near}")
        if self.pseudo_label:
            lines.append(f"  one-class classifiers: {self.pseudo_label}")
        return "\n".join(lines)


def explain_rows(model: TableModel, rows: Any, *, seed: int = 0) -> list[Explanation]:
    """Explain the score of every row of a frame."""
    table = frame_to_table(rows)
    if not table.num_rows:
        return []
    X = model.encoder.encode(table)
    ordinary = ordinary_rows(model)
    shares, baselines = share_scores(
        model.detector.anomaly_score,
        X,
        ordinary,
        model.encoder.owners,
        np.random.default_rng(seed),
    )
    scores = model.detector.anomaly_score(X)
    words = _words(model, table, ordinary)
    nearest = _nearest_labeled(model, X)
    votes = _votes(model, X)
    called = scores > model.detector.threshold_
    return [
        Explanation(
            float(scores[row]),
            float(baselines[row]),
            bool(called[row]),
            _reasons(model.encoder.columns, shares[row], [each[row] for each in words]),
            nearest[row],
            votes[row],
        )
        for row in range(len(X))
    ]


def ordinary_rows(model: TableModel) -> NDArray[np.float32]:
    """Return remembered rows that are neither labeled nor called anomalous."""
    reference = model.reference
    plain = (reference.labels != ANOMALY) & (
        reference.scores <= model.detector.threshold_
    )
    if not plain.any():
        raise InputError(
            "the model calls every row that it remembers anomalous, so there is nothing "
            "to compare with; set a higher threshold"
        )
    return reference.X[plain]


def share_scores(
    score: Any,
    X: NDArray[np.float32],
    ordinary: NDArray[np.float32],
    owners: NDArray[np.intp],
    rng: np.random.Generator,
    n_orders: int = N_ORDERS,
) -> tuple[Floats, Floats]:
    """Share the scores of rows among columns, over pairs of an order and its reverse.

    Parameters
    ----------
    score : callable
        Scores rows, (n_rows, n_features).
    X : ndarray of shape (n_rows, n_features)
    ordinary : ndarray of shape (n_ordinary, n_features)
    owners : ndarray of shape (n_features,)
        Column of each feature.

    Returns
    -------
    shares : ndarray of shape (n_rows, n_columns)
    baselines : ndarray of shape (n_rows,)
        Mean scores of the ordinary rows that a row was set against; shares sum to
        the row's score less this.
    """
    n_columns = int(owners.max()) + 1
    n_at_once = max(1, _STEP_VALUES // ((n_columns + 1) * X.shape[1]))
    shares, baselines = np.zeros((len(X), n_columns)), np.zeros(len(X))
    for _ in range(n_orders):
        order = rng.permutation(n_columns)
        start = ordinary[rng.integers(len(ordinary), size=len(X))]
        for columns in (order, order[::-1]):
            for first in range(0, len(X), n_at_once):
                part = slice(first, first + n_at_once)
                scores = _score_steps(score, start[part], X[part], owners, columns)
                shares[part, columns] += np.diff(scores, axis=0).T
                baselines[part] += scores[0]
    return shares / (2 * n_orders), baselines / (2 * n_orders)


def _score_steps(
    score: Any,
    start: NDArray[np.float32],
    X: NDArray[np.float32],
    owners: NDArray[np.intp],
    columns: NDArray[np.intp],
) -> Floats:
    """Score rows as one column after the other takes its value, from start to X.

    Returns
    -------
    scores : ndarray of shape (n_columns + 1, n_rows)
    """
    steps = np.empty((len(columns) + 1, *X.shape), dtype=np.float32)
    steps[0] = start
    for at, column in enumerate(columns):
        own = np.flatnonzero(owners == column)
        steps[at + 1] = steps[at]
        steps[at + 1][:, own] = X[:, own]
    return score(steps.reshape(-1, X.shape[1])).reshape(len(columns) + 1, len(X))


def _reasons(
    columns: tuple[Column, ...], shares: Floats, words: list[str]
) -> list[Reason]:
    """Put shares and words together, the largest share first."""
    return [
        Reason(columns[at].name, float(shares[at]), words[at])
        for at in np.argsort(-shares, kind="stable")
    ]


def _words(
    model: TableModel, table: pa.Table, ordinary: NDArray[np.float32]
) -> list[list[str]]:
    """Set every value against ordinary rows; by column, then by row."""
    owners = model.encoder.owners
    return [
        put_into_words(column, table.column(column.name), ordinary[:, owners == at])
        for at, column in enumerate(model.encoder.columns)
    ]


def _nearest_labeled(
    model: TableModel, X: NDArray[np.float32]
) -> list[list[tuple[int, str, float]]]:
    """Find the labeled training rows nearest to each row, on scaled features."""
    reference: Reference = model.reference
    labeled = reference.labels != UNLABELED
    represent = model.detector.model_.represent
    known, rows = represent(reference.X[labeled]), represent(X)
    names = {ANOMALY: "anomaly", NORMAL: "normal"}
    places, labels = reference.places[labeled], reference.labels[labeled]
    found = []
    for row in rows:
        distance = np.sqrt(((known - row) ** 2).sum(axis=1))
        order = np.argsort(distance, kind="stable")[:N_NEAREST]
        found.append(
            [(int(places[i]), names[int(labels[i])], float(distance[i])) for i in order]
        )
    return found


def _votes(model: TableModel, X: NDArray[np.float32]) -> list[str]:
    """Say in words how the one-class classifiers vote on each row."""
    if model.detector.pseudo_labeler_ is None:
        return [""] * len(X)
    pseudo = model.detector.pseudo_label(X)
    return [pseudo.explain(row) for row in range(len(X))]
