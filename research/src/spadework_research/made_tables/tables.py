"""Made tables: contexts with labels, and rows to score with their truth."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from spadework_research.made_tables.anomalies import (
    FAMILY_FREQUENCIES,
    break_dependence,
    change_causes,
    draw_types,
    name_regions,
    place,
)
from spadework_research.made_tables.columns import draw_columns
from spadework_research.made_tables.draw import Draw
from spadework_research.made_tables.labeling import MISMATCH, draw_labels
from spadework_research.made_tables.structure import draw_latent, draw_nodes


@dataclass(frozen=True)
class Prior:
    """What may be drawn.

    Attributes
    ----------
    scenarios : tuple of float
        How often labels come about in each way of `labeling.SCENARIOS`.
    flipped : float
        Share of tables with some wrong labels.
    families : tuple of float
        How often types of anomalies are of each of `anomalies.FAMILIES`.
    """

    scenarios: tuple[float, ...] = MISMATCH
    flipped: float = 0.1
    families: tuple[float, ...] = FAMILY_FREQUENCIES


class MadeTables(NamedTuple):
    """A batch of tables; the first ``n_context`` rows of each are its context.

    Attributes
    ----------
    X : Tensor of shape (n_tables, n_rows, n_columns)
    kind : Tensor of shape (n_tables, n_rows)
        0 for normal rows, 1, 2, ... for types of anomalies.
    states : Tensor of shape (n_tables, n_context)
        0 normal, 1 anomaly, 2 unlabeled.
    scenario : Tensor of shape (n_tables,)
        Positions in `labeling.SCENARIOS`.
    """

    X: Tensor
    kind: Tensor
    states: Tensor
    scenario: Tensor


def draw_tables(
    draw: Draw,
    prior: Prior,
    *,
    n_tables: int,
    n_rows: int,
    n_columns: int,
    n_context: int,
) -> MadeTables:
    """Draw tables of one shape."""
    latent, time, drifts = draw_latent(draw, n_tables, n_rows, n_columns)
    types = draw_types(draw, n_tables, n_rows, prior.families)
    kind = place(draw, types, n_rows)
    latent = change_causes(draw, types, kind, latent)
    nodes = draw_nodes(draw, latent, n_columns)
    nodes = break_dependence(draw, types, kind, nodes)
    columns = draw_columns(draw, nodes, time)
    kind = name_regions(draw, types, kind, latent, columns)
    order = _split(draw, time, drifts)
    X = columns.gather(1, order[..., None].expand(-1, -1, n_columns))
    X = torch.nan_to_num(X, posinf=1e30, neginf=-1e30).clamp(-1e30, 1e30)
    kind, time = kind.gather(1, order), time.gather(1, order)
    labeling = draw_labels(
        draw,
        X[:, :n_context],
        kind[:, :n_context],
        time[:, :n_context],
        prior.scenarios,
        flipped=prior.flipped,
    )
    return MadeTables(X, kind, labeling.states, labeling.scenario)


def _split(draw: Draw, time: Tensor, drifts: Tensor) -> Tensor:
    """Order rows: context first; half of the drifting tables are scored on later rows."""
    later = drifts & draw.chance(0.5, len(time))
    return torch.where(later[:, None], time, draw.uniform(*time.shape)).argsort(dim=1)
