"""Optimisers of many networks at once, which can leave one by one."""

from torch import Tensor

from spadework_research.reproduction.options import Setting


class Optimiser:
    """Adam, RMSprop or SGD with momentum, each with the defaults of Keras.

    A weight decay of 0.01 or more is decoupled from the gradient (AdamW); a smaller
    one is an L2 penalty, as Keras' regularisers are.

    Parameters
    ----------
    values : Tensor of shape (n_networks, n_weights)
        Moved in place.
    """

    def __init__(self, values: Tensor, setting: Setting) -> None:
        self.values = values
        self.kind: str = setting["optimiser"]
        self.rate: float = setting["learning_rate"]
        self.decay: float = setting["weight_decay"]
        self.first, self.second = values.new_zeros(2, *values.shape)
        self.n_steps = 0

    def step(self, gradient: Tensor) -> None:
        """Move the weights down a gradient, which is spent."""
        values, first, second = self.values, self.first, self.second
        self.n_steps += 1
        if 0 < self.decay < 0.01:
            gradient = gradient.add_(values, alpha=self.decay)
        elif self.decay:
            values.mul_(1 - self.rate * self.decay)
        if self.kind == "sgd":
            first.mul_(0.9).add_(gradient)
            values.add_(first, alpha=-self.rate)
            return
        squares = 0.999 if self.kind == "adam" else 0.9
        second.mul_(squares).addcmul_(gradient, gradient, value=1 - squares)
        size, above = self.rate, gradient
        if self.kind == "adam":
            above = first.lerp_(gradient, 0.1)
            size *= (1 - squares**self.n_steps) ** 0.5 / (1 - 0.9**self.n_steps)
        values.addcdiv_(above, second.sqrt().add_(1e-7), value=-size)

    def keep(self, chosen: Tensor, values: Tensor) -> None:
        """Keep the state of some networks, whose weights are given."""
        self.values = values
        self.first, self.second = self.first[chosen], self.second[chosen]
