"""The default on photos: features of a pretrained network, read in five ways.

What the network sees of a photo makes one row: its maps pooled, how their channels
correlate, how far the oddest patches lie from those of normal photos, and what a model
that labels have taught says of them. Photos are learnt from in several views. From there
on all is as for tables, but readings are linear, the distance of patches takes the place
of one-class scores, and pseudo-anomalies are what pseudo-labels are judged by.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spadework.arrays import Floats, Labels, Pixels, Positions, Singles
from spadework.core.copies import CopiedByFields
from spadework.core.pseudo_labels import PseudoLabeler, learning_targets
from spadework.core.scaling import fit_principal_scaler
from spadework.core.trust import AS_NORMAL, AS_SUSPECT, LABELS, PSEUDO
from spadework.core.weighing import weigh_readings
from spadework.errors import InputError
from spadework.images.augment import N_VIEWS
from spadework.images.backbone import SEEN_WIDTH, Weights, restore_backbone
from spadework.images.contract import PixelLearnt, check_pixels
from spadework.images.density import CodeGaussians
from spadework.images.patches import PatchBank
from spadework.images.sight import Seen, Sight, see_photos
from spadework.images.spotting import Spotter
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework.learners.blend import BlendedModel
from spadework.learners.companions import SPOTS, Companion, blend_by_trust, join_all
from spadework.learners.contract import GrownReading
from spadework.learners.directions import ColumnScorer
from spadework.learners.linear import deal_folds, fit_linear
from spadework.learners.readings import check_readings, make_readings

PATCHES = "patches"
"""The reading that learns nothing: how far the oddest patches are from normal ones."""

READINGS = (LABELS, AS_NORMAL, AS_SUSPECT, PSEUDO, PATCHES)

N_AXES = 16
"""Principal axes of the photos' rows that one-class classifiers see."""

PSEUDO_WEIGHT = 0.3
"""The alpha of eq. 5, as for tables."""

OFFSET = 3.0
"""Of the model that learns from labels alone, in standard deviations of a column. The
photos' rows have 10,513 of them, so that it is small."""

LABELS_COUNT = 8.0
"""How many times labels alone count: linear models of what a pretrained network sees
learn more from some labels than any view of the unlabeled photos tells."""

SPOT_SHARE = 1 / 5
"""Of the model of patches in the reading of labels; the rest is that of whole photos."""

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
class PhotoModel(CopiedByFields):
    """Weights of a pretrained network, patches of normal photos, and blended readings.

    The spotter is what labels say about patches.
    """

    weights: Weights
    bank: PatchBank
    blend: BlendedModel
    spotter: Spotter | None = None

    def __post_init__(self) -> None:
        if not all(np.isfinite(weight).all() for weight in self.weights.values()):
            raise InputError("the weights of the network must be finite numbers")
        n_columns = SEEN_WIDTH + 1 + (self.spotter is not None)
        if self.blend.scaler.n_features != n_columns:
            raise InputError(
                f"photos make rows of {n_columns} columns here, and this model reads "
                f"{self.blend.scaler.n_features}: another version fitted it, fit it again"
            )

    def score(self, pixels: Pixels) -> Floats:
        """Weighted mean over the readings, (n_samples,)."""
        return self.blend.score(self.rows(pixels))

    def represent(self, pixels: Pixels) -> Singles:
        """Principal axes, as the pseudo-labeler sees photos, (n_samples, n_axes)."""
        return self.blend.represent(self.rows(pixels))

    def rows(self, pixels: Pixels) -> Singles:
        """Return what the readings read, (n_samples, n_features)."""
        return self._sight.rows(pixels, np.arange(len(pixels)))

    def heat(self, pixels: Pixels) -> Singles:
        """Distance of every pixel's patch to normal patches, (n_samples, h, w)."""
        return self._sight.heat(pixels)

    @cached_property
    def _sight(self) -> Sight:
        return Sight(restore_backbone(self.weights), self.bank, self.spotter)


@dataclass(frozen=True)
class PretrainedLearner:
    """Five readings of a frozen network's features, blended by trust.

    Attributes
    ----------
    labeler : PseudoLabeler
    readings : tuple of str, optional
        Which of "labels", "as_normal", "as_suspect", "pseudo" and "patches" to use,
        as for `ForestLearner`; by default all that the labels allow.
    spot : bool
        Let a model of patches count in the reading of labels.
    """

    labeler: PseudoLabeler = LABELER
    readings: tuple[str, ...] | None = None
    spot: bool = True

    def __post_init__(self) -> None:
        check_readings(self.readings, READINGS)

    def learn(
        self, pixels: Pixels, labels: Labels, rng: np.random.Generator, *, verbose: bool
    ) -> PixelLearnt:
        """Turn photos into rows, pseudo-label them, learn and weigh the readings."""
        check_pixels(pixels)
        wanted = self.readings or READINGS
        learnt = _choose_learnt(labels, rng)
        both = (labels == NORMAL).any() and (labels == ANOMALY).any()
        spot = self.spot and LABELS in wanted and bool(both)
        n_views = 1 if set(wanted) == {PATCHES} else N_VIEWS
        seen = see_photos(
            pixels, labels, learnt, rng, n_views, spot=spot, verbose=verbose
        )
        scaler = fit_principal_scaler(seen.X[learnt], N_AXES)
        fitted, pseudo = None, None
        if (labels == UNLABELED).any():
            fitted, pseudo = self.labeler.fit(scaler.transform(seen.X), labels, rng)
        targets = learning_targets(
            labels, pseudo.labels if pseudo else None, stand_in=self.labeler.stand_in
        )
        grown = _learn_readings(seen, learnt, labels, targets, rng, wanted)
        beside: dict[str, dict[str, Companion]] = {}
        if seen.spots is not None:
            spots = GrownReading(ColumnScorer(seen.X.shape[1] - 1), seen.spots)
            beside[LABELS] = {SPOTS: Companion(SPOT_SHARE, spots)}
        joined = join_all(grown, beside, labels, scaler)
        called = np.zeros(len(labels), dtype=bool)
        if pseudo is not None:
            called[labels == UNLABELED] = pseudo.labels == ANOMALY
        held_out = {name: each.held_out for name, each in joined.items()}
        trust = weigh_readings(held_out, labels, called, doubt_shift=False)
        trust = trust.counting(LABELS, LABELS_COUNT)
        blend, scores, trust = blend_by_trust(
            grown, beside, trust, labels, scaler, lift=False
        )
        counts: dict[str, float] = {
            "pseudo_anomalies": pseudo.n_anomalies if pseudo else 0,
            "pseudo_normals": pseudo.n_normals if pseudo else 0,
        }
        model = PhotoModel(seen.weights, seen.bank, blend, seen.spotter)
        return PixelLearnt(model, scores, [counts], fitted, pseudo, trust)


def _choose_learnt(labels: Labels, rng: np.random.Generator) -> Positions:
    """Positions of photos to learn from: all labeled ones, and not too many others."""
    unlabeled = np.flatnonzero(labels == UNLABELED)
    if len(unlabeled) > MAX_UNLABELED:
        unlabeled = rng.choice(unlabeled, MAX_UNLABELED, replace=False)
    return np.union1d(np.flatnonzero(labels != UNLABELED), unlabeled)


def _learn_readings(
    seen: Seen,
    learnt: Positions,
    labels: Labels,
    targets: Labels,
    rng: np.random.Generator,
    wanted: tuple[str, ...],
) -> dict[str, GrownReading]:
    """Fit the wanted readings that the labels allow.

    Learnt are the positions of photos to learn from, and targets, (n_unlabeled,), what
    unlabeled photos are taken for.
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
            fitted = fit_linear(seen.views, reading, folds, rng, offset=offset)
            scores = fitted.scorer.score(seen.X)
            scores[learnt] = fitted.held_out
            grown[name] = GrownReading(fitted.scorer, scores)
    if PATCHES in wanted:
        distances = seen.X[:, SEEN_WIDTH].astype(np.float64)
        grown[PATCHES] = GrownReading(ColumnScorer(SEEN_WIDTH), distances)
    if not grown:
        raise InputError(
            f"the labels do not allow the readings {', '.join(wanted)}. Label photos of "
            f"both classes, or leave readings out"
        )
    return grown
