"""Training on photos: batches, steps under one cosine cycle, and when to stop."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch
from torch import Tensor
from torch.optim.lr_scheduler import CosineAnnealingLR

from spadework.arrays import Flags, Labels, Pixels, Positions, Singles
from spadework.core.networks import find_device
from spadework.core.training import Patience
from spadework.images.augment import base_augment
from spadework.images.contract import check_pixels
from spadework.images.network import DevicePixels, half_precision, new_network, place
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework.parameters import check_positive_integer
from spadework.progress import progress

Losses = Callable[[Positions], dict[str, Tensor]]
"""Maps the positions of a step's photos to "loss" and the terms it is made of."""

Means = dict[str, float]

MOMENTUM = 0.9


@dataclass(frozen=True)
class ImageTraining:
    """The numbers of the training loop; by default those of CutPaste.

    Attributes
    ----------
    batch_size : int
        Photos in a step, before CutPaste makes three of each.
    learning_rate, weight_decay : float
        Of SGD with a momentum of 0.9; the rate falls along one half cosine.
    max_epochs : int
        Also the length of the cosine.
    patience : int
        Training ends when the loss has not improved for this many epochs.
    epoch_steps : int
        Steps in an epoch; CutPaste's authors call 256 steps one, however many photos.
    device : "auto" or a torch device name
        Where to train; "auto" takes a GPU where there is one, and so does scoring.
    """

    batch_size: int = 32
    learning_rate: float = 0.03
    weight_decay: float = 3e-5
    max_epochs: int = 256
    patience: int = 5
    epoch_steps: int = 256
    device: str = "auto"

    def __post_init__(self) -> None:
        for name in ("batch_size", "max_epochs", "patience", "epoch_steps"):
            check_positive_integer(name, getattr(self, name))


CUTPASTE_TRAINING = ImageTraining()


class TrainingRun:
    """What every image method trains with: a network, photos, and a generator.

    Pixels are uint8 of shape (n_samples, height, width, 3). The generator of numpy seeds
    the network and everything that is drawn on the device.
    """

    def __init__(
        self, pixels: Pixels, options: ImageTraining, rng: np.random.Generator
    ) -> None:
        check_pixels(pixels)
        self._options = options
        self.device = find_device(options.device)
        self.photos = DevicePixels(pixels, self.device)
        self.network = place(new_network(rng), self.device)
        self.generator = torch.Generator(self.device)
        self.generator.manual_seed(int(rng.integers(2**63)))

    def encode(self, images: Tensor) -> Tensor:
        """Codes of a step's photos, (n_images, 512)."""
        with half_precision(self.device):
            return self.network.encode(images)

    def codes(self) -> Singles:
        """Codes of all photos as the network is now, (n_samples, 512)."""
        self.network.eval()
        return self.photos.encode(self.network).cpu().numpy()

    def augmented(self, rows: Positions) -> Tensor:
        """Photos at these positions, translated and jittered, (n_rows, 3, h, w)."""
        return base_augment(self.photos.take(rows), self.generator)

    def epochs(
        self, batches: Iterator[Positions], losses: Losses, *, verbose: bool
    ) -> Iterator[Means]:
        """Train until the loss no longer improves; yield each epoch's mean losses."""
        how, weights = self._options, self.network.parameters()
        n_epochs, n_steps = how.max_epochs, how.epoch_steps
        optimizer = torch.optim.SGD(
            weights, how.learning_rate, MOMENTUM, weight_decay=how.weight_decay
        )
        cosine = CosineAnnealingLR(optimizer, n_epochs * n_steps)
        stop = Patience(how.patience)
        with progress("training", n_epochs, verbose=verbose) as advance:
            for _ in range(n_epochs):
                self.network.train()
                steps = islice(batches, n_steps)
                means = _mean_terms(
                    [_take_step(losses(rows), optimizer, cosine) for rows in steps]
                )
                self.network.eval()
                yield means
                advance(f"loss {means['loss']:.4f}")
                if stop.after(means["loss"]):
                    return


def deal(
    labels: Labels, keep: Flags, batch_size: int, rng: np.random.Generator
) -> Iterator[Positions]:
    """Deal photos into batches, pass after pass, without end.

    Each pass has every photo once and spreads each label evenly over its batches.
    Labeled photos come first in a batch. Which photos to ``keep``, (n_samples,), is
    read anew at the start of each pass.
    """
    while keep.any():
        place = np.full(len(labels), np.inf)
        for label in (ANOMALY, NORMAL, UNLABELED):
            chosen = np.flatnonzero(keep & (labels == label))
            order = rng.permutation(len(chosen))
            place[chosen] = (order + rng.random()) / max(len(chosen), 1)
        n_kept = int(keep.sum())
        rows = np.argsort(place, kind="stable")[:n_kept]
        for batch in np.array_split(rows, -(-n_kept // batch_size)):
            yield batch[np.argsort(-labels[batch], kind="stable")]


def _take_step(
    terms: dict[str, Tensor], optimizer: torch.optim.SGD, cosine: CosineAnnealingLR
) -> dict[str, Tensor]:
    """Step down the gradient of "loss"; return the terms without their graph."""
    optimizer.zero_grad()
    terms["loss"].backward()
    optimizer.step()
    cosine.step()
    return {name: term.detach() for name, term in terms.items()}


def _mean_terms(steps: list[dict[str, Tensor]]) -> Means:
    """Mean of each term over the steps of an epoch; one look at the device."""
    names = list(steps[0])
    table = torch.stack([torch.stack([step[name] for name in names]) for step in steps])
    return dict(zip(names, table.mean(dim=0).tolist(), strict=True))
