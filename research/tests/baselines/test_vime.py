"""VIME's corruption swaps a known share of entries within their columns."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from spadework_research.baselines.vime import MASK_RATE, corrupt

seeds = st.integers(0, 2**31 - 1)


def distinct_entries(n_rows, n_columns):
    """Rows in which no two entries are equal."""
    return torch.arange(float(n_rows * n_columns)).reshape(n_rows, n_columns)


@given(seed=seeds)
@examples(20)
def test_about_the_mask_rate_of_the_entries_is_changed(seed):
    X = distinct_entries(500, 10)
    corrupted, mask = corrupt(X, X, np.random.default_rng(seed))
    share = (corrupted != X).double().mean().item()
    assert abs(share - MASK_RATE) < 0.05
    assert mask.mean().item() == torch.tensor(share).float().item()


@given(seed=seeds)
@examples(20)
def test_the_mask_says_exactly_what_has_changed(seed):
    X = distinct_entries(40, 3) % 7
    rows, before = X[:15], X.clone()
    corrupted, mask = corrupt(rows, X, np.random.default_rng(seed))
    assert torch.equal(mask, (corrupted != rows).float())
    assert torch.equal(X, before)


@given(seed=seeds)
@examples(20)
def test_every_column_keeps_its_set_of_values(seed):
    X = distinct_entries(40, 3)
    corrupted, _ = corrupt(X[:15], X, np.random.default_rng(seed))
    for values, column in zip(corrupted.T, X.T, strict=True):
        assert set(values.tolist()) <= set(column.tolist())
