"""K ensembles of nearest neighbours: how far a row lies from a few others.

The distance to the nearest of a few rows drawn at random is short where rows are dense
and long where they are sparse; averaged over many draws it ranks rows by that (LeSiNN;
Pang, Ting and Albrecht 2015). Unlike a Gaussian it sees several clusters, and as a draw
is small, a cluster of anomalies seldom hides itself. Distances are those of a Gaussian,
though: columns that go together count as one, and a row that breaks the tie between them
lies far off.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from spadework.arrays import Floats, Numbers, Positions
from spadework.core.cores import map_blocks
from spadework.core.gaussian import fit_gaussians, product_rows
from spadework.core.rows import refuse_other_width
from spadework.errors import InputError

N_POINTS = 64
"""Rows of a draw, at most."""

N_DRAWS = 25
"""Draws of all members together, at least."""

SAME = 1e-9
"""Squared distance up to which two rows are the same: products are rounded. Features are
scaled to order one before they come here."""

SLACK = 0.1
"""Variance that every direction has besides its own, as a share of the mean of all: in
those that rows hardly vary in, distances say little."""

_CHUNK_ROWS = 128
"""Rows of every product, at most; the last one is filled up: a row is scored to the last
bit alike, alone and among others."""


@dataclass(frozen=True)
class NearestNeighbours:
    """K fitted ensembles: the rows of every draw of every member.

    They lie along the axes that distances are measured on, (n_features, n_axes).
    """

    points: Floats
    axes: Floats

    def __post_init__(self) -> None:
        if self.points.ndim != 4 or not all(self.points.shape):
            raise InputError(
                f"points must have shape (n_members, n_draws, n_points, n_axes); "
                f"got {self.points.shape}"
            )
        if self.axes.ndim != 2 or self.axes.shape[1] != self.points.shape[3]:
            raise InputError(
                f"axes of points in {self.points.shape[3]} dimensions must have shape "
                f"(n_features, {self.points.shape[3]}); got {self.axes.shape}"
            )
        if not (np.isfinite(self.points).all() and np.isfinite(self.axes).all()):
            raise InputError("points must be finite, and so must their axes")

    def score(self, X: Numbers) -> Floats:
        """Mean distance to the nearest row of a draw, (n_samples, n_members)."""
        refuse_other_width(X, len(self.axes))

        def mean(nearest: Floats, rows: slice) -> Floats:
            return nearest.mean(axis=1).T[: rows.stop - rows.start]

        none = np.empty((0, len(self.points)))
        return np.concatenate([none, *_map_nearest(self, X, mean)])


def draw_neighbours(parts: list[Numbers], rng: np.random.Generator) -> NearestNeighbours:
    """Draw the rows that each member measures distances to.

    Each part holds the rows of a member, (n_rows, n_features); all draws are as large as
    the smallest part allows.
    """
    n_points = min(N_POINTS, *(len(rows) for rows in parts))
    if n_points == 0:
        raise InputError("every member needs at least one row to measure distances to")
    n_draws = -(-N_DRAWS // len(parts))
    axes = distance_axes(np.concatenate(parts))
    points = [rows[draw_places(len(rows), n_draws, n_points, rng)] for rows in parts]
    return NearestNeighbours(np.array(points, dtype=np.float64) @ axes, axes)


def distance_axes(X: Numbers) -> Floats:
    """Return axes on which rows are apart as far as a Gaussian of them says.

    Of rows X, (n_samples, n_features), which are then ``|(x - y) @ axes|`` apart.
    """
    slack = SLACK * float(X.var(axis=0, dtype=np.float64).mean()) or 1.0
    one_group = np.zeros(len(X), dtype=np.intp)
    return fit_gaussians(X, one_group, ridge=slack).whitening.matrix[:-1]


def draw_places(
    n_rows: int, n_draws: int, n_points: int, rng: np.random.Generator
) -> Positions:
    """Draw places among so many rows, none twice in a draw; (n_draws, n_points)."""
    return np.stack([rng.choice(n_rows, n_points, replace=False) for _ in range(n_draws)])


def _map_nearest(
    neighbours: NearestNeighbours, X: Numbers, function: Callable[[Floats, slice], Floats]
) -> list[Floats]:
    """Call a function with the distances of chunks of rows, on all cores.

    The function gets distances, (n_members, n_draws, chunk_rows), and the slice of rows
    they belong to; those behind the last row's are of none. Results come in row order.
    """
    n_members, n_draws, n_points, _ = neighbours.points.shape
    directions, squares = linear_form(neighbours)
    planes = np.vstack([directions, squares]).T.reshape(n_members, n_draws, n_points, -1)
    planes = np.ascontiguousarray(planes)
    # Every draw is a product of its own, small enough for one core.
    size = product_rows(n_points, planes.shape[-1], _CHUNK_ROWS)

    def measure(rows: slice) -> Floats:
        chunk, along = np.zeros((size, X.shape[1])), np.ones((planes.shape[-1], size))
        chunk[: rows.stop - rows.start] = X[rows]
        along[:-1] = (chunk @ neighbours.axes).T
        # Rows come last, so that the nearest of a draw is found for many at once.
        nearest = (planes @ along).min(axis=2)  # |x - p|^2 = |x|^2 + (|p|^2 - 2 x p)
        nearest += (along[:-1] ** 2).sum(axis=0)
        nearest[nearest < SAME] = 0.0
        return function(np.sqrt(nearest, out=nearest), rows)

    return list(map_blocks(measure, len(X), size))


def linear_form(neighbours: NearestNeighbours) -> tuple[Floats, Floats]:
    """Return what turns rows along the axes into distances, squared, less their square.

    ``X @ directions + squares`` is ``|p|^2 - 2 x p``, for all points of all members:
    directions (n_axes, n_members * n_draws * n_points), and as many squares.
    """
    points = neighbours.points.reshape(-1, neighbours.points.shape[-1])
    return -2 * points.T, (points**2).sum(axis=1)
