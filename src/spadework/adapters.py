"""Shapes that other libraries expect: a PyOD detector, and a thresholder for any."""

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from spadework.arrays import Floats
from spadework.base import AnomalyDetector
from spadework.core.matching import decide_threshold
from spadework.detector import SPADE
from spadework.errors import InputError, LabelError
from spadework.labels import normalize_labels

Calls = NDArray[np.int64]


class PyODAdapter(BaseEstimator):
    """A detector with the methods and attributes of PyOD's, learning from labels.

    Parameters
    ----------
    detector : AnomalyDetector, optional
        Unfitted; by default ``SPADE()``.

    Attributes
    ----------
    detector_ : AnomalyDetector
        A fitted copy.
    decision_scores_ : ndarray of shape (n_samples,)
        Anomaly scores of the training rows, higher is more anomalous.
    threshold_ : float
        Rows that score above it are called outliers.
    labels_ : ndarray of shape (n_samples,)
        1 for training rows that score above the threshold, 0 for the others.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(0, 1, (500, 4)), rng.normal(4, 1, (25, 4))])
    >>> y = np.full(525, -1)
    >>> y[:20], y[-5:] = 0, 1
    >>> adapter = PyODAdapter(SPADE(random_state=0)).fit(X, y)
    >>> adapter.predict([[0.0, 0.0, 0.0, 0.0], [4.0, 4.0, 4.0, 4.0]])
    array([0, 1])
    """

    detector_: AnomalyDetector
    decision_scores_: Floats
    threshold_: float
    labels_: Calls

    def __init__(self, detector: AnomalyDetector | None = None) -> None:
        self.detector = detector

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from rows and their three-valued labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            1 anomaly, 0 normal, -1 unlabeled, or what the detector's ``label_map``
            names.
        """
        detector = SPADE() if self.detector is None else clone(self.detector)
        if not isinstance(detector, AnomalyDetector):
            raise InputError(
                f"detector must be a detector of spadework, such as SPADE(); got "
                f"{self.detector!r}"
            )
        self.detector_ = detector.fit(X, y)
        self.decision_scores_ = detector.anomaly_score(X)
        self.threshold_ = detector.threshold_
        self.labels_ = _calls(self.decision_scores_, self.threshold_)
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """Anomaly score of rows, (n_samples,), to be compared with ``threshold_``."""
        check_is_fitted(self)
        return self.detector_.anomaly_score(X)

    def predict(self, X: ArrayLike) -> Calls:
        """Predict 1 for outliers and 0 for inliers, (n_samples,)."""
        return _calls(self.decision_function(X), self.threshold_)

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Share of belief in inlier and in outlier, (n_samples, 2)."""
        check_is_fitted(self)
        return self.detector_.predict_proba(X)


class PartialMatchingThreshold(BaseEstimator):
    """A threshold for anybody's anomaly scores, from a few labels.

    This is how `SPADE` finds its threshold where its learner does not predict the share
    of anomalies: it lies where the tail of the unlabeled scores looks most like the
    scores of the labeled rows (see `spadework.core.matching.decide_threshold`). In PyOD
    it takes the place of a share of outliers:
    ``ECOD(contamination=PartialMatchingThreshold(y)).fit(X)``.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        1 anomaly, 0 normal, -1 unlabeled, for each of the scores to fit.

    Attributes
    ----------
    threshold_, thresh_ : float
        Scores above it are called outliers; PyOD knows it by the second name.
    labels_ : ndarray of shape (n_samples,)
        1 for the fitted scores above the threshold, 0 for the others.

    Examples
    --------
    >>> thresholder = PartialMatchingThreshold([1, 1, -1, -1, -1, -1, -1])
    >>> thresholder.fit([9.0, 11.0, 0.0, 1.0, 2.0, 9.5, 10.5]).threshold_
    5.75
    >>> thresholder.predict([3.0, 8.0])
    array([0, 1])
    """

    threshold_: float
    thresh_: float
    labels_: Calls

    def __init__(self, labels: ArrayLike) -> None:
        self.labels = labels

    def fit(self, scores: ArrayLike) -> Self:
        """Find the threshold for scores, (n_samples,): higher is more anomalous."""
        scores = _checked_scores(scores)
        labels = normalize_labels(self.labels, stated=True)
        if len(scores) != len(labels):
            raise LabelError(
                f"there must be one label for each score: {len(labels):,} labels were "
                f"given, and {len(scores):,} scores are to be fitted"
            )
        self.threshold_ = self.thresh_ = decide_threshold(scores, labels)
        self.labels_ = _calls(scores, self.threshold_)
        return self

    def predict(self, scores: ArrayLike) -> Calls:
        """Call scores outliers (1) or inliers (0), (n_samples,)."""
        check_is_fitted(self)
        return _calls(_checked_scores(scores), self.threshold_)


def _calls(scores: Floats, threshold: float) -> Calls:
    """1 above the threshold and 0 up to it, (n_samples,)."""
    return (scores > threshold).astype(np.int64)


def _checked_scores(scores: ArrayLike) -> Floats:
    """Return scores as an array, or say what is wrong with them."""
    checked = np.asarray(scores, dtype=np.float64)
    finite = np.isfinite(checked).all()
    if checked.ndim != 1 or not len(checked) or not finite:
        raise InputError(
            f"scores must be finite numbers, one for each row, shape (n_samples,); got "
            f"shape {checked.shape}{'' if finite else ' with NaN or infinity'}"
        )
    return checked
