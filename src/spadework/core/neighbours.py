"""K ensembles of nearest neighbours: how far a row lies from a few others.

The distance to the nearest of a few rows drawn at random is short where rows are dense
and long where they are sparse; averaged over many draws it ranks rows by that (LeSiNN;
Pang, Ting and Albrecht 2015). Unlike a Gaussian it sees several clusters, and as a draw
is small, a cluster of anomalies seldom hides itself.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spadework.errors import InputError

Floats = NDArray[np.float64]
Rows = NDArray[np.floating]

N_POINTS = 64
"""Rows of a draw, at most."""

N_DRAWS = 50
"""Draws of all members together, at least."""

SAME = 1e-9
"""Squared distance up to which two rows are the same: products are rounded. Features are
scaled to order one before they come here."""

_CHUNK_ROWS = 1_024


@dataclass(frozen=True)
class NearestNeighbours:
    """K fitted ensembles.

    Attributes
    ----------
    points : ndarray of shape (n_members, n_draws, n_points, n_features)
        The rows of every draw of every member.
    """

    points: Floats

    def __post_init__(self) -> None:
        if self.points.ndim != 4 or not all(self.points.shape):
            raise InputError(
                f"points must have shape (n_members, n_draws, n_points, n_features); "
                f"got {self.points.shape}"
            )
        if not np.isfinite(self.points).all():
            raise InputError("points must be finite")

    def score(self, X: Rows) -> Floats:
        """Mean distance to the nearest row of a draw, (n_samples, n_members)."""
        return score_neighbours(self, X)


def draw_neighbours(
    parts: list[Rows], rng: np.random.Generator, *, n_points: int = N_POINTS
) -> NearestNeighbours:
    """Draw the rows that each member measures distances to.

    Parameters
    ----------
    parts : list of ndarray of shape (n_rows, n_features)
        The rows of every member.
    rng : numpy.random.Generator
    n_points : int
        Rows of a draw; fewer where a member has fewer.
    """
    n_points = min(n_points, *(len(rows) for rows in parts))
    if n_points == 0:
        raise InputError("every member needs at least one row to measure distances to")
    n_draws = -(-N_DRAWS // len(parts))
    points = [
        [rows[rng.choice(len(rows), n_points, replace=False)] for _ in range(n_draws)]
        for rows in parts
    ]
    return NearestNeighbours(np.array(points, dtype=np.float64))


def score_neighbours(neighbours: NearestNeighbours, X: Rows) -> Floats:
    """Average over its draws how far every member's nearest row lies.

    Parameters
    ----------
    neighbours : NearestNeighbours
    X : ndarray of shape (n_samples, n_features)

    Returns
    -------
    scores : ndarray of shape (n_samples, n_members)
        Higher is more anomalous.
    """
    n_members, n_draws, n_points, n_features = neighbours.points.shape
    if X.ndim != 2 or X.shape[1] != n_features:
        raise InputError(
            f"expected rows of {n_features} features; got an array of shape {X.shape}"
        )
    directions, squares = linear_form(neighbours)
    scores = np.empty((len(X), n_members))
    for start in range(0, len(X), _CHUNK_ROWS):
        rows = X[start : start + _CHUNK_ROWS].astype(np.float64)
        others = rows @ directions  # |x - p|^2 = |x|^2 + (|p|^2 - 2 x p)
        others += squares
        nearest = others.reshape(-1, n_members, n_draws, n_points).min(axis=-1)
        nearest += (rows**2).sum(axis=1)[:, None, None]
        nearest[nearest < SAME] = 0.0
        np.sqrt(nearest, out=nearest)
        scores[start : start + len(rows)] = nearest.mean(axis=-1)
    return scores


def linear_form(neighbours: NearestNeighbours) -> tuple[Floats, Floats]:
    """Return what turns rows into squared distances, less the square of the row.

    Returns
    -------
    directions : ndarray of shape (n_features, n_members * n_draws * n_points)
    squares : ndarray of shape (n_members * n_draws * n_points,)
        ``X @ directions + squares`` is ``|p|^2 - 2 x p``.
    """
    points = neighbours.points.reshape(-1, neighbours.points.shape[-1])
    return -2 * points.T, (points**2).sum(axis=1)
