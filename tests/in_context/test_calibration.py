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
