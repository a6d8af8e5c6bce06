"""The network learner: Algorithm 1 with encoder, predictor and projection head.

Importing torch takes seconds, so it loads when a network is trained or scored and
not with this module.
"""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator

from spadework.arrays import Floats, Labels, Numbers, Rows, Singles
from spadework.core.pseudo_labels import PseudoLabeler
from spadework.errors import InputError
from spadework.lazy import LazyModule
from spadework.learners.contract import Learnt, Scaler
from spadework.parameters import (
    check_positive,
    check_positive_integer,
    check_weight,
)
from spadework.progress import Advance, progress

if TYPE_CHECKING:
    import torch

    from spadework.core import networks, training
else:
    torch = LazyModule("torch")
    networks = LazyModule("spadework.core.networks")
    training = LazyModule("spadework.core.training")

_STARTS = ("torch", "glorot")

MIN_BATCH, MAX_STEPS = 256, 256
"""Rows in a step at least, and steps in an epoch at most, by default."""

MAX_NETWORKS, ROW_BUDGET = 5, 1 << 18
"""Networks at most, and rows that all of them read in an epoch, by default."""


@dataclass(eq=False, repr=False, kw_only=True)
class NetworkLearner(BaseEstimator):
    """Encoder, predictor and self-supervised head trained together (eq. 5).

    Parameters
    ----------
    n_networks : int, optional
        Networks that are trained from different starts, and whose logits are
        averaged. By default 5, and down to 1 on large tables. The history is that
        of the first.
    alpha : float
        Weight of the loss on pseudo-labels.
    beta : float
        Weight of the self-supervised (reconstruction) loss.
    n_layers : 1 or 2
        Layers of encoder, predictor and head each. With one, encoder and predictor
        together are a two-layer perceptron, and so are encoder and head.
    start : "torch" or "glorot"
        Weights to begin with: small ones for layers that read much, and biases, as torch
        draws them; or larger ones by Glorot's rule, and no biases, as Keras does.
    linear_code : bool
        End the encoder in a linear layer instead of a ReLU, which can kill
        dimensions of the code that the one-class models look at.
    warmup_epochs : int
        Epochs before the first pseudo-labels, in which the code settles.
    batch_size : int, optional
        Unlabeled rows in a step. By default 256, or as many more as let an epoch
        take at most 256 steps.
    learning_rate : float
    max_epochs : int
    patience : int
        Stop when the training loss has not improved for this many epochs.
    device : "auto" or a torch device name
        Where to train; "auto" takes a GPU where there is one, and so does scoring.
    """

    n_networks: int | None = None
    alpha: float = 1.0
    beta: float = 1.0
    n_layers: Literal[1, 2] = 2
    start: Literal["torch", "glorot"] = "torch"
    linear_code: bool = True
    warmup_epochs: int = 5
    batch_size: int | None = None
    learning_rate: float = 1e-3
    max_epochs: int = 30
    patience: int = 5
    device: str = "auto"

    def learn(
        self,
        X: Rows,
        labels: Labels,
        scaler: Scaler,
        labeler: PseudoLabeler,
        rng: np.random.Generator,
        *,
        verbose: bool,
    ) -> Learnt:
        """Scale the rows, and run Algorithm 1 on them."""
        options = self._options(len(X))
        n_steps = self._n_networks(len(X)) * options.max_epochs
        device = networks.find_device(self.device)
        scaled = torch.from_numpy(scaler.transform(X)).to(device)
        with (
            training.one_thread(),
            progress("training", n_steps, verbose=verbose) as advance,
        ):
            return self._train(X, scaled, labels, scaler, labeler, options, rng, advance)

    def _train(
        self,
        X: Rows,
        scaled: "torch.Tensor",
        labels: Labels,
        scaler: Scaler,
        labeler: PseudoLabeler,
        options: "training.TrainingOptions",
        rng: np.random.Generator,
        advance: Advance,
    ) -> Learnt:
        """Run Algorithm 1 from several starts."""
        weights, results = [], []
        for _ in range(self._n_networks(len(X))):
            network = networks.new_network(
                X.shape[1],
                n_layers=self.n_layers,
                linear_code=self.linear_code,
                start=self.start,
                rng=rng,
            ).to(scaled.device)
            results.append(
                training.train_network(
                    network,
                    scaled,
                    labels,
                    labeler,
                    options,
                    rng,
                    lambda epoch: advance(_note(epoch)),
                )
            )
            weights.append(networks.network_weights(network))
        model = NetworkModel(tuple(weights), self.linear_code, scaler)
        first = results[0]
        return Learnt(
            model,
            first.pseudo_labeler,
            first.pseudo_labels,
            model.score(X),
            [epoch._asdict() for epoch in first.history],
        )

    def _n_networks(self, n_rows: int) -> int:
        """Networks that are asked for, or that a fixed budget of rows allows."""
        return self.n_networks or int(np.clip(ROW_BUDGET // n_rows, 1, MAX_NETWORKS))

    def _options(self, n_rows: int) -> "training.TrainingOptions":
        """Check the numbers of the training loop and put them together."""
        for name in ("max_epochs", "patience"):
            check_positive_integer(name, getattr(self, name))
        for name in ("batch_size", "n_networks"):
            if getattr(self, name) is not None:
                check_positive_integer(name, getattr(self, name))
        for name in ("alpha", "beta", "warmup_epochs"):
            check_weight(name, getattr(self, name))
        check_positive("learning_rate", self.learning_rate)
        if self.n_layers not in (1, 2):
            raise InputError(f"n_layers must be 1 or 2; got {self.n_layers!r}")
        if self.start not in _STARTS:
            raise InputError(f"start must be one of {_STARTS}; got {self.start!r}")
        options = training.TrainingOptions
        own: dict[str, Any] = {
            each.name: getattr(self, each.name) for each in fields(options)
        }
        own["batch_size"] = self.batch_size or max(MIN_BATCH, n_rows // MAX_STEPS)
        return options(**own)


@dataclass(frozen=True)
class NetworkModel:
    """Trained `SpadeNetwork`s as plain arrays; scores are means of their logits."""

    weights: tuple[dict[str, Singles], ...]
    linear_code: bool
    scaler: Scaler

    def __post_init__(self) -> None:
        if not self.weights:
            raise InputError("a model needs the weights of at least one network")
        self._networks()

    @property
    def gives_log_odds(self) -> bool:
        """Whether a score of zero means a chance of one half.

        Logits do not: the loss weighs labels and pseudo-labels, not rows.
        """
        return False

    def score(self, X: Numbers) -> Floats:
        """Mean logit q(h(x)) of each row, (n_samples,)."""
        with training.one_thread():
            # In float64 a score does not depend on the rows scored beside it.
            rows = networks.to_tensor(X, self.scaler).double()
            logits = [
                training.predict_logits(network.double(), rows)
                for network in self._networks()
            ]
        return np.mean(logits, axis=0)

    def represent(self, X: Numbers) -> Rows:
        """Latent codes h(x) of the first network."""
        with training.one_thread():
            rows = networks.to_tensor(X, self.scaler)
            return training.encode(self._networks()[0], rows)

    def _networks(self) -> list["networks.SpadeNetwork"]:
        device = networks.find_device("auto")
        return [
            networks.restore_network(weights, linear_code=self.linear_code).to(device)
            for weights in self.weights
        ]


def _note(epoch: "training.Epoch") -> str:
    """One line on how an epoch went."""
    return (
        f"loss {epoch.loss:.4f}, pseudo-labels {epoch.pseudo_anomalies:,} anomalies, "
        f"{epoch.pseudo_normals:,} normals"
    )
