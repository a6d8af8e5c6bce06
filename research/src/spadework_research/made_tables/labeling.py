"""Labels as people give them: for new types, for easy or risky or early rows, and so on.

A scenario says three things: which rows can be labeled at all, which of these are
labeled first, and which labels are kept. The named ones are those of the paper and of
the library's scenarios; the rest of the tables mixes the three at will.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from spadework_research.made_tables.anomalies import N_TYPES
from spadework_research.made_tables.draw import Draw, mid_ranks

ORDERS = ("random", "easy", "risk", "early", "region")
KEPT = ("both", "positives", "negatives")

SCENARIOS = {
    "random": ("all", "random", "both"),
    "new_types": ("given", "random", "both"),
    "pu": ("all", "random", "positives"),
    "pu_new_types": ("given", "random", "positives"),
    "nu": ("all", "random", "negatives"),
    "easy": ("all", "easy", "both"),
    "risk": ("all", "risk", "both"),
    "early": ("all", "early", "both"),
    "region": ("all", "region", "both"),
    "mixture": None,
}
"""Which types can be labeled, which rows come first, which labels are kept."""

MISMATCH = (0.14, 0.20, 0.12, 0.08, 0.12, 0.10, 0.10, 0.04, 0.04, 0.06)
"""How often each scenario is drawn."""

NO_MISMATCH = (0.5, 0.0, 0.25, 0.0, 0.25, 0.0, 0.0, 0.0, 0.0, 0.0)
"""The same where labels are a fair sample of what is labeled: the ablation."""


class Labeling(NamedTuple):
    """Labels of context rows, and how they came to be.

    Attributes
    ----------
    states : Tensor of shape (n_tables, n_context)
        0 normal, 1 anomaly, 2 unlabeled.
    scenario : Tensor of shape (n_tables,)
        Positions in `SCENARIOS`.
    """

    states: Tensor
    scenario: Tensor


def draw_labels(
    draw: Draw,
    columns: Tensor,
    kind: Tensor,
    time: Tensor,
    frequencies: tuple[float, ...] = MISMATCH,
    *,
    flipped: float = 0.1,
    everything: float = 0.2,
) -> Labeling:
    """Label context rows.

    Parameters
    ----------
    columns : Tensor of shape (n_tables, n_context, n_columns)
    kind : Tensor of shape (n_tables, n_context)
        0 for normal rows, 1 to N_TYPES for types of anomalies.
    time : Tensor of shape (n_tables, n_context)
    frequencies : tuple of float
        How often each of `SCENARIOS` is drawn.
    flipped : float
        Share of tables with up to 8 % of wrong labels.
    everything : float
        Share of randomly labeled tables in which every row of the context is labeled.
    """
    n_tables, n_context = kind.shape
    scenario = draw.pick_by(frequencies, n_tables, 1)[:, 0]
    only_given, order, kept = _ingredients(draw, scenario)
    anomalous = kind > 0
    can = ~only_given[:, None] | ~anomalous | _given(draw, kind)
    can &= _is_kept(kept, anomalous)
    rank = _rank(draw, order, columns, anomalous, time, can)
    share = draw.log_uniform(n_tables, 1, low=max(0.01, 5 / n_context), high=0.5)
    every = draw.chance(everything, n_tables) & (scenario == 0)
    share = torch.where(every[:, None], 1.0, share)
    many = _budget(share, order, kept, can, anomalous)
    labeled = can & (rank < many)
    wrong = draw.uniform(n_tables, 1, high=0.08) * draw.chance(flipped, n_tables, 1)
    told = anomalous ^ (draw.uniform(n_tables, n_context) < wrong)
    # Where flips would bring the labels that a scenario does not keep, none is flipped.
    told = torch.where((kept == 0)[:, None], told, anomalous)
    return Labeling(torch.where(labeled, told.long(), 2), scenario)


def _ingredients(draw: Draw, scenario: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Which types, which order, which labels: (n_tables,) each."""
    n_tables = len(scenario)
    only_given = draw.chance(0.5, n_tables)
    order = draw.integers(0, len(ORDERS) - 1, n_tables)
    kept = draw.pick_by((0.5, 0.25, 0.25), n_tables, 1)[:, 0]
    for position, recipe in enumerate(SCENARIOS.values()):
        if recipe is not None:
            named = scenario == position
            only_given = torch.where(named, recipe[0] == "given", only_given)
            order = torch.where(named, ORDERS.index(recipe[1]), order)
            kept = torch.where(named, KEPT.index(recipe[2]), kept)
    return only_given, order, kept


def _given(draw: Draw, kind: Tensor) -> Tensor:
    """Anomalies of the types that labelers know, one type at least."""
    first = kind.amax(dim=1)  # a type that this table surely has
    known = draw.chance(0.5, len(kind), N_TYPES + 1)
    known = known.scatter(1, first[:, None], value=True)
    return known.gather(1, kind)


def _is_kept(kept: Tensor, anomalous: Tensor) -> Tensor:
    kept = kept[:, None]
    return (kept == 0) | ((kept == 1) & anomalous) | ((kept == 2) & ~anomalous)


def _rank(
    draw: Draw,
    order: Tensor,
    columns: Tensor,
    anomalous: Tensor,
    time: Tensor,
    can: Tensor,
) -> Tensor:
    """Place of each row among those that can be labeled, 0 first; easy: of its class."""
    risk = _risk(draw, columns, anomalous)
    chance = draw.uniform(*risk.shape)
    risky = _within(-risk, can) + torch.where(chance < 0.5, 0, risk.shape[1])
    keys = {
        "random": chance,
        "easy": torch.where(anomalous, -risk, risk),
        "risk": risky.float(),
        "early": time + 0.02 * chance,
        "region": _random_direction(draw, columns),
    }
    key = torch.stack([keys[name] for name in ORDERS])
    key = key[order, torch.arange(len(order), device=draw.device)]
    overall = _within(key, can)
    by_class = torch.where(
        anomalous, _within(key, can & anomalous), _within(key, can & ~anomalous)
    )
    easy = (order == ORDERS.index("easy"))[:, None]
    return torch.where(easy, by_class, overall)


def _within(key: Tensor, mask: Tensor) -> Tensor:
    """Places of rows by a key among those of a mask, the smallest key first."""
    return key.masked_fill(~mask, torch.inf).argsort(dim=1).argsort(dim=1)


def _budget(
    share: Tensor, order: Tensor, kept: Tensor, can: Tensor, anomalous: Tensor
) -> Tensor:
    """How many rows are labeled, (n_tables, 1), or of which class (easy), per row."""
    n_context = can.shape[1]
    of_all = share * n_context
    of_positives = (1.6 * share).clamp(max=0.8) * can.sum(dim=1, keepdim=True)
    n_same = torch.where(
        anomalous,
        anomalous.sum(dim=1, keepdim=True),
        (~anomalous).sum(dim=1, keepdim=True),
    )
    easy = (order == ORDERS.index("easy"))[:, None]
    positives = (kept == KEPT.index("positives"))[:, None]
    many = torch.where(positives, of_positives, of_all)
    many = torch.where(easy, share * n_same, many)
    return many.clamp(min=2)


def _risk(draw: Draw, columns: Tensor, anomalous: Tensor) -> Tensor:
    """Judge rows as someone linear who knows the truth would, with some noise."""
    x = 2 * mid_ranks(columns) - 1
    truth = anomalous.float()[..., None]
    n_positive = truth.sum(dim=1, keepdim=True).clamp(1)
    n_negative = (1 - truth).sum(dim=1, keepdim=True).clamp(1)
    apart = (x * truth).sum(dim=1, keepdim=True) / n_positive
    apart = apart - (x * (1 - truth)).sum(dim=1, keepdim=True) / n_negative
    centered = x - x.mean(dim=1, keepdim=True)
    covariance = centered.mT @ centered / x.shape[1]
    ridge = 0.02 * torch.eye(x.shape[2], device=x.device)
    factor, _ = torch.linalg.cholesky_ex(covariance + ridge)
    weights = torch.cholesky_solve(apart.mT, factor)
    risk = (x @ weights)[..., 0]
    spread = risk.std(dim=1, keepdim=True).clamp(1e-6)
    noise = draw.uniform(len(x), 1, high=0.7) * draw.normal(*risk.shape)
    return risk / spread + noise


def _random_direction(draw: Draw, columns: Tensor) -> Tensor:
    """Somewhere in the table, as where only one branch or one sensor was checked."""
    n_tables, _, n_columns = columns.shape
    asked = draw.subset(draw.integers(1, 3, n_tables).clamp(max=n_columns), n_columns)
    weights = draw.normal(n_tables, n_columns, 1) * asked[..., None]
    somewhere = ((2 * mid_ranks(columns) - 1) @ weights)[..., 0]
    noise = draw.uniform(n_tables, 1, high=0.5) * draw.normal(*somewhere.shape)
    return somewhere + noise
