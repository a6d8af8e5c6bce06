"""Optimisers whose state is a list of tensors, so that networks can leave one by one."""

from typing import Any

import torch
from torch import Tensor

from spadework_research.reproduction.options import Setting

_torch: Any = torch  # its operations on lists of tensors are not declared public


class Optimiser:
    """Adam, RMSprop or SGD with momentum, each with the defaults of Keras.

    A weight decay of 0.01 or more is decoupled from the gradient (AdamW); a smaller
    one is an L2 penalty, as Keras' regularisers are.
    """

    def __init__(self, parameters: list[Tensor], setting: Setting) -> None:
        self.parameters = parameters
        self.kind: str = setting["optimiser"]
        self.rate: float = setting["learning_rate"]
        self.decay: float = setting["weight_decay"]
        self.first = [torch.zeros_like(each) for each in parameters]
        self.second = [torch.zeros_like(each) for each in parameters]
        self.n_steps = 0

    @torch.no_grad()
    def step(self, loss: Tensor, parameters: list[Tensor]) -> None:
        """Move the parameters down the gradient of a loss; some may not be in it."""
        with torch.enable_grad():
            found = torch.autograd.grad(loss, parameters, allow_unused=True)
        there = {i: each for i, each in enumerate(found) if each is not None}
        gradients = list(there.values())
        moved = [parameters[i] for i in there]
        first = [self.first[i] for i in there]
        second = [self.second[i] for i in there]
        self.n_steps += 1
        if 0 < self.decay < 0.01:
            gradients = _torch._foreach_add(gradients, moved, alpha=self.decay)
        elif self.decay:
            _torch._foreach_mul_(moved, 1 - self.rate * self.decay)
        if self.kind == "sgd":
            _torch._foreach_mul_(first, 0.9)
            _torch._foreach_add_(first, gradients)
            _torch._foreach_add_(moved, first, alpha=-self.rate)
            return
        squares = 0.999 if self.kind == "adam" else 0.9
        _torch._foreach_mul_(second, squares)
        _torch._foreach_addcmul_(second, gradients, gradients, 1 - squares)
        if self.kind == "adam":
            _torch._foreach_lerp_(first, gradients, 0.1)
            size = (
                self.rate * (1 - squares**self.n_steps) ** 0.5 / (1 - 0.9**self.n_steps)
            )
            above = first
        else:
            size, above = self.rate, gradients
        below = _torch._foreach_sqrt(second)
        _torch._foreach_add_(below, 1e-7)
        _torch._foreach_addcdiv_(moved, above, below, -size)

    def keep(self, chosen: Tensor) -> None:
        """Keep the state of some networks."""
        self.first = [each[chosen] for each in self.first]
        self.second = [each[chosen] for each in self.second]
