"""The share of anomalies among unlabeled rows, as the in-context model predicts it."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

LEAST_SHARE, LARGEST_SHARE = 0.001, 0.5


def share_bin(share: Tensor, n_bins: int) -> Tensor:
    """Bins, of equal ratio, in which shares of anomalies fall; same shape."""
    place = (share.clamp(1e-9) / LEAST_SHARE).log() / _log_range()
    return (place * n_bins).long().clamp(0, n_bins - 1)


def bin_shares(n_bins: int) -> Tensor:
    """Shares at the middle of each bin, (n_bins,)."""
    middles = (torch.arange(n_bins, dtype=torch.float64) + 0.5) / n_bins
    return LEAST_SHARE * (middles * _log_range()).exp()


def median_share(likely: Sequence[Tensor]) -> float:
    """Median of the mean of distributions over bins, (n_bins,) each."""
    mean = torch.stack(list(likely)).mean(dim=0)
    middle = int(torch.searchsorted(mean.cumsum(0), 0.5).clamp(max=len(mean) - 1))
    return float(bin_shares(len(mean))[middle])


def likely_shares(likely: Sequence[Tensor], level: float) -> tuple[float, float]:
    """Return the ends of the middle part of a mean of distributions over bins, (n_bins,).

    So much of the mean lies in that part.
    """
    mean = torch.stack(list(likely)).mean(dim=0)
    tail = (1 - level) / 2
    ends = torch.tensor([tail, 1 - tail], dtype=mean.dtype)
    places = torch.searchsorted(mean.cumsum(0), ends).clamp(max=len(mean) - 1)
    low, high = bin_shares(len(mean))[places].tolist()
    return low, high


def _log_range() -> float:
    return math.log(LARGEST_SHARE / LEAST_SHARE)
