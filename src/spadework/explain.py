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
from spadework.tables.columns import Column, NumberColumn
from spadework.tables.reading import frame_to_table

N_ORDERS = 8
"""Pairs of an order and its reverse that shares are averaged over."""

N_NEAREST = 3
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
    shares, baselines = np.zeros((len(X), n_columns)), np.zeros(len(X))
    for _ in range(n_orders):
        order = rng.permutation(n_columns)
        start = ordinary[rng.integers(len(ordinary), size=len(X))]
        for columns in (order, order[::-1]):
            steps = [start]
            for column in columns:
                step = steps[-1].copy()
                step[:, owners == column] = X[:, owners == column]
                steps.append(step)
            scores = score(np.concatenate(steps)).reshape(n_columns + 1, len(X))
            shares[:, columns] += np.diff(scores, axis=0).T
            baselines += scores[0]
    return shares / (2 * n_orders), baselines / (2 * n_orders)


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
    found = []
    for at, column in enumerate(model.encoder.columns):
        array = table.column(column.name).combine_chunks()
        shown = column.show(array)
        own, usual = column.encode(array), ordinary[:, owners == at]
        if isinstance(column, NumberColumn) or column.role == "date":
            found.append(_number_words(column.name, shown, own[:, 0], usual[:, 0]))
        else:
            found.append(_category_words(column.name, shown, own, usual))
    return found


def _number_words(
    name: str, shown: list[str], own: NDArray[np.float32], usual: NDArray[np.float32]
) -> list[str]:
    ordered = np.sort(usual)
    below = np.searchsorted(ordered, own, side="left") / len(ordered)
    above = 1 - np.searchsorted(ordered, own, side="right") / len(ordered)
    return [
        f"{name} is missing"
        if text == "missing"
        else f"{name} {text} is higher than {_percent(low)} of ordinary rows"
        if low >= high
        else f"{name} {text} is lower than {_percent(high)} of ordinary rows"
        for text, low, high in zip(shown, below, above, strict=True)
    ]


def _category_words(
    name: str, shown: list[str], own: NDArray[np.float32], usual: NDArray[np.float32]
) -> list[str]:
    kinds, counts = np.unique(usual, axis=0, return_counts=True)
    shares = {
        kind.tobytes(): n / len(usual) for kind, n in zip(kinds, counts, strict=True)
    }
    return [
        f"{name} {text} is the value of {_percent(shares.get(row.tobytes(), 0.0))} of "
        f"ordinary rows"
        for text, row in zip(shown, own, strict=True)
    ]


def _percent(share: float) -> str:
    """Show a share with the digits that matter at both ends."""
    if 0 < share < 0.001:
        return "less than 0.1%"
    if 0.999 < share < 1:
        return "more than 99.9%"
    return f"{share:.1%}".replace(".0%", "%")


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
