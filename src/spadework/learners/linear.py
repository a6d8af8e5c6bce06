"""Readings learnt by linear models, cross-fitted, for few rows.

The row of a photo has some thousand columns, and there are few photos: trees find too
many columns to split on, a penalised linear model does not. Rows come in one view, or in
several, such as photos turned on their side: what differs between views of a row is not
learnt.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression

from spadework.arrays import Flags, Floats, Labels, Numbers, Positions, Rows
from spadework.core.cores import one_blas_thread, usable_cores
from spadework.core.scaling import column_spread
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework.learners.directions import LinearScorer
from spadework.learners.readings import Draws, Reading

N_FOLDS = 5

N_BAGS = 10
"""Draws from a class that is a mixture, each as large as the other class."""

PURE_PENALTY, MIXED_PENALTY = 0.005, 0.1
"""Ridge on standardised columns, where the mean loss of both classes weighs 1. A class
that is a mixture must not be learnt by heart."""

MAX_SEEN = 2048
"""Views of rows that a model sees; of more it sees each row in one view."""

_MAX_STEPS = 200
_SMALLEST = 1e-6


class CrossFitted(NamedTuple):
    """A linear model, and scores of rows by models that have not seen them."""

    scorer: LinearScorer
    held_out: Floats


class Standard(NamedTuple):
    """Mean and deviation of columns, each (n_features,).

    Rows are standardised when they are used: all at once, in all views, they would
    take as much memory again as the views do.
    """

    mean: Numbers
    spread: Numbers

    def __call__(self, rows: Rows) -> Numbers:
        """Standardise rows, (..., n_features)."""
        return (rows - self.mean) / self.spread


class Sample(NamedTuple):
    """What one model learns from: two classes, in a view each or in all, how strictly.

    ``view`` is that of every row, (n_samples,); None for all of them.
    """

    normal: Draws
    anomalous: Draws
    view: Positions | None
    penalty: float


def deal_folds(labels: Labels, rng: np.random.Generator) -> Positions:
    """Deal each kind of rows to the folds evenly, (n_samples,).

    A row that is the only one of its kind belongs to no fold, -1: all learn from it.
    """
    folds = np.full(len(labels), -1)
    for kind in (ANOMALY, NORMAL, UNLABELED):
        rows = np.flatnonzero(labels == kind)
        if len(rows) > 1:
            folds[rows] = rng.permutation(len(rows)) % N_FOLDS
    return folds


def fit_linear(
    views: Rows,
    reading: Reading,
    folds: Positions,
    rng: np.random.Generator,
    *,
    offset: float | None = None,
) -> CrossFitted:
    """Fit a model without each fold; the scorer is their mean.

    The first view of every row is scored by the model that has not seen the row, a row
    of no fold by all. Views, (n_views, n_samples, n_features), are of any scale: columns
    are standardised by all rows.

    The offset is the value of a column that carries the intercept, penalised as the
    others are. A small one keeps the mean of all rows near the border of the classes:
    what unlabeled rows have on average, and labeled normals have not, then speaks for an
    anomaly, of whatever type. By default the intercept is free.
    """
    standard = Standard(views.mean(axis=(0, 1)), column_spread(views))
    samples = [
        _choose_samples(len(views), reading, folds == fold, rng)
        for fold in range(N_FOLDS)
    ]
    n_workers = min(usable_cores(), N_FOLDS)
    with one_blas_thread(), ThreadPoolExecutor(n_workers) as pool:
        models = list(pool.map(partial(_fit_mean, views, standard, offset), samples))
    weights = np.stack([model.weights for model in models])
    intercepts = np.array([model.intercept for model in models])
    scores = standard(views[0]) @ weights.T + intercepts
    direction = weights.mean(axis=0) / standard.spread
    intercept = float(intercepts.mean() - direction @ standard.mean)
    scorer = LinearScorer(direction, intercept)
    return CrossFitted(scorer, pick_held_out(scores, folds))


def pick_held_out(scores: Floats, folds: Positions) -> Floats:
    """Score each row by the model without its fold, a row of no fold by all.

    Scores are of shape (n_samples, N_FOLDS), folds (n_samples,).
    """
    own = np.take_along_axis(scores, np.maximum(folds, 0)[:, None], axis=1)[:, 0]
    return np.where(folds >= 0, own, scores.mean(axis=1))


def _choose_samples(
    n_views: int, reading: Reading, left_out: Flags, rng: np.random.Generator
) -> list[Sample]:
    """Choose what the models of a fold see; some models, where a class is a mixture.

    As with trees, no more of a mixture is drawn than there are rows of the other
    class: every model then sees few of the rows that are there by mistake. It sees
    each row in one view.
    """
    normal, anomalous = (_keep(side, left_out) for side in reading[:2])

    def one_view() -> Positions:
        return rng.integers(n_views, size=len(left_out))

    if not (_is_mixture(normal) or _is_mixture(anomalous)):
        few = n_views * (len(normal.rows) + len(anomalous.rows)) <= MAX_SEEN
        return [Sample(normal, anomalous, None if few else one_view(), PURE_PENALTY)]
    chosen: list[Sample] = []
    for _ in range(N_BAGS):
        view = one_view()
        bag = _draw(normal, rng), _draw(anomalous, rng)
        chosen.append(Sample(*bag, view, MIXED_PENALTY))
    return chosen


def _fit_mean(
    views: Rows, standard: Standard, offset: float | None, samples: list[Sample]
) -> LinearScorer:
    """Fit a model on each sample; return their mean."""
    models = [_fit(views, standard, offset, sample) for sample in samples]
    weights = np.mean([model.weights for model in models], axis=0)
    return LinearScorer(weights, float(np.mean([model.intercept for model in models])))


def _fit(
    views: Rows, standard: Standard, offset: float | None, sample: Sample
) -> LinearScorer:
    """Fit a logistic regression on two classes that weigh the same."""
    normal, anomalous, view, penalty = sample
    rows = np.concatenate([normal.rows, anomalous.rows])
    seen = standard(views[:, rows] if view is None else views[view[rows], rows][None])
    n_views, _, n_features = seen.shape
    classes = np.repeat([0, 1], [len(normal.rows), len(anomalous.rows)])
    weights = np.concatenate([_halved(normal), _halved(anomalous)])
    coordinates, axes = _coordinates(seen.reshape(-1, n_features).astype(np.float64))
    free = offset is None
    if not free:
        coordinates = np.column_stack([coordinates, np.full(len(coordinates), offset)])
    # scikit-learn declares no types.
    model: Any = LogisticRegression(
        C=1 / penalty, fit_intercept=free, max_iter=_MAX_STEPS
    )
    model.fit(
        coordinates,
        np.tile(classes, n_views),
        sample_weight=np.tile(weights, n_views) / n_views,
    )
    slopes = model.coef_[0]
    if free:
        return LinearScorer(axes @ slopes, float(model.intercept_[0]))
    return LinearScorer(axes @ slopes[:-1], float(offset * slopes[-1]))


def _coordinates(rows: Floats) -> tuple[Floats, Floats]:
    """Rows by orthonormal axes that span them, and the axes, (n_columns, n_axes).

    The penalty keeps a model's direction in the span of the rows it learns from. Where
    these are fewer than columns, it is found much faster there.
    """
    if len(rows) >= rows.shape[1]:
        return rows, np.eye(rows.shape[1])
    squares, along = np.linalg.eigh(rows @ rows.T)
    kept = squares > _SMALLEST * max(squares[-1], _SMALLEST)
    lengths = np.sqrt(squares[kept])
    return along[:, kept] * lengths, rows.T @ (along[:, kept] / lengths)


def _keep(side: Draws, left_out: Flags) -> Draws:
    """Leave rows out of a class; where all would go, none does."""
    kept = ~left_out[side.rows]
    if not kept.any():
        kept[:] = True
    return side.among(kept)


def _is_mixture(side: Draws) -> bool:
    return side.n_draws < len(side.rows)


def _draw(side: Draws, rng: np.random.Generator) -> Draws:
    """Draw as many rows of a mixture as are wanted; of another class, all."""
    if not _is_mixture(side):
        return side
    return side.among(rng.choice(len(side.rows), side.n_draws, replace=False))


def _halved(side: Draws) -> Floats:
    """Weights of the rows of a class, which sum to a half."""
    weights = np.ones(len(side.rows)) if side.weights is None else side.weights
    return 0.5 * weights / weights.sum()
