"""Gaussians of codes that have more dimensions than there are photos."""

from dataclasses import dataclass

import numpy as np
from sklearn.covariance import ledoit_wolf

from spadework.arrays import Numbers, Positions
from spadework.core.gaussian import RIDGE, SHARED, GaussianEnsemble


@dataclass(frozen=True)
class CodeGaussians:
    """One Gaussian per group, as the one-class classifier of a pseudo-labeler."""

    def fit_members(
        self, X: Numbers, groups: Positions, rng: np.random.Generator
    ) -> GaussianEnsemble:
        """Fit one Gaussian per group; see `fit_code_gaussians`. Nothing is drawn."""
        return fit_code_gaussians(X, groups)


def fit_code_gaussians(X: Numbers, groups: Positions) -> GaussianEnsemble:
    """Fit one Gaussian per group, its covariance shrunk as Ledoit and Wolf say.

    A member sees tens of photos in 512 dimensions. With a fixed small ridge it finds
    its own photos likely and all others impossible, and members never agree. Shrinking
    by as much as the rows call for narrows that gap, as in public CutPaste code. Where
    codes vary in many directions it stays, and few photos or none are pseudo-labeled.

    X is of shape (n_samples, n_dimensions), and groups, (n_samples,), are those of
    `spadework.core.gaussian.fit_gaussians`.
    """
    identity = np.eye(X.shape[1])
    means, factors = [], []
    for member in range(int(groups.max()) + 1):
        rows = X[(groups == member) | (groups == SHARED)].astype(np.float64)
        covariance, _ = ledoit_wolf(rows)
        means.append(rows.mean(axis=0))
        factors.append(np.linalg.cholesky(covariance + RIDGE * identity))
    return GaussianEnsemble(np.stack(means), np.stack(factors))
