"""What an image learner takes and gives: pixels and labels in, a scoring model out."""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.random import Generator

from spadework.arrays import Floats, Labels, Pixels, Singles
from spadework.core.pseudo_labels import FittedPseudoLabeler, PseudoLabels
from spadework.errors import InputError
from spadework.learners.label_trust import LabelTrust


class PixelModel(Protocol):
    """A fitted learner: plain arrays that score photos."""

    def score(self, pixels: Pixels, /) -> Floats:
        """Anomaly score of photos, (n_samples,), higher is more anomalous."""
        ...

    def represent(self, pixels: Pixels, /) -> Singles:
        """Codes of photos, (n_samples, n_dimensions)."""
        ...


class PixelLearnt(NamedTuple):
    """All that an image learner brings back.

    The decision threshold is looked for on ``train_scores``, (n_samples,), held out as
    far as the learner can. The pseudo-labeler and its labels are None where a learner
    makes none, trust where it does not judge them.
    """

    model: PixelModel
    train_scores: Floats
    history: list[dict[str, float]]
    pseudo_labeler: FittedPseudoLabeler | None = None
    pseudo_labels: PseudoLabels | None = None
    trust: LabelTrust | None = None


class PixelLearner(Protocol):
    """Learns from photos and their three-valued labels."""

    def learn(
        self, pixels: Pixels, labels: Labels, rng: Generator, /, *, verbose: bool
    ) -> PixelLearnt:
        """Fit on pixels, (n_samples, height, width, 3), and labels 1, 0, -1."""
        ...


def check_pixels(pixels: Pixels) -> None:
    """Refuse what is not a stack of RGB photos."""
    if pixels.dtype != np.uint8 or pixels.ndim != 4 or pixels.shape[3] != 3:
        raise InputError(
            f"pixels must be uint8 of shape (n_samples, height, width, 3); "
            f"got {pixels.dtype} of shape {pixels.shape}"
        )
