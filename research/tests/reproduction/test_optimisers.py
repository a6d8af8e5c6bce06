"""Many networks are moved as torch's own optimisers move one."""

import pytest
import torch

from spadework_research.reproduction.optimisers import Optimiser
from spadework_research.reproduction.options import complete

RATE = 1e-2
KERAS = {  # the defaults of Keras
    "adam": (torch.optim.Adam, {"eps": 1e-7}),
    "rmsprop": (torch.optim.RMSprop, {"alpha": 0.9, "eps": 1e-7}),
    "sgd": (torch.optim.SGD, {"momentum": 0.9}),
}


def made(values, kind, decay=0.0):
    setting = {"optimiser": kind, "learning_rate": RATE, "weight_decay": decay}
    return Optimiser(values, complete(setting))


def start():
    return torch.linspace(-1, 1, 10, dtype=torch.float64).view(2, 5)


def slope(values):
    return 2 * (values - 0.3) + values.cos()


def moved(optimiser, n_steps=20):
    for _ in range(n_steps):
        optimiser.step(slope(optimiser.values))
    return optimiser.values


def moved_by_torch(theirs, n_steps=20):
    (values,) = theirs.param_groups[0]["params"]
    for _ in range(n_steps):
        values.grad = slope(values.detach())
        theirs.step()
    return values.detach()


@pytest.mark.parametrize("kind", KERAS)
@pytest.mark.parametrize("decay", [0.0, 1e-3])
def test_steps_and_penalties_are_those_of_torch(kind, decay):
    make, defaults = KERAS[kind]
    theirs = make([start().requires_grad_()], lr=RATE, weight_decay=decay, **defaults)
    found = moved(made(start(), kind, decay))
    torch.testing.assert_close(found, moved_by_torch(theirs), rtol=1e-5, atol=1e-6)


def test_a_large_weight_decay_is_decoupled_from_the_gradient():
    theirs = torch.optim.AdamW(
        [start().requires_grad_()], RATE, eps=1e-7, weight_decay=0.1
    )
    found = moved(made(start(), "adam", 0.1))
    torch.testing.assert_close(found, moved_by_torch(theirs), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", KERAS)
def test_networks_that_stay_move_on_as_if_none_had_left(kind):
    optimiser = made(start(), kind)
    moved(optimiser, 5)
    second = torch.tensor([False, True])
    optimiser.keep(second, optimiser.values[second])
    found, expected = moved(optimiser, 5), moved(made(start(), kind), 10)
    torch.testing.assert_close(found, expected[1:])
