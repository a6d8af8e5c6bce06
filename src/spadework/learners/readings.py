"""Four readings of the unlabeled rows: what is drawn from, and what judges them."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np

from spadework.arrays import Flags, Floats, Labels, Positions
from spadework.core.trust import AS_NORMAL, AS_SUSPECT, LABELS, PSEUDO
from spadework.errors import InputError
from spadework.labels import ANOMALY, NORMAL, UNLABELED

WIDE = 10
"""Times that a wide draw of unlabeled rows outnumbers the labeled anomalies."""

MAX_DRAWS = 32_768
"""Rows that a tree or a small network draws at most."""

JUDGED_ROWS = 10_000
"""Unlabeled rows that readings are judged on, at most, and rows of each class."""


class Draws(NamedTuple):
    """What a tree draws of one class: positions, their weights, how many draws."""

    rows: Positions
    weights: Floats | None
    n_draws: int

    def among(self, chosen: Flags | Positions) -> "Draws":
        """Draw as many from these of the rows alone, told by a mask or by places."""
        weights = None if self.weights is None else self.weights[chosen]
        return Draws(self.rows[chosen], weights, self.n_draws)


class Reading(NamedTuple):
    """A training set: normal and anomalous rows, and the rows a leaf must hold.

    Where one side is a mixture, as unlabeled rows are, no more of it is drawn than
    there are rows of the pure side: every tree then sees few of the rows that are
    there by mistake (Mordelet and Vert 2014). Where that side is the normal one,
    every second tree draws from ``wide`` instead, to know more of what is normal, and
    trees that grow to the last row draw from ``all_normal``.
    """

    normal: Draws
    anomalous: Draws
    min_leaf: int
    wide: Draws | None = None
    all_normal: Draws | None = None

    @property
    def n_draws(self) -> int:
        """Rows that a tree draws, but for wide ones."""
        return self.normal.n_draws + self.anomalous.n_draws

    @property
    def whole(self) -> Draws:
        """What trees that grow to the last row draw for normal."""
        return self.all_normal or self.normal


def check_readings(wanted: Sequence[str] | None, known: Sequence[str]) -> None:
    """Refuse readings of other names; None stands for all."""
    if wanted is None:
        return
    listed = isinstance(wanted, Collection) and not isinstance(wanted, str)
    if not listed or not wanted or not set(wanted) <= set(known):
        raise InputError(
            f"readings must be a list of names among {', '.join(known)}; got {wanted!r}"
        )


def make_readings(
    labels: Labels,
    targets: Labels,
    alphas: dict[int, float],
    *,
    max_draws: int,
    min_leaf: int,
) -> dict[str, Reading]:
    """Make the readings that the labels allow.

    Targets, (n_unlabeled,), are what pseudo-labels take unlabeled rows for: 1, 0 or -1.
    All those of a class weigh alpha, where its labels weigh 1. A leaf must hold
    ``min_leaf`` rows, fewer where a class has few.
    """
    anomalies, normals, unlabeled = (
        np.flatnonzero(labels == kind) for kind in (ANOMALY, NORMAL, UNLABELED)
    )

    def draws(rows: Positions, n_draws: int) -> Draws:
        return _draws(rows, n_draws, max_draws)

    def leaf(n_rows: int) -> int:
        return int(np.clip(n_rows // 5, 1, min_leaf))

    readings: dict[str, Reading] = {}
    if len(anomalies) and len(normals):
        readings[LABELS] = Reading(
            draws(normals, len(normals)),
            draws(anomalies, len(anomalies)),
            min_leaf,
        )
    if len(anomalies) and len(unlabeled):
        others = np.concatenate([unlabeled, normals])
        n_draws = max(len(anomalies), 5)
        readings[AS_NORMAL] = Reading(
            draws(others, n_draws),
            draws(anomalies, n_draws),
            leaf(len(anomalies)),
            wide=draws(others, min(WIDE * n_draws, len(others))),
            all_normal=draws(others, len(others)),
        )
    if len(normals) and len(unlabeled):
        n_draws = max(len(normals), 5)
        readings[AS_SUSPECT] = Reading(
            draws(normals, n_draws),
            draws(unlabeled, n_draws),
            leaf(len(normals)),
        )
    pseudo = read_targets(labels, targets, alphas, max_draws=max_draws, min_leaf=min_leaf)
    if pseudo is not None:
        readings[PSEUDO] = pseudo
    return readings


def read_targets(
    labels: Labels,
    targets: Labels,
    alphas: dict[int, float],
    *,
    max_draws: int,
    min_leaf: int,
) -> Reading | None:
    """Read unlabeled rows as what they are taken for; None where a class has no rows.

    Parameters are those of `make_readings`.
    """
    unlabeled = np.flatnonzero(labels == UNLABELED)
    sides = [
        _with_pseudo(
            np.flatnonzero(labels == kind), unlabeled[targets == kind], alphas[kind]
        )
        for kind in (NORMAL, ANOMALY)
    ]
    if not len(unlabeled) or not all(len(rows) for rows, _ in sides):
        return None
    normal, anomalous = (
        _draws(rows, len(rows), max_draws, weights) for rows, weights in sides
    )
    return Reading(normal, anomalous, min_leaf)


def choose(side: Draws, rng: np.random.Generator) -> Positions:
    """Draw positions with replacement, by weight where there are weights."""
    if side.weights is None:
        return side.rows[rng.integers(len(side.rows), size=side.n_draws)]
    cumulated = np.cumsum(side.weights)
    points = rng.random(side.n_draws) * cumulated[-1]
    return side.rows[np.searchsorted(cumulated, points, side="right")]


def judged_rows(labels: Labels, rng: np.random.Generator) -> Positions:
    """Positions of the rows to judge by: all of a kind, or a sample of them."""
    chosen = []
    for kind in (ANOMALY, NORMAL, UNLABELED):
        rows = np.flatnonzero(labels == kind)
        if len(rows) > JUDGED_ROWS:
            rows = rng.choice(rows, JUDGED_ROWS, replace=False)
        chosen.append(rows)
    return np.sort(np.concatenate(chosen))


def _draws(
    rows: Positions, n_draws: int, max_draws: int, weights: Floats | None = None
) -> Draws:
    """Draw so many rows of one class, half of what a tree may draw at most."""
    return Draws(rows, weights, max(1, min(n_draws, max_draws // 2)))


def _with_pseudo(
    labeled: Positions, pseudo: Positions, alpha: float
) -> tuple[Positions, Floats]:
    """Join labeled and pseudo-labeled rows of a class, and their weights.

    The losses of eq. 5 are means: alpha weighs all pseudo-labels together against
    all labels together. A class without labels has nothing to be weighed against.
    """
    if not len(labeled):
        return pseudo, np.ones(len(pseudo))
    if alpha == 0:
        return labeled, np.ones(len(labeled))
    share = alpha * len(labeled) / max(1, len(pseudo))
    weights = np.concatenate([np.ones(len(labeled)), np.full(len(pseudo), share)])
    return np.concatenate([labeled, pseudo]), weights
