"""The model with each of some contexts, read once and then asked for any rows."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from spadework.arrays import Floats, Labels, Positions, Rows
from spadework.core.copies import CopiedByFields
from spadework.in_context.calibration import likely_shares, median_share
from spadework.in_context.contexts import MAX_UNLABELED, Context, draw_contexts
from spadework.in_context.encoding import ColumnScale, canonical_order
from spadework.in_context.modules import InContextModel, Reading
from spadework.in_context.weights import Weights, published
from spadework.labels import UNLABELED

_UNLABELED_STATE = 2
_ORDER_ROWS = 4000
_CELLS_AT_ONCE = {"cpu": 60_000, "cuda": 2_000_000}
"""Cells that are scored together: what caches hold, or what keeps a GPU busy."""


@dataclass(frozen=True)
class ContextRows:
    """Rows that the model reads, (n_context, n_columns), with their labels.

    Columns, by their places in the table, are in the order in which they get their
    identities, vectors that are drawn with the seed.
    """

    X: Rows
    labels: Labels
    columns: Positions
    seed: int

    @classmethod
    def of(cls, X: Rows, labels: Labels, context: Context, seed: int) -> "ContextRows":
        """Copy out of a table (n_samples, n_features) what a context holds."""
        rows = X[np.ix_(context.rows, context.columns)]
        return cls(rows, labels[context.rows], context.columns, seed)


@dataclass(frozen=True)
class Member:
    """The model with one context read, to compute with on "cpu" or "cuda"."""

    model: InContextModel
    context: ContextRows
    device: str

    @cached_property
    def _scale(self) -> ColumnScale:
        return ColumnScale.of(self._table(self.context.X))

    @cached_property
    def reading(self) -> Reading:
        """What the model makes of the context."""
        labels = torch.from_numpy(self.context.labels.astype(np.int64))
        states = torch.where(labels == UNLABELED, _UNLABELED_STATE, labels)
        generator = torch.Generator().manual_seed(self.context.seed)
        shape = (1, len(self.context.columns), self.model.config.n_identity)
        identity = torch.randn(shape, generator=generator).to(self.device)
        with torch.inference_mode():
            cells = self._scale.cells(self._table(self.context.X))
            return self.model.read(cells, states[None].to(self.device), identity)

    def log_odds(self, X: Rows) -> Floats:
        """Log-odds of being an anomaly, (n_rows,), for rows (n_rows, n_features)."""
        at_once = _CELLS_AT_ONCE[self.device] // len(self.context.columns)
        reading = self.reading
        with torch.inference_mode():
            logits = [
                self.model.score(self._scale.cells(rows), reading.state)[0]
                for rows in self._table(X[:, self.context.columns]).split(at_once, dim=1)
            ]
        odds = reading.slope[0] * torch.cat(logits) + reading.offset[0]
        return odds.double().cpu().numpy()

    @property
    def share_probabilities(self) -> Tensor:
        """How likely each share of anomalies among unlabeled rows is, (n_share_bins,)."""
        return self.reading.share_logits[0].double().softmax(dim=0).cpu()

    def _table(self, X: Rows) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(X, np.float32))[None].to(self.device)


@dataclass(frozen=True)
class InContextEnsemble(CopiedByFields):
    """A model and the contexts of its members: all that scoring needs.

    What computes is the CPU or, for "auto", a GPU where there is one.
    """

    weights: Weights
    contexts: list[ContextRows]
    device: str

    @classmethod
    def draw(
        cls,
        X: Rows,
        labels: Labels,
        n_members: int,
        rng: np.random.Generator,
        *,
        weights: Weights | None = None,
        device: str = "auto",
        max_unlabeled: int = MAX_UNLABELED,
        folds: Positions | None = None,
    ) -> "InContextEnsemble":
        """Draw a context for each member, as `draw_contexts` does."""
        some = rng.permutation(len(X))[:_ORDER_ROWS]
        order = canonical_order(torch.from_numpy(X[some])).numpy()
        contexts = draw_contexts(
            labels, order, n_members, rng, max_unlabeled=max_unlabeled, folds=folds
        )
        seeds = rng.integers(2**31, size=n_members)
        rows = [
            ContextRows.of(X, labels, context, int(seed))
            for context, seed in zip(contexts, seeds, strict=True)
        ]
        return cls(weights or published(), rows, device)

    @cached_property
    def members(self) -> list[Member]:
        """The model with each context."""
        on_gpu = self.device == "auto" and torch.cuda.is_available()
        device = "cuda" if on_gpu else "cpu"
        model = self.weights.model().to(device)
        return [Member(model, context, device) for context in self.contexts]

    @property
    def share(self) -> float:
        """Predicted share of anomalies among unlabeled rows: the median of members."""
        return median_share([member.share_probabilities for member in self.members])

    def likely_shares(self, level: float) -> tuple[float, float]:
        """Return the ends of what members think is the share, so likely together."""
        return likely_shares([m.share_probabilities for m in self.members], level)

    def log_odds(self, X: Rows) -> Floats:
        """Mean log-odds of rows (n_rows, n_features) over members, (n_rows,)."""
        return np.mean([member.log_odds(X) for member in self.members], axis=0)
