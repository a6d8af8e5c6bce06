"""ImageSPADE: the detector on photos, under the contract of `SPADE`."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from spadework.arrays import Floats, Labels, Pixels, Singles
from spadework.base import AnomalyDetector
from spadework.core.pseudo_labels import FittedPseudoLabeler, PseudoLabels
from spadework.errors import InputError
from spadework.images import reading
from spadework.images.contract import PixelLearner, PixelModel
from spadework.images.paper import PaperLearner
from spadework.images.pretrained import PhotoModel, PretrainedLearner
from spadework.labels import count_labels
from spadework.lazy import LazyModule
from spadework.learners.label_trust import LabelTrust
from spadework.validation import (
    check_counts,
    check_members,
    named_or_given,
    refuse_arguments,
)

if TYPE_CHECKING:
    from spadework.images import photos
else:
    photos = LazyModule("spadework.images.photos")  # needs pyarrow, which pixels do not

SMALLEST_SIZE, LARGEST_SIZE = 32, 1024
"""Side of a photo that the networks can still halve five times."""

_LEARNERS: dict[str, type[PixelLearner]] = {
    "pretrained": PretrainedLearner,
    "paper": PaperLearner,
}
_WORDS = np.array(["normal", "anomaly", "unlabeled"], dtype=object)  # -1 is the last


class ImageSPADE(AnomalyDetector):
    """Find defective photos from a few labeled ones.

    Photos come as a folder, as a list of paths or as arrays, of any size, grey or in
    colour, and are resized to squares. A folder is never held in memory as a whole.

    Parameters
    ----------
    learner : "pretrained", "paper" or a learner object
        "pretrained" learns linear models of what a pretrained network sees in photos and
        in their patches. "paper" trains a ResNet-18 as published; it wants a GPU.
    size : int
        Side of the squares that photos are resized to.
    on_corrupt : "refuse" or "skip"
        Files that cannot be read are an error that names them, or are left out in
        ``fit`` and score NaN afterwards.
    threshold : "auto" or float
        Decision threshold on the anomaly score, as for `SPADE`.
    label_map : mapping, optional
        From your label values to 1 (anomaly), 0 (normal) and -1 (unlabeled).
    random_state : int, numpy Generator or RandomState, or None
    verbose : bool
        Show progress: a bar on a terminal, a line now and then elsewhere.

    Attributes
    ----------
    setting_, census_, threshold_, classes_, history_
        As of `SPADE`.
    pseudo_labels_ : PseudoLabels or None
        Of the unlabeled photos, in order.
    pseudo_labeler_ : FittedPseudoLabeler or None
    model_ : PixelModel
        The fitted learner.
    trust_ : LabelTrust or None
        How far labels were trusted; None, unless a learner of your own judges them.

    Examples
    --------
    >>> detector = ImageSPADE(random_state=0)
    >>> detector.fit("parts/")  # doctest: +SKIP
    >>> detector.anomaly_score("new_parts/")  # doctest: +SKIP
    """

    pseudo_labels_: PseudoLabels | None
    pseudo_labeler_: FittedPseudoLabeler | None
    model_: PixelModel
    history_: list[dict[str, float]]
    trust_: LabelTrust | None

    def __init__(
        self,
        *,
        learner: Literal["pretrained", "paper"] | PixelLearner = "pretrained",
        size: int = reading.DEFAULT_SIZE,
        on_corrupt: reading.OnCorrupt = "refuse",
        threshold: Literal["auto"] | float = "auto",
        label_map: Mapping[Any, int] | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        verbose: bool = False,
    ) -> None:
        self.learner = learner
        self.size = size
        self.on_corrupt: reading.OnCorrupt = on_corrupt
        self.threshold = threshold
        self.label_map = label_map
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: ArrayLike | None = None, **refused: Any) -> Self:
        """Learn from photos and their three-valued labels.

        Parameters
        ----------
        X : folder, list of paths, or arrays
            Arrays are (n, H, W), (n, H, W, 3), or a list of single photos.
        y : array-like of shape (n_photos,), optional
            1 anomaly, 0 normal, -1 unlabeled, or what ``label_map`` names. Left out
            where X is a folder with ``good/``, ``defect/<type>/``, ``unlabeled/``.
        **refused
            Anything else, such as ``sample_weight``: there is no such thing here.
        """
        refuse_arguments(self, refused)
        self._check_parameters()
        if y is None and self.label_map is not None:
            raise InputError(
                "label_map says what values of y mean, and y is missing; a folder labels "
                "its photos itself, so leave label_map out"
            )
        paths, labels = _listed(X, y)
        if paths is None:
            return super().fit(X, labels)
        read = reading.read_photos(
            paths, self.size, on_corrupt=self.on_corrupt, verbose=self.verbose
        )
        if len(read.kept) < len(paths) == len(labels):
            labels = np.asarray(labels)[read.kept]
        return super().fit(read.pixels, labels)

    def anomaly_score(self, X: Any) -> Floats:
        """Score photos, (n_photos,): higher is more anomalous.

        With ``on_corrupt="skip"`` files that cannot be read score NaN.
        """
        check_is_fitted(self)
        paths = paths_of(X)
        if paths is None:
            return super().anomaly_score(X)
        scores = np.full(len(paths), np.nan)
        for rows, pixels in reading.iter_photos(
            paths, self.size, on_corrupt=self.on_corrupt
        ):
            scores[rows] = self._score(pixels)
        return scores

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Predict 1 for anomalies, 0 for normal photos, (n_photos,); all must be read."""
        scores = self.anomaly_score(X)
        n_unread = int(np.isnan(scores).sum())
        if n_unread:
            raise InputError(
                f"{n_unread} of {len(scores)} photos cannot be read, and are neither "
                f"normal nor anomalous. Leave them out; anomaly_score tells which they "
                f"are, with NaN"
            )
        return self.classes_[(scores > self.threshold_).astype(np.intp)]

    def heat_map(self, X: Any) -> Singles:
        """How odd every pixel's surroundings are, (n_photos, size, size).

        Distances to patches of normal photos: higher is odder, on one scale for all
        photos. With ``on_corrupt="skip"`` unreadable files are NaN.
        """
        check_is_fitted(self)
        model = patch_model(self)
        paths = paths_of(X)
        if paths is None:
            return model.heat(self._check_rows(X, fitting=False))
        heat = np.full((len(paths), self.size, self.size), np.nan, dtype=np.float32)
        for rows, pixels in reading.iter_photos(
            paths, self.size, on_corrupt=self.on_corrupt
        ):
            heat[rows] = model.heat(pixels)
        return heat

    def pseudo_label(self, X: Any) -> PseudoLabels:
        """Pseudo-label photos by the fitted one-class classifiers, with their votes."""
        check_is_fitted(self)
        if self.pseudo_labeler_ is None:
            raise InputError("there are no one-class classifiers to pseudo-label with")
        return self.pseudo_labeler_.label(self.model_.represent(self.read(X)))

    def read(self, X: Any) -> Pixels:
        """Return photos as the model sees them, uint8 (n_photos, size, size, 3)."""
        paths = paths_of(X)
        if paths is None:
            return self._check_rows(X, fitting=False)
        return reading.read_photos(paths, self.size, verbose=self.verbose).pixels

    def _learn(self, X: Any, labels: Labels, rng: np.random.Generator) -> Floats:
        learnt = self._learner().learn(X, labels, rng, verbose=self.verbose)
        self.model_ = learnt.model
        self.pseudo_labeler_ = learnt.pseudo_labeler
        self.pseudo_labels_ = learnt.pseudo_labels
        self.history_ = learnt.history
        self.trust_ = learnt.trust
        return learnt.train_scores

    def _score(self, X: Any) -> Floats:
        return self.model_.score(X)

    def _check_rows(self, X: Any, *, fitting: bool) -> Pixels:
        """Return arrays as pixels; those of the right shape as they are."""
        ready = isinstance(X, np.ndarray) and X.dtype == np.uint8 and len(X)
        if ready and X.shape[1:] == (self.size, self.size, 3):
            return X
        return reading.as_pixels(X, self.size)

    def _check_learnable(self, X: Any, labels: Labels) -> None:
        check_counts(labels)
        labeler = getattr(self._learner(), "labeler", None)
        check_members(count_labels(labels), 1 if labeler is None else labeler.n_members)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        whole = isinstance(self.size, (int, np.integer))
        if not whole or not SMALLEST_SIZE <= self.size <= LARGEST_SIZE:
            raise InputError(
                f"size must be an integer from {SMALLEST_SIZE} to {LARGEST_SIZE}; got "
                f"{self.size!r}"
            )
        reading.check_on_corrupt(self.on_corrupt)
        self._learner()

    def _learner(self) -> PixelLearner:
        """Return the learner that was named or given."""
        return named_or_given(self.learner, _LEARNERS)


def patch_model(detector: ImageSPADE) -> PhotoModel:
    """Return the model that draws heat maps, or say that there is none."""
    if isinstance(detector.model_, PhotoModel):
        return detector.model_
    raise InputError(
        "heat maps come from patches, which only the learner 'pretrained' keeps; this "
        f"detector was fitted with {detector.learner!r}"
    )


def paths_of(X: Any) -> list[Path] | None:
    """Return the files that X names, or None where it holds pixels."""
    if isinstance(X, (str, os.PathLike)):
        path = Path(X)
        return [path] if path.is_file() else list(photos.find_photos(path).paths)
    if isinstance(X, (list, tuple)) and X and isinstance(X[0], (str, os.PathLike)):
        return list(photos.find_photos(X).paths)
    return None


def _listed(X: Any, y: ArrayLike | None) -> tuple[list[Path] | None, Any]:
    """Return the files to learn from, if X names any, and their labels."""
    if y is not None:
        return paths_of(X), y
    if not isinstance(X, (str, os.PathLike)):
        raise InputError(
            "y is missing: only a folder with good/, defect/ and unlabeled/ labels its "
            "photos itself; give 1, 0 or -1 for each photo"
        )
    found = photos.find_photos(X)
    photos.refuse_unlabeled(found, X)
    return list(found.paths), in_words(found.labels)


def in_words(labels: Labels) -> NDArray[np.object_]:
    """Return labels 1, 0 and -1 as words, by which 0 is known to mean normal."""
    return _WORDS[labels]
