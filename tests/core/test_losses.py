"""The terms of eq. 5 against their formulas in numpy."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from properties import examples
from spadework.core.losses import labeled_loss, pseudo_loss, reconstruction_loss

logits = st.floats(-15, 15)


def pairs_with(values):
    """Lists of logits and labels drawn from some values."""
    return st.lists(st.tuples(logits, st.sampled_from(values)), min_size=1, max_size=20)


def tensors(pairs):
    """Logits and labels as two float64 tensors."""
    return torch.tensor(pairs, dtype=torch.float64).reshape(-1, 2).unbind(1)


def cross_entropy(logit, label):
    """-log of the probability that a sigmoid gives to the label."""
    probability = 1 / (1 + np.exp(-logit))
    return -np.log(probability if label == 1 else 1 - probability)


@given(pairs=pairs_with([0, 1]))
@examples(100)
def test_the_labeled_loss_is_the_mean_cross_entropy(pairs):
    expected = np.mean([cross_entropy(*pair) for pair in pairs])
    assert labeled_loss(*tensors(pairs)).item() == pytest.approx(expected, rel=1e-6)


@given(pairs=pairs_with([0, 1, -1]))
@examples(100)
def test_the_pseudo_loss_sums_known_rows_and_divides_by_all(pairs):
    total = sum(cross_entropy(*pair) for pair in pairs if pair[1] != -1)
    expected = total / len(pairs)
    assert pseudo_loss(*tensors(pairs)).item() == pytest.approx(expected, rel=1e-6)


@given(pairs=pairs_with([0, 1, -1]), changed=logits)
@examples(50)
def test_rows_without_a_pseudo_label_get_no_gradient(pairs, changed):
    logit, label = tensors([*pairs, (changed, -1)])
    logit = logit.clone().requires_grad_()
    pseudo_loss(logit, label).backward()
    assert (logit.grad[label == -1] == 0).all()
    assert (logit.grad[label != -1] != 0).all()


def test_an_extreme_logit_without_a_pseudo_label_weighs_nothing():
    loss = pseudo_loss(torch.tensor([1e30, 0.0]), torch.tensor([-1.0, 1.0]))
    assert loss.item() == pytest.approx(np.log(2) / 2)


@pytest.mark.parametrize("loss", [labeled_loss, pseudo_loss])
def test_the_loss_of_no_rows_is_zero_and_can_be_differentiated(loss):
    logit = torch.empty(0, requires_grad=True)
    value = loss(logit, torch.empty(0))
    value.backward()
    assert value.item() == 0.0


@given(
    rows=st.lists(st.lists(logits, min_size=3, max_size=3), min_size=2, max_size=6),
)
@examples(50)
def test_the_reconstruction_loss_is_the_mean_squared_error(rows):
    x = np.array(rows)
    back = x[::-1].copy()
    loss = reconstruction_loss(torch.from_numpy(x), torch.from_numpy(back))
    assert loss.item() == pytest.approx(np.mean((x - back) ** 2), rel=1e-9)
