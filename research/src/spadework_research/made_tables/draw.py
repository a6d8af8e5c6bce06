"""Random numbers for made tables, on the device of the tables.

Nothing here waits for that device: a GPU draws one batch while the next is asked for.
"""

import math
import random
from collections.abc import Sequence
from functools import cache

import torch
from torch import Tensor


class Draw:
    """Draws tensors of given shapes from one seeded generator.

    Attributes
    ----------
    numbers : Random
        For single numbers that the program itself needs, such as shapes.
    """

    def __init__(self, seed: int, device: str | torch.device = "cpu") -> None:
        self.device = torch.device(device)
        self.generator = torch.Generator(self.device).manual_seed(seed)
        self.numbers = random.Random(seed)

    def uniform(self, *shape: int, low: float = 0.0, high: float = 1.0) -> Tensor:
        """Uniform numbers between low and high."""
        drawn = torch.rand(shape, generator=self.generator, device=self.device)
        return low + (high - low) * drawn

    def log_uniform(self, *shape: int, low: float, high: float) -> Tensor:
        """Numbers whose logarithm is uniform."""
        return self.uniform(*shape, low=math.log(low), high=math.log(high)).exp()

    def normal(self, *shape: int) -> Tensor:
        """Draw standard normal numbers."""
        return torch.randn(shape, generator=self.generator, device=self.device)

    def chance(self, probability: float, *shape: int) -> Tensor:
        """Booleans that are true with a probability."""
        return self.uniform(*shape) < probability

    def integers(self, low: int, high: int, *shape: int) -> Tensor:
        """Whole numbers from low to high, both included."""
        return torch.randint(
            low, high + 1, shape, generator=self.generator, device=self.device
        )

    def pick(self, weights: Tensor, times: int) -> Tensor:
        """Positions drawn by weights (n, k), with replacement, as (n, times)."""
        ends = weights.cumsum(dim=1)
        drawn = self.uniform(len(weights), times, high=1 - 1e-6) * ends[:, -1:]
        return torch.searchsorted(ends, drawn, right=True)

    def pick_by(self, weights: Sequence[float], n: int, times: int) -> Tensor:
        """Positions drawn by the same weights (k) in every row, as (n, times)."""
        return self.pick(self.constant(weights).expand(n, -1), times)

    def constant(self, values: Sequence[float]) -> Tensor:
        """Numbers (k), copied to the device once."""
        return _on_device(tuple(values), self.device)

    def subset(self, sizes: Tensor, total: int) -> Tensor:
        """Random subsets of ``total`` things, (..., total), of given sizes (...)."""
        order = self.uniform(*sizes.shape, total).argsort(dim=-1).argsort(dim=-1)
        return order < sizes[..., None]

    def shares(self, mask: Tensor) -> Tensor:
        """Uneven shares (n, k) that sum to one over the true places of a mask (n, k)."""
        uneven = -self.uniform(*mask.shape).clamp(1e-6).log()
        uneven = uneven * mask
        return uneven / uneven.sum(dim=-1, keepdim=True)


@cache
def _on_device(values: tuple[float, ...], device: torch.device) -> Tensor:
    return torch.tensor(values, device=device)


def take(table: Tensor, positions: Tensor) -> Tensor:
    """Entries (n, r, k) of (n, c, k) at positions (n, r)."""
    return table.gather(1, positions[..., None].expand(-1, -1, table.shape[2]))


def standardize(x: Tensor) -> Tensor:
    """Shift and scale along rows, (n_tables, n_rows, ...)."""
    spread = x.std(dim=1, keepdim=True, correction=0)
    return (x - x.mean(dim=1, keepdim=True)) / spread.clamp(1e-6)


def mid_ranks(x: Tensor) -> Tensor:
    """Shares of rows below each, ties in the middle: (n_tables, n_rows, n_columns)."""
    columns = x.mT.contiguous()
    ordered = columns.sort(dim=2).values
    below = torch.searchsorted(ordered, columns)
    upto = torch.searchsorted(ordered, columns, right=True)
    return ((below + upto) / (2 * x.shape[1])).mT
