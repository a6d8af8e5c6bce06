"""SPADE on photos as published: ResNet-18, CutPaste and pseudo-labels, all at once.

"For image data, we use ResNet-18 as the base network architecture. For representation
learning, we incorporate CutPaste [...]. We follow all the training details in [CutPaste]
(including all the hyper-parameters)." (appendix B.5)
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from spadework.core.losses import labeled_loss, pseudo_loss
from spadework.core.pseudo_labels import (
    FittedPseudoLabeler,
    PseudoLabeler,
    PseudoLabels,
    learning_targets,
)
from spadework.core.training import warn_of_single_class
from spadework.images.contract import Labels, PixelLearnt, Pixels
from spadework.images.cutpaste import three_way
from spadework.images.density import CodeGaussians
from spadework.images.models import PredictorModel
from spadework.images.network import network_weights
from spadework.images.training import (
    CUTPASTE_TRAINING,
    ImageTraining,
    Rows,
    TrainingRun,
    deal,
)
from spadework.labels import ANOMALY, NORMAL, UNLABELED

PAPER_LABELER = PseudoLabeler(
    one_class=CodeGaussians(),
    n_members=5,
    thresholds="matching",
    voting="unanimous",
    abstain=False,
    use_labeled_normals=True,
    score_scale="raw",
    stand_in=False,
)
"""Five Gaussians, partial matching on raw scores, unanimous votes."""


@dataclass(frozen=True)
class PaperLearner:
    """Encoder, predictor and CutPaste head trained together (eq. 5).

    Attributes
    ----------
    labeler : PseudoLabeler
    alpha, beta : float
        Weights of the loss on pseudo-labels and of the self-supervised loss.
    options : ImageTraining
    """

    labeler: PseudoLabeler = PAPER_LABELER
    alpha: float = 1.0
    beta: float = 1.0
    options: ImageTraining = CUTPASTE_TRAINING

    def learn(
        self, pixels: Pixels, labels: Labels, rng: np.random.Generator, *, verbose: bool
    ) -> PixelLearnt:
        """Run Algorithm 1.

        Parameters
        ----------
        pixels : uint8 ndarray of shape (n_samples, height, width, 3)
        labels : ndarray of shape (n_samples,), values 1, 0 and -1
        """
        run = TrainingRun(pixels, self.options, rng)
        state = _PseudoLabeling(run, labels, self.labeler, rng)
        history: list[dict[str, float]] = []

        def losses(rows: Rows) -> dict[str, Tensor]:
            terms = spade_losses(run, rows, labels, state.targets)
            on_labels, on_pseudo, on_kinds = terms.values()
            loss = on_labels + self.alpha * on_pseudo + self.beta * on_kinds  # eq. 5
            return {"loss": loss, **terms}

        everything = np.ones(len(labels), dtype=bool)
        batches = deal(labels, everything, self.options.batch_size, rng)
        state.refresh()
        for means in run.epochs(batches, losses, verbose=verbose):
            n_anomalies, n_normals = state.counts()
            counts = {"pseudo_anomalies": n_anomalies, "pseudo_normals": n_normals}
            history.append({**means, **counts})
            state.refresh()
        warn_of_single_class(labels, *state.counts())
        model = PredictorModel(network_weights(run.network))
        return PixelLearnt(
            model, model.score(pixels), history, state.labeler, state.pseudo_labels
        )


def spade_losses(
    run: TrainingRun, rows: Rows, labels: Labels, targets: Labels
) -> dict[str, Tensor]:
    """Three terms of eq. 5 on the photos of one step.

    The self-supervised term tells photos as they are, with CutPaste and with a scar
    apart; the predictor sees photos as they are. All are translated and jittered.

    Parameters
    ----------
    rows : ndarray of shape (n_rows,)
        Positions of the photos, labeled ones first.
    labels, targets : ndarrays of shape (n_samples,)
        Labels, and what unlabeled photos are taken for; -1 where nothing is known.
    """
    views = three_way(run.augmented(rows), run.generator)
    codes = run.encode(views.images)
    n_labeled = int((labels[rows] != UNLABELED).sum())
    label, target = (
        torch.from_numpy(known).to(run.device, torch.float32)
        for known in (labels[rows[:n_labeled]], targets[rows[n_labeled:]])
    )
    logits = run.network.predict(codes[: len(rows)])
    kinds = run.network.tell_kinds(codes)
    return {
        "labeled": labeled_loss(logits[:n_labeled], label),
        "pseudo": pseudo_loss(logits[n_labeled:], target),
        "cutpaste": functional.cross_entropy(kinds, views.kinds),
    }


class _PseudoLabeling:
    """The pseudo-labels as they stand: refreshed between epochs, used within them."""

    def __init__(
        self,
        run: TrainingRun,
        labels: Labels,
        how: PseudoLabeler,
        rng: np.random.Generator,
    ) -> None:
        self._run, self._labels, self._how, self._rng = run, labels, how, rng
        self.labeler: FittedPseudoLabeler | None = None
        self.pseudo_labels: PseudoLabels | None = None
        self.targets = np.full(len(labels), UNLABELED, dtype=np.int8)

    def refresh(self) -> None:
        """Fit the one-class classifiers on the present codes and label anew."""
        unlabeled = self._labels == UNLABELED
        if not unlabeled.any():
            return
        self.labeler, self.pseudo_labels = self._how.fit(
            self._run.codes(), self._labels, self._rng
        )
        self.targets[unlabeled] = learning_targets(
            self._labels, self.pseudo_labels.labels, stand_in=self._how.stand_in
        )

    def counts(self) -> tuple[int, int]:
        """Count the unlabeled photos that are taken for anomalies, and for normal."""
        return int((self.targets == ANOMALY).sum()), int((self.targets == NORMAL).sum())
