"""Ordinary rows have structure: columns depend on one another through causes."""

import torch

from spadework_research.made_tables.draw import Draw
from spadework_research.made_tables.structure import draw_latent, draw_nodes


def test_nodes_are_standardized_and_finite():
    latent = draw_latent(Draw(0, "cpu"), 20, 300, 6)
    nodes = draw_nodes(Draw(1, "cpu"), latent.values, 6)
    assert nodes.shape == (20, 300, 6)
    assert nodes.isfinite().all()
    torch.testing.assert_close(nodes.mean(dim=1), torch.zeros(20, 6), rtol=0, atol=1e-4)


def test_columns_depend_on_each_other_in_most_tables():
    latent = draw_latent(Draw(0, "cpu"), 30, 500, 8)
    nodes = draw_nodes(Draw(1, "cpu"), latent.values, 8)
    correlations = torch.stack([torch.corrcoef(table.T) for table in nodes]).abs()
    strongest = (correlations - torch.eye(8)).nan_to_num().amax(dim=(1, 2))
    assert strongest.median() > 0.5


def test_causes_move_with_time_only_where_a_table_drifts():
    latent = draw_latent(Draw(0, "cpu"), 60, 800, 8)
    late = latent.time > 0.5
    moved = torch.stack(
        [
            (v[after].mean(dim=0) - v[~after].mean(dim=0)).abs().max()
            / v.std().clamp(0.1)
            for v, after in zip(latent.values, late, strict=True)
        ]
    )
    assert moved[latent.drifts].median() > 2 * moved[~latent.drifts].median()
