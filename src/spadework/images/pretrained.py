"""The default on photos: a linear model of what a pretrained network sees.

What the network sees of a photo makes one row: its maps pooled, how their channels
correlate, how far the oddest patches lie from those of normal photos, and what a model
that labels have taught says of the patches. A penalised linear model learns from labels,
in several views of the photos; unlabeled photos stand in for a class without labels. A
score adds up what the two models say and the distance, with fixed weights.

Pseudo-labels come by consensus of one-class classifiers and are there to be looked at:
on photos a model learnt nothing from them that labels had not taught it better.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from spadework.arrays import Floats, Labels, Pixels, Positions, Singles
from spadework.core.copies import CopiedByFields
from spadework.core.pseudo_labels import PseudoLabeler
from spadework.core.scaling import PrincipalScaler, fit_principal_scaler
from spadework.errors import InputError
from spadework.images.augment import N_VIEWS
from spadework.images.backbone import SEEN_WIDTH, Weights, restore_backbone
from spadework.images.contract import PixelLearnt, check_pixels
from spadework.images.density import CodeGaussians
from spadework.images.features import FeatureExtractor, PhotoRows, describe_photos
from spadework.images.linear import LinearModel, fit_linear
from spadework.images.patches import PatchBank
from spadework.images.spotting import Spotter
from spadework.labels import ANOMALY, NORMAL, UNLABELED

LINEAR, SPOTS, PATCHES = "linear", "spots", "patches"

SHARES = {LINEAR: 0.7, SPOTS: 0.2, PATCHES: 0.1}
"""Weights of the parts of a score: a linear model of whole photos, one of patches, and
how far patches lie from those of normal photos. Without labels of both classes, the
last has the weight of the second, too."""

PARTS = tuple(SHARES)

UNIT = float(np.pi / np.sqrt(3))
"""Deviation of the scores of unlabeled photos by each part: that of log-odds of ranks."""

N_AXES = 16
"""Principal axes of the photos' rows that one-class classifiers see."""

MAX_UNLABELED = 2048
"""Unlabeled photos to learn from at most; all are scored and pseudo-labeled."""

LABELER = PseudoLabeler(
    one_class=CodeGaussians(),
    n_members=5,
    thresholds="bounded",
    voting="unanimous",
    abstain=True,
    use_labeled_normals=True,
    score_scale="log",
    stand_in=True,
)
"""One-class classifiers on principal axes, and how they vote."""


@dataclass(frozen=True)
class PhotoModel(CopiedByFields):
    """A pretrained network, what it compares photos with, and a linear score.

    Attributes
    ----------
    weights : dict of ndarray
        Of the network.
    bank : PatchBank
        Patches of normal photos.
    scaler : PrincipalScaler
        Of rows, for the pseudo-labeler.
    linear : LinearModel
        Of rows: the parts of the score, added up.
    spotter : Spotter or None
        What labels say about patches, if photos of both classes were labeled.
    """

    weights: Weights
    bank: PatchBank
    scaler: PrincipalScaler
    linear: LinearModel
    spotter: Spotter | None = None

    def __post_init__(self) -> None:
        if not all(np.isfinite(weight).all() for weight in self.weights.values()):
            raise InputError("the weights of the network must be finite numbers")
        n_columns = SEEN_WIDTH + 1 + (self.spotter is not None)
        for found in (self.scaler.n_features, len(self.linear.weights)):
            if found != n_columns:
                raise InputError(
                    f"photos make rows of {n_columns} columns here, and this model reads "
                    f"{found}: another version fitted it, fit it again"
                )

    def score(self, pixels: Pixels) -> Floats:
        """Weighted sum of what the parts say, (n_samples,)."""
        return self.linear.score(self.rows(pixels))

    def represent(self, pixels: Pixels) -> Singles:
        """Principal axes, as the pseudo-labeler sees photos, (n_samples, n_axes)."""
        return self.scaler.transform(self.rows(pixels))

    def rows(self, pixels: Pixels) -> Singles:
        """Return what the network and the patches tell, (n_samples, n_columns)."""
        return self._extractor.rows(pixels, np.arange(len(pixels)))

    def heat(self, pixels: Pixels) -> Singles:
        """Distance of every pixel's patch to normal patches, (n_samples, h, w)."""
        return self._extractor.heat(pixels)

    @cached_property
    def _extractor(self) -> FeatureExtractor:
        return FeatureExtractor(restore_backbone(self.weights), self.bank, self.spotter)


@dataclass(frozen=True)
class PretrainedLearner:
    """A linear model, a model of patches and distances of patches, added up.

    Attributes
    ----------
    labeler : PseudoLabeler
    parts : tuple of str
        Which of "linear", "spots" and "patches" to add up. Spots need labels of both
        classes, and are left out where there are none.
    """

    labeler: PseudoLabeler = LABELER
    parts: tuple[str, ...] = PARTS

    def __post_init__(self) -> None:
        _check_parts(self.parts)

    def learn(
        self, pixels: Pixels, labels: Labels, rng: np.random.Generator, *, verbose: bool
    ) -> PixelLearnt:
        """Turn photos into rows, pseudo-label them, and fit the parts of the score."""
        check_pixels(pixels)
        learnt = _choose_learnt(labels, rng)
        both = bool((labels == NORMAL).any() and (labels == ANOMALY).any())
        n_views = N_VIEWS if LINEAR in self.parts else 1
        spot = SPOTS in self.parts and both
        seen = describe_photos(
            pixels, labels, learnt, rng, n_views, spot=spot, verbose=verbose
        )
        scaler = fit_principal_scaler(seen.X[learnt], N_AXES)
        fitted, pseudo = None, None
        if (labels == UNLABELED).any():
            fitted, pseudo = self.labeler.fit(scaler.transform(seen.X), labels, rng)
        linear, scores = _add_up(
            _fit_parts(self.parts, seen, learnt, labels, rng), labels
        )
        counts: dict[str, float] = {
            "pseudo_anomalies": pseudo.n_anomalies if pseudo else 0,
            "pseudo_normals": pseudo.n_normals if pseudo else 0,
        }
        model = PhotoModel(seen.weights, seen.bank, scaler, linear, seen.spotter)
        return PixelLearnt(model, scores, [counts], fitted, pseudo)


class Part(NamedTuple):
    """A part of a score: its weight, and scores of photos, as held out as can be."""

    share: float
    model: LinearModel
    held_out: Floats


def _check_parts(parts: Collection[str]) -> None:
    """Refuse parts of other names."""
    listed = isinstance(parts, Collection) and not isinstance(parts, str)
    if not listed or not parts or not set(parts) <= set(PARTS):
        raise InputError(
            f"parts must be a list of names among {', '.join(PARTS)}; got {parts!r}"
        )


def _choose_learnt(labels: Labels, rng: np.random.Generator) -> Positions:
    """Positions of photos to learn from: all labeled ones, and not too many others."""
    unlabeled = np.flatnonzero(labels == UNLABELED)
    if len(unlabeled) > MAX_UNLABELED:
        unlabeled = rng.choice(unlabeled, MAX_UNLABELED, replace=False)
    return np.union1d(np.flatnonzero(labels != UNLABELED), unlabeled)


def _fit_parts(
    wanted: Collection[str],
    seen: PhotoRows,
    learnt: Positions,
    labels: Labels,
    rng: np.random.Generator,
) -> list[Part]:
    """Fit the wanted parts that the labels allow; learnt are positions of photos."""
    parts: list[Part] = []
    n_columns = seen.X.shape[1]
    if LINEAR in wanted:
        fitted = fit_linear(seen.views, labels[learnt], rng)
        scores = fitted.model.score(seen.X)
        scores[learnt] = fitted.held_out
        parts.append(Part(SHARES[LINEAR], fitted.model, scores))
    if seen.spots is not None:
        last = _one_column(n_columns - 1, n_columns)
        parts.append(Part(SHARES[SPOTS], last, seen.spots))
    if PATCHES in wanted:
        distance = _one_column(SEEN_WIDTH, n_columns)
        share = SHARES[PATCHES] + (SHARES[SPOTS] if seen.spots is None else 0.0)
        parts.append(Part(share, distance, distance.score(seen.X)))
    if not parts:
        raise InputError(
            f"the labels do not allow the parts {', '.join(wanted)}. Label photos of "
            f"both classes, or leave parts out"
        )
    return parts


def _one_column(column: int, n_columns: int) -> LinearModel:
    """Return the model whose score is one column."""
    return LinearModel(np.eye(1, n_columns, column)[0], 0.0)


def _add_up(parts: list[Part], labels: Labels) -> tuple[LinearModel, Floats]:
    """Add up parts, by their spread among unlabeled photos, or all if none is.

    Returns the model, and the sum of held-out scores, (n_samples,).
    """
    unlabeled = labels == UNLABELED
    reference = unlabeled if unlabeled.any() else np.ones(len(labels), dtype=bool)
    total = sum(part.share for part in parts)
    weights, intercept = np.zeros_like(parts[0].model.weights), 0.0
    held_out = np.zeros(len(labels))
    for share, model, scores in parts:
        mean, spread = scores[reference].mean(), scores[reference].std()
        factor = UNIT * share / total / (spread or 1.0)
        weights += factor * model.weights
        intercept += factor * (model.intercept - mean)
        held_out += factor * (scores - mean)
    return LinearModel(weights, float(intercept)), held_out
