"""K Gaussian density estimators at once: the ensemble is an axis, not a list.

Member k is fitted on its own rows and on the rows that all members share (in
SPADE: a disjoint part of the unlabeled rows, and the labeled normals). A fit
needs only the count, the sum and the cross-products of the rows, which add up,
so shared rows are read once and not K times.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtri  # pyright: ignore[reportAttributeAccessIssue]

from spadework.arrays import Flags, Floats, Numbers
from spadework.core.copies import CopiedByFields
from spadework.core.rows import refuse_other_width
from spadework.errors import InputError

SHARED, LEFT_OUT = -1, -2
"""Group codes of rows that every member, or no member, is fitted on."""

RIDGE = 1e-6
"""Variance added to every direction, so that constant and collinear columns and
members with fewer rows than columns still have a density. Features are scaled
to order one before they come here."""

_CHUNK_ROWS, _SCORED_ROWS = 4_096, 1_024

_ALONE = 1 << 18
"""Multiplications that BLAS does not share out among threads."""

_WIDE_ROWS = 128
"""Rows to multiply at once by a matrix so wide that even four rows exceed that."""


@dataclass(frozen=True)
class GaussianEnsemble(CopiedByFields):
    """K fitted Gaussians: means, and lower Cholesky factors of the covariances."""

    means: Floats
    factors: Floats

    def __post_init__(self) -> None:
        n_members, n_features = self.means.shape
        if self.factors.shape != (n_members, n_features, n_features):
            raise InputError(
                f"factors of {n_members} Gaussians in {n_features} dimensions must have "
                f"shape {(n_members, n_features, n_features)}; got {self.factors.shape}"
            )
        diagonals = np.diagonal(self.factors, axis1=1, axis2=2)
        if not ((diagonals > 0).all() and np.isfinite(self.factors).all()):
            raise InputError("Cholesky factors must be finite with a positive diagonal")

    def score(self, X: Numbers) -> Floats:
        """Negative log-likelihood, o_k(x), by every member, (n_samples, n_members)."""
        n_members, n_features = self.means.shape
        refuse_other_width(X, n_features)
        centre, whitening, log_norms = self.whitening
        scores = np.empty((len(X), n_members))
        size = product_rows(len(whitening), whitening.shape[1], _SCORED_ROWS)
        chunk = np.ones((_SCORED_ROWS, n_features + 1))
        for start in range(0, len(X), _SCORED_ROWS):
            rows = X[start : start + _SCORED_ROWS]
            np.subtract(rows, centre, out=chunk[: len(rows), :-1])
            parts = chunk.reshape(-1, size, n_features + 1)[: -(-len(rows) // size)]
            white = (parts @ whitening).reshape(-1, n_members, n_features)  # (m, K, d)
            white = white[: len(rows)]
            np.einsum("mkd,mkd->mk", white, white, out=scores[start : start + len(rows)])
        scores += log_norms
        scores /= 2
        return scores

    @cached_property
    def whitening(self) -> "Whitening":
        """What is the same for all rows that are scored.

        The triangular factors are inverted once, by substitution, the covariances never.
        """
        n_features = self.means.shape[1]
        logs = np.log(np.diagonal(self.factors, axis1=1, axis2=2)).sum(axis=1)
        log_norms = n_features * np.log(2 * np.pi) + 2 * logs
        centre = self.means.mean(axis=0)
        solved = [dtrtri(factor, lower=1)[0].T for factor in self.factors]
        shifts = np.einsum("kd,kde->ke", self.means - centre, np.stack(solved))
        matrix = np.vstack([np.hstack(solved), -shifts.reshape(1, -1)])
        return Whitening(centre, matrix, log_norms)


class Whitening(NamedTuple):
    """How rows are scored: ``(|[x - centre, 1] @ matrix|^2 + log_norms) / 2``.

    The norm is that of each member's own columns of the product, which are
    ``L_k^-1 (x - mean_k)``.

    Attributes
    ----------
    centre : ndarray of shape (n_features,)
    matrix : ndarray of shape (n_features + 1, n_members * n_features)
    log_norms : ndarray of shape (n_members,)
    """

    centre: Floats
    matrix: Floats
    log_norms: Floats


def fit_gaussians(
    X: Numbers, groups: NDArray[np.integer], *, ridge: float = RIDGE
) -> GaussianEnsemble:
    """Fit one Gaussian per group, each on its own rows and the shared ones.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32 or float64
        Sums are accumulated in float64 around the overall mean.
    groups : ndarray of shape (n_samples,)
        The member, 0 to K - 1, that a row belongs to; ``SHARED`` for rows of all
        members, ``LEFT_OUT`` for rows of none.
    ridge : float
        Variance added to every direction; more where the covariance is rounded
        more coarsely, so that badly scaled columns do not fail.

    Examples
    --------
    >>> X = np.array([[0.0], [2.0], [10.0], [12.0]])
    >>> fit_gaussians(X, np.array([0, 0, 1, 1])).means
    array([[ 1.],
           [11.]])
    """
    n_members = int(groups.max(initial=-1)) + 1
    if n_members < 1:
        raise InputError("no row belongs to a member: expected group codes 0 to K - 1")
    used = (groups != LEFT_OUT)[:, None]
    centre = X.mean(axis=0, dtype=np.float64, where=used)
    moments = [_moments(X, groups == member, centre) for member in range(n_members)]
    shared = _moments(X, groups == SHARED, centre)
    counts, sums, products = (
        np.stack([moment[i] for moment in moments]) + shared[i] for i in range(3)
    )
    if (counts == 0).any():
        raise InputError(
            f"member {int(np.argmin(counts))} has no rows: every group code from 0 to "
            f"{n_members - 1} needs at least one"
        )
    offsets = sums / counts[:, None]  # (K, d)
    second = products / counts[:, None, None]  # (K, d, d)
    covariances = second - offsets[:, :, None] * offsets[:, None, :]
    # Rounding error of the difference, which grows with what was subtracted.
    largest = np.diagonal(second, axis1=1, axis2=2).max(axis=1)
    floor = np.maximum(ridge, 8 * X.shape[1] * np.finfo(np.float64).eps * largest)
    ridges = floor[:, None, None] * np.eye(X.shape[1])
    return GaussianEnsemble(centre + offsets, np.linalg.cholesky(covariances + ridges))


def product_rows(depth: int, width: int, most: int) -> int:
    """Rows to multiply at once by a matrix of that shape: a power of two up to the most.

    The threads of a larger product wait for each other without sleeping, and on a busy
    machine that takes longer than the product. Wide matrices are worth it.
    """
    n_rows = _ALONE // (depth * width)
    if n_rows < 4:
        return min(most, _WIDE_ROWS)
    return min(1 << (n_rows.bit_length() - 1), most)


def _moments(
    X: Numbers, chosen: Flags, centre: Floats
) -> tuple[np.float64, Floats, Floats]:
    """Count, sum (d,) and cross-products (d, d) of the chosen rows, centred."""
    n_features = X.shape[1]
    rows = np.flatnonzero(chosen)
    total, products = np.zeros(n_features), np.zeros((n_features, n_features))
    for start in range(0, len(rows), _CHUNK_ROWS):
        chunk = X[rows[start : start + _CHUNK_ROWS]] - centre  # float64
        total += chunk.sum(axis=0)
        products += chunk.T @ chunk
    return np.float64(len(rows)), total, products
