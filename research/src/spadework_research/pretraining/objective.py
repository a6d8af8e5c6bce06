"""What the model learns: rank anomalies first, and believe as often as is true.

Every table counts the same. Within a table, one part of the loss weighs both classes
alike (the ranking), one weighs rows alike (the probabilities), and one asks for the
share of anomalies among unlabeled rows.
"""

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from spadework.in_context.calibration import share_bin
from spadework.in_context.encoding import ColumnScale
from spadework.in_context.modules import TO_SCORE, InContextModel
from spadework_research.made_tables.tables import MadeTables

_UNLABELED_STATE = 2
_SHARE_WEIGHT = 0.1
_FEWEST_POSITIVES = 3.0  # as which fewer count, so that one row does not weigh all


class Losses(NamedTuple):
    """Losses of each table, (n_tables,): what is minimised, and its parts."""

    total: Tensor
    ranking: Tensor
    probability: Tensor
    share: Tensor


def losses_of(model: InContextModel, tables: MadeTables, identity: Tensor) -> Losses:
    """Score unlabeled context rows and rows outside the context, and compare.

    The identity of columns is random, (n_tables, n_columns, n_identity).
    """
    n_context = tables.states.shape[1]
    with torch.no_grad():
        scale = ColumnScale.of(tables.X[:, :n_context])
        context = scale.cells(tables.X[:, :n_context])
        rows = scale.cells(tables.X[:, n_context:])
    reading = model.read(context, tables.states, identity)
    logits = torch.cat([reading.logits, model.score(rows, reading.state)], dim=1)
    states = functional.pad(tables.states, (0, rows.shape[1]), value=TO_SCORE)
    asked = (states >= _UNLABELED_STATE).float()
    truth = (tables.kind > 0).float()
    log_odds = reading.slope * logits + reading.offset
    ranking = _class_balanced(logits, truth, asked)
    probability = _relative(log_odds, truth, asked)
    unlabeled = (tables.states == _UNLABELED_STATE).float()
    true_share = (truth[:, :n_context] * unlabeled).sum(1) / unlabeled.sum(1).clamp(1)
    bins = share_bin(true_share, model.config.n_share_bins)
    share = functional.cross_entropy(reading.share_logits, bins, reduction="none")
    share = share * (unlabeled.sum(1) > 0)
    total = ranking + probability + _SHARE_WEIGHT * share
    return Losses(total, ranking, probability, share)


def _class_balanced(logits: Tensor, truth: Tensor, asked: Tensor) -> Tensor:
    """Cross-entropy in which both classes weigh one half, (n_tables,)."""
    loss = functional.binary_cross_entropy_with_logits(logits, truth, reduction="none")
    total = torch.zeros_like(loss[:, 0])
    for of_class in (truth * asked, (1 - truth) * asked):
        count = of_class.sum(dim=1).clamp(_FEWEST_POSITIVES)
        total = total + 0.5 * (loss * of_class).sum(dim=1) / count
    return total


def _relative(log_odds: Tensor, truth: Tensor, asked: Tensor) -> Tensor:
    """Cross-entropy over that of knowing the share of anomalies alone, (n_tables,)."""
    loss = functional.binary_cross_entropy_with_logits(log_odds, truth, reduction="none")
    count = asked.sum(dim=1)
    share = ((truth * asked).sum(dim=1) + 1) / (count + 2)
    known = -share * share.log() - (1 - share) * (1 - share).log()
    return (loss * asked).sum(dim=1) / count / known
