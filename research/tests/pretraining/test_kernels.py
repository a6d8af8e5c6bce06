"""Kernels compute what torch does; on a machine without a GPU, in Triton's interpreter.

Run there as ``TRITON_INTERPRET=1 pytest research/tests/pretraining/test_kernels.py``.
"""

import copy
from dataclasses import replace

import pytest
import torch
from torch import nn
from torch.nn import functional

pytest.importorskip("triton", reason="kernels are written in Triton")

from spadework.in_context.modules import InContextModel
from spadework_research.made_tables.draw import Draw
from spadework_research.made_tables.tables import Prior, draw_tables
from spadework_research.pretraining.kernels import (
    hasten,
    narrow_layer_norm,
    short_attention,
)
from spadework_research.pretraining.objective import losses_of
from tiny_context import CONFIG

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def numbers(*shape):
    return torch.randn(*shape, device=DEVICE, requires_grad=True)


def check_equal(one, other, inputs):
    """The same values, and the same gradients for random ones of the result."""
    torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-3)
    towards = torch.randn_like(other)
    gradients = (torch.autograd.grad(x, inputs, towards) for x in (one, other))
    for kernel, naive in zip(*gradients, strict=True):
        torch.testing.assert_close(kernel, naive, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize(("n_queries", "n_keys"), [(3, 3), (4, 33), (70, 128)])
def test_short_attention_is_attention(n_queries, n_keys):
    torch.manual_seed(0)
    query, key, value = (numbers(5, 2, n, 16) for n in (n_queries, n_keys, n_keys))
    attended = functional.scaled_dot_product_attention(query, key, value)
    check_equal(short_attention(query, key, value), attended, (query, key, value))


def test_short_attention_takes_heads_that_are_split_from_one_tensor():
    torch.manual_seed(0)
    whole = numbers(6, 5, 3 * 32)
    parts = [x.unflatten(-1, (2, 16)).transpose(1, 2) for x in whole.chunk(3, dim=-1)]
    attended = functional.scaled_dot_product_attention(*parts)
    check_equal(short_attention(*parts), attended, (whole,))


@pytest.mark.parametrize("shape", [(3, 7, 16), (999, 64), (2, 300, 256)])
def test_the_narrow_norm_is_the_layer_norm(shape):
    torch.manual_seed(0)
    x, weight, bias = numbers(*shape), numbers(shape[-1]), numbers(shape[-1])
    normed = functional.layer_norm(x, shape[-1:], weight, bias)
    check_equal(narrow_layer_norm(x, weight, bias), normed, (x, weight, bias))


def test_a_hastened_model_has_the_same_parameters_losses_and_gradients():
    torch.manual_seed(0)
    config = replace(CONFIG, cell_width=32)  # heads as wide as a kernel needs
    model = InContextModel(config).to(DEVICE)
    for name, parameter in model.named_parameters():
        if name.endswith("to_output.weight"):
            nn.init.normal_(parameter, std=0.1)
    hastened = copy.deepcopy(model)
    hasten(hastened)
    tables = draw_tables(
        Draw(0, DEVICE), Prior(), n_tables=2, n_rows=60, n_columns=5, n_context=40
    )
    identity = Draw(1, DEVICE).normal(2, 5, config.n_identity)
    losses = []
    for one in (model, hastened):
        losses.append(losses_of(one, tables, identity).total)
        losses[-1].mean().backward()
    torch.testing.assert_close(losses[1], losses[0], atol=1e-4, rtol=1e-3)
    ours = dict(hastened.named_parameters())
    assert list(ours) == [name for name, _ in model.named_parameters()]
    for name, parameter in model.named_parameters():
        torch.testing.assert_close(
            ours[name].grad, parameter.grad, atol=1e-4, rtol=1e-2, msg=name
        )
