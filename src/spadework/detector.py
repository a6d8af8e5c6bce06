"""The SPADE detector: pseudo-labels by consensus, a learner, a threshold."""

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import roc_auc_score
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from spadework.core.matching import match_threshold, otsu_threshold
from spadework.core.pseudo_labels import (
    FittedPseudoLabeler,
    PseudoLabeler,
    PseudoLabels,
    ScoreScale,
    ThresholdRule,
    Voting,
)
from spadework.core.scaling import Scaling, fit_scaler
from spadework.errors import InputError
from spadework.labels import ANOMALY, UNLABELED, count_labels, normalize_labels
from spadework.learners.contract import Floats, Learner, Model
from spadework.learners.forest import ForestLearner
from spadework.learners.network import NetworkLearner
from spadework.learners.one_class import make_one_class
from spadework.validation import (
    check_parameters,
    check_rows,
    check_table,
    new_generator,
    read_labels,
    unchanged_on_failure,
)

PAPER_ABLATIONS: dict[str, dict[str, Any]] = {
    "no_matching": {"thresholds": "otsu"},
    "no_ensemble": {"n_members": 1},
    "no_self_supervision": {"learner__beta": 0.0},
    "no_labeled_normals": {"use_labeled_normals": False},
    "majority_vote": {"voting": "majority"},
}
"""Settings (i) to (v) of the paper's ablation table, for ``SPADE.paper(**...)``.

The paper does not say what takes the place of partial matching in (i); here it is
Otsu's method, which the paper uses where partial matching cannot be.
"""


_LEARNERS: dict[str, type[Learner]] = {
    "forest": ForestLearner,
    "network": NetworkLearner,
}


class SPADE(ClassifierMixin, BaseEstimator):
    """Semi-supervised anomaly detection when labels do not look like the rest.

    An ensemble of one-class classifiers pseudo-labels the unlabeled rows where
    its members agree, with thresholds found without validation data, and a
    learner is trained on labels and pseudo-labels together.

    Parameters
    ----------
    learner : "forest", "network" or a learner object
        What learns from labels and pseudo-labels. Pass a `ForestLearner` or a
        `NetworkLearner` to set its own parameters.
    one_class : "gaussian", "isolation_forest", "svm" or an object
        The one-class classifier. An object needs ``fit(X)`` and ``score(X)``
        (higher is more anomalous) or scikit-learn's ``score_samples(X)``.
    n_members : int
        K, the number of one-class classifiers.
    thresholds : "matching", "otsu" or a pair of percentiles
        How members get their thresholds: partial matching against the labels,
        with Otsu's method for a class without labels; Otsu for both classes;
        or percentiles (normal, anomaly) of the unlabeled scores.
    voting : "unanimous" or "majority"
    abstain : bool
        Whether a one-class classifier whose two thresholds cross abstains on rows
        between them, instead of voting both ways as eq. 1 and 2 have it.
    use_labeled_normals : bool
        Whether labeled normals join the rows each one-class classifier sees.
    score_scale : "log" or "raw"
        Scale on which members look for thresholds. Raw scores are heavy-tailed,
        and a handful of outliers then decides.
    stand_in : bool
        Whether, in PU and NU, unlabeled rows without consensus stand in for the
        class that has no labels.
    scaling : "minmax" or "quantile"
        How columns are scaled for the one-class classifiers and the network.
    threshold : "auto" or float
        Decision threshold on the anomaly score. "auto" matches the scores of the
        labeled anomalies, or uses Otsu's method when there are none.
    label_map : mapping, optional
        From your label values to 1 (anomaly), 0 (normal) and -1 (unlabeled).
    random_state : int, numpy Generator or RandomState, or None
    verbose : bool
        Show a progress bar on a terminal.

    Attributes
    ----------
    setting_ : {"PNU", "PU", "NU", "PN"}
        Which of positive, negative and unlabeled rows there were.
    census_ : LabelCensus
        How many of each.
    pseudo_labels_ : PseudoLabels or None
        ``labels`` (1, 0, -1 for each unlabeled row, in order), ``votes`` and
        ``thresholds``; None when every row was labeled.
    pseudo_labeler_ : FittedPseudoLabeler or None
    model_ : Model
        The fitted learner.
    threshold_ : float
        Rows that score above it are predicted anomalies.
    history_ : list of dict
        What the learner recorded: losses and pseudo-label counts by epoch.
    classes_ : ndarray, [0, 1]
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only when X had column names.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(0, 1, (500, 4)), rng.normal(4, 1, (25, 4))])
    >>> y = np.full(525, -1)
    >>> y[:20], y[-5:] = 0, 1
    >>> detector = SPADE(random_state=0).fit(X, y)
    >>> detector.setting_
    'PNU'
    >>> detector.predict([[0.0, 0.0, 0.0, 0.0], [4.0, 4.0, 4.0, 4.0]])
    array([0, 1])
    """

    setting_: str
    census_: Any
    pseudo_labels_: PseudoLabels | None
    pseudo_labeler_: FittedPseudoLabeler | None
    model_: Model
    threshold_: float
    history_: list[dict[str, float]]
    classes_: NDArray[np.int64]
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def __init__(
        self,
        *,
        learner: Literal["forest", "network"] | Learner = "forest",
        one_class: Any = "gaussian",
        n_members: int = 5,
        thresholds: ThresholdRule = "matching",
        voting: Voting = "unanimous",
        abstain: bool = True,
        use_labeled_normals: bool = True,
        score_scale: ScoreScale = "log",
        stand_in: bool = True,
        scaling: Scaling = "quantile",
        threshold: Literal["auto"] | float = "auto",
        label_map: Mapping[Any, int] | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.learner = learner
        self.one_class = one_class
        self.n_members = n_members
        self.thresholds: ThresholdRule = thresholds
        self.voting: Voting = voting
        self.abstain = abstain
        self.use_labeled_normals = use_labeled_normals
        self.score_scale: ScoreScale = score_scale
        self.stand_in = stand_in
        self.scaling: Scaling = scaling
        self.threshold = threshold
        self.label_map = label_map
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def paper(cls, **changes: Any) -> Self:
        """Return the published configuration, to the letter (appendix B.5).

        Two-layer perceptrons of half the feature width, five Gaussian one-class
        classifiers on the latent code refreshed each epoch, partial matching on
        raw scores, unanimous votes, alpha = beta = 1, min-max scaling, training
        until the loss has not improved for five epochs. What the paper leaves open
        is ours: Adam with a learning rate of 0.001, batches, and at most 200 epochs.

        Parameters
        ----------
        **changes
            Parameters to change, as for ``set_params``; `PAPER_ABLATIONS` holds
            the paper's own.

        Examples
        --------
        >>> SPADE.paper(**PAPER_ABLATIONS["majority_vote"]).voting
        'majority'
        """
        literal = NetworkLearner(linear_code=False, warmup_epochs=0, max_epochs=200)
        paper = cls(
            learner=literal,
            abstain=False,
            score_scale="raw",
            stand_in=False,
            scaling="minmax",
        )
        return paper.set_params(**changes)

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from rows and their three-valued labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers; numpy, pandas or polars.
        y : array-like of shape (n_samples,)
            1 anomaly, 0 normal, -1 unlabeled, or what ``label_map`` names.
        """
        with unchanged_on_failure(self):
            self._fit(X, y)
        return self

    def _fit(self, X: ArrayLike, y: ArrayLike) -> None:
        """Learn; ``fit`` makes sure that it is all or nothing."""
        check_parameters(self)
        rows = check_rows(self, X, fitting=True)
        labels = read_labels(y, self.label_map)
        check_table(rows, labels, self.n_members)
        rng = new_generator(self.random_state)
        learnt = self._learner().learn(
            rows,
            labels,
            fit_scaler(rows, self.scaling, rng),
            self._pseudo_labeler(),
            rng,
            verbose=self.verbose,
        )
        self.census_ = count_labels(labels)
        self.setting_ = self.census_.setting
        self.classes_ = np.array([0, 1])
        self.model_ = learnt.model
        self.pseudo_labeler_ = learnt.pseudo_labeler
        self.pseudo_labels_ = learnt.pseudo_labels
        self.history_ = learnt.history
        self.threshold_ = self._decide_threshold(learnt.train_scores, labels)

    def anomaly_score(self, X: ArrayLike) -> Floats:
        """Score rows, shape (n_samples,): higher is more anomalous."""
        check_is_fitted(self)
        return self.model_.score(check_rows(self, X, fitting=False))

    def decision_function(self, X: ArrayLike) -> Floats:
        """Anomaly score above the threshold, (n_samples,): positive is anomalous."""
        return self.anomaly_score(X) - self.threshold_

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Predict 1 for anomalies and 0 for normal rows, (n_samples,)."""
        positive = self.decision_function(X) > 0
        return self.classes_[positive.astype(np.intp)]

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Share of belief in normal and in anomaly, (n_samples, 2).

        One half lies at the threshold, as in ``predict``. The shares rise with the
        score but are not calibrated: with few and unrepresentative labels, nothing
        in the data says how often a score comes true.
        """
        scores = self.anomaly_score(X)
        anomalous = self.model_.probability(scores, self.threshold_)
        return np.stack([1 - anomalous, anomalous], axis=1)

    def pseudo_label(self, X: ArrayLike) -> PseudoLabels:
        """Pseudo-label rows by the fitted one-class classifiers, with their votes."""
        check_is_fitted(self)
        if self.pseudo_labeler_ is None:
            raise InputError(
                "there are no one-class classifiers: every row was labeled in fit"
            )
        rows = check_rows(self, X, fitting=False)
        return self.pseudo_labeler_.label(self.model_.represent(rows))

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: Any = None) -> float:
        """ROC AUC over the labeled rows of y; unlabeled ones are left out."""
        labels = normalize_labels(y, self.label_map, stated=True)
        known = labels != UNLABELED
        weight = None if sample_weight is None else np.asarray(sample_weight)[known]
        if len(np.unique(labels[known])) < 2:
            raise InputError("an AUC needs rows labeled 1 and rows labeled 0 in y")
        scores = self.anomaly_score(X)[known]
        return float(roc_auc_score(labels[known], scores, sample_weight=weight))

    def _learner(self) -> Learner:
        """Return the learner that was named or given."""
        if isinstance(self.learner, str) and self.learner in _LEARNERS:
            return _LEARNERS[self.learner]()
        if isinstance(self.learner, (str, type)) or not hasattr(self.learner, "learn"):
            raise InputError(
                f"learner must be 'forest', 'network' or a learner object; "
                f"got {self.learner!r}"
            )
        return self.learner

    def _pseudo_labeler(self) -> PseudoLabeler:
        """Collect the parameters of the pseudo-labeler."""
        return PseudoLabeler(
            one_class=make_one_class(self.one_class),
            n_members=self.n_members,
            thresholds=self.thresholds,
            voting=self.voting,
            abstain=self.abstain,
            use_labeled_normals=self.use_labeled_normals,
            score_scale=self.score_scale,
            stand_in=self.stand_in,
        )

    def _decide_threshold(self, scores: Floats, labels: NDArray[np.int8]) -> float:
        """Partial matching of labeled anomalies, or Otsu, on training scores."""
        if self.threshold != "auto":
            return float(self.threshold)
        unlabeled = labels == UNLABELED
        reference = scores[unlabeled] if unlabeled.any() else scores
        anomalies = scores[labels == ANOMALY]
        if len(anomalies):
            return match_threshold(anomalies, reference, tail="upper")
        return otsu_threshold(reference)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
