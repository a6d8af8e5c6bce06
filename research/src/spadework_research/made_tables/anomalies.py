"""Types of anomalies: changed causes, broken dependence, and regions of ordinary rows.

A type either *changes* some rows (a tight cluster elsewhere, a shift, more variance,
columns that come from another row) or *names* rows: those where a random function of
the causes or of a few columns is highest, as where one class of a table is anomalous.
"""

import math
from typing import NamedTuple

import torch
from torch import Tensor

from spadework_research.made_tables.draw import Draw, mid_ranks, standardize, take
from spadework_research.made_tables.structure import N_LATENT

N_TYPES = 6

FAMILIES = ("region", "cluster", "shift", "variance", "broken")
FAMILY_FREQUENCIES = (0.5, 0.13, 0.22, 0.07, 0.08)

_N_TREES, _DEPTH = 8, 3
_N_BINS = 64


class Types(NamedTuple):
    """The types of anomalies of each table.

    Attributes
    ----------
    family : Tensor of shape (n_tables, N_TYPES)
        Positions in `FAMILIES`.
    counts : Tensor of shape (n_tables, N_TYPES)
        How many rows are of each type; zero for types that a table lacks.
    """

    family: Tensor
    counts: Tensor


def draw_types(
    draw: Draw,
    n_tables: int,
    n_rows: int,
    frequencies: tuple[float, ...] = FAMILY_FREQUENCIES,
) -> Types:
    """Draw how many types there are, of which families, and how large."""
    family = draw.pick_by(frequencies, n_tables, N_TYPES)
    alike = draw.chance(0.6, n_tables, 1)
    family = torch.where(alike, family[:, :1], family)
    n_types = draw.integers(1, N_TYPES, n_tables)
    n_types = torch.where(draw.chance(0.3, n_tables), 1, n_types)
    present = torch.arange(N_TYPES, device=draw.device) < n_types[:, None]
    least = max(0.002, 6 / n_rows)
    rare = draw.log_uniform(n_tables, 1, low=least, high=0.4)
    common = draw.uniform(n_tables, 1, low=0.02, high=0.35)
    share = torch.where(draw.chance(0.6, n_tables, 1), rare, common)
    counts = (draw.shares(present) * share * n_rows).round().clamp(min=2)
    return Types(family, (counts * present).long())


def place(draw: Draw, types: Types, n_rows: int) -> Tensor:
    """Choose rows at random for the types that change rows; (n_tables, n_rows) kinds.

    Kinds are 0 for ordinary rows and 1 to N_TYPES for the types.
    """
    changed = types.counts * (types.family > 0)
    ends = changed.cumsum(dim=1)
    order = draw.uniform(len(ends), n_rows).argsort(dim=1).argsort(dim=1)
    kind = torch.searchsorted(ends, order, right=True) + 1
    return torch.where(order < ends[:, -1:], kind, 0)


def change_causes(draw: Draw, types: Types, kind: Tensor, latent: Tensor) -> Tensor:
    """Move the causes (n_tables, n_rows, N_LATENT) of clusters, shifts and variance."""
    n_tables = len(kind)
    spread = latent.std(dim=1, keepdim=True)
    middle = latent.mean(dim=1, keepdim=True)
    shape = (n_tables, N_TYPES, N_LATENT)
    sparse = draw.chance(0.4, *shape) | (draw.uniform(*shape).argsort(dim=2) == 0)
    size = draw.log_uniform(n_tables, N_TYPES, 1, low=0.6, high=6.0)
    related = draw.chance(0.4, n_tables, 1, 1)
    direction = draw.normal(*shape)
    direction = torch.where(related, 0.4 * direction + direction[:, :1], direction)
    step = size * direction * sparse
    tightness = draw.log_uniform(n_tables, N_TYPES, 1, low=0.05, high=0.7)
    factor = draw.uniform(n_tables, N_TYPES, 1, low=1.7, high=5.0)
    parts = {
        "cluster": lambda: (
            middle + spread * (of(size * direction) + of(tightness) * noise)
        ),
        "shift": lambda: latent + spread * of(step),
        "variance": lambda: middle + of(factor) * (latent - middle),
    }
    noise = draw.normal(*latent.shape)

    def of(parameters: Tensor) -> Tensor:
        return take(parameters, (kind - 1).clamp(0))

    moved = latent
    family = types.family.gather(1, (kind - 1).clamp(0))
    for name, make in parts.items():
        chosen = (kind > 0) & (family == FAMILIES.index(name))
        moved = torch.where(chosen[..., None], make(), moved)
    return moved


def break_dependence(draw: Draw, types: Types, kind: Tensor, nodes: Tensor) -> Tensor:
    """Give rows of broken types some nodes of other rows; (n_tables, n_rows, n_nodes)."""
    n_tables, n_rows, n_nodes = nodes.shape
    size = draw.integers(max(1, n_nodes // 4), max(1, n_nodes // 2), n_tables, N_TYPES)
    taken = take(draw.subset(size, n_nodes).float(), (kind - 1).clamp(0)) > 0
    family = types.family.gather(1, (kind - 1).clamp(0))
    broken = (kind > 0) & (family == FAMILIES.index("broken"))
    others = nodes.roll(draw.numbers.randint(1, n_rows - 1), dims=1)
    return torch.where(broken[..., None] & taken, others, nodes)


def name_regions(
    draw: Draw, types: Types, kind: Tensor, latent: Tensor, columns: Tensor
) -> Tensor:
    """Add the rows of region types: where random functions are highest, kind by kind."""
    heights = _region_heights(draw, latent, columns)
    region = types.counts * (types.family == FAMILIES.index("region"))
    for position in range(N_TYPES):
        height = heights[:, :, position].masked_fill(kind > 0, -torch.inf)
        order = height.argsort(dim=1, descending=True).argsort(dim=1)
        kind = torch.where(order < region[:, position, None], position + 1, kind)
    return kind


def _region_heights(draw: Draw, latent: Tensor, columns: Tensor) -> Tensor:
    """Random functions of rows, (n_tables, n_rows, N_TYPES), with noise added."""
    n_tables, n_rows, _ = latent.shape
    ranks = mid_ranks(columns)
    makers = (
        lambda: _of_causes(draw, latent),
        lambda: _joined(draw, ranks),
        lambda: _trees(draw, ranks),
        lambda: _tables(draw, ranks),
    )
    chosen = draw.pick_by((0.25, 0.2, 0.35, 0.2), n_tables, N_TYPES)[:, None, :]
    heights = standardize(makers[0]())
    for position, make in enumerate(makers[1:], start=1):
        heights = torch.where(chosen == position, standardize(make()), heights)
    # Few classes are told by their columns alone: the rest is noise.
    noise = draw.uniform(n_tables, 1, 1) * draw.chance(0.5, n_tables, 1, 1)
    tie_break = 1e-3
    return heights + (noise + tie_break) * draw.normal(n_tables, n_rows, N_TYPES)


def _of_causes(draw: Draw, latent: Tensor) -> Tensor:
    """Linear and squared sums of the causes."""
    causes = standardize(latent)
    shape = (len(latent), N_LATENT, N_TYPES)
    linear = draw.normal(*shape) * draw.chance(0.5, *shape)
    bent = draw.normal(*shape) * draw.chance(0.3, *shape)
    curvature = draw.uniform(len(latent), 1, N_TYPES, high=1.0)
    return causes @ linear + curvature * (causes.square() @ bent)


def _chosen_columns(draw: Draw, n_tables: int, n_columns: int, times: int) -> Tensor:
    """Columns that functions ask for, few of them often; (n_tables, times)."""
    wanted = draw.integers(1, 6, n_tables).clamp(max=n_columns)
    wanted = torch.where(draw.chance(0.3, n_tables), n_columns, wanted)
    asked = draw.subset(wanted, n_columns).float() + 1e-6
    return draw.pick(asked, times)


def _look(ranks: Tensor, columns: Tensor) -> Tensor:
    """Columns (n_tables, times) of ranks (n_tables, n_rows, n_columns)."""
    return ranks.gather(2, columns[:, None, :].expand(-1, ranks.shape[1], -1))


def _joined(draw: Draw, ranks: Tensor) -> Tensor:
    """Join one to four columns, each high, low or apart from somewhere."""
    n_tables, _, n_columns = ranks.shape
    most = 4
    columns = _chosen_columns(draw, n_tables, n_columns, most * N_TYPES)
    seen = _look(ranks, columns)
    middle = draw.uniform(n_tables, 1, most * N_TYPES)
    seen = torch.where(draw.chance(0.3, *middle.shape), (seen - middle).abs(), seen)
    seen = torch.where(draw.chance(0.5, *middle.shape), 1 - seen, seen)
    seen = seen.unflatten(2, (most, N_TYPES))
    used = torch.arange(most, device=draw.device)[:, None] < draw.integers(
        1, most, n_tables, 1, N_TYPES
    )
    used = used[:, None]
    joins = (
        seen.masked_fill(~used, math.inf).amin(dim=2),
        seen.masked_fill(~used, -math.inf).amax(dim=2),
        (seen * used).sum(dim=2),
    )
    way = draw.integers(0, len(joins) - 1, n_tables, 1, N_TYPES)
    joined = joins[0]
    for position, join in enumerate(joins[1:], start=1):
        joined = torch.where(way == position, join, joined)
    return joined


def _trees(draw: Draw, ranks: Tensor) -> Tensor:
    """Sum oblivious trees with random questions and random leaves."""
    n_tables, _, n_columns = ranks.shape
    questions = N_TYPES * _N_TREES * _DEPTH
    columns = _chosen_columns(draw, n_tables, n_columns, questions)
    answers = _look(ranks, columns) > draw.uniform(n_tables, 1, questions)
    powers = 2 ** torch.arange(_DEPTH, device=draw.device)
    leaf = (answers.unflatten(2, (N_TYPES * _N_TREES, _DEPTH)) * powers).sum(dim=3)
    leaves = draw.normal(n_tables, 2**_DEPTH, N_TYPES * _N_TREES)
    values = leaves.gather(1, leaf).unflatten(2, (N_TYPES, _N_TREES))
    n_trees = draw.integers(1, _N_TREES, n_tables, 1, N_TYPES, 1)
    used = torch.arange(_N_TREES, device=draw.device) < n_trees
    return (values * used).sum(dim=3)


def _tables(draw: Draw, ranks: Tensor) -> Tensor:
    """Sum over columns a number for every bin: what codes of categories tell."""
    n_tables, _, n_columns = ranks.shape
    most = 5
    columns = _chosen_columns(draw, n_tables, n_columns, most * N_TYPES)
    n_bins = torch.floor(draw.log_uniform(n_tables, 1, 1, low=2, high=_N_BINS + 0.99))
    bins = (_look(ranks, columns) * n_bins).long().clamp(max=_N_BINS - 1)
    tails = draw.uniform(n_tables, 1, 1, low=0.5, high=2.0)
    numbers = draw.normal(n_tables, _N_BINS, most * N_TYPES)
    numbers = numbers.sign() * numbers.abs() ** tails
    values = numbers.gather(1, bins).unflatten(2, (most, N_TYPES))
    used = torch.arange(most, device=draw.device)[:, None] < draw.integers(
        1, most, n_tables, 1, N_TYPES
    )
    return (values * used[:, None]).sum(dim=2)
