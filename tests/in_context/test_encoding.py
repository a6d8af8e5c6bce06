"""Cells say where a number lies among those of the context, whatever its unit."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from properties import examples
from spadework.in_context.encoding import N_CELL_FEATURES, ColumnScale, canonical_order


def cells(context, rows):
    return ColumnScale.of(context[None]).cells(rows[None])[0]


def table(n_rows, n_columns, seed=0):
    return torch.from_numpy(
        np.random.default_rng(seed).normal(size=(n_rows, n_columns)).astype(np.float32)
    )


def test_the_first_feature_is_linear_near_the_median_of_the_context():
    context = table(1001, 1)
    median = context.median()
    low, high = (context.quantile(share) for share in (0.25, 0.75))
    spread = (high - low) / (norm.ppf(0.75) - norm.ppf(0.25))
    near = median + 0.01 * spread * torch.arange(-3, 4)[:, None]
    told = cells(context, near)[:, 0, 0]
    expected = (near[:, 0] - median) / spread
    torch.testing.assert_close(told, expected, rtol=0.01, atol=1e-5)


def test_the_second_feature_is_the_normal_score_of_the_rank():
    context = table(999, 1)
    told = cells(context, context)[:, 0, 1]
    rank = context[:, 0].argsort().argsort().double() + 1
    torch.testing.assert_close(
        told.double(), torch.from_numpy(norm.ppf(rank / 1000)), rtol=1e-3, atol=1e-3
    )


def test_the_third_feature_counts_rows_of_the_context_with_the_same_value():
    context = torch.tensor([[1.0], [1.0], [1.0], [2.0]])
    told = cells(context, torch.tensor([[1.0], [2.0], [3.0]]))[:, 0, 2]
    assert told.tolist() == [0.75, 0.25, 0.0]


@given(st.integers(-20, 20), st.integers(-1000, 1000))
@examples(20)
def test_the_unit_and_origin_of_a_column_do_not_matter(power, origin):
    context, rows = ((100 * table(n, 3, seed=n)).round() for n in (200, 20))
    moved = cells(2.0**power * (context + origin), 2.0**power * (rows + origin))
    torch.testing.assert_close(moved, cells(context, rows))


def test_a_row_has_the_same_cells_alone_and_among_others():
    context, rows = table(50, 4), table(30, 4, seed=1)
    together = cells(context, rows)
    assert torch.equal(cells(context, rows[7:8]), together[7:8])


def test_ranks_tell_numbers_apart_that_are_too_large_to_be_squared():
    context, rows = table(50, 3), table(20, 3, seed=1)
    huge = cells(context * 1e30, rows * 1e30)
    assert torch.equal(huge[..., 1:], cells(context, rows)[..., 1:])


@pytest.mark.parametrize("value", [3.4e38, -3.4e38, 0.0, 1e-40])
def test_cells_are_finite_for_every_number_and_every_context(value):
    for context in (torch.full((5, 1), 3.4e38), torch.zeros(5, 1), table(5, 1) * 1e30):
        told = cells(context, torch.tensor([[value]]))
        assert told.shape == (1, 1, N_CELL_FEATURES)
        assert told.isfinite().all()


def test_columns_are_ordered_by_what_they_hold_not_by_where_they_stand():
    context = table(100, 6).exp() * torch.arange(1, 7)
    shuffled = torch.tensor([3, 0, 5, 1, 4, 2])
    order = canonical_order(context)
    again = canonical_order(context[:, shuffled])
    assert torch.equal(context[:, order], context[:, shuffled][:, again])
