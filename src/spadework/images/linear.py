"""A penalised linear model of what a pretrained network sees in photos.

The row of a photo has some thousand columns, and there are few photos: trees find too
many columns to split on, a penalised linear model does not. Photos come in several
views, such as turned on their side: what differs between views is not learnt.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from spadework.arrays import Flags, Floats, Labels, Numbers, Positions, Singles
from spadework.core.cores import one_blas_thread
from spadework.core.scaling import column_spread
from spadework.errors import InputError
from spadework.labels import ANOMALY, NORMAL, UNLABELED

N_FOLDS = 5

PURE_PENALTY, MIXED_PENALTY = 0.005, 0.1
"""Ridge on standardised columns, where the mean loss of both classes weighs 1. A class
that unlabeled photos stand in for is a mixture, and must not be learnt by heart."""

OFFSET = 3.0
"""Value of a column that carries the intercept where both classes are labeled, penalised
as the others are. A small one keeps the mean of all photos near the border of the
classes: what unlabeled photos have on average, and labeled normals have not, then speaks
for an anomaly, of whatever type."""

MAX_SEEN = 1024
"""Views of a class to learn from; of more photos than that, each is seen in one view."""

_MAX_STEPS = 200
_SMALLEST = 1e-6


@dataclass(frozen=True)
class LinearModel:
    """A direction in which rows grow more anomalous: a weight a column, (n_columns,)."""

    weights: Floats
    intercept: float

    def __post_init__(self) -> None:
        if self.weights.ndim != 1 or not np.isfinite(self.weights).all():
            raise InputError("a linear model needs one finite weight a column")

    def score(self, rows: Numbers) -> Floats:
        """Score rows, (n_samples, n_columns), by how far they lie that way."""
        return rows @ self.weights + self.intercept


class CrossFitted(NamedTuple):
    """A linear model, and scores of photos by models that have not seen them."""

    model: LinearModel
    held_out: Floats


def deal_folds(labels: Labels, rng: np.random.Generator) -> Positions:
    """Deal each kind of photos to the folds evenly, (n_samples,).

    A photo that is the only one of its kind belongs to no fold, -1: all learn from it.
    """
    folds = np.full(len(labels), -1)
    for kind in (ANOMALY, NORMAL, UNLABELED):
        rows = np.flatnonzero(labels == kind)
        if len(rows) > 1:
            folds[rows] = rng.permutation(len(rows)) % N_FOLDS
    return folds


def pick_held_out(scores: Floats, folds: Positions) -> Floats:
    """Score each photo by the model without its fold, one of no fold by all.

    Scores are of shape (n_samples, N_FOLDS), folds (n_samples,).
    """
    own = np.take_along_axis(scores, np.maximum(folds, 0)[:, None], axis=1)[:, 0]
    return np.where(folds >= 0, own, scores.mean(axis=1))


def fit_linear(views: Singles, labels: Labels, rng: np.random.Generator) -> CrossFitted:
    """Fit a model without each fold of the photos; the model is their mean.

    Unlabeled photos stand in for a class without labels, and are not learnt from where
    there is none. The first view of every photo is scored by the model that has not seen
    it. Views, (n_views, n_photos, n_columns), are of any scale: columns are standardised.
    """
    classes = stand_in(labels)
    mixed = not np.array_equal(classes, labels)
    mean, spread = views.mean(axis=(0, 1)), column_spread(views)
    photos, seen = _choose_seen(views, classes, rng)
    with one_blas_thread():
        coordinates, axes = _coordinates((seen - mean) / spread)
        folds = deal_folds(labels, rng)
        slopes, intercepts = [], []
        for fold in range(N_FOLDS):
            kept = _without(fold, folds, classes)[photos]
            fitted = _fit(coordinates[kept], classes[photos[kept]], mixed=mixed)
            slopes.append(fitted.weights)
            intercepts.append(fitted.intercept)
        weights = axes @ np.stack(slopes, axis=1)
        scores = (views[0] - mean) / spread @ weights + intercepts
    direction = weights.mean(axis=1) / spread
    model = LinearModel(direction, float(np.mean(intercepts) - direction @ mean))
    return CrossFitted(model, pick_held_out(scores, folds))


def stand_in(labels: Labels) -> Labels:
    """Take unlabeled photos for the class that has no labels, if one has none."""
    classes = labels.copy()
    for kind in (ANOMALY, NORMAL):
        if not (labels == kind).any():
            classes[labels == UNLABELED] = kind
    return classes


def _choose_seen(
    views: Singles, classes: Labels, rng: np.random.Generator
) -> tuple[Positions, Singles]:
    """Choose photos in views to learn from: which they are, and their rows.

    Returns positions, (n_seen,), and rows, (n_seen, n_columns).
    """
    photos, rows = [], []
    for kind in (NORMAL, ANOMALY):
        of_kind = np.flatnonzero(classes == kind)
        n_shown = int(np.clip(MAX_SEEN // len(of_kind), 1, len(views)))
        orders = np.tile(np.arange(len(views)), (len(of_kind), 1))
        shown = rng.permuted(orders, axis=1)[:, :n_shown].ravel()
        photos.append(np.repeat(of_kind, n_shown))
        rows.append(views[shown, photos[-1]])
    return np.concatenate(photos), np.concatenate(rows)


def _without(fold: int, folds: Positions, classes: Labels) -> Flags:
    """Tell which photos are learnt from without a fold, (n_photos,).

    Where it holds all of a class, it is learnt from, too.
    """
    kept = (folds != fold) & (classes != UNLABELED)
    both = len(np.unique(classes[kept])) == 2
    return kept if both else classes != UNLABELED


def _fit(rows: Floats, classes: Labels, *, mixed: bool) -> LinearModel:
    """Fit a logistic regression on two classes that weigh the same."""
    weights = np.empty(len(rows))
    for kind in (ANOMALY, NORMAL):
        weights[classes == kind] = 0.5 / (classes == kind).sum()
    penalty = MIXED_PENALTY if mixed else PURE_PENALTY
    # scikit-learn declares no types.
    model: Any = LogisticRegression(
        C=1 / penalty, fit_intercept=mixed, max_iter=_MAX_STEPS
    )
    if mixed:
        model.fit(rows, classes, sample_weight=weights)
        return LinearModel(model.coef_[0], float(model.intercept_[0]))
    with_offset = np.column_stack([rows, np.full(len(rows), OFFSET)])
    slopes = model.fit(with_offset, classes, sample_weight=weights).coef_[0]
    return LinearModel(slopes[:-1], float(OFFSET * slopes[-1]))


def _coordinates(rows: Singles) -> tuple[Floats, Floats]:
    """Rows by orthonormal axes that span them, and the axes, (n_columns, n_axes).

    The penalty keeps a model's direction in the span of the rows it learns from. Where
    these are fewer than columns, it is found much faster there.
    """
    exact = rows.astype(np.float64)
    if len(rows) >= rows.shape[1]:
        return exact, np.eye(rows.shape[1])
    squares, along = np.linalg.eigh(exact @ exact.T)
    kept = squares > _SMALLEST * max(squares[-1], _SMALLEST)
    lengths = np.sqrt(squares[kept])
    return along[:, kept] * lengths, exact.T @ (along[:, kept] / lengths)
