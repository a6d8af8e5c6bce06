"""Columns as real tables have them: skewed, counted, coded, binary, empty in part."""

import torch
from torch import Tensor

from spadework_research.made_tables.draw import Draw, standardize

KINDS = {
    "plain": 3.0,
    "skewed": 1.5,
    "power": 0.7,
    "rounded": 2.0,
    "count": 2.0,
    "often_zero": 1.5,
    "binary": 1.5,
    "even": 1.5,
    "coded": 1.5,
}
"""Kinds of columns, and how common they are over all tables."""

_N_CODES = 64
_N_GROUPS = 3


def draw_columns(draw: Draw, nodes: Tensor, time: Tensor) -> Tensor:
    """Turn nodes (n_tables, n_rows, n_columns) into columns of the same shape."""
    nodes = _with_twins(draw, _with_noise(draw, nodes))
    columns = _warp(draw, nodes)
    columns = _with_groups(draw, nodes, columns)
    columns = _with_gaps(draw, nodes, columns)
    return _with_time(draw, columns, time)


def _with_noise(draw: Draw, nodes: Tensor) -> Tensor:
    """Let some columns say nothing of anything."""
    n_tables, _, n_columns = nodes.shape
    rate = draw.uniform(n_tables, 1, 1, high=0.6) * draw.chance(0.5, n_tables, 1, 1)
    empty = draw.uniform(n_tables, 1, n_columns) < rate
    return torch.where(empty, draw.normal(*nodes.shape), nodes)


def _with_twins(draw: Draw, nodes: Tensor) -> Tensor:
    """Let some columns nearly repeat the one before them."""
    n_tables, _, n_columns = nodes.shape
    twin = draw.chance(0.25, n_tables, 1, 1) & draw.chance(0.3, n_tables, 1, n_columns)
    apart = draw.log_uniform(n_tables, 1, n_columns, low=0.001, high=0.3)
    near = nodes.roll(1, dims=2) + apart * draw.normal(*nodes.shape)
    return torch.where(twin, near, nodes)


def _warp(draw: Draw, nodes: Tensor) -> Tensor:
    """Give each column a kind, and each table a taste for some kinds."""
    n_tables, n_rows, n_columns = nodes.shape
    taste = (
        draw.constant(tuple(KINDS.values()))
        * draw.normal(n_tables, len(KINDS)).mul(1.5).exp()
    )
    kinds = draw.pick(taste, n_columns)[:, None, :]
    rank = nodes.argsort(dim=1).argsort(dim=1) / n_rows
    warped = nodes
    for position, name in enumerate(KINDS):
        if name != "plain":
            made = _WARPS[name](draw, nodes, rank)
            warped = torch.where(kinds == position, made, warped)
    return warped


def _skewed(draw: Draw, nodes: Tensor, rank: Tensor) -> Tensor:
    return (_one_a_column(draw, nodes, 0.3, 2.5) * nodes.clamp(max=6)).exp()


def _power(draw: Draw, nodes: Tensor, rank: Tensor) -> Tensor:
    return nodes.sign() * nodes.abs() ** _one_a_column(draw, nodes, 0.3, 3.0)


def _rounded(draw: Draw, nodes: Tensor, rank: Tensor) -> Tensor:
    return torch.round(nodes * _one_a_column(draw, nodes, 0.5, 10.0))


def _count(draw: Draw, nodes: Tensor, rank: Tensor) -> Tensor:
    size = draw.uniform(nodes.shape[0], 1, nodes.shape[2], low=-2.0, high=4.0)
    grown = (_one_a_column(draw, nodes, 0.5, 2.0) * nodes + size).clamp(max=12)
    return torch.floor(grown.exp())


def _often_zero(draw: Draw, nodes: Tensor, rank: Tensor) -> Tensor:
    share = draw.uniform(nodes.shape[0], 1, nodes.shape[2], low=0.2, high=0.98)
    size = (_one_a_column(draw, nodes, 0.3, 2.0) * nodes.clamp(max=6)).exp()
    return torch.where(rank > share, size, 0.0)


def _binary(draw: Draw, nodes: Tensor, rank: Tensor) -> Tensor:
    shape = (nodes.shape[0], 1, nodes.shape[2])
    rare = draw.log_uniform(*shape, low=0.002, high=0.3)
    even = draw.uniform(*shape, low=0.1, high=0.9)
    share = torch.where(draw.chance(0.5, *shape), rare, even)
    return (rank > 1 - share).float()


def _even(draw: Draw, nodes: Tensor, rank: Tensor) -> Tensor:
    shape = (nodes.shape[0], 1, nodes.shape[2])
    levels = torch.floor(draw.log_uniform(*shape, low=4, high=400))
    return torch.where(draw.chance(0.6, *shape), torch.floor(rank * levels), rank)


def _coded(draw: Draw, nodes: Tensor, rank: Tensor) -> Tensor:
    """Categories of uneven sizes, numbered without order."""
    n_tables, _, n_columns = nodes.shape
    levels = torch.floor(draw.log_uniform(n_tables, 1, n_columns, low=3, high=_N_CODES))
    uneven = draw.uniform(n_tables, 1, n_columns, low=1.0, high=4.0)
    level = torch.floor(rank**uneven * levels).long()
    codes = draw.uniform(n_tables, _N_CODES, n_columns).argsort(dim=1)
    return codes.gather(1, level).float()


_WARPS = {
    "skewed": _skewed,
    "power": _power,
    "rounded": _rounded,
    "count": _count,
    "often_zero": _often_zero,
    "binary": _binary,
    "even": _even,
    "coded": _coded,
}


def _one_a_column(draw: Draw, nodes: Tensor, low: float, high: float) -> Tensor:
    return draw.log_uniform(nodes.shape[0], 1, nodes.shape[2], low=low, high=high)


def _with_groups(draw: Draw, nodes: Tensor, columns: Tensor) -> Tensor:
    """Turn runs of columns of some tables into one-hot codes, a run for a category."""
    coded = draw.chance(0.35, len(nodes), 1)
    for _ in range(_N_GROUPS):
        columns = _with_group(
            draw, nodes, columns, coded & draw.chance(0.6, *coded.shape)
        )
    return columns


def _with_group(draw: Draw, nodes: Tensor, columns: Tensor, coded: Tensor) -> Tensor:
    """Turn a run of columns into the codes of one category, where coded (n_tables, 1)."""
    n_tables, _, n_columns = nodes.shape
    start = draw.integers(0, n_columns - 1, n_tables, 1)
    size = draw.log_uniform(n_tables, 1, low=3, high=max(3, n_columns / 2) + 1).floor()
    place = torch.arange(n_columns, device=draw.device)
    member = (place >= start) & (place < start + size) & coded
    uneven = draw.uniform(n_tables, 1, 1, high=2.5)  # some categories are rare
    bias = uneven * draw.normal(n_tables, 1, n_columns)
    strength = (nodes + bias).masked_fill(~member[:, None, :], -torch.inf)
    hot = place == strength.argmax(dim=2, keepdim=True)
    return torch.where(member[:, None, :], hot.float(), columns)


def _with_gaps(draw: Draw, nodes: Tensor, columns: Tensor) -> Tensor:
    """Replace missing values by a constant; what is missing may depend on a node."""
    n_tables, n_rows, n_columns = nodes.shape
    column = draw.chance(0.2, n_tables, 1, 1) & draw.chance(0.3, n_tables, 1, n_columns)
    cause = nodes.roll(2, dims=2) * draw.chance(0.5, n_tables, 1, n_columns)
    share = draw.uniform(n_tables, 1, n_columns, low=0.01, high=0.5)
    noisy = standardize(cause + draw.normal(n_tables, n_rows, n_columns))
    missing = noisy < torch.special.ndtri(share)
    median = columns.median(dim=1, keepdim=True).values
    below = columns.amin(dim=1, keepdim=True) - 1
    filling = torch.where(draw.chance(0.5, n_tables, 1, 1), median, below)
    return torch.where(column & missing, filling, columns)


def _with_time(draw: Draw, columns: Tensor, time: Tensor) -> Tensor:
    """Let the first column of some tables be the time, or a number that grows with it."""
    n_tables = len(columns)
    blurred = time + 0.05 * draw.normal(*time.shape) * draw.chance(0.5, n_tables, 1)
    first = torch.where(draw.chance(0.1, n_tables, 1), blurred, columns[:, :, 0])
    return torch.cat([first[..., None], columns[:, :, 1:]], dim=2)
