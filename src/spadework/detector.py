"""The SPADE detector: an ensemble, a predictor that learns from it, and a threshold."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.utils.validation import check_is_fitted

from spadework import validation
from spadework.arrays import Floats, Labels, Rows
from spadework.base import AnomalyDetector, RandomState
from spadework.calls import Calls, Doubt
from spadework.core import pseudo_labels as pseudo
from spadework.core.budget import budget_threshold, share_of
from spadework.core.matching import tail_threshold
from spadework.core.scaling import Scaling, fit_scaler
from spadework.errors import InputError
from spadework.labels import UNLABELED, count_labels
from spadework.learners.contract import Learner, Model
from spadework.learners.forest import ForestLearner
from spadework.learners.label_trust import LabelTrust
from spadework.learners.network import NetworkLearner
from spadework.learners.one_class import make_one_class
from spadework.learners.trees import TreeLearner

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
    "trees": TreeLearner,
    "network": NetworkLearner,
    "forest": ForestLearner,
}

logger = logging.getLogger("spadework")

N_CONTEXTS, N_ONE_CLASS = 3, 5
"""Members by default: contexts, or one-class classifiers as the paper has them."""


@dataclass(eq=False, repr=False, kw_only=True)
class SPADE(AnomalyDetector):
    """Semi-supervised anomaly detection when labels do not look like the rest.

    An ensemble pseudo-labels the unlabeled rows, each member knowing the labels and an
    own part of these rows; a predictor learns from labels and pseudo-labels. By default
    the members are contexts of a model trained for label mismatch, and the predictor is
    one set of boosted trees. With ``learner="network"`` or ``"forest"`` they are
    one-class classifiers, as in the paper, whose options are those from ``one_class`` to
    ``scaling``.

    Parameters
    ----------
    learner : "trees", "network", "forest" or a learner object
        Pass a `TreeLearner`, a `NetworkLearner` or a `ForestLearner` to set its own
        parameters.
    n_members : int, optional
        K, the number of members; by default 3 contexts, or 5 one-class classifiers.
    one_class : "gaussian", "neighbours", "isolation_forest", "svm" or an object
        The one-class classifier. An object needs ``fit(X)`` and ``score(X)``
        (higher is more anomalous) or scikit-learn's ``score_samples(X)``.
    thresholds : "bounded", "matching", "otsu" or a pair of percentiles
        How members get their thresholds: partial matching against the labels, with
        Otsu's method for a class without labels, leaving at most a tenth of the unlabeled
        rows on either side ("bounded") or any share ("matching"); Otsu for both classes;
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
        Whether, in PU and NU, unlabeled rows without consensus stand in for the class
        without labels.
    scaling : "minmax", "clipped" or "asinh"
        How columns are scaled for one-class classifiers, linear models and networks: by
        their range, by that within three interquartile ranges of the median, or linearly
        around the median and logarithmically far from it.
    threshold : "auto" or float
        Decision threshold on the anomaly score. "auto" calls as many rows as there
        should be anomalies among the unlabeled ones (``share_``). Learners that do not
        predict that take the middle of three guesses: how many rows score like labeled
        anomalies, how many do not score like labeled normals, and the share of anomalies
        among labels (see `spadework.core.matching.decide_threshold`).
    contamination : float, optional
        A budget in place of a threshold: the share of the unlabeled rows to call, in
        (0, 0.5]. The threshold lies where no more of them score above it; fewer do
        where scores tie.
    n_calls : int, optional
        The same as a number of unlabeled rows. Where every row is labeled, budgets are
        those of all rows.
    label_map : mapping, optional
        From your label values to 1 (anomaly), 0 (normal) and -1 (unlabeled).
    random_state : int, numpy Generator or RandomState, or None
    verbose : bool
        Show progress: a bar on a terminal, a line now and then elsewhere.

    Attributes
    ----------
    setting_ : {"PNU", "PU", "NU", "PN"}
        Which of positive, negative and unlabeled rows there were.
    census_ : LabelCensus
        How many of each.
    pseudo_labels_ : PseudoLabels or None
        Of the unlabeled rows, in order; None when every row was labeled.
    pseudo_labeler_ : FittedPseudoLabeler or None
        One-class classifiers, which can pseudo-label new rows; None by default.
    model_ : Model
        The fitted predictor.
    share_ : float or None
        Predicted share of anomalies among unlabeled rows.
    threshold_ : float
        Rows that score above it are predicted anomalies.
    likely_shares_ : tuple of float or None
        Ends of an interval that should hold that share nine times of ten.
    calls_ : Calls or None
        How many unlabeled rows are called, and how many anomalies there should be among
        these and among all, with intervals; print it. None where no share is predicted.
    trust_ : LabelTrust or None
        How far labels were trusted, and why; print it. None for learners that do not
        judge them.
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

    learner: Literal["trees", "network", "forest"] | Learner = "trees"
    n_members: int | None = None
    one_class: Any = "gaussian"
    thresholds: pseudo.ThresholdRule = "bounded"
    voting: pseudo.Voting = "unanimous"
    abstain: bool = True
    use_labeled_normals: bool = True
    score_scale: pseudo.ScoreScale = "log"
    stand_in: bool = True
    scaling: Scaling = "asinh"
    threshold: Literal["auto"] | float = "auto"
    contamination: float | None = None
    n_calls: int | None = None
    label_map: Mapping[Any, int] | None = None
    random_state: RandomState = None
    verbose: bool = False

    pseudo_labels_: pseudo.PseudoLabels | None = field(init=False)
    pseudo_labeler_: pseudo.FittedPseudoLabeler | None = field(init=False)
    model_: Model = field(init=False)
    history_: list[dict[str, float]] = field(init=False)
    trust_: LabelTrust | None = field(init=False)
    share_: float | None = field(init=False)
    likely_shares_: tuple[float, float] | None = field(init=False, default=None)
    calls_: Calls | None = field(init=False, default=None)

    @classmethod
    def paper(cls, *, literal: bool = False, **changes: Any) -> Self:
        """Return the published configuration (appendix B.5).

        One network of two-layer perceptrons of half the feature width, five Gaussian
        one-class classifiers on the latent code refreshed each epoch, partial matching
        on raw scores, unanimous votes, alpha = beta = 1, training until the loss has not
        improved for five epochs. What the paper leaves open is read as comes nearest to
        its numbers: columns are cut at three interquartile ranges from the median before
        min-max scaling, encoder and predictor are one perceptron together, weights
        start by Glorot's rule, and Adam takes steps of 128 rows at a rate of 0.001 for at
        most 100 epochs.

        The ``literal`` reading does not reach these numbers: min-max scaling as it is,
        encoder, predictor and head of two layers each, larger batches and 200 epochs.

        Changes are parameters, as for ``set_params``; `PAPER_ABLATIONS` holds the
        paper's own.

        >>> SPADE.paper(**PAPER_ABLATIONS["majority_vote"]).voting
        'majority'
        """
        learner = NetworkLearner(
            n_networks=1,
            n_layers=2 if literal else 1,
            start="torch" if literal else "glorot",
            linear_code=False,
            warmup_epochs=0,
            batch_size=None if literal else 128,
            max_epochs=200 if literal else 100,
        )
        paper = cls(
            learner=learner,
            n_members=N_ONE_CLASS,
            thresholds="matching",
            abstain=False,
            score_scale="raw",
            stand_in=False,
            scaling="minmax" if literal else "clipped",
        )
        return paper.set_params(**changes)

    def set_params(self, **parameters: Any) -> Self:
        """Set parameters; to set those of a learner makes an object of one by name.

        >>> SPADE().set_params(learner__n_trees=20).learner
        TreeLearner(n_trees=20)
        """
        learner = parameters.get("learner", self.learner)
        of_learner = any(name.startswith("learner__") for name in parameters)
        if of_learner and isinstance(learner, str):
            parameters["learner"] = validation.named_or_given(learner, _LEARNERS)
        return super().set_params(**parameters)

    def _learn(self, X: Rows, labels: Labels, rng: np.random.Generator) -> Floats:
        """Pseudo-label and learn; the seam between detector and learner."""
        learner = validation.named_or_given(self.learner, _LEARNERS)
        labeler = self._pseudo_labeler(learner)
        validation.check_members(count_labels(labels), labeler.n_members)
        scaler = fit_scaler(X, self.scaling, rng)
        learnt = learner.learn(X, labels, scaler, labeler, rng, verbose=self.verbose)
        self.model_ = learnt.model
        self.pseudo_labeler_ = learnt.pseudo_labeler
        self.pseudo_labels_ = learnt.pseudo_labels
        self.history_ = learnt.history
        self.trust_ = learnt.trust
        self.share_ = learnt.share
        self.likely_shares_ = learnt.likely_shares
        return learnt.train_scores

    def _decide_threshold(self, scores: Floats, labels: Labels) -> float:
        n_usual = _count_usual(labels)
        if n_calls := self._budget_of(n_usual):
            return _keep_budget(_usual(scores, labels), n_calls, n_usual)
        if self.threshold != "auto" or not self.model_.gives_log_odds:
            return super()._decide_threshold(scores, labels)
        if self.share_ is None:
            return 0.0
        unlabeled = scores[labels == UNLABELED]
        n_called = max(1, round(self.share_ * len(unlabeled)))
        return tail_threshold(unlabeled, n_called, tail="upper")

    def _count_calls(self, scores: Floats, labels: Labels) -> None:
        self.calls_ = None
        doubt = self.doubt
        if doubt is not None:
            unlabeled = scores[labels == UNLABELED]
            n_labeled = count_labels(labels).n_anomalies
            self.calls_ = Calls.of(unlabeled, self.threshold_, doubt, n_labeled)

    @property
    def doubt(self) -> Doubt | None:
        """How far all scores may be off together; None where they are no log-odds."""
        if self.share_ is None or self.likely_shares_ is None:
            return None
        return Doubt.of(self.share_, self.likely_shares_)

    def _budget_of(self, n_usual: int) -> int | None:
        """Return how many rows to call of so many, where a budget was given."""
        if self.contamination is not None:
            return share_of(self.contamination, n_usual)
        return self.n_calls

    def to_probability(self, scores: Floats) -> Floats:
        """Map anomaly scores to probabilities, or to shares of belief, (n_samples,).

        Scores of the default are log-odds. Those of other learners have no scale of their
        own, and belief is one half at the threshold.
        """
        if self.model_.gives_log_odds:
            return expit(scores)
        return super().to_probability(scores)

    def _score(self, X: Rows) -> Floats:
        return self.model_.score(X)

    def pseudo_label(self, X: ArrayLike) -> pseudo.PseudoLabels:
        """Pseudo-label rows by the fitted one-class classifiers, with their votes."""
        check_is_fitted(self)
        if self.pseudo_labeler_ is None:
            raise InputError(
                "there are no one-class classifiers to ask: every row was labeled in "
                "fit, or pseudo-labels came from contexts, which a fitted SPADE does not "
                "keep. Use learner='network', or an InContextDetector for its scores of "
                "new rows"
            )
        rows = validation.check_rows(self, X, fitting=False)
        return self.pseudo_labeler_.label(self.model_.represent(rows))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        validation.check_parameters(self)
        validation.check_budget(self.threshold, self.contamination, self.n_calls)

    def _check_learnable(self, X: Rows, labels: Labels) -> None:
        super()._check_learnable(X, labels)
        n_usual = _count_usual(labels)
        n_calls = self._budget_of(n_usual)
        if n_calls is not None and not 1 <= n_calls <= n_usual:
            raise InputError(
                f"a budget must be between one row and the {n_usual:,} rows that are "
                f"called or not; got {n_calls:,}. Give another n_calls or contamination"
            )

    def _pseudo_labeler(self, learner: Learner) -> pseudo.PseudoLabeler:
        """Collect the parameters of the pseudo-labeler."""
        names = [each.name for each in fields(pseudo.PseudoLabeler)]
        own: dict[str, Any] = {name: getattr(self, name) for name in names}
        own["one_class"] = make_one_class(self.one_class)
        if self.n_members is None:
            in_context = isinstance(learner, TreeLearner)
            own["n_members"] = N_CONTEXTS if in_context else N_ONE_CLASS
        return pseudo.PseudoLabeler(**own)


def _count_usual(labels: Labels) -> int:
    """Count the rows that a budget is for: unlabeled ones, or all without these."""
    return int((labels == UNLABELED).sum()) or len(labels)


def _usual(scores: Floats, labels: Labels) -> Floats:
    """Return the scores of the rows that a budget is for, where they were scored."""
    unlabeled = labels == UNLABELED
    usual = scores[unlabeled] if unlabeled.any() else scores
    return usual[~np.isnan(usual)]


def _keep_budget(scores: Floats, n_calls: int, n_usual: int) -> float:
    """Return the threshold of a budget; warn where ties make it call fewer rows."""
    n_calls = share_of(n_calls / n_usual, len(scores))  # not all may have a score
    threshold = budget_threshold(scores, n_calls)
    n_above = int((scores > threshold).sum())
    if n_above < n_calls:
        logger.warning(
            "%d rows score above the threshold, and the budget is %d: the next ones have "
            "the same score as rows beyond it",
            n_above,
            n_calls,
        )
    return threshold
