"""What a detector made of the unlabeled rows, in words."""

from typing import Any

from spadework.core.trust import (
    AGREED,
    AS_NORMAL,
    AS_SUSPECT,
    LABELS,
    ONE_CLASS,
    PSEUDO,
    UNLIKE_NORMAL,
    Trust,
)

MEANINGS = {
    LABELS: "left out",
    AS_NORMAL: "taken for normal",
    AS_SUSPECT: "set against labeled normals",
    PSEUDO: "labeled by consensus of one-class classifiers",
    ONE_CLASS: "scored by the one-class classifiers",
    UNLIKE_NORMAL: "scored by how unlike labeled normals they are",
    AGREED: "taken for what the other readings agree on",
    "patches": "scored by how unlike those of normal pictures their patches are",
}
"""What unlabeled rows or pictures are to each reading."""


def describe_trust(trust: Trust | None) -> dict[str, Any] | None:
    """Return the verdict on pseudo-labels; name, meaning and weight of every reading.

    And whether anything has been learnt from pseudo-labels.
    """
    if trust is None:
        return None
    return {
        "sentence": trust.verdict,
        "pseudo_labels_learnt": trust.weights.get(PSEUDO, 0.0) > 0,
        "readings": [(n, MEANINGS[n], weight) for n, weight in trust.weights.items()],
    }
