"""Shares of anomalies are told in bins of equal ratio."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from spadework.in_context.calibration import (
    LARGEST_SHARE,
    LEAST_SHARE,
    bin_shares,
    likely_shares,
    median_share,
    share_bin,
)


@given(st.floats(LEAST_SHARE, LARGEST_SHARE), st.integers(4, 64))
@examples(50)
def test_the_middle_of_a_bin_is_within_half_its_width_of_every_share_in_it(share, n_bins):
    middle = bin_shares(n_bins)[int(share_bin(torch.tensor(share), n_bins))]
    ratio = (LARGEST_SHARE / LEAST_SHARE) ** (1 / n_bins)
    assert ratio**-0.51 < float(middle) / share < ratio**0.51


@pytest.mark.parametrize(("share", "place"), [(0.0, 0), (1e-5, 0), (0.5, 7), (1.0, 7)])
def test_shares_beyond_the_bins_fall_into_the_outermost(share, place):
    assert int(share_bin(torch.tensor(share), 8)) == place


def test_the_median_share_is_that_of_the_mean_belief():
    sure_of_first, sure_of_last = torch.eye(8)[0], torch.eye(8)[7]
    shares = bin_shares(8)
    assert median_share([sure_of_first]) == pytest.approx(float(shares[0]))
    assert median_share([sure_of_first, *[sure_of_last] * 2]) == pytest.approx(
        float(shares[7])
    )


@given(st.integers(2, 64), st.floats(0.5, 0.99), st.integers(0, 2**32 - 1))
@examples(50)
def test_likely_shares_leave_no_more_than_half_of_the_rest_on_either_side(
    n_bins, level, seed
):
    generator = torch.Generator().manual_seed(seed)
    drawn = torch.rand(2, n_bins, generator=generator, dtype=torch.float64)
    members = list(drawn / drawn.sum(dim=1, keepdim=True))
    low, high = likely_shares(members, level)
    mean, shares = torch.stack(members).mean(dim=0), bin_shares(n_bins)
    for outside in (shares < low, shares > high):
        assert float(mean[outside].sum()) <= (1 - level) / 2 + 1e-9
    assert low <= median_share(members) <= high
