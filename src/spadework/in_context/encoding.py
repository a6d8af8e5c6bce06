"""Columns as the in-context model reads them: scaled and ranked against the context.

Every number of a column is told three ways: linearly around the median of the
context (logarithmically far from it), by its rank among the rows of the context, and
by how many of these share its value. Nothing but the context decides how, so that a
row's cells never depend on the rows that are scored with it.
"""

import math
from typing import NamedTuple, Self

import torch
from torch import Tensor

N_FREQUENCIES = 6
"""Sines and cosines of the rank, of doubling frequency: they let thresholds be sharp."""

N_CELL_FEATURES = 3 + 2 * N_FREQUENCIES

_BOUNDS = -1e18, 1e18  # of numbers whose squares float32 can hold
_LARGEST_SCORE = 4.0  # of a rank, in standard deviations: about one row in 30,000


class ColumnScale(NamedTuple):
    """What the context says of its columns; tables come as a leading axis.

    Attributes
    ----------
    median, spread : Tensor of shape (n_tables, 1, n_columns)
    sorted_columns : Tensor of shape (n_tables, n_columns, n_context)
    """

    median: Tensor
    spread: Tensor
    sorted_columns: Tensor

    @classmethod
    def of(cls, context: Tensor) -> Self:
        """Read the columns of context rows, (n_tables, n_context, n_columns)."""
        n_context = context.shape[1]
        ordered = context.mT.contiguous().sort(dim=2).values
        low, median, high = (
            ordered[:, :, int(share * (n_context - 1))][:, None, :].clamp(*_BOUNDS)
            for share in (0.25, 0.5, 0.75)
        )
        quartiles = (high - low) / 1.349  # a standard deviation, where columns are normal
        deviation = context.clamp(*_BOUNDS).std(dim=1, keepdim=True, correction=0)
        # Half of a column or more may be one value: its quartiles then say nothing.
        spread = torch.where(quartiles > 1e-6 * deviation, quartiles, deviation)
        return cls(median, torch.where(spread > 0, spread, 1.0), ordered)

    def cells(self, rows: Tensor) -> Tensor:
        """Encode rows (n_tables, n_rows, n_columns) as (..., N_CELL_FEATURES)."""
        n_context = self.sorted_columns.shape[2]
        columns = rows.mT.contiguous()
        below = torch.searchsorted(self.sorted_columns, columns).mT
        upto = torch.searchsorted(self.sorted_columns, columns, right=True).mT
        rank = (below + upto + 1) / (2 * n_context + 2)
        ties = (upto - below) / n_context
        scaled = torch.asinh((rows.clamp(*_BOUNDS) - self.median) / self.spread)
        normal = math.sqrt(2) * torch.erfinv(2 * rank - 1)
        normal = normal.clamp(-_LARGEST_SCORE, _LARGEST_SCORE)
        octaves = torch.arange(N_FREQUENCIES, device=rows.device)
        angles = math.pi * rank[..., None] * 2.0**octaves
        told = torch.stack([scaled.clamp(-20, 20), normal, ties], dim=-1)
        return torch.cat([told, angles.sin(), angles.cos()], dim=-1)


def canonical_order(context: Tensor) -> Tensor:
    """Order columns by what they hold, (n_columns,), for rows (n_context, n_columns).

    Columns get vectors that tell them apart. Given in this order, these do not
    depend on the order of the table's columns.
    """
    scale = ColumnScale.of(context[None])
    scaled = torch.asinh(
        (context.clamp(*_BOUNDS) - scale.median[0]) / scale.spread[0]
    ).double()
    by_square = scaled.square().mean(dim=0).argsort(stable=True)
    return by_square[scaled.mean(dim=0)[by_square].argsort(stable=True)]
