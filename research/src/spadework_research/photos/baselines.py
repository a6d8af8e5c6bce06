"""The paper's image baselines on the same network: supervised and one-class."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from spadework.arrays import Floats, Labels, Pixels, Positions
from spadework.core.gaussian import GaussianEnsemble
from spadework.core.losses import labeled_loss
from spadework.errors import LabelError
from spadework.images.contract import PixelLearnt
from spadework.images.cutpaste import three_way
from spadework.images.density import fit_code_gaussians
from spadework.images.network import PredictorModel, Weights, encode, network_weights
from spadework.images.training import CUTPASTE_TRAINING, ImageTraining, TrainingRun, deal
from spadework.labels import ANOMALY, UNLABELED
from spadework_research.baselines.baseline import Unlabeled, check_unlabeled, classes_of
from spadework_research.baselines.srr import refine


@dataclass(frozen=True)
class DensityModel:
    """A trained encoder; the score is the negative log-likelihood of the code.

    Attributes
    ----------
    weights : dict of ndarray
    density : GaussianEnsemble
        One Gaussian of the codes.
    """

    weights: Weights
    density: GaussianEnsemble

    def score(self, pixels: Pixels) -> Floats:
        """Negative log-likelihood of each photo's code, (n_samples,)."""
        return self.density.score(self.represent(pixels))[:, 0]

    def represent(self, pixels: Pixels) -> NDArray[np.float32]:
        """Codes h(x), (n_samples, 512)."""
        return encode(self.weights, pixels)[1].cpu().numpy()


@dataclass(frozen=True)
class SupervisedLearner:
    """A ResNet-18 on labels alone, or with unlabeled photos taken for normal.

    Attributes
    ----------
    unlabeled : "ignore" or "normal"
        "normal" makes it the paper's negative supervised baseline.
    options : ImageTraining
    """

    unlabeled: Unlabeled = "ignore"
    options: ImageTraining = CUTPASTE_TRAINING

    def learn(
        self,
        pixels: Pixels,
        labels: Labels,
        rng: np.random.Generator,
        *,
        verbose: bool,
    ) -> PixelLearnt:
        """Minimise the cross-entropy on the photos whose class is known or taken."""
        check_unlabeled(self.unlabeled)
        classes = classes_of(labels, self.unlabeled)
        known = classes != UNLABELED
        if len(np.unique(classes[known])) < 2:
            raise LabelError("a classifier needs photos of both classes")
        run = TrainingRun(pixels, self.options, rng)

        def losses(rows: Positions) -> dict[str, Tensor]:
            logits = run.network.predict(run.encode(run.augmented(rows)))
            label = torch.from_numpy(classes[rows]).to(run.device, torch.float32)
            return {"loss": labeled_loss(logits, label)}

        batches = deal(classes, known, self.options.batch_size, rng)
        history = list(run.epochs(batches, losses, verbose=verbose))
        model = PredictorModel(network_weights(run.network))
        return PixelLearnt(model, model.score(pixels), history)


@dataclass(frozen=True)
class OneClassLearner:
    """CutPaste on all but labeled anomalies, then one Gaussian of the codes.

    Attributes
    ----------
    refined : bool
        Leave out, after each epoch, photos that any of five Gaussians on disjoint
        parts finds anomalous (SRR): the paper's unsupervised OCC. Without, it is
        the paper's negative OCC.
    options : ImageTraining
    """

    refined: bool = False
    options: ImageTraining = CUTPASTE_TRAINING

    def learn(
        self,
        pixels: Pixels,
        labels: Labels,
        rng: np.random.Generator,
        *,
        verbose: bool,
    ) -> PixelLearnt:
        """Tell pasted photos from others; then fit the density of the others' codes."""
        taken = np.flatnonzero(labels != ANOMALY)
        if len(taken) < 2:
            raise LabelError(
                "a one-class classifier needs 2 photos that are not labeled 1"
            )
        keep = labels != ANOMALY
        run = TrainingRun(pixels, self.options, rng)

        def losses(rows: Positions) -> dict[str, Tensor]:
            views = three_way(run.augmented(rows), run.generator)
            kinds = run.network.tell_kinds(run.encode(views.images))
            return {"loss": functional.cross_entropy(kinds, views.kinds)}

        history: list[dict[str, float]] = []
        batches = deal(labels, keep, self.options.batch_size, rng)
        for means in run.epochs(batches, losses, verbose=verbose):
            if self.refined:
                keep[taken] = refine(run.codes()[taken], rng, fit_code_gaussians)
            history.append({**means, "kept": float(keep.sum())})
        codes = run.codes()[keep]
        density = fit_code_gaussians(codes, np.zeros(len(codes), dtype=np.intp))
        model = DensityModel(network_weights(run.network), density)
        return PixelLearnt(model, model.score(pixels), history)
