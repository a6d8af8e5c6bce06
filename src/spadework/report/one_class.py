"""What the one-class classifiers make of the unlabeled rows, as plain values."""

from typing import Any

import numpy as np

from spadework.arrays import Floats, Labels
from spadework.core.pseudo_labels import BOTH, Thresholds, log_scale, scale_of, whole_unit
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework.table_model import TableModel

N_BINS, N_MARKS = 40, 60
_VOTES = {"normal": NORMAL, "abstain": UNLABELED, "anomaly": ANOMALY, "both": BOTH}
_LABELS = {"normal": NORMAL, "anomaly": ANOMALY}


def describe_one_class(model: TableModel) -> dict[str, Any] | None:
    """Describe each member's scores, thresholds and votes, and the consensus.

    Votes and pseudo-labels are counted on all unlabeled training rows, scores on those
    that the model remembers. None where every row was labeled.
    """
    labeler, pseudo = model.detector.pseudo_labeler_, model.detector.pseudo_labels_
    labels = model.reference.labels
    if labeler is None or pseudo is None or not (labels == UNLABELED).any():
        return None
    codes = model.detector.model_.represent(model.reference.X)
    scores = labeler.members.score(codes)
    votes = labeler.vote(scores).votes
    members = []
    for k, thresholds in enumerate(zip(*pseudo.thresholds, strict=True)):
        described = _describe_scores(scores[:, k], votes[:, k], labels, *thresholds)
        cast = {
            name: int((pseudo.votes[:, k] == each).sum()) for name, each in _VOTES.items()
        }
        members.append({**described, "votes": cast})
    return {
        "n_rows": len(pseudo.labels),
        "n_shown": int((labels == UNLABELED).sum()),
        "n_members": votes.shape[1],
        "voting": labeler.voting,
        "called": {
            "anomaly": pseudo.n_anomalies,
            "normal": pseudo.n_normals,
            "open": int((pseudo.labels == UNLABELED).sum()),
        },
        "members": members,
    }


def _describe_scores(
    scores: Floats, votes: Labels, labels: Labels, normal: float, anomaly: float
) -> dict[str, Any]:
    """Count one member's scores by vote, on the log scale of its thresholds.

    ``origin`` and ``unit`` lead back from that scale; ``scores`` are the thresholds as
    they are; ``marks`` are labeled rows.
    """
    unlabeled = labels == UNLABELED
    origin, unit = scale_of(scores[unlabeled])
    thresholds = Thresholds(*log_scale(np.array([normal, anomaly]), origin, unit))
    scaled = log_scale(scores, origin, unit)
    edges = _bin_edges(scaled[unlabeled], thresholds)
    shown = {name: scaled[unlabeled & (votes == vote)] for name, vote in _VOTES.items()}
    return {
        "origin": float(origin),
        "unit": float(whole_unit(unit)),
        "edges": edges.tolist(),
        "counts": {n: np.histogram(each, edges)[0].tolist() for n, each in shown.items()},
        "scores": {"normal": float(normal), "anomaly": float(anomaly)},
        "thresholds": {name: float(at) for name, at in thresholds._asdict().items()},
        "marks": {
            name: np.clip(_thin(scaled[labels == label]), *edges[[0, -1]]).tolist()
            for name, label in _LABELS.items()
        },
    }


def _bin_edges(scores: Floats, thresholds: Thresholds) -> Floats:
    """Part the range of scores into bins of about one width, none across a threshold."""
    everything = np.append(scores, thresholds)
    low, high = everything.min(), everything.max()
    step = (high - low) / N_BINS or 1.0
    stops = np.unique([low, *thresholds, high if high > low else low + step])
    n_bins = np.maximum(1, np.round(np.diff(stops) / step)).astype(int)
    parts = [
        np.linspace(start, stop, n, endpoint=False)
        for start, stop, n in zip(stops[:-1], stops[1:], n_bins, strict=True)
    ]
    return np.append(np.concatenate(parts), stops[-1])


def _thin(scores: Floats) -> Floats:
    """Return the scores, or quantiles of them where they are many."""
    if len(scores) <= N_MARKS:
        return scores
    return np.quantile(scores, np.linspace(0, 1, N_MARKS))
