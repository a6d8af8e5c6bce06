"""SPADE on photos as published: ResNet-18, CutPaste and pseudo-labels, all at once.

"We follow all the training details in [CutPaste] (including all the hyper-parameters)."
(appendix B.5)
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from spadework.arrays import Labels, Pixels, Positions
from spadework.core.losses import labeled_loss, pseudo_loss
from spadework.core.pseudo_labels import (
    FittedPseudoLabeler,
    PseudoLabeler,
    PseudoLabels,
    learning_targets,
)
from spadework.core.training import warn_of_single_class
from spadework.images.contract import PixelLearnt
from spadework.images.cutpaste import three_way
from spadework.images.density import CodeGaussians
from spadework.images.network import PredictorModel, network_weights
from spadework.images.training import CUTPASTE_TRAINING, ImageTraining, TrainingRun, deal
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
        """Run Algorithm 1: pseudo-labels are made anew between epochs.

        Pixels are of shape (n_samples, height, width, 3), and labels, (n_samples,), are
        1, 0 and -1.
        """
        run = TrainingRun(pixels, self.options, rng)
        unlabeled = labels == UNLABELED
        targets = np.full(len(labels), UNLABELED, dtype=np.int8)
        history: list[dict[str, float]] = []

        def losses(rows: Positions) -> dict[str, Tensor]:
            terms = spade_losses(run, rows, labels, targets)
            on_labels, on_pseudo, on_kinds = terms.values()
            loss = on_labels + self.alpha * on_pseudo + self.beta * on_kinds  # eq. 5
            return {"loss": loss, **terms}

        def refresh() -> tuple[FittedPseudoLabeler | None, PseudoLabels | None]:
            if not unlabeled.any():
                return None, None
            labeler, pseudo = self.labeler.fit(run.codes(), labels, rng)
            stand_in = self.labeler.stand_in
            targets[unlabeled] = learning_targets(
                labels, pseudo.labels, stand_in=stand_in
            )
            return labeler, pseudo

        batches = deal(labels, np.ones_like(unlabeled), self.options.batch_size, rng)
        labeler, pseudo = refresh()
        for means in run.epochs(batches, losses, verbose=verbose):
            history.append({**means, **_count(targets)})
            labeler, pseudo = refresh()
        warn_of_single_class(labels, *_count(targets).values())
        model = PredictorModel(network_weights(run.network))
        return PixelLearnt(model, model.score(pixels), history, labeler, pseudo)


def spade_losses(
    run: TrainingRun, rows: Positions, labels: Labels, targets: Labels
) -> dict[str, Tensor]:
    """Three terms of eq. 5 on the photos of one step.

    The self-supervised term tells photos as they are, with CutPaste and with a scar
    apart; the predictor sees photos as they are. All are translated and jittered.
    Rows, (n_rows,), are positions of photos, labeled ones first. Targets are what
    unlabeled photos are taken for, -1 where nothing is known, as labels (n_samples,).
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


def _count(targets: Labels) -> dict[str, int]:
    """Count the unlabeled photos that are taken for anomalies, and for normal."""
    kinds = {"pseudo_anomalies": ANOMALY, "pseudo_normals": NORMAL}
    return {name: int((targets == kind).sum()) for name, kind in kinds.items()}
