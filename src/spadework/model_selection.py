"""Cross-validation that knows unlabeled rows: folds, and scorers for them.

scikit-learn's own folds put unlabeled rows into test parts, and its scorers take -1 for
a class. Use these instead, as ``cv=`` and ``scoring=`` of ``cross_val_score`` or
``GridSearchCV``, and say ``error_score="raise"``: else scikit-learn turns a scorer's
error into a NaN, and a search picks its first candidate.

What is measured is how well *held-out labels* are ranked. Where labels do not look like
the rest, that is not how well the rest is ranked: a kind of anomaly that nobody labeled
is in no test part.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from sklearn.pipeline import Pipeline
from sklearn.utils import indexable

from spadework.arrays import Flags, Floats, Labels, Positions
from spadework.base import RandomState
from spadework.errors import InputError, LabelError
from spadework.labels import (
    ANOMALY,
    NORMAL,
    UNLABELED,
    LabelCensus,
    count_labels,
    normalize_labels,
    translate_labels,
)
from spadework.parameters import check_positive_integer
from spadework.validation import new_generator

Split = tuple[Positions, Positions]
Scorer = Callable[[Any, Any, Any], float]

_NAMES = {
    ANOMALY: "labeled anomalies (1)",
    NORMAL: "labeled normals (0)",
    UNLABELED: "unlabeled rows (-1)",
}


@dataclass
class LabeledKFold:
    """Folds over labeled rows; unlabeled rows are learnt from.

    Labeled anomalies and labeled normals are spread evenly over the folds. The test part
    of a fold holds labeled rows only, and every unlabeled row is in every training part.

    Where only one class is labeled (PU and NU), labeled rows have nothing to be compared
    with but unlabeled ones. These are spread over the folds then, too: each test part
    holds its share of them, left out of training like any row that is tested. They stay
    unlabeled; score them with `roc_auc_pu`, `roc_auc_nu` or `recall_at`.

    Parameters
    ----------
    n_splits : int
        Folds, at least 2; each class needs as many labels.
    shuffle : bool
        Whether rows are drawn to folds at random, or cut in the order of the table.
    random_state : int, numpy Generator or RandomState, or None
        Where the draw starts. An integer gives the same folds each time.
    split_unlabeled : bool
        Whether unlabeled rows are spread over the folds where both classes are labeled,
        too, as `roc_auc_pu` and `recall_at` need them.
    label_map : mapping, optional
        From your label values to 1 (anomaly), 0 (normal) and -1 (unlabeled), as that of
        the detector.

    Examples
    --------
    >>> y = [1, 0, -1, -1, 1, 0, -1, 0]
    >>> for train, test in LabeledKFold(2, shuffle=False).split(np.zeros((8, 1)), y):
    ...     print(train, test)
    [2 3 4 6 7] [0 1 5]
    [0 1 2 3 5 6] [4 7]
    """

    n_splits: int = 5
    _: KW_ONLY
    shuffle: bool = True
    random_state: RandomState = None
    split_unlabeled: bool = False
    label_map: Mapping[Any, int] | None = None

    def split(self, X: Any, y: ArrayLike, groups: None = None) -> Iterator[Split]:
        """Give the training and the test part of each fold, as positions of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            1 anomaly, 0 normal, -1 unlabeled, or what ``label_map`` names.
        groups : None
            scikit-learn passes it; groups of rows are not kept together.
        """
        self._check_parameters()
        if groups is not None:
            raise InputError(
                "LabeledKFold does not keep groups of rows together; expected "
                "groups=None. Leave groups out, or make folds by group yourself and pass "
                "them as cv=[(train, test), ...]"
            )
        indexable(X, y)
        labels = normalize_labels(y, self.label_map)
        held = self._held_out(count_labels(labels))
        self._refuse_few(labels, held)
        rng = new_generator(self.random_state) if self.shuffle else None
        everyone = np.arange(len(labels))
        tests = _spread(labels, held, self.n_splits, rng)
        return ((np.setdiff1d(everyone, test), test) for test in tests)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: None = None) -> int:
        """Return how many folds there are."""
        return self.n_splits

    def _check_parameters(self) -> None:
        check_positive_integer("n_splits", self.n_splits)
        if self.n_splits == 1:
            raise InputError("n_splits must be 2 or more: one part trains; got 1")
        if not self.shuffle and self.random_state is not None:
            raise InputError(
                f"random_state={self.random_state!r} draws nothing where shuffle=False; "
                f"leave one of them out"
            )

    def _held_out(self, census: LabelCensus) -> list[int]:
        """Return the labels whose rows are spread over test parts."""
        held = [ANOMALY] * (census.n_anomalies > 0) + [NORMAL] * (census.n_normals > 0)
        alone = len(held) == 1
        return held + [UNLABELED] * (
            census.n_unlabeled > 0 and (alone or self.split_unlabeled)
        )

    def _refuse_few(self, labels: Labels, held: list[int]) -> None:
        """Refuse classes with fewer rows than folds: some test part would lack them."""
        for label in held:
            n_rows = int((labels == label).sum())
            if n_rows < self.n_splits:
                lower = f"Lower n_splits to {n_rows}, or give" if n_rows > 1 else "Give"
                raise LabelError(
                    f"{self.n_splits} folds need at least {self.n_splits} "
                    f"{_NAMES[label]}, one for each test part; got {n_rows}. {lower} "
                    f"more of them"
                )


def average_precision(estimator: Any, X: Any, y: ArrayLike) -> float:
    """Average precision over labeled rows; unlabeled ones are left out.

    It depends on the share of anomalies among labels, which is rarely that among all
    rows: it compares detectors, and says nothing of precision in use.
    """
    labels = _read(estimator, y)
    anomalous, known = _compared(labels, "average_precision", ANOMALY, NORMAL)
    scores = _scores(estimator, X)
    return float(average_precision_score(anomalous[known], scores[known]))


def roc_auc(estimator: Any, X: Any, y: ArrayLike) -> float:
    """ROC AUC over labeled rows; unlabeled ones are left out."""
    labels = _read(estimator, y)
    anomalous, known = _compared(labels, "roc_auc", ANOMALY, NORMAL)
    return float(roc_auc_score(anomalous[known], _scores(estimator, X)[known]))


def f1(estimator: Any, X: Any, y: ArrayLike) -> float:
    """F1 of the calls for labeled rows; unlabeled ones are left out.

    It depends on the share of anomalies among labels, as `average_precision` does.
    """
    labels = _read(estimator, y)
    anomalous, known = _compared(labels, "f1", ANOMALY, NORMAL)
    _check_classes(estimator)
    calls = np.asarray(estimator.predict(X)) == ANOMALY
    return float(f1_score(anomalous[known], calls[known]))


def roc_auc_pu(estimator: Any, X: Any, y: ArrayLike) -> float:
    """ROC AUC of labeled anomalies against unlabeled rows; normals are left out.

    Some of the unlabeled rows are anomalies, and finding them counts as a mistake. With
    a share c of them, and labeled anomalies that look like these, it is
    (1 - c) AUC + c / 2: a lower bound of the true AUC where that is above one half, and
    in the same order for detectors compared. Where labeled anomalies do not look like
    the others, it says how well the labeled kinds are found, and a detector that ranks
    kinds that nobody labeled above them loses by it.
    """
    labels = _read(estimator, y)
    anomalous, either = _compared(labels, "roc_auc_pu", ANOMALY, UNLABELED)
    return float(roc_auc_score(anomalous[either], _scores(estimator, X)[either]))


def roc_auc_nu(estimator: Any, X: Any, y: ArrayLike) -> float:
    """ROC AUC of unlabeled rows against labeled normals; anomalies are left out.

    With a share c of anomalies among unlabeled rows, and labeled normals that look like
    the other normal rows, it is c AUC + (1 - c) / 2: in the same order as the true AUC,
    but close to one half, so that chance decides where anomalies are few. Labeled
    normals that are easier than most raise it, more suspicious ones lower it.
    """
    labels = _read(estimator, y)
    unlabeled, either = _compared(labels, "roc_auc_nu", UNLABELED, NORMAL)
    return float(roc_auc_score(unlabeled[either], _scores(estimator, X)[either]))


def recall_at(budget: float) -> Scorer:
    """Make a scorer: the share of labeled anomalies found at a budget.

    A labeled anomaly is found where it would be among the top ``budget`` of the
    unlabeled rows, that is, where fewer of them than the budget allows score higher.
    Labeled anomalies do not take places from one another: they are more frequent in a
    test part than in use. Unlabeled anomalies do take places, as they would in use.
    Labeled normals are left out; ties are broken evenly.

    Parameters
    ----------
    budget : float
        Share of rows that somebody can look at, above 0 and below 1.

    Examples
    --------
    >>> scorer = recall_at(0.02)
    """
    if not isinstance(budget, Real) or not 0 < budget < 1:
        raise InputError(
            f"budget must be a share of rows above 0 and below 1, such as 0.02; got "
            f"{budget!r}"
        )
    return partial(_recall_at, budget=float(budget))


def _recall_at(estimator: Any, X: Any, y: ArrayLike, *, budget: float) -> float:
    """Share of labeled anomalies among the top unlabeled rows."""
    labels = _read(estimator, y)
    anomalous, either = _compared(labels, "recall_at", ANOMALY, UNLABELED)
    n_unlabeled = int((either & ~anomalous).sum())
    n_places = round(budget * n_unlabeled)
    if n_places < 1:
        raise InputError(
            f"a budget of {budget:.2%} must allow for a row: it does not, of the "
            f"{n_unlabeled} unlabeled rows of this test part. Raise the budget, or have "
            f"fewer folds"
        )
    scores = _scores(estimator, X)
    found = _chance_of_a_place(scores[anomalous], scores[either & ~anomalous], n_places)
    return float(found.mean())


def _chance_of_a_place(scores: Floats, others: Floats, n_places: int) -> Floats:
    """Chance of each score to be among the top places of the others, ties at random.

    Parameters
    ----------
    scores : ndarray of shape (n_scores,)
    others : ndarray of shape (n_others,)
    n_places : int

    Returns
    -------
    chances : ndarray of shape (n_scores,)
    """
    others = np.sort(others)
    higher = len(others) - np.searchsorted(others, scores, side="right")
    tied = len(others) - np.searchsorted(others, scores, side="left") - higher
    return np.clip((n_places - higher) / (tied + 1), 0, 1)


def _spread(
    labels: Labels, held: list[int], n_splits: int, rng: np.random.Generator | None
) -> list[Positions]:
    """Spread the rows of each held-out label evenly over test parts."""
    tests: list[list[Positions]] = [[] for _ in range(n_splits)]
    for label in held:
        rows = np.flatnonzero(labels == label)
        rows = rows if rng is None else rng.permutation(rows)
        for test, part in zip(tests, np.array_split(rows, n_splits), strict=True):
            test.append(part)
    return [np.sort(np.concatenate(test)) for test in tests]


def _compared(labels: Labels, name: str, high: int, low: int) -> tuple[Flags, Flags]:
    """Flag rows of the label that should score high, and of both; refuse a lack.

    Both are of shape (n_samples,).
    """
    is_high, is_low = labels == high, labels == low
    if not is_high.any() or not is_low.any():
        raise InputError(
            f"{name} compares {_NAMES[high]} with {_NAMES[low]}; this test part holds "
            f"{count_labels(labels)}. {_remedy(labels)}"
        )
    return is_high, is_high | is_low


def _remedy(labels: Labels) -> str:
    """Say which scorer or which folds go with the labels of a test part."""
    setting = count_labels(labels).setting
    scorers = {"PU": "roc_auc_pu or recall_at", "NU": "roc_auc_nu"}
    if setting in scorers:
        return f"Score it with {scorers[setting]}"
    return "Make folds with LabeledKFold, and split_unlabeled=True for unlabeled rows"


def _read(estimator: Any, y: ArrayLike) -> Labels:
    """Read labels, (n_samples,), as the estimator does that is scored."""
    inner = estimator
    while isinstance(inner, Pipeline) or hasattr(inner, "best_estimator_"):
        inner = inner[-1] if isinstance(inner, Pipeline) else inner.best_estimator_
    return translate_labels(y, getattr(inner, "label_map", None))


def _scores(estimator: Any, X: Any) -> Floats:
    """Score rows, (n_samples,), higher for more anomalous ones."""
    _check_classes(estimator)
    if hasattr(estimator, "decision_function"):
        scores: NDArray[Any] = np.asarray(estimator.decision_function(X))
    else:
        scores = np.asarray(estimator.predict_proba(X))[:, 1]
    return scores.astype(np.float64)


def _check_classes(estimator: Any) -> None:
    """Refuse what does not tell anomalies from normal rows, or takes -1 for a class."""
    classes = getattr(estimator, "classes_", None)
    if classes is None or np.asarray(classes).tolist() != [NORMAL, ANOMALY]:
        raise InputError(
            f"a scorer needs a fitted classifier with the classes 0 and 1, such as "
            f"SPADE(); got {type(estimator).__name__} with classes_ {classes}. "
            f"Classifiers that take -1 for a class, and outlier detectors that score "
            f"anomalies lower, cannot be scored"
        )
