"""Pseudo-labelers as detectors make them, for tests of what lies below detectors."""

from spadework.core.pseudo_labels import PseudoLabeler
from spadework.learners.one_class import make_one_class


def new_labeler(one_class="gaussian", **changes):
    """Return a pseudo-labeler of three members, else as `SPADE` makes it by default."""
    options = {
        "n_members": 3,
        "thresholds": "bounded",
        "voting": "unanimous",
        "abstain": True,
        "use_labeled_normals": True,
        "score_scale": "log",
        "stand_in": True,
    }
    return PseudoLabeler(one_class=make_one_class(one_class), **(options | changes))
