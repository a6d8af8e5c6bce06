"""Pseudo-labels of many networks at once: the networks are an axis of every tensor.

The same as `spadework.core.pseudo_labels`, with thresholds looked for among whole
percentiles of the unlabeled scores, and with the readings that it has no option for.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework_research.reproduction.options import Setting

LEVELS = 128
"""Quantiles by which the distance of two samples of scores is measured."""

TAILS = 100
"""Tails that are compared: one a percentile."""


class Scores(NamedTuple):
    """Scores of all rows, and of some of them in order.

    Attributes
    ----------
    all : Tensor of shape (n_networks, n_members, n_rows)
    unlabeled, normals, anomalies : Tensor, the same shape
        Those of each kind in ascending order, infinite behind the last.
    counts : dict
        Rows of each kind, (n_networks,).
    """

    all: Tensor
    ordered: dict[int, Tensor]
    counts: dict[int, Tensor]


def pseudo_label(
    codes: Tensor, labels: Tensor, setting: Setting, generator: torch.Generator
) -> Tensor:
    """Label the unlabeled rows by consensus of one-class models on the code.

    Parameters
    ----------
    codes : Tensor of shape (n_networks, n_rows, n_hidden)
    labels : Tensor of shape (n_networks, n_rows)

    Returns
    -------
    targets : Tensor of shape (n_networks, n_rows)
        Pseudo-labels 1, 0 and -1 of the unlabeled rows, and the labels of the others.
    """
    codes = _normalise(codes.double(), labels, setting["code"])
    groups = _split(labels, setting["n_members"], generator)
    weights = torch.stack([groups == k for k in range(setting["n_members"])], dim=1)
    if setting["labeled_normals"]:
        weights |= (labels == NORMAL)[:, None]
    raw = _gaussian_scores(codes, weights.double(), setting)
    scores = _order(_rescale(raw, labels, setting["score_scale"]), labels)
    below, above = _thresholds(scores, setting)
    normal = _agreed(scores.all < below[..., None], setting["voting"])
    anomalous = _agreed(scores.all > above[..., None], setting["voting"])
    return _combine(normal, anomalous, labels, setting)


def _normalise(codes: Tensor, labels: Tensor, kind: str) -> Tensor:
    """Bring codes to length one, or their dimensions to unit variance."""
    codes = codes.nan_to_num(nan=0.0).clamp(-1e6, 1e6)  # of networks that diverge
    if kind == "unit":
        return codes / codes.norm(dim=-1, keepdim=True).clamp(min=1e-12)
    if kind == "standard":
        spread = codes.std(dim=1, keepdim=True)
        return (codes - codes.mean(dim=1, keepdim=True)) / spread.clamp(min=1e-12)
    return codes


def _split(labels: Tensor, n_members: int, generator: torch.Generator) -> Tensor:
    """Deal the unlabeled rows into parts; -1 for rows of none, (n_networks, n_rows)."""
    random = torch.rand(labels.shape, generator=generator)
    random[labels != UNLABELED] = 2.0
    part = torch.arange(labels.shape[1]).expand(labels.shape) % n_members
    dealt = torch.empty_like(part).scatter_(1, random.argsort(dim=1), part)
    return torch.where(labels == UNLABELED, dealt, -1)


def _gaussian_scores(codes: Tensor, weights: Tensor, setting: Setting) -> Tensor:
    """Negative log-likelihood of all rows, (n_networks, n_members, n_rows)."""
    counts = weights.sum(dim=2)
    means = weights @ codes / counts[..., None]  # (M, K, h)
    eye = torch.eye(codes.shape[2], dtype=codes.dtype)
    inverses, log_norms = [], []
    for k in range(weights.shape[1]):
        centred = codes - means[:, k, None]
        covariance = (centred * weights[:, k, :, None]).mT @ centred
        covariance = covariance / counts[:, k, None, None]
        if setting["covariance"] == "diagonal":
            covariance = covariance * eye
        scale = covariance.diagonal(dim1=1, dim2=2).amax(dim=1)
        floor = torch.clamp(1e-13 * scale, min=setting["floor"])
        factor = torch.linalg.cholesky(covariance + floor[:, None, None] * eye)
        inverses.append(
            torch.linalg.solve_triangular(factor, eye.expand_as(factor), upper=False).mT
        )
        log_norms.append(factor.diagonal(dim1=1, dim2=2).log().sum(dim=1))
    whitening = torch.stack(inverses, dim=1)  # (M, K, h, h)
    origin = means[:, :, None] @ whitening
    white = [codes @ whitening[:, k] - origin[:, k] for k in range(weights.shape[1])]
    squares = torch.stack([each.square_().sum(dim=2) for each in white], dim=1)
    return 0.5 * squares + torch.stack(log_norms, dim=1)[..., None]


def _rescale(scores: Tensor, labels: Tensor, scale: str) -> Tensor:
    """Put scores on a log scale, or replace them by their rank among the unlabeled."""
    if scale == "raw":
        return scores
    unlabeled = _sorted(scores, labels == UNLABELED)
    count = (labels == UNLABELED).sum(dim=1)
    if scale == "log":
        origin = unlabeled[..., :1]
        middle = _at(unlabeled, (count // 2)[:, None, None].expand_as(origin))
        return torch.log1p((scores - origin).clamp(min=0) / (middle - origin + 1e-12))
    rank = torch.searchsorted(unlabeled, scores.contiguous())
    return rank / count[:, None, None].double()


def _order(scores: Tensor, labels: Tensor) -> Scores:
    kinds = (UNLABELED, NORMAL, ANOMALY)
    return Scores(
        scores,
        {kind: _sorted(scores, labels == kind) for kind in kinds},
        {kind: (labels == kind).sum(dim=1) for kind in kinds},
    )


def _sorted(scores: Tensor, chosen: Tensor) -> Tensor:
    """Sort the scores of chosen rows, and put infinity behind them."""
    count = chosen.sum(dim=1, keepdim=True)
    n_most = max(1, int(count.max()))
    rows = chosen.to(torch.int8).argsort(dim=1, descending=True)[:, :n_most]
    picked = scores.gather(2, rows[:, None].expand(-1, scores.shape[1], -1))
    beyond = torch.arange(n_most) >= count
    return picked.masked_fill(beyond[:, None], torch.inf).sort(dim=2).values


def _at(ordered: Tensor, position: Tensor) -> Tensor:
    return ordered.gather(2, position.clamp(0, ordered.shape[2] - 1))


def _thresholds(scores: Scores, setting: Setting) -> tuple[Tensor, Tensor]:
    """Return the scores below which and above which members vote, (M, K) each."""
    rule = setting["thresholds"]
    if not isinstance(rule, str):
        count = scores.counts[UNLABELED]
        low, high = (_percentile(scores, count, share) for share in rule)
        return low, high
    otsu = _otsu(scores)
    pair = []
    for kind in (NORMAL, ANOMALY):
        if rule == "otsu":
            pair.append(otsu)
            continue
        matched = _match(scores, kind, setting["range"])
        there = (scores.counts[kind] > 0)[:, None]
        pair.append(torch.where(there, matched, otsu))
    return pair[0], pair[1]


def _percentile(scores: Scores, count: Tensor, share: float) -> Tensor:
    place = (share / 100 * (count - 1)).round().long()
    place = place[:, None, None].expand(*scores.all.shape[:2], 1)
    return _at(scores.ordered[UNLABELED], place)[..., 0]


def _match(scores: Scores, kind: int, allowed: str) -> Tensor:
    """Partial matching (eq. 3, 4) over percentiles, (n_networks, n_members)."""
    unlabeled, labeled = scores.ordered[UNLABELED], scores.ordered[kind]
    n_networks, n_members = scores.all.shape[:2]
    count = scores.counts[UNLABELED][:, None]  # (M, 1)
    share = torch.arange(TAILS, dtype=torch.float64) / TAILS
    if allowed == "halves":
        share = share[TAILS // 2 :]
    cut = (share * count).long()  # (M, P): rows outside the tail
    level = (torch.arange(LEVELS, dtype=torch.float64) + 0.5) / LEVELS
    inside = (level * (count - cut)[..., None]).long()  # (M, P, L)
    position = inside + (cut[..., None] if kind == ANOMALY else 0)
    flat = position.reshape(n_networks, 1, -1).expand(-1, n_members, -1)
    tails = _at(unlabeled, flat).view(n_networks, n_members, len(share), LEVELS)
    place = (level * scores.counts[kind][:, None]).long()
    quantiles = _at(labeled, place[:, None].expand(-1, n_members, -1))
    distance = (tails - quantiles[:, :, None]).abs().mean(dim=-1)
    distance = torch.nan_to_num(distance, nan=torch.inf)
    best = distance.argmin(dim=-1)  # (M, K)
    outside = cut.gather(1, best)
    if kind == ANOMALY:
        edge = _at(unlabeled, (outside - 1)[..., None])[..., 0]
        return torch.where(outside > 0, edge, -torch.inf)
    last = count - outside
    edge = _at(unlabeled, last[..., None])[..., 0]
    return torch.where(outside > 0, edge, torch.inf)


def _otsu(scores: Scores) -> Tensor:
    """Otsu's threshold of the unlabeled scores, (n_networks, n_members)."""
    ordered = scores.ordered[UNLABELED]
    count = scores.counts[UNLABELED][:, None, None].double()
    there = torch.isfinite(ordered)
    filled = torch.where(there, ordered, 0.0)
    filled = torch.where(there, filled - filled.sum(-1, keepdim=True) / count, 0.0)
    size = torch.arange(1, ordered.shape[2] + 1, dtype=torch.float64)
    between = filled.cumsum(-1) ** 2 / (size * (count - size)).clamp(min=1e-9)
    between = between.masked_fill(size >= count, -torch.inf)
    split = between.argmax(dim=-1, keepdim=True)
    middle = (_at(ordered, split) + _at(ordered, split + 1)) / 2
    return middle[..., 0]


def _agreed(votes: Tensor, voting: str) -> Tensor:
    """Rows on which members agree, (n_networks, n_rows)."""
    if voting == "unanimous":
        return votes.all(dim=1)
    return 2 * votes.sum(dim=1) > votes.shape[1]


def _combine(
    normal: Tensor, anomalous: Tensor, labels: Tensor, setting: Setting
) -> Tensor:
    """Turn consensus into targets, whoever wins where both conditions hold."""
    targets = torch.full_like(labels, UNLABELED)
    targets[normal & ~anomalous] = NORMAL
    targets[anomalous & ~normal] = ANOMALY
    winner = {"unknown": UNLABELED, "normal": NORMAL, "anomaly": ANOMALY}
    targets[normal & anomalous] = winner[setting["both"]]
    if setting["missing_class"] == "stand_in":
        for kind in (ANOMALY, NORMAL):
            lacking = ~(labels == kind).any(dim=1, keepdim=True)
            targets[lacking & (targets == UNLABELED)] = kind
    return torch.where(labels == UNLABELED, targets, labels)
