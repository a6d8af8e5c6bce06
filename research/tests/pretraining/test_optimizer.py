"""Steps of Muon are orthogonal, and everything it remembers can be kept."""

import pytest
import torch

from spadework.in_context.modules import InContextModel
from spadework_research.pretraining.optimizer import (
    Optimizer,
    average_into,
    average_weight,
    orthogonalize,
)
from tiny_context import CONFIG


@pytest.mark.parametrize("shape", [(3, 20, 20), (2, 30, 10), (2, 10, 30)])
def test_orthogonalized_matrices_have_singular_values_near_one(shape):
    matrices = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    values = torch.linalg.svdvals(orthogonalize(matrices))
    assert 0.3 < values.min() <= values.max() < 1.5


def trained(n_steps, optimizer_of=None, model=None):
    torch.manual_seed(0)
    model = model or InContextModel(CONFIG)
    optimizer = Optimizer(model)
    if optimizer_of:
        optimizer.load(optimizer_of)
    for step in range(n_steps):
        for i, parameter in enumerate(model.parameters()):
            generator = torch.Generator().manual_seed(100 * step + i)
            parameter.grad = torch.randn(parameter.shape, generator=generator)
        optimizer.step(torch.tensor(0.01))
    return model, optimizer


def test_maps_of_blocks_are_stepped_by_muon_and_all_else_by_adam():
    model, optimizer = trained(0)
    names = {id(p): name for name, p in model.named_parameters()}
    by_muon = {names[id(p)] for group in optimizer.groups for p in group}
    assert "row_blocks.0.attention.to_query.weight" in by_muon
    assert "cell_blocks.0.along_columns.label.weight" not in by_muon
    assert "to_logit.weight" not in by_muon
    by_adam = {names[id(p)] for g in optimizer.adam.param_groups for p in g["params"]}
    assert by_muon | by_adam == set(names.values())
    assert not by_muon & by_adam


def test_every_parameter_moves():
    before, after = trained(0)[0], trained(1)[0]
    for (name, old), new in zip(
        before.named_parameters(), after.parameters(), strict=True
    ):
        assert not torch.equal(old, new), name


def test_a_loaded_state_goes_on_as_if_nothing_had_happened():
    model, optimizer = trained(3)
    state = {name: t.clone() for name, t in optimizer.state().items()}
    straight, _ = trained(2, state, model)
    other, optimizer = trained(3)
    again, _ = trained(2, optimizer.state(), other)
    for one, two in zip(straight.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, two)


def test_the_average_starts_as_the_mean_of_all_steps():
    average, model = torch.nn.Linear(1, 1), torch.nn.Linear(1, 1)
    values = [1.0, 5.0, 3.0]
    for step, value in enumerate(values):
        torch.nn.init.constant_(model.weight, value)
        average_into(average, model, torch.tensor(average_weight(step)))
    assert average.weight.item() == pytest.approx(3.0)
