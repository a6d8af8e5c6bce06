"""Muon for matrices, Adam for the rest, and an average of the weights over steps.

Muon makes the momentum of each matrix orthogonal before the step. Matrices of one
shape are made so together.
"""

from collections.abc import Iterable

import torch
from torch import Tensor, nn

_NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)  # coefficients of the quintic iteration
_ITERATIONS = 5
_MOMENTUM = 0.95
_BETAS = (0.9, 0.98)


class Optimizer:
    """Muon for the matrices of blocks, Adam for all other parameters.

    Parameters
    ----------
    model : Module
        Its blocks hold the matrices.
    weight_decay : float
    """

    def __init__(self, model: nn.Module, weight_decay: float = 0.02) -> None:
        self.weight_decay = weight_decay
        matrices = {
            name: parameter
            for name, parameter in model.named_parameters()
            if "_blocks." in name and parameter.ndim == 2 and _is_map(name)
        }
        others = [p for name, p in model.named_parameters() if name not in matrices]
        self.adam = torch.optim.AdamW(
            others,
            betas=_BETAS,
            weight_decay=0.0,
            fused=True,
            capturable=others[0].is_cuda,  # into a recording
        )
        self.groups: list[list[nn.Parameter]] = _by_shape(matrices.values())
        self.momenta = [torch.zeros_like(torch.stack(list(g))) for g in self.groups]

    @torch.no_grad()
    def step(self, learning_rate: Tensor) -> None:
        """Take a step along the gradients that the parameters hold."""
        for group in self.adam.param_groups:
            group["lr"] = learning_rate
        self.adam.step()
        for parameters, momentum in zip(self.groups, self.momenta, strict=True):
            gradient = torch.stack([_gradient(p) for p in parameters])
            momentum.lerp_(gradient, 1 - _MOMENTUM)
            step = orthogonalize(gradient.lerp(momentum, _MOMENTUM))
            size = 0.2 * max(step.shape[1:]) ** 0.5  # the size of a step of Adam
            for parameter, of_one in zip(parameters, step.unbind(), strict=True):
                parameter.mul_(1 - learning_rate * self.weight_decay)
                parameter.sub_(of_one * (learning_rate * size))

    def state(self) -> dict[str, Tensor]:
        """All that a later step depends on, by name, but for the parameters."""
        tensors = {f"muon.{i}": m for i, m in enumerate(self.momenta)}
        for i, state in self.adam.state_dict()["state"].items():
            for name, value in state.items():
                tensors[f"adam.{i}.{name}"] = value
        return tensors

    def load(self, tensors: dict[str, Tensor]) -> None:
        """Go on from a state; what a recorded step reads stays in place."""
        present = self.state()
        if present.keys() >= tensors.keys():
            for name, value in tensors.items():
                present[name].copy_(value)
            return
        for i, momentum in enumerate(self.momenta):
            momentum.copy_(tensors[f"muon.{i}"])
        state: dict[int, dict[str, Tensor]] = {}
        for name, value in tensors.items():
            if name.startswith("adam."):
                _, i, key = name.split(".")
                state.setdefault(int(i), {})[key] = value
        whole = self.adam.state_dict()
        self.adam.load_state_dict({"state": state, "param_groups": whole["param_groups"]})


def orthogonalize(matrices: Tensor) -> Tensor:
    """Bring the singular values of matrices (n, rows, columns) near one."""
    a, b, c = _NEWTON_SCHULZ
    x = matrices.bfloat16() if matrices.is_cuda else matrices
    tall = x.shape[1] > x.shape[2]
    x = x.mT if tall else x
    x = x / (x.norm(dim=(1, 2), keepdim=True) + 1e-7)
    for _ in range(_ITERATIONS):
        gram = x @ x.mT
        x = a * x + (b * gram + c * gram @ gram) @ x
    return (x.mT if tall else x).float()


@torch.no_grad()
def average_into(average: nn.Module, model: nn.Module, weight: Tensor) -> None:
    """Move an average of weights towards a model."""
    for kept, new in zip(average.parameters(), model.parameters(), strict=True):
        kept.lerp_(new, weight)


def average_weight(step: int) -> float:
    """How much a step moves the average: as much as all before it, less later on."""
    return max(1 / (step + 1), 1 / 500)


def _is_map(name: str) -> bool:
    """Tell matrices that map from tables of embeddings."""
    return name.endswith("weight") and ".label." not in name


def _by_shape(parameters: Iterable[nn.Parameter]) -> list[list[nn.Parameter]]:
    groups: dict[torch.Size, list[nn.Parameter]] = {}
    for parameter in parameters:
        groups.setdefault(parameter.shape, []).append(parameter)
    return list(groups.values())


def _gradient(parameter: nn.Parameter) -> Tensor:
    assert parameter.grad is not None
    return parameter.grad
