"""The loss asks for what detectors are for."""

import pytest
import torch

from spadework_research.made_tables.draw import Draw
from spadework_research.made_tables.tables import Prior, draw_tables
from spadework_research.pretraining.objective import losses_of
from tiny_context import tiny_model


def made(**changes):
    tables = draw_tables(
        Draw(0, "cpu"), Prior(), n_tables=4, n_rows=80, n_columns=4, n_context=50
    )
    return tables._replace(**changes)


def losses(model, tables):
    identity = Draw(1, "cpu").normal(len(tables.X), 4, model.config.n_identity)
    return losses_of(model, tables, identity)


class Oracle(torch.nn.Module):
    """Knows the truth; stands for a model."""

    def __init__(self, tables, sure):
        super().__init__()
        self.config = tiny_model().config
        logits = sure * (2.0 * (tables.kind > 0) - 1)
        self.logits, self.rest = logits[:, :50], logits[:, 50:]
        self.read_by = tiny_model()

    def read(self, cells, labels, identity):
        reading = self.read_by.read(cells, labels, identity)
        one = torch.ones(len(cells), 1)
        return reading._replace(logits=self.logits, slope=one, offset=0 * one)

    def score(self, cells, state):
        return self.rest


def test_knowing_the_truth_costs_nothing_and_believing_the_contrary_much():
    tables = made()
    right = losses(Oracle(tables, 20.0), tables)
    wrong = losses(Oracle(tables, -20.0), tables)
    assert right.ranking.max() < 1e-3
    assert right.probability.max() < 1e-3
    assert wrong.ranking.min() > 5
    assert wrong.probability.min() > 5


def test_saying_nothing_costs_what_a_coin_costs_in_ranking():
    tables = made()
    said = losses(Oracle(tables, 0.0), tables)
    enough = (tables.kind > 0).sum(dim=1) > 20
    torch.testing.assert_close(
        said.ranking[enough],
        torch.full_like(said.ranking[enough], 0.6931),
        rtol=0.001,
        atol=0,
    )


def test_labeled_rows_of_the_context_do_not_count():
    tables = made()
    oracle = Oracle(tables, 20.0)
    expected = losses(oracle, tables)
    oracle.logits = torch.where(tables.states < 2, -oracle.logits, oracle.logits)
    torch.testing.assert_close(losses(oracle, tables), expected)


def test_every_table_has_its_own_loss_and_each_part_a_gradient():
    model = tiny_model().requires_grad_(True)
    found = losses(model, made())
    for loss in found:
        assert loss.shape == (4,)
        assert loss.isfinite().all()
    found.total.mean().backward()
    assert all(p.grad is not None for p in model.parameters())


def test_no_share_is_asked_for_where_every_row_is_labeled():
    tables = made(states=(made().kind[:, :50] > 0).long())
    found = losses(tiny_model(), tables)
    assert found.share.tolist() == [0.0] * 4
    assert found.total.tolist() == pytest.approx(
        (found.ranking + found.probability).tolist()
    )
