"""What all detectors share: checked input, one threshold, three kinds of answer."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import roc_auc_score
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from spadework import validation
from spadework.arrays import Floats, Labels, Rows
from spadework.core.matching import decide_threshold
from spadework.errors import InputError, LabelError
from spadework.labels import UNLABELED, LabelCensus, count_labels, translate_labels

RandomState = int | np.random.Generator | np.random.RandomState | None


class AnomalyDetector(ClassifierMixin, BaseEstimator):
    """A detector under scikit-learn's contract; children say how to learn and score.

    A child names in ``settings`` the label settings that it can learn from.
    """

    settings: ClassVar[tuple[str, ...]] = ("PNU", "PU", "NU", "PN")

    threshold: Literal["auto"] | float
    label_map: Mapping[Any, int] | None
    random_state: RandomState

    setting_: str
    census_: LabelCensus
    threshold_: float
    classes_: NDArray[np.int64]
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def fit(self, X: ArrayLike, y: ArrayLike, **refused: Any) -> Self:
        """Learn from rows and their three-valued labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers; numpy, pandas or polars.
        y : array-like of shape (n_samples,)
            1 anomaly, 0 normal, -1 unlabeled, or what ``label_map`` names.
        **refused
            Anything else, such as ``sample_weight``: there is no such thing here.
        """
        validation.refuse_arguments(self, refused)
        with validation.unchanged_on_failure(self):
            self._check_parameters()
            rows = self._check_rows(X, fitting=True)
            labels = validation.read_labels(y, self.label_map, len(rows))
            self._check_learnable(rows, labels)
            self._refuse_setting(count_labels(labels))
            scores = self._learn(
                rows, labels, validation.new_generator(self.random_state)
            )
            self.census_ = count_labels(labels)
            self.setting_ = self.census_.setting
            self.classes_ = np.array([0, 1])
            self.threshold_ = self._decide_threshold(scores, labels)
            self._count_calls(scores, labels)
        return self

    def anomaly_score(self, X: ArrayLike) -> Floats:
        """Score rows, shape (n_samples,): higher is more anomalous."""
        check_is_fitted(self)
        return self._score(self._check_rows(X, fitting=False))

    def decision_function(self, X: ArrayLike) -> Floats:
        """Anomaly score above the threshold, (n_samples,): positive is anomalous."""
        return self.anomaly_score(X) - self.threshold_

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Predict 1 for anomalies and 0 for normal rows, (n_samples,)."""
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(np.intp)]

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Probabilities of normal and of anomaly, (n_samples, 2).

        They are as well calibrated as the share of anomalies is known, which labels that
        do not look like the rest can hardly tell. Where a detector predicts that share,
        rows are called as many as there should be anomalies, and a called row can have a
        probability below one half; otherwise one half lies at the threshold.
        """
        anomalous = self.to_probability(self.anomaly_score(X))
        return np.stack([1 - anomalous, anomalous], axis=1)

    def to_probability(self, scores: Floats) -> Floats:
        """Map anomaly scores to shares of belief in anomaly, both (n_samples,)."""
        return expit(scores - self.threshold_)

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: Any = None) -> float:
        """ROC AUC over the labeled rows of y; unlabeled ones are left out."""
        labels = translate_labels(y, self.label_map)
        known = labels != UNLABELED
        if len(np.unique(labels[known])) < 2:
            read = "" if self.label_map is None else " as label_map reads it"
            raise InputError(
                f"an AUC needs rows labeled 1 and rows labeled 0 in y; got "
                f"{count_labels(labels)}{read}"
            )
        scores = self.anomaly_score(X)
        weight = None if sample_weight is None else np.asarray(sample_weight)
        for name, each in (("y", labels), ("sample_weight", weight)):
            if each is not None and len(each) != len(scores):
                raise InputError(
                    f"{name} must have a value for each row of X: {len(scores)} rows, "
                    f"got {len(each)} values"
                )
        weight = None if weight is None else weight[known]
        return float(roc_auc_score(labels[known], scores[known], sample_weight=weight))

    @abstractmethod
    def _learn(self, X: Rows, labels: Labels, rng: np.random.Generator) -> Floats:
        """Store what checked rows teach; return their scores, (n_samples,), or NaN."""

    @abstractmethod
    def _score(self, X: Rows) -> Floats:
        """Score checked rows, (n_samples,)."""

    def _check_rows(self, X: Any, *, fitting: bool) -> Any:
        """Return what is learnt from and scored, or say what is wrong with it."""
        return validation.check_rows(self, X, fitting=fitting)

    def _check_learnable(self, X: Any, labels: Labels) -> None:
        """Refuse rows and labels that cannot be learnt from."""
        validation.check_counts(labels)
        validation.refuse_constant(X)

    def _check_parameters(self) -> None:
        """Refuse parameters that have no meaning, before any work is done."""
        validation.check_threshold(self.threshold)

    def _refuse_setting(self, census: LabelCensus) -> None:
        """Refuse labels that this kind of detector cannot learn from."""
        if census.setting not in self.settings:
            raise LabelError(
                f"{type(self).__name__} learns in the settings "
                f"{', '.join(self.settings)} only; the labels are {census.setting} "
                f"({census}). Give labels of the missing kind, or use SPADE"
            )

    def _decide_threshold(self, scores: Floats, labels: Labels) -> float:
        """Take the threshold that was given, or decide it on the training scores."""
        if self.threshold != "auto":
            return float(self.threshold)
        return decide_threshold(scores, labels)

    def _count_calls(self, scores: Floats, labels: Labels) -> None:
        """Note what calls come to on the training rows, where a detector can tell."""

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
