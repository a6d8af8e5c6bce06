"""Draws repeat by their seed, and helpers do what naive code does."""

import numpy as np
import torch
from scipy.stats import rankdata

from spadework_research.made_tables.draw import Draw, mid_ranks, standardize, take


def test_the_same_seed_draws_the_same():
    for name, arguments in (("uniform", ()), ("normal", ()), ("chance", (0.3,))):
        one, two, other = (
            getattr(Draw(seed, "cpu"), name)(*arguments, 50) for seed in (1, 1, 2)
        )
        assert torch.equal(one, two)
        assert not torch.equal(one, other)


def test_whole_numbers_reach_both_ends():
    drawn = Draw(0, "cpu").integers(2, 4, 1000)
    assert drawn.unique().tolist() == [2, 3, 4]


def test_log_uniform_numbers_are_as_often_below_as_above_the_geometric_mean():
    drawn = Draw(0, "cpu").log_uniform(20_000, low=0.01, high=1.0)
    assert 0.01 <= drawn.min() <= drawn.max() <= 1.0
    assert abs((drawn < 0.1).float().mean() - 0.5) < 0.02


def test_subsets_have_the_sizes_that_were_asked():
    sizes = torch.tensor([0, 1, 5, 7])
    subsets = Draw(0, "cpu").subset(sizes, 7)
    assert subsets.sum(dim=-1).tolist() == sizes.tolist()


def test_shares_sum_to_one_over_their_places():
    mask = torch.tensor([[True, True, False], [False, True, False]])
    shares = Draw(0, "cpu").shares(mask)
    torch.testing.assert_close(shares.sum(dim=1), torch.ones(2))
    assert (shares[~mask] == 0).all()
    assert (shares[mask] > 0).all()


def test_entries_are_taken_by_position():
    table = torch.arange(24).reshape(2, 4, 3)
    taken = take(table, torch.tensor([[3, 3], [0, 2]]))
    assert torch.equal(taken[0], table[0][[3, 3]])
    assert torch.equal(taken[1], table[1][[0, 2]])


def test_standardized_columns_have_mean_zero_and_deviation_one_unless_constant():
    x = torch.cat([Draw(0, "cpu").normal(2, 50, 3) * 7 + 3, torch.ones(2, 50, 1)], dim=2)
    y = standardize(x)
    torch.testing.assert_close(y.mean(dim=1), torch.zeros(2, 4), rtol=0, atol=1e-5)
    torch.testing.assert_close(
        y.std(dim=1, correction=0), torch.tensor([[1.0, 1.0, 1.0, 0.0]] * 2)
    )


def test_mid_ranks_are_those_of_scipy():
    x = Draw(0, "cpu").integers(0, 5, 2, 40, 3).float()
    ranks = mid_ranks(x)
    for table in range(2):
        expected = (rankdata(x[table].numpy(), axis=0) - 0.5) / 40
        np.testing.assert_allclose(ranks[table].numpy(), expected, rtol=1e-5)
