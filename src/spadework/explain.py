"""Why a row has its score: shares of the original columns, in words.

The score of a row, less the mean score of ordinary rows, is shared among the columns by
Shapley's rule: each gets what it changes when it takes the row's value, on average over
the orders in which columns do so. The default's shares are in log-odds, exact, and set
against all ordinary rows that the model remembers. For networks and forests, orders are
drawn, and some ordinary rows of low to high scores are taken. The shares of a row add up
exactly either way.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.neighbors import NearestNeighbors

from spadework.arrays import Flags, Floats, Positions, Rows
from spadework.core.pseudo_labels import BOTH
from spadework.errors import InputError
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework.learners.trees import TreeModel
from spadework.predictor.shapley import ShapleyTables
from spadework.progress import progress
from spadework.reference import Reference
from spadework.table_model import TableModel
from spadework.tables.frames import frame_to_table
from spadework.tables.words import put_into_words

FEWEST_STARTS, MOST_STARTS = 6, 64
"""Ordinary rows that a row is set against where orders are drawn, a pair for each."""

N_SCORED = 200_000
"""Rows to score for all these shares, about; the ordinary rows are as many as allows."""

MOST_REASONS = 20
"""Columns of a row that are put into words, at most."""

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
    all columns. ``reasons`` are the columns with the largest shares, for the score before
    against it, and ``others`` is the sum of all smaller shares, ``n_others`` of them.
    ``nearest`` are labeled training rows. ``pseudo_label`` is what the one-class
    classifiers say, empty where the model has none, and ``votes`` the same one by one.
    """

    score: float
    baseline: float
    anomalous: bool
    reasons: list[Reason]
    others: float
    n_others: int
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
        if n_left := len(self.reasons) - len(shown) + self.n_others:
            lines.append(f"  and {n_left} smaller {'share' if n_left == 1 else 'shares'}")
        if self.nearest:
            near = ", ".join(map(str, self.nearest))
            lines.append(f"  nearest labeled in training: {near}")
        if self.pseudo_label:
            lines.append(f"  one-class classifiers: {self.pseudo_label}")
            lines.append(f"    {_scores_in_words(self.votes)}")
        return "\n".join(lines)


def explain_rows(
    model: TableModel, rows: Any, *, verbose: bool = False
) -> list[Explanation]:
    """Explain the score of every row of a frame."""
    table = frame_to_table(rows)
    if not table.num_rows:
        return []
    X = model.encoder.encode(table)
    ordinary = ordinary_rows(model)
    shares, baseline = _share_scores(model, X, ordinary, verbose)
    kept = _find_largest(shares)
    reasons = _reasons(model, table, shares, kept, ordinary, verbose)
    others = np.where(kept, 0.0, shares)
    scores = model.detector.anomaly_score(X)
    nearest = _nearest_labeled(model, X)
    verdicts, votes = _votes(model, X)
    called = scores > model.detector.threshold_
    return [
        Explanation(
            float(scores[row]),
            baseline,
            bool(called[row]),
            reasons[row],
            float(others[row].sum()),
            int(np.count_nonzero(others[row])),
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


def _share_scores(
    model: TableModel, X: Rows, ordinary: Rows, verbose: bool
) -> tuple[Floats, float]:
    """Share the scores of rows among columns, (n_rows, n_columns), above a baseline."""
    owners, learnt = model.encoder.owners, model.detector.model_
    if isinstance(learnt, TreeModel):
        tables = ShapleyTables.of(learnt.trees, ordinary, owners)
        return tables.shares(X), tables.baseline
    n_starts = N_SCORED // (2 * len(X) * (len(model.encoder.columns) + 1))
    n_starts = int(np.clip(n_starts, FEWEST_STARTS, MOST_STARTS))
    starts, rng = _spread(model, ordinary, n_starts), np.random.default_rng(0)
    score = model.detector.anomaly_score
    return draw_shares(score, X, starts, owners, rng, verbose=verbose)


def draw_shares(
    score: Any,
    X: Rows,
    starts: Rows,
    owners: Positions,
    rng: np.random.Generator,
    *,
    verbose: bool = False,
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
    with progress("sharing scores", len(starts), verbose=verbose) as advance:
        for start in starts:
            order = rng.permutation(n_columns)
            for columns in (order, order[::-1]):
                for first in range(0, len(X), n_at_once):
                    part = slice(first, first + n_at_once)
                    scores = _score_steps(score, start, X[part], owners, columns)
                    shares[part, columns] += np.diff(scores, axis=0).T
            advance("")
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


def _find_largest(shares: Floats) -> Flags:
    """Tell the largest shares of each row, for and against, of the same shape."""
    order = np.argsort(-np.abs(shares), axis=1, kind="stable")
    kept = np.zeros(shares.shape, dtype=bool)
    np.put_along_axis(kept, order[:, :MOST_REASONS], True, axis=1)
    return kept & (shares != 0)


def _reasons(
    model: TableModel,
    table: pa.Table,
    shares: Floats,
    kept: Flags,
    ordinary: Rows,
    verbose: bool,
) -> list[list[Reason]]:
    """Put the kept shares of every row into words, those for the score first."""
    columns, owners = model.encoder.columns, model.encoder.owners
    named = np.flatnonzero(kept.any(axis=0))
    reasons: list[list[Reason]] = [[] for _ in shares]
    with progress("explaining", len(named), verbose=verbose) as advance:
        for at in named:
            column, rows = columns[at], np.flatnonzero(kept[:, at])
            values = table.column(column.name).take(pa.array(rows))
            said = put_into_words(column, values, ordinary[:, owners == at])
            for row, words in zip(rows.tolist(), said, strict=True):
                reasons[row].append(Reason(column.name, float(shares[row, at]), words))
            advance("")
    return [sorted(each, key=lambda reason: -reason.share) for each in reasons]


def _nearest_labeled(model: TableModel, X: Rows) -> list[list[Neighbour]]:
    """Find the labeled training rows nearest to each row, on scaled features."""
    reference: Reference = model.reference
    labeled = np.flatnonzero(reference.labels != UNLABELED)
    represent = model.detector.model_.represent
    known, codes = represent(reference.X[labeled]), represent(X)
    names = [""] * len(reference.X) if reference.names is None else reference.names

    def neighbour(at: int, distance: float) -> Neighbour:
        label = _LABELS[int(reference.labels[at])]
        return Neighbour(int(reference.places[at]), label, distance, str(names[at]))

    search = NearestNeighbors(n_neighbors=min(N_NEAREST, len(known)), algorithm="brute")
    near: Any = search.fit(known).kneighbors(codes, return_distance=False)
    found = []
    for row, places in zip(codes, np.sort(near, axis=1), strict=True):
        distance = np.sqrt(((known[places] - row) ** 2).sum(axis=1))  # 0 where the same
        order = np.argsort(distance, kind="stable")
        found.append(
            [neighbour(int(labeled[places[i]]), float(distance[i])) for i in order]
        )
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
