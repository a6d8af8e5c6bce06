"""A support vector machine that stays affordable on large tables."""

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from spadework.base import Floats, Labels, Rows

SVM_ROWS = 16_384
"""Rows that it learns from at most: libsvm's time grows with their square."""

_SCORE_ROWS = 8_192


class KernelSVM(ClassifierMixin, BaseEstimator):
    """Radial kernel on columns brought to the range 0 to 1, two classes.

    Of a larger table it learns from a random draw. Probabilities are a sigmoid of
    the margin: good for ranking, not calibrated.

    Parameters
    ----------
    C, gamma : float
        As in scikit-learn's SVC.
    """

    def __init__(self, *, C: float, gamma: float, random_state: int) -> None:
        self.C = C
        self.gamma = gamma
        self.random_state = random_state

    def fit(self, X: Rows, y: Labels) -> "KernelSVM":
        """Learn from rows of two classes, (n_samples, n_features) and (n_samples,)."""
        self.scaler_ = MinMaxScaler(clip=True).fit(X)
        rows = np.arange(len(X))
        if len(X) > SVM_ROWS:
            rows = _draw(np.asarray(y), np.random.default_rng(self.random_state))
        gamma: Any = self.gamma  # scikit-learn's hints know names only
        model = SVC(C=self.C, gamma=gamma)
        model.fit(self.scaler_.transform(X[rows]), y[rows])
        self.classes_ = model.classes_
        self.vectors_: Floats = model.support_vectors_
        self.weights_: Floats = model.dual_coef_[0]
        self.intercept_ = float(model.intercept_[0])
        return self

    def predict_proba(self, X: Rows) -> Floats:
        """Sigmoid of the margin, (n_samples, 2)."""
        margin = np.empty(len(X))
        for start in range(0, len(X), _SCORE_ROWS):
            rows = self.scaler_.transform(X[start : start + _SCORE_ROWS])
            kernel = rbf_kernel(rows, self.vectors_, gamma=self.gamma)
            margin[start : start + _SCORE_ROWS] = kernel @ self.weights_
        second = expit(margin + self.intercept_)
        return np.stack([1 - second, second], axis=1)


def _draw(y: Labels, rng: np.random.Generator) -> np.ndarray:
    """Draw rows without replacement, each class by its share and at least one."""
    drawn = []
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        size = max(1, round(SVM_ROWS * len(rows) / len(y)))
        drawn.append(rng.choice(rows, size, replace=False))
    return np.concatenate(drawn)
