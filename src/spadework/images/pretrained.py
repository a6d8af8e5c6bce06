"""The default on photos: features of a pretrained network, read in five ways.

The network is not trained further. What it sees of a photo makes one row: its maps
pooled, and how far the photo's oddest patches lie from patches of normal photos. Photos
are learnt from in several views, turned and tilted, and scored as they are. From there
on all is as for tables: pseudo-labels by consensus are one of five readings of the
unlabeled photos, each is learnt on its own, and held-out labels say how far to believe
it. Readings are linear, and the distance of patches takes the place of one-class scores.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from spadework.core.networks import find_device
from spadework.core.pseudo_labels import PseudoLabeler, learning_targets
from spadework.core.scaling import fit_principal_scaler
from spadework.core.trust import AS_NORMAL, AS_SUSPECT, LABELS, PSEUDO
from spadework.errors import InputError
from spadework.images.backbone import (
    Backbone,
    Weights,
    pretrained_weights,
    restore_backbone,
)
from spadework.images.contract import Floats, Labels, PixelLearnt, Pixels, check_pixels
from spadework.images.density import CodeGaussians
from spadework.images.patches import (
    MAX_PATCHES,
    PatchBank,
    draw_patches,
    make_bank,
    smooth,
)
from spadework.images.sight import Sight, look
from spadework.images.views import N_VIEWS
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework.learners.blend import (
    BlendedModel,
    GrownReading,
    blend_readings,
    judge_readings,
)
from spadework.learners.directions import ColumnScorer
from spadework.learners.linear import deal_folds, fit_linear
from spadework.learners.readings import check_readings, make_readings
from spadework.progress import progress

PATCHES = "patches"
"""The reading that learns nothing: how far the oddest patches are from normal ones."""

READINGS = (LABELS, AS_NORMAL, AS_SUSPECT, PSEUDO, PATCHES)

N_AXES = 16
"""Principal axes of the photos' rows that one-class classifiers see."""

PSEUDO_WEIGHT = 0.3
"""The alpha of eq. 5, as for tables."""

OFFSET = 3.0
"""Of the model that learns from labels alone, in standard deviations of a column. The
photos' rows have 4,297 of them, so that it is small."""

LABELS_COUNT = 4.0
"""How many times labels alone count: linear models of what a pretrained network sees
learn more from some labels than any view of the unlabeled photos tells."""

MIN_NORMALS = 20
"""Labeled normals that make a bank of patches; with fewer, unlabeled photos do too."""

MAX_BANK_PHOTOS = 256

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
"""The pseudo-labeler of `SPADE`, on principal axes."""


@dataclass(frozen=True)
class PhotoModel:
    """A pretrained network, patches of normal photos, and blended readings.

    Attributes
    ----------
    weights : dict of ndarray
        Of the network.
    bank : PatchBank
    blend : BlendedModel
        Readings of rows: linear models, and the column of the patches' distance.
    """

    weights: Weights
    bank: PatchBank
    blend: BlendedModel

    def __post_init__(self) -> None:
        if not all(np.isfinite(weight).all() for weight in self.weights.values()):
            raise InputError("the weights of the network must be finite numbers")

    def score(self, pixels: Pixels) -> Floats:
        """Weighted mean over the readings, (n_samples,)."""
        return self.blend.score(self.rows(pixels))

    def represent(self, pixels: Pixels) -> NDArray[np.float32]:
        """Principal axes, as the pseudo-labeler sees photos, (n_samples, n_axes)."""
        return self.blend.represent(self.rows(pixels))

    def rows(self, pixels: Pixels) -> NDArray[np.float32]:
        """Return what the readings read, (n_samples, n_features)."""
        return self._sight.rows(pixels)

    def heat(self, pixels: Pixels) -> NDArray[np.float32]:
        """Distance of every pixel's patch to normal patches, (n_samples, h, w)."""
        return self._sight.heat(pixels)

    @cached_property
    def _sight(self) -> Sight:
        device = find_device("auto")
        return Sight(restore_backbone(self.weights, device), self.bank, device)


@dataclass(frozen=True)
class PretrainedLearner:
    """Five readings of a frozen network's features, blended by trust.

    Attributes
    ----------
    labeler : PseudoLabeler
    readings : tuple of str, optional
        Which of "labels", "as_normal", "as_suspect", "pseudo" and "patches" to use,
        as for `ForestLearner`; by default all that the labels allow.
    """

    labeler: PseudoLabeler = LABELER
    readings: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        check_readings(self.readings, READINGS)

    def learn(
        self,
        pixels: Pixels,
        labels: Labels,
        rng: np.random.Generator,
        *,
        verbose: bool,
    ) -> PixelLearnt:
        """Turn photos into rows, pseudo-label them, learn and weigh the readings."""
        check_pixels(pixels)
        device = find_device("auto")
        weights = pretrained_weights()
        network = restore_backbone(weights, device)
        bank, owners = _fit_bank(network, device, pixels, labels, rng)
        sight = Sight(network, bank, device)
        wanted = self.readings or READINGS
        n_views = 1 if set(wanted) == {PATCHES} else N_VIEWS
        learnt = _choose_learnt(labels, rng)
        n_looks = len(pixels) + (n_views - 1) * len(learnt)
        with progress("looking at photos", n_looks, verbose=verbose) as advance:
            X = sight.rows(pixels, owners=owners, advance=advance)
            others = [
                sight.rows(pixels, learnt, view=view, owners=owners, advance=advance)
                for view in range(1, n_views)
            ]
        views = np.stack([X[learnt], *others])
        scaler = fit_principal_scaler(X[learnt], N_AXES)
        fitted, pseudo = None, None
        if (labels == UNLABELED).any():
            fitted, pseudo = self.labeler.fit(scaler.transform(X), labels, rng)
        targets = learning_targets(
            labels, pseudo.labels if pseudo else None, stand_in=self.labeler.stand_in
        )
        grown = _learn_readings(X, views, learnt, labels, targets, rng, wanted)
        everything = np.arange(len(labels))
        trust = judge_readings(
            grown,
            labels,
            pseudo,
            everything,
            doubt_shift=False,
            labels_count=LABELS_COUNT,
        )
        blend, scores = blend_readings(grown, trust.weights, labels, scaler)
        counts: dict[str, float] = {
            "pseudo_anomalies": pseudo.n_anomalies if pseudo else 0,
            "pseudo_normals": pseudo.n_normals if pseudo else 0,
        }
        model = PhotoModel(weights, bank, blend)
        return PixelLearnt(model, scores, [counts], fitted, pseudo, trust)


def _choose_learnt(labels: Labels, rng: np.random.Generator) -> NDArray[np.intp]:
    """Positions of photos to learn from: all labeled ones, and not too many others."""
    unlabeled = np.flatnonzero(labels == UNLABELED)
    if len(unlabeled) > MAX_UNLABELED:
        unlabeled = rng.choice(unlabeled, MAX_UNLABELED, replace=False)
    return np.union1d(np.flatnonzero(labels != UNLABELED), unlabeled)


def _learn_readings(
    X: NDArray[np.float32],
    views: NDArray[np.float32],
    learnt: NDArray[np.intp],
    labels: Labels,
    targets: Labels,
    rng: np.random.Generator,
    wanted: tuple[str, ...],
) -> dict[str, GrownReading]:
    """Fit the wanted readings that the labels allow.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The last column is a score already.
    views : ndarray of shape (n_views, n_learnt, n_features)
    learnt : ndarray of shape (n_learnt,)
    targets : ndarray of shape (n_unlabeled,)
    """
    alphas = {ANOMALY: PSEUDO_WEIGHT, NORMAL: PSEUDO_WEIGHT}
    known = labels[learnt]
    believed = targets[np.isin(np.flatnonzero(labels == UNLABELED), learnt)]
    possible = make_readings(
        known, believed, alphas, max_draws=2 * len(known), min_leaf=1
    )
    folds = deal_folds(known, rng)
    grown: dict[str, GrownReading] = {}
    for name, reading in possible.items():
        if name in wanted:
            offset = OFFSET if name == LABELS else None
            scorer, held_out = fit_linear(views, reading, folds, rng, offset=offset)
            scores = scorer.score(X)
            scores[learnt] = held_out
            grown[name] = GrownReading(scorer, scores)
    if PATCHES in wanted:
        column = X.shape[1] - 1
        distances = X[:, column].astype(np.float64)
        grown[PATCHES] = GrownReading(ColumnScorer(column), distances)
    if not grown:
        raise InputError(
            f"the labels do not allow the readings {', '.join(wanted)}. Label photos of "
            f"both classes, or leave readings out"
        )
    return grown


def _fit_bank(
    network: Backbone,
    device: torch.device,
    pixels: Pixels,
    labels: Labels,
    rng: np.random.Generator,
) -> tuple[PatchBank, NDArray[np.intp] | None]:
    """Draw patches of normal photos, and say which photo each comes from.

    Where few photos are labeled normal, all that are not labeled anomalies give some:
    most of those are normal too. Of a single photo no patch can be left out, so None
    says which come from it.
    """
    photos = np.flatnonzero(labels == NORMAL)
    if len(photos) < MIN_NORMALS:
        photos = np.flatnonzero(labels != ANOMALY)
    if not len(photos):
        photos = np.arange(len(labels))
    if len(photos) > MAX_BANK_PHOTOS:
        photos = np.sort(rng.choice(photos, MAX_BANK_PHOTOS, replace=False))
    n_patches = -(-MAX_PATCHES // len(photos))
    drawn = [
        draw_patches(smooth(features.patches).cpu().numpy(), n_patches, rng)
        for _, features in look(network, device, pixels, photos)
    ]
    patches = np.concatenate(drawn)
    owners = np.repeat(photos, patches.shape[1]) if len(photos) > 1 else None
    return make_bank(patches.reshape(-1, patches.shape[2])), owners
