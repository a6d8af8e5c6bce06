"""What is believed of each reading of the unlabeled rows, and the sentence that says so.

Unlabeled rows can be read in six ways: left out, taken for normal, taken for suspects,
pseudo-labeled by the consensus of one-class classifiers, scored by these as they are, or
scored by a one-class classifier of labeled normals alone. Where no anomaly is labeled
that could judge pseudo-labels, rows are taken for what the other readings agree on
instead. `weighing` weighs them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

LABELS, AS_NORMAL, AS_SUSPECT = "labels", "as_normal", "as_suspect"
PSEUDO, ONE_CLASS, UNLIKE_NORMAL = "pseudo", "one_class", "unlike_normal"
AGREED = "agreed"
LEARNT = (LABELS, AS_NORMAL, AS_SUSPECT, PSEUDO, AGREED)
READINGS = (LABELS, AS_NORMAL, AS_SUSPECT, PSEUDO, ONE_CLASS, UNLIKE_NORMAL, AGREED)

FULL_AGREEMENT = 0.75
"""AUC at which the other readings find odd rows anomalous enough for pseudo-labels to
count in full; at 0.5 they do not count."""

CHANCE = 0.45
"""AUC down to which the other readings find odd rows as anomalous as any, not less."""


class Evidence(NamedTuple):
    """What speaks for a reading.

    ``recall`` is the AUC of labeled anomalies against unlabeled rows, ``shift`` that
    of unlabeled rows against labeled normals, both by scores of rows whose labels the
    reading has not learnt from; None where there are no such labels, or where the
    reading has learnt from the only labeled anomaly. One-class classifiers have seen
    the unlabeled rows without labels.
    """

    recall: float | None
    shift: float | None


@dataclass(frozen=True)
class Trust:
    """The weight of every reading, and what it rests on.

    Attributes
    ----------
    weights : dict of float
        By reading, as `ForestLearner` lists them. They sum to one; 0 is the weight of
        readings that the model does without.
    evidence : dict of Evidence
    agreement : float or None
        AUC with which the other readings tell odd rows from the rest of the unlabeled
        rows; None where nothing can be compared.
    riskiness : float
        How far labeled normals look more anomalous than unlabeled rows, 0 to 1:
        near 1 where only suspicious rows were checked.
    """

    weights: dict[str, float]
    evidence: dict[str, Evidence]
    agreement: float | None
    riskiness: float

    def counting(self, name: str, times: float) -> "Trust":
        """Let a reading, where it is there, count several times."""
        counted = {
            each: times * weight if each == name else weight
            for each, weight in self.weights.items()
        }
        return replace(self, weights=as_shares(counted))

    def joined_by(
        self, name: str, weight: float, evidence: Evidence | None = None
    ) -> "Trust":
        """Let one more reading count so much, where all others together count 1."""
        weights = as_shares(self.weights | {name: weight})
        known = {} if evidence is None else {name: evidence}
        return replace(self, weights=weights, evidence=self.evidence | known)

    def __str__(self) -> str:
        """One honest sentence on the pseudo-labels, and the weights."""
        parts = ", ".join(f"{name} {value:.2f}" for name, value in self.weights.items())
        return f"{self.verdict}; weights: {parts}"

    @property
    def verdict(self) -> str:
        """One honest sentence on the pseudo-labels."""
        if PSEUDO not in self.weights and AGREED in self.weights:
            why = (
                "pseudo-labels of one-class models not used, as no labeled anomaly can "
                "judge them"
            )
            weight = self.weights[AGREED]
            if weight == 0:
                return (
                    f"{why}; nor is what other readings agree on, which would add nothing"
                )
            return f"{why}; what other readings agree on is learnt at weight {weight:.2f}"
        if PSEUDO not in self.weights:
            return "no pseudo-labels: every row was labeled, or they were not asked for"
        weight = self.weights[PSEUDO]
        used = f"pseudo-labels used at weight {weight:.2f}"
        if not self._has_anomalies:
            return self._unjudged(weight)
        if self.agreement is None:
            return (
                f"{used}: nothing can judge them, as no reading ranks labeled anomalies "
                f"high that it has not learnt from"
            )
        agreement = f"AUC {self.agreement:.2f}"
        if not weight and 1 - self.riskiness < belief_in(self.agreement):
            return (
                f"pseudo-labels not used: they learn from labeled normals, and only "
                f"suspicious rows were labeled normal; consensus and labels agree "
                f"({agreement})"
            )
        if not weight and self.agreement > CHANCE:
            return (
                f"pseudo-labels not used: next to what the labels say, the one-class "
                f"models agree too little to count ({agreement})"
            )
        if not weight:
            return (
                f"pseudo-labels not used: the one-class models contradict what the "
                f"labels say ({agreement}); scores come from labels and unlabeled rows"
            )
        if self.agreement <= 0.5:
            return (
                f"{used}: consensus and labels disagree ({agreement}), but too few "
                f"anomalies are labeled to refute it"
            )
        how_far = "agree" if self.agreement >= FULL_AGREEMENT else "agree in part"
        return f"{used}: consensus and labels {how_far}, {agreement}"

    def _unjudged(self, weight: float) -> str:
        used = f"used at weight {weight:.2f}" if weight else "not used"
        verdict = f"pseudo-labels {used}: no labeled anomaly can judge them"
        shift = self.evidence[PSEUDO].shift
        if choosiness_of(shift) == 0:
            return verdict
        return (
            f"{verdict}, and they tell labeled normals from most other rows (AUC "
            f"{shift:.2f}), as if these had been chosen by their looks"
        )

    @property
    def _has_anomalies(self) -> bool:
        return any(each.recall is not None for each in self.evidence.values())


def belief_in(agreement: float) -> float:
    """Map an agreement to 0 .. 1, rising from 0.5 to full agreement."""
    return float(np.clip((agreement - 0.5) / (FULL_AGREEMENT - 0.5), 0, 1))


def choosiness_of(shift: float | None) -> float:
    """How far rows were chosen to be labeled normal by their looks, 0 to 1.

    If fewer than half of the unlabeled rows are anomalies, no reading tells unlabeled
    rows from labeled normals with an AUC above 0.75 by these alone.
    """
    return 0.0 if shift is None else gini(gini(shift))


def gini(auc: float) -> float:
    """Map an AUC of 0.5 .. 1 to 0 .. 1, and what lies below to 0."""
    return max(0.0, 2 * auc - 1)


def as_shares(believed: Mapping[str, float]) -> dict[str, float]:
    """Beliefs as shares of one; if nothing is believed, all count the same."""
    total = sum(believed.values())
    if total == 0:
        return {name: 1 / len(believed) for name in believed}
    return {name: value / total for name, value in believed.items()}
