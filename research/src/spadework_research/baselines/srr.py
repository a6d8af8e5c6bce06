"""SRR (Yoon et al. 2022): one-class learning on data that refine themselves.

The paper's unsupervised OCC. An ensemble of one-class classifiers on disjoint parts
of the data looks for rows that any of them finds anomalous; the final classifier
learns from the others. Labels serve only to leave labeled anomalies out.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from spadework.base import Floats, Labels, Rows
from spadework.core.gaussian import GaussianEnsemble, fit_gaussians
from spadework.core.matching import otsu_threshold
from spadework.core.scaling import fit_scaler
from spadework.labels import ANOMALY
from spadework_research.baselines.baseline import Baseline

N_MEMBERS = 5
"""Parts the rows are split into, as in both papers."""


class SRR(Baseline):
    """Self-supervise, refine, repeat, with Gaussians and Otsu thresholds."""

    def _learn(self, X: Rows, labels: Labels, rng: np.random.Generator) -> Floats:
        self.scaler_ = fit_scaler(X, "minmax", rng)
        rows = self.scaler_.transform(X[labels != ANOMALY])
        kept = rows[refine(rows, rng)]
        self.model_ = fit_gaussians(kept, np.zeros(len(kept), dtype=np.intp))
        return self._score(X)

    def _score(self, X: Rows) -> Floats:
        return self.model_.score(self.scaler_.transform(X))[:, 0]


def refine(
    X: Rows,
    rng: np.random.Generator,
    fit: Callable[[Rows, NDArray[np.intp]], GaussianEnsemble] = fit_gaussians,
) -> NDArray[np.bool_]:
    """Tell the rows that every member finds normal, bool of shape (n_samples,).

    Each member's threshold is Otsu's. Should nothing be left, everything is kept.
    ``fit`` fits one member for each group code.
    """
    n_members = min(N_MEMBERS, len(X))
    groups = rng.permutation(np.arange(len(X)) % n_members)
    scores = fit(X, groups).score(X).T
    normal = np.all([column <= otsu_threshold(column) for column in scores], axis=0)
    return normal if normal.sum() >= 2 else np.ones(len(X), dtype=bool)
