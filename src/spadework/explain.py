"""Why a row has its score: shares of the original columns, in words.

The score of a row, less the mean score of ordinary rows, is shared among the columns by
Shapley's rule: each gets what it changes when it takes the row's value, on average over
the orders in which columns do so. Orders are drawn, and ordinary rows of low to high
scores are taken; the shares of a row add up exactly, whatever was drawn.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from spadework.arrays import Floats, Positions, Rows
from spadework.core.pseudo_labels import BOTH
from spadework.errors import InputError
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework.reference import Reference
from spadework.table_model import TableModel
from spadework.tables.frames import frame_to_table
from spadework.tables.words import put_into_words

FEWEST_STARTS, MOST_STARTS = 6, 64
"""Ordinary rows that a row is set against, each with an order and its reverse."""

N_SCORED = 200_000
"""Rows to score for all shares, about; the ordinary rows are as many as that allows."""

N_NEAREST = 3
_STEP_VALUES = 1 << 24
_SHOWN_REASONS = 5
_LABELS = {ANOMALY: "anomaly", NORMAL: "normal"}
_VOTES = {**_LABELS, UNLABELED: "abstains", BOTH: "both"}


@dataclass(frozen=True)
class Reason:
    """What one column adds to a score, and how unusual its value is.

    ``share`` is in units of the score. ``words`` sets the value against ordinary rows.
    """

    column: str
    share: float
    words: str


@dataclass(frozen=True)
class Neighbour:
    """A labeled training row, counted from 0, and how far from the explained row it is.

    ``name`` is what its key columns say, empty where the model has none.
    """

    row: int
    label: str
    distance: float
    name: str

    def __str__(self) -> str:
        same = ", the same values" if self.distance == 0 else ""
        return f"{self.name or f'row {self.row}'} ({self.label}{same})"


@dataclass(frozen=True)
class Vote:
    """What one one-class classifier says about a row.

    It votes normal below one threshold of its score and anomaly above the other.
    """

    vote: str
    score: float
    normal_below: float
    anomaly_above: float


@dataclass(frozen=True)
class Explanation:
    """Why one row has its score.

    Score less ``baseline``, the mean score of ordinary rows, is the sum of the shares of
    all columns, the ``reasons``, with the largest first. ``nearest`` are labeled training
    rows. ``pseudo_label`` is what the one-class classifiers say, empty where there are
    none, and ``votes`` the same one by one.
    """

    score: float
    baseline: float
    anomalous: bool
    reasons: list[Reason]
    nearest: list[Neighbour]
    pseudo_label: str
    votes: list[Vote]

    def __str__(self) -> str:
        called = "anomalous" if self.anomalous else "normal"
        lines = [f"score {self.score:.3f}, called {called}; ordinary {self.baseline:.3f}"]
        shown = sorted(self.reasons, key=lambda each: -abs(each.share))[:_SHOWN_REASONS]
        lines += [
            f"  {each.share:+.3f}  {each.words}" for each in self.reasons if each in shown
        ]
        if n_left := len(self.reasons) - len(shown):
            lines.append(f"  and {n_left} smaller {'share' if n_left == 1 else 'shares'}")
        if self.nearest:
            near = ", ".join(map(str, self.nearest))
            lines.append(f"  nearest labeled in training: {near}")
        if self.pseudo_label:
            lines.append(f"  one-class classifiers: {self.pseudo_label}")
            lines.append(f"    {_scores_in_words(self.votes)}")
        return "\n".join(lines)


def explain_rows(model: TableModel, rows: Any, *, seed: int = 0) -> list[Explanation]:
    """Explain the score of every row of a frame."""
    table = frame_to_table(rows)
    if not table.num_rows:
        return []
    X = model.encoder.encode(table)
    columns, owners = model.encoder.columns, model.encoder.owners
    ordinary = ordinary_rows(model)
    n_starts = N_SCORED // (2 * len(X) * (len(columns) + 1))
    shares, baseline = share_scores(
        model.detector.anomaly_score,
        X,
        _spread(model, ordinary, int(np.clip(n_starts, FEWEST_STARTS, MOST_STARTS))),
        owners,
        np.random.default_rng(seed),
    )
    scores = model.detector.anomaly_score(X)
    words = [
        put_into_words(column, table.column(column.name), ordinary[:, owners == at])
        for at, column in enumerate(columns)
    ]
    nearest = _nearest_labeled(model, X)
    verdicts, votes = _votes(model, X)
    called = scores > model.detector.threshold_
    return [
        Explanation(
            float(scores[row]),
            baseline,
            bool(called[row]),
            [
                Reason(columns[at].name, float(shares[row, at]), words[at][row])
                for at in np.argsort(-shares[row], kind="stable")
            ],
            nearest[row],
            verdicts[row],
            votes[row],
        )
        for row in range(len(X))
    ]


def ordinary_rows(model: TableModel) -> Rows:
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
    score: Any, X: Rows, starts: Rows, owners: Positions, rng: np.random.Generator
) -> tuple[Floats, float]:
    """Share the scores of rows among columns, over pairs of an order and its reverse.

    Every row is set against the starts, ordinary rows, (n_starts, n_features), with a
    pair of orders each; owners tell the column of each feature. Returns the shares,
    (n_rows, n_columns), and the mean score of the starts: shares sum to the row's score
    less this.
    """
    n_columns = int(owners.max()) + 1
    n_at_once = max(1, _STEP_VALUES // ((n_columns + 1) * X.shape[1]))
    shares = np.zeros((len(X), n_columns))
    for start in starts:
        order = rng.permutation(n_columns)
        for columns in (order, order[::-1]):
            for first in range(0, len(X), n_at_once):
                part = slice(first, first + n_at_once)
                scores = _score_steps(score, start, X[part], owners, columns)
                shares[part, columns] += np.diff(scores, axis=0).T
    return shares / (2 * len(starts)), float(score(starts).mean())


def _spread(model: TableModel, ordinary: Rows, n_starts: int) -> Rows:
    """Take ordinary rows of evenly spread ranks of their scores."""
    order = np.argsort(model.detector.anomaly_score(ordinary), kind="stable")
    places = (np.arange(n_starts) + 0.5) * len(order) / n_starts
    return ordinary[order[places.astype(np.intp)]]


def _score_steps(
    score: Any, start: Rows, X: Rows, owners: Positions, columns: Positions
) -> Floats:
    """Score rows as one column after the other takes its value, from one row to X.

    Scores are of shape (n_columns + 1, n_rows).
    """
    steps = np.empty((len(columns) + 1, *X.shape), dtype=np.float32)
    steps[0] = start
    for at, column in enumerate(columns):
        own = np.flatnonzero(owners == column)
        steps[at + 1] = steps[at]
        steps[at + 1][:, own] = X[:, own]
    return score(steps.reshape(-1, X.shape[1])).reshape(len(columns) + 1, len(X))


def _nearest_labeled(model: TableModel, X: Rows) -> list[list[Neighbour]]:
    """Find the labeled training rows nearest to each row, on scaled features."""
    reference: Reference = model.reference
    labeled = np.flatnonzero(reference.labels != UNLABELED)
    represent = model.detector.model_.represent
    known = represent(reference.X[labeled])
    names = [""] * len(reference.X) if reference.names is None else reference.names

    def neighbour(at: int, distance: float) -> Neighbour:
        label = _LABELS[int(reference.labels[at])]
        return Neighbour(int(reference.places[at]), label, distance, str(names[at]))

    found = []
    for row in represent(X):
        distance = np.sqrt(((known - row) ** 2).sum(axis=1))
        order = np.argsort(distance, kind="stable")[:N_NEAREST]
        found.append([neighbour(int(labeled[i]), float(distance[i])) for i in order])
    return found


def _votes(model: TableModel, X: Rows) -> tuple[list[str], list[list[Vote]]]:
    """Say how the one-class classifiers vote on each row: in words, and one by one."""
    labeler = model.detector.pseudo_labeler_
    if labeler is None:
        return [""] * len(X), [[] for _ in X]
    scores = labeler.members.score(model.detector.model_.represent(X))
    pseudo = labeler.vote(scores)
    votes = [
        [
            Vote(_VOTES[int(vote)], *map(float, numbers))
            for vote, *numbers in zip(*each, *pseudo.thresholds, strict=True)
        ]
        for each in zip(pseudo.votes, scores, strict=True)
    ]
    return [pseudo.explain(row) for row in range(len(X))], votes


def _scores_in_words(votes: list[Vote]) -> str:
    """Say between which values the scores and the thresholds of all classifiers lie."""
    scores = _between([each.score for each in votes])
    normal = _between([each.normal_below for each in votes])
    anomaly = _between([each.anomaly_above for each in votes])
    return f"their scores: {scores}; normal below {normal}, anomaly above {anomaly}"


def _between(values: list[float]) -> str:
    """Write the range of some values with a few digits."""
    low, high = (f"{each:.4g}" for each in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"
