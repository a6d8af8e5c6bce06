"""DANN turns the gradient of its domain head round."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from spadework_research.baselines.dann import _Reversed


@given(strength=st.floats(0, 10))
def test_gradients_come_back_with_the_other_sign_scaled_by_the_strength(strength):
    x = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
    factor = torch.tensor([2.0, 3.0, -5.0])
    y = _Reversed.apply(x, strength)
    (y * factor).sum().backward()
    assert torch.equal(y, x)
    torch.testing.assert_close(x.grad, -strength * factor)
