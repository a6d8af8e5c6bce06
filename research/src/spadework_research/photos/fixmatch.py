"""FixMatch (Sohn et al. 2020): sure guesses on weak views teach strong views."""

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from spadework.arrays import Labels, Pixels, Positions
from spadework.core.losses import labeled_loss, pseudo_loss
from spadework.errors import LabelError
from spadework.images.contract import PixelLearnt
from spadework.images.network import PixelNetwork, PredictorModel, network_weights
from spadework.images.training import ImageTraining, TrainingRun, deal
from spadework.labels import UNLABELED
from spadework_research.photos.augment import strong_augment, weak_augment

UNLABELED_RATIO = 7
"""mu: unlabeled photos in a step for each labeled one."""

CONFIDENCE = 0.95
"""tau: probability from which a guess counts."""

EMA_DECAY = 0.999
"""Of the averaged weights that score; less in the first steps."""

PUBLISHED = ImageTraining(batch_size=8, weight_decay=5e-4, patience=256, epoch_steps=16)
"""Weight decay and a fixed length as published, on batches that suit few photos."""


@dataclass(frozen=True)
class FixMatchLearner:
    """A ResNet-18 that learns from labels and from its own sure guesses.

    Attributes
    ----------
    options : ImageTraining
        ``batch_size`` counts labeled photos; an epoch is by default one pass over
        the unlabeled ones. The loss rises as guesses get sure, so ``patience`` is
        as long as the training.
    """

    options: ImageTraining = PUBLISHED

    def learn(
        self,
        pixels: Pixels,
        labels: Labels,
        rng: np.random.Generator,
        *,
        verbose: bool,
    ) -> PixelLearnt:
        """Minimise both losses; score by the average of the weights."""
        known = labels != UNLABELED
        if known.all() or not known.any():
            raise LabelError("FixMatch needs labeled and unlabeled photos")
        n_unlabeled = UNLABELED_RATIO * self.options.batch_size
        run = TrainingRun(pixels, self.options, rng)
        average = _AverageWeights(run.network)
        labeled = deal(labels, known, self.options.batch_size, rng)

        def losses(rows: Positions) -> dict[str, Tensor]:
            average.update(run.network)
            return fixmatch_losses(run, next(labeled), rows, labels)

        unlabeled = deal(labels, ~known, n_unlabeled, rng)
        history = list(run.epochs(unlabeled, losses, verbose=verbose))
        average.update(run.network)
        run.network.load_state_dict(average.state)
        model = PredictorModel(network_weights(run.network))
        return PixelLearnt(model, model.score(pixels), history)


def fixmatch_losses(
    run: TrainingRun, labeled: Positions, unlabeled: Positions, labels: Labels
) -> dict[str, Tensor]:
    """Loss on weak views of labeled photos plus that on strong views of unlabeled ones.

    Parameters
    ----------
    labeled, unlabeled : ndarrays of shape (n_labeled,) and (n_unlabeled,)
        Positions of the step's photos.
    labels : ndarray of shape (n_samples,)
    """
    rows = np.concatenate([labeled, unlabeled])
    weak = weak_augment(run.photos.take(rows), run.generator)
    strong = strong_augment(run.photos.take(unlabeled), run.generator)
    logits = run.network.predict(run.encode(torch.cat([weak, strong])))
    on_labeled, on_weak, on_strong = logits.split(
        [len(labeled), len(unlabeled), len(unlabeled)]
    )
    label = torch.from_numpy(labels[labeled]).to(run.device, torch.float32)
    terms = {
        "labeled": labeled_loss(on_labeled, label),
        "pseudo": pseudo_loss(on_strong, sure_guesses(on_weak.detach())),
    }
    return {"loss": terms["labeled"] + terms["pseudo"], **terms}  # lambda = 1


def sure_guesses(logits: Tensor) -> Tensor:
    """Classes of logits that are sure enough, and -1 for the others, (n_rows,).

    Examples
    --------
    >>> sure_guesses(torch.tensor([-4.0, 0.0, 4.0]))
    tensor([ 0., -1.,  1.])
    """
    sure = logits.abs() >= math.log(CONFIDENCE / (1 - CONFIDENCE))
    return torch.where(sure, (logits > 0).to(logits.dtype), -1.0)


class _AverageWeights:
    """Exponential moving average of a network's weights and statistics."""

    def __init__(self, network: PixelNetwork) -> None:
        self.state = {name: t.clone() for name, t in network.state_dict().items()}
        self._n_updates = 0

    @torch.no_grad()
    def update(self, network: PixelNetwork) -> None:
        """Move towards the network, faster while there is little to average."""
        decay = min(EMA_DECAY, (1 + self._n_updates) / (10 + self._n_updates))
        self._n_updates += 1
        for name, tensor in network.state_dict().items():
            if tensor.is_floating_point():
                self.state[name].lerp_(tensor, 1 - decay)
            else:
                self.state[name].copy_(tensor)
