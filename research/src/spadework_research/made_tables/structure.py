"""Rows as causes make them: latent variables, and a random network of nodes."""

from typing import NamedTuple

import torch
from torch import Tensor

from spadework_research.made_tables.draw import Draw, standardize, take

N_LATENT = 12
N_CLUSTERS = 5


class Latent(NamedTuple):
    """Causes of rows.

    Attributes
    ----------
    values : Tensor of shape (n_tables, n_rows, N_LATENT)
    time : Tensor of shape (n_tables, n_rows)
        From 0 to 1, in random order.
    drifts : Tensor of shape (n_tables,), bool
        Whether the causes move as time goes by.
    """

    values: Tensor
    time: Tensor
    drifts: Tensor


def draw_latent(draw: Draw, n_tables: int, n_rows: int, n_columns: int) -> Latent:
    """Clusters of latent variables, some heavy-tailed, some drifting."""
    most = min(N_LATENT, n_columns + 1)  # with more, columns could not tell much
    active = draw.subset(draw.integers(2, most, n_tables), N_LATENT)
    clusters = draw.subset(draw.integers(1, N_CLUSTERS, n_tables), N_CLUSTERS)
    cluster = draw.pick(draw.shares(clusters) + 1e-9 * clusters, n_rows)
    apart = draw.uniform(n_tables, 1, 1, high=3.0) * draw.chance(0.7, n_tables, 1, 1)
    centers = apart * draw.normal(n_tables, N_CLUSTERS, N_LATENT)
    widths = (0.5 * draw.normal(n_tables, N_CLUSTERS, N_LATENT)).exp()
    tails = draw.uniform(n_tables, 1, 1) * draw.chance(0.4, n_tables, 1, 1)
    noise = draw.normal(n_tables, n_rows, N_LATENT)
    noise = noise * (tails * draw.normal(n_tables, n_rows, 1)).exp()
    values = take(centers, cluster) + take(widths, cluster) * noise
    time = draw.uniform(n_tables, n_rows)
    drifts = draw.chance(0.35, n_tables)
    direction = draw.normal(n_tables, 1, N_LATENT) * draw.chance(
        0.4, n_tables, 1, N_LATENT
    )
    pace = draw.uniform(n_tables, 1, 1, high=3.0) * drifts[:, None, None]
    values = values + pace * direction * (time[..., None] - 0.5)
    return Latent(values * active[:, None, :], time, drifts)


def draw_nodes(draw: Draw, latent: Tensor, n_columns: int) -> Tensor:
    """Nodes of a random two-layer network that become columns.

    Parameters
    ----------
    latent : Tensor of shape (n_tables, n_rows, N_LATENT)

    Returns
    -------
    Tensor of shape (n_tables, n_rows, n_columns), standardized
    """
    n_tables, n_rows, _ = latent.shape
    causes = standardize(latent)
    first = _layer(draw, causes, n_columns)
    second = _layer(draw, torch.cat([causes, first], dim=2), n_columns)
    pool = torch.cat([causes, first, second], dim=2)
    n_nodes = pool.shape[2]
    noise = draw.log_uniform(n_tables, 1, n_nodes, low=0.01, high=1.0)
    noise = noise * draw.uniform(n_tables, 1, 1)
    pool = pool + noise * draw.normal(n_tables, n_rows, n_nodes)
    depth = torch.arange(n_nodes, device=draw.device) >= N_LATENT
    preference = torch.where(depth, draw.uniform(n_tables, 1), 0.5)
    filled = causes.std(dim=1) > 1e-3  # latent variables that this table has
    filled = torch.cat([filled, filled.new_ones(n_tables, 2 * n_columns)], dim=1)
    order = (preference + draw.uniform(n_tables, n_nodes)) * filled
    chosen = order.argsort(dim=1, descending=True)[:, :n_columns]
    return standardize(pool.gather(2, chosen[:, None, :].expand(-1, n_rows, -1)))


def _layer(draw: Draw, inputs: Tensor, width: int) -> Tensor:
    """Random sparse sums of inputs (n_tables, n_rows, k), each through a function."""
    n_tables, _, n_inputs = inputs.shape
    density = draw.uniform(n_tables, 1, 1, low=0.05, high=0.7)
    weights = draw.normal(n_tables, n_inputs, width)
    weights = weights * (draw.uniform(n_tables, n_inputs, width) < density)
    sums = standardize(inputs @ weights) + draw.normal(n_tables, 1, width)
    return standardize(_activate(draw, sums))


def _activate(draw: Draw, x: Tensor) -> Tensor:
    """Put each node (n_tables, n_rows, width) through a function drawn for it."""
    functions = (
        lambda v: v,
        torch.tanh,
        torch.relu,
        torch.abs,
        torch.square,
        lambda v: torch.sin(2 * v),
        lambda v: (v > 0).float(),
        lambda v: torch.exp(v.clamp(max=3)),
        lambda v: torch.floor(1.5 * v),
    )
    kind = draw.integers(0, len(functions) - 1, x.shape[0], 1, x.shape[2])
    kind = kind * draw.chance(0.75, x.shape[0], 1, 1)  # a quarter of tables is linear
    y = x
    for position, function in enumerate(functions[1:], start=1):
        y = torch.where(kind == position, function(x), y)
    return y
