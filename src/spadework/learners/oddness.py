"""One-class scores as readings: those of the consensus, and those of labeled normals."""

from dataclasses import dataclass

import numpy as np

from spadework.arrays import Floats, Labels, Numbers, Positions
from spadework.core.neighbours import (
    N_DRAWS,
    N_POINTS,
    NearestNeighbours,
    distance_axes,
    draw_places,
    score_drawn,
)
from spadework.core.pseudo_labels import (
    Members,
    OneClassModel,
    log_scale,
    scale_of,
)
from spadework.core.trust import ONE_CLASS, UNLIKE_NORMAL
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework.learners.contract import GrownReading, Scaler, Task
from spadework.learners.linear import N_FOLDS

SCALE_ROWS = 10_000
"""Rows, about, that one-class scores find their scale on, and distances their axes."""

MIN_NORMALS = 5
"""Labeled normals that a one-class classifier of their own takes at least."""


@dataclass(frozen=True)
class Oddness:
    """How odd the one-class classifiers find a row, on a log scale.

    Origin and unit, (n_members,), bring members to one scale: the lowest score of
    unlabeled rows by each, and how far above it their median lies.
    """

    members: Members
    scaler: Scaler
    origin: Floats
    unit: Floats

    def score(self, X: Numbers) -> Floats:
        """Mean of the members' scores, (n_samples,)."""
        return self.score_scaled(self.scaler.transform(X))

    def score_scaled(self, scaled: Numbers) -> Floats:
        """Score rows that are scaled already, (n_samples,)."""
        scores = self.members.score(scaled)
        return log_scale(scores, self.origin, self.unit).mean(axis=1)


def fit_oddness(members: Members, task: Task) -> Oddness:
    """Find the scale of every member on unlabeled rows, a sample if there are many."""
    sample = _thinned(np.flatnonzero(task.labels == UNLABELED))
    scores = members.score(task.scaler.transform(task.X[sample]))
    return Oddness(members, task.scaler, *scale_of(scores))


def read_one_class(
    members: Members, one_class: OneClassModel, task: Task
) -> dict[str, GrownReading]:
    """Read the judged rows by one-class classifiers, and by one of labeled normals."""
    oddness = fit_oddness(members, task)
    read = {ONE_CLASS: GrownReading(oddness, oddness.score(task.X[task.judged]))}
    if _enough_normals(task.labels):
        read[UNLIKE_NORMAL] = _read_unlikeness(one_class, task)
    return read


def read_neighbours(task: Task) -> dict[str, GrownReading]:
    """Read the judged rows by how far they lie from a few others, and from normals.

    There is one for each reading of `read_one_class`.
    """
    among = {ONE_CLASS: np.flatnonzero(task.labels != ANOMALY)}
    if _enough_normals(task.labels):
        among[UNLIKE_NORMAL] = np.flatnonzero(task.labels == NORMAL)
    return {name: _read_distances(rows, task) for name, rows in among.items()}


def _read_distances(others: Positions, task: Task) -> GrownReading:
    """Read the judged rows by how far they lie from draws of other rows.

    A judged row among these others is scored by the draws that leave it out, and a
    labeled normal on axes of others than it.
    """
    X, labels, scaler, judged, rng = task
    n_points = min(N_POINTS, max(1, len(others) // 2))  # so that draws leave rows out
    places = others[draw_places(len(others), N_DRAWS, n_points, rng)]
    points = scaler.transform(X[places.ravel()])

    def lay_out(rows: Positions) -> NearestNeighbours:
        axes = distance_axes(scaler.transform(X[_thinned(rows)]))
        return NearestNeighbours((points @ axes).reshape(1, *places.shape, -1), axes)

    neighbours = lay_out(others)
    oddness = fit_oddness(neighbours, task)
    drawn = np.stack([np.isin(judged, draw) for draw in places], axis=1)
    scaled = scaler.transform(X[judged])
    held_out = score_drawn(neighbours, scaled, drawn)
    if (labels[others] == NORMAL).all():  # so few that axes know them by heart
        normals = np.flatnonzero(labels[judged] == NORMAL)
        for fold in (normals[first::N_FOLDS] for first in range(N_FOLDS)):
            apart = lay_out(np.setdiff1d(others, judged[fold]))
            held_out[fold] = score_drawn(apart, scaled[fold], drawn[fold])
    return GrownReading(oddness, log_scale(held_out, oddness.origin, oddness.unit))


def _read_unlikeness(one_class: OneClassModel, task: Task) -> GrownReading:
    """Fit a one-class classifier to labeled normals, and more to score these held out."""
    X, labels, scaler, judged, rng = task

    def fit(rows: Positions) -> Oddness:
        one_group = np.zeros(len(rows), dtype=np.intp)
        members = one_class.fit_members(scaler.transform(X[rows]), one_group, rng)
        return fit_oddness(members, task)

    normals = np.flatnonzero(labels == NORMAL)
    unlikeness = fit(normals)
    held_out = unlikeness.score(X[judged])
    places = rng.permutation(np.flatnonzero(labels[judged] == NORMAL))
    for fold in np.array_split(places, N_FOLDS):
        others = fit(np.setdiff1d(normals, judged[fold]))
        held_out[fold] = others.score(X[judged[fold]])
    return GrownReading(unlikeness, held_out)


def _enough_normals(labels: Labels) -> bool:
    """Tell whether labeled normals can have a one-class classifier of their own."""
    return int((labels == NORMAL).sum()) >= MIN_NORMALS


def _thinned(rows: Positions) -> Positions:
    """Return rows here and there among many, all of few."""
    return rows[:: max(1, len(rows) // SCALE_ROWS)]
