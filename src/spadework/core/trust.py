"""How far to believe each reading of the unlabeled rows, from training data alone.

Unlabeled rows can be read in six ways: left out, taken for normal, taken for suspects,
pseudo-labeled by the consensus of one-class classifiers, scored by these as they are, or
scored by a one-class classifier of labeled normals alone. Each reading is learnt on its
own and scores the rows it has not learnt from. The labels then say which readings hold.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spadework.labels import ANOMALY, NORMAL, UNLABELED

Floats = NDArray[np.float64]
Labels = NDArray[np.int8]

LABELS, AS_NORMAL, AS_SUSPECT = "labels", "as_normal", "as_suspect"
PSEUDO, ONE_CLASS, UNLIKE_NORMAL = "pseudo", "one_class", "unlike_normal"
READINGS = (LABELS, AS_NORMAL, AS_SUSPECT, PSEUDO, ONE_CLASS, UNLIKE_NORMAL)
BY_CONSENSUS = (PSEUDO, ONE_CLASS, UNLIKE_NORMAL)
"""Readings that count as far as all others agree with the one-class classifiers."""

TAUGHT = (LABELS, AS_NORMAL, PSEUDO)
"""Readings that learn from labeled anomalies."""

FULL_AGREEMENT = 0.75
"""AUC at which the other readings find odd rows anomalous enough for pseudo-labels to
count in full; at 0.5 they do not count."""

ONE_CLASS_SHARE = 0.5
"""Weight of one-class scores themselves, where what they teach weighs 1; those of labeled
normals alone weigh as much as that where nothing else can be relied on."""

CONFIRMED = 1.5
"""How many times as much they count where they rank labeled anomalies as the best of the
readings does that learn from these, and labeled normals do not look risky."""

UNJUDGED_SHARE = 0.5
"""Weight, at most, of pseudo-labels where no anomaly is labeled that could judge them; of
one-class scores there, as far as suspects cannot be relied on to do so; and of both where
anomalies are labeled but nothing that learns from them can be relied on."""

LEAST_SURE, MOST_SURE = 0.5, 4.0
"""Weight, at least and at most, of setting unlabeled rows against labeled normals; it is
1 where the two are told apart by one standard error."""

ODDEST = 0.1
"""Share of the unlabeled rows that count as odd, by the highest scores."""

CHANCE = 0.45
"""AUC down to which the other readings find odd rows as anomalous as any, not less."""

NEGLIGIBLE = 0.03
"""Weight up to which a reading, or a model beside it, does not count: it would take time
and change nothing."""


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
        By reading: "labels" (unlabeled rows left out), "as_normal" (taken for
        normal), "as_suspect" (set against labeled normals), "pseudo"
        (pseudo-labeled), "one_class" (one-class scores alone) and "unlike_normal" (those
        of labeled normals alone). They sum to one.
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
        return replace(self, weights=_shares(counted))

    def __str__(self) -> str:
        """One honest sentence on the pseudo-labels, and the weights."""
        weight = self.weights.get(PSEUDO, 0.0)
        counted = {n: w if w > NEGLIGIBLE else 0 for n, w in self.weights.items()}
        parts = ", ".join(f"{name} {value:.2f}" for name, value in counted.items())
        return f"{self._verdict(weight)}; weights: {parts}"

    def _verdict(self, weight: float) -> str:
        if PSEUDO not in self.weights:
            return "no pseudo-labels: every row was labeled, or they were not asked for"
        used = f"pseudo-labels used at weight {weight:.2f}"
        if not self._has_anomalies:
            return self._unjudged(weight)
        if self.agreement is None:
            return (
                f"{used}: nothing can judge them, as no reading ranks labeled anomalies "
                f"high that it has not learnt from"
            )
        agreement = f"AUC {self.agreement:.2f}"
        if weight <= NEGLIGIBLE and 1 - self.riskiness < _belief(self.agreement):
            return (
                f"pseudo-labels not used: they learn from labeled normals, and only "
                f"suspicious rows were labeled normal; consensus and labels agree "
                f"({agreement})"
            )
        if weight <= NEGLIGIBLE and self.agreement > CHANCE:
            return (
                f"pseudo-labels not used: next to what the labels say, the one-class "
                f"models agree too little to count ({agreement})"
            )
        if weight <= NEGLIGIBLE:
            return (
                f"pseudo-labels not used: the one-class models contradict what the "
                f"labels say ({agreement}); scores come from labels and unlabeled rows"
            )
        how_far = "agree in part" if self.agreement > 0.5 else "disagree"
        if self.agreement >= FULL_AGREEMENT:
            how_far = "agree"
        return f"{used}: consensus and labels {how_far}, {agreement}"

    def _unjudged(self, weight: float) -> str:
        used = f"used at weight {weight:.2f}" if weight > NEGLIGIBLE else "not used"
        verdict = f"pseudo-labels {used}: no labeled anomaly can judge them"
        shift = self.evidence[PSEUDO].shift
        if _choosiness(shift) == 0:
            return verdict
        return (
            f"{verdict}, and they tell labeled normals from most other rows (AUC "
            f"{shift:.2f}), as if these had been chosen by their looks"
        )

    @property
    def _has_anomalies(self) -> bool:
        return any(each.recall is not None for each in self.evidence.values())


def weigh_readings(
    scores: Mapping[str, Floats],
    labels: Labels,
    odd: NDArray[np.bool_],
    *,
    doubt_shift: bool = True,
) -> Trust:
    """Weigh readings by what held-out labels say about them.

    A reading counts as far as it ranks labeled anomalies above unlabeled rows, less where
    labeled normals are not typical; see `_believe_learners`. What one-class classifiers
    say counts as far as the other readings, too, rank high what these find odd; see
    `_believe_consensus`.

    Parameters
    ----------
    scores : mapping of ndarray of shape (n_rows,)
        Held-out scores by reading.
    labels : ndarray of shape (n_rows,)
    odd : ndarray of shape (n_rows,)
        Rows that the one-class classifiers find odd.
    doubt_shift : bool
        Whether suspects and unjudged pseudo-labels count less, and unlabeled rows taken
        for normal more, the better unlabeled rows are told from labeled normals that look
        safer. Trees learn by heart how rows were chosen for labeling; a penalised linear
        model does not, and is judged by the labeled anomalies alone.
    """
    evidence = {name: _evidence(each, labels, name) for name, each in scores.items()}
    riskiness = _riskiness(evidence)
    learners = {name: scores[name] for name in scores if name not in BY_CONSENSUS}
    believed = _believe_learners(
        learners, labels, evidence, riskiness, doubt_shift=doubt_shift
    )
    agreement = _agreement(learners, believed, labels, odd)
    believed |= _believe_consensus(
        believed, labels, evidence, riskiness, agreement, doubt_shift=doubt_shift
    )
    weights = _shares({name: believed[name] for name in scores})
    return Trust(weights, evidence, agreement, riskiness)


def _believe_learners(
    scores: Mapping[str, Floats],
    labels: Labels,
    evidence: Mapping[str, Evidence],
    riskiness: float,
    *,
    doubt_shift: bool,
) -> dict[str, float]:
    """Say how far to believe what is learnt without one-class classifiers.

    Where labeled normals can be told from unlabeled rows, they are not typical, and
    unlabeled rows are the better normals: reading these as normal counts as far as that.
    Where labeled normals look riskier, only suspicious rows were checked: labels alone
    give way as far as they rank low what reading unlabeled rows as normal finds odd.
    Setting unlabeled rows against labeled normals counts the more the surer the two can
    be told apart, as many labels let them be, and the less the better they can: then they
    differ by more than by anomalies. It learns nothing from labeled anomalies: it counts
    as far as it ranks these like the best of the readings that do.
    """
    recalls = {name: evidence[name].recall for name in scores}
    believed = {
        name: 1.0 if recall is None else _gini(recall) for name, recall in recalls.items()
    }
    if LABELS in scores and AS_NORMAL in scores:
        shift = evidence[AS_NORMAL].shift
        safety = 0.0 if shift is None else _gini(shift)
        risky = oddest(scores[AS_NORMAL], labels)
        alone = {LABELS: scores[LABELS]}
        consent = _agreement(alone, {LABELS: 1.0}, labels, risky)
        believed[LABELS] *= max(1 - riskiness, 0.0 if consent is None else _gini(consent))
        believed[AS_NORMAL] *= max(riskiness, safety) if doubt_shift else riskiness
    if AS_SUSPECT in scores and doubt_shift:
        lag = _lag(recalls[AS_SUSPECT], recalls.values())
        suspicion = _suspicion(evidence[AS_SUSPECT].shift, labels)
        believed[AS_SUSPECT] *= suspicion * (1 - lag)
    return believed


def _believe_consensus(
    learners: Mapping[str, float],
    labels: Labels,
    evidence: Mapping[str, Evidence],
    riskiness: float,
    agreement: float | None,
    *,
    doubt_shift: bool,
) -> dict[str, float]:
    """Say how far to believe pseudo-labels and one-class scores.

    They count as far as the other readings agree, and by half where nothing can be
    compared. Where labeled normals look risky, what these teach by pseudo-labels or alone
    gives way. One-class scores learn nothing from labeled anomalies: they count as far as
    they rank these like the best of the readings that do, and more if they do so, unless
    labeled normals look risky.

    Where no anomaly is labeled, one-class scores count by half as far as suspects cannot
    be relied on to judge them, those of labeled normals alone in full, and pseudo-labels
    by half; the latter two the less the better they tell most unlabeled rows from labeled
    normals: then they have learnt how these were chosen.

    Parameters
    ----------
    learners : mapping of float
        How far the other readings are believed.
    """
    belief = UNJUDGED_SHARE if agreement is None else _belief(agreement)
    sureness = 1.0
    believed: dict[str, float] = {}
    has_anomalies = (labels == ANOMALY).any()
    if PSEUDO in evidence and has_anomalies:
        believed[PSEUDO] = belief * (1 - riskiness)
    elif PSEUDO in evidence:
        choosiness = _choosiness(evidence[PSEUDO].shift) if doubt_shift else 0.0
        believed[PSEUDO] = UNJUDGED_SHARE * (1 - choosiness)
    if not has_anomalies:
        sureness = min(1.0, learners.get(AS_SUSPECT, 0.0))
        belief = sureness * belief + (1 - sureness) * UNJUDGED_SHARE
    recalls = [evidence[name].recall for name in learners]
    for name in (ONE_CLASS, UNLIKE_NORMAL):
        if name in evidence:
            believed[name] = ONE_CLASS_SHARE * belief
            if has_anomalies:
                lag = _lag(evidence[name].recall, recalls)
                believed[name] *= CONFIRMED ** (1 - riskiness) * (1 - lag)
    if UNLIKE_NORMAL in evidence:
        in_full = (1 - sureness) * (1 - _choosiness(evidence[UNLIKE_NORMAL].shift))
        believed[UNLIKE_NORMAL] *= max(0.0, 1 - 2 * riskiness) * (1 - in_full)
        believed[UNLIKE_NORMAL] += in_full
    return believed


def oddest(scores: Floats, labels: Labels) -> NDArray[np.bool_]:
    """Tell which rows score as high as the oddest of the unlabeled ones, (n_rows,)."""
    return scores >= np.quantile(scores[labels == UNLABELED], 1 - ODDEST)


def auc(high: Floats, low: Floats) -> float | None:
    """Chance that a score of ``high`` lies above one of ``low``; ties count half."""
    if not len(high) or not len(low):
        return None
    return float(_ranks(high, low).mean())


def _ranks(scores: Floats, reference: Floats) -> Floats:
    """Share of the reference below each score, ties counted half; (n_scores,)."""
    ordered = np.sort(reference)
    below = np.searchsorted(ordered, scores, side="left")
    not_above = np.searchsorted(ordered, scores, side="right")
    return (below + not_above) / (2 * len(reference))


def _evidence(scores: Floats, labels: Labels, name: str) -> Evidence:
    """Judge a reading by its held-out scores."""
    anomalies, normals, unlabeled = (
        scores[labels == kind] for kind in (ANOMALY, NORMAL, UNLABELED)
    )
    held_out = name not in TAUGHT or len(anomalies) > 1
    recall = auc(anomalies, unlabeled) if held_out else None
    return Evidence(recall, auc(unlabeled, normals))


def _riskiness(evidence: Mapping[str, Evidence]) -> float:
    """How far labeled normals look more anomalous than unlabeled rows, 0 to 1."""
    if LABELS not in evidence or AS_NORMAL not in evidence:
        return 0.0
    shift = evidence[AS_NORMAL].shift
    return 0.0 if shift is None else _gini(1 - shift)


def _agreement(
    scores: Mapping[str, Floats],
    believed: Mapping[str, float],
    labels: Labels,
    odd: NDArray[np.bool_],
) -> float | None:
    """AUC of readings together, odd unlabeled rows against the rest.

    Where none is believed, or no row is odd, there is none.
    """
    if sum(believed[name] for name in scores) == 0:
        return None
    unlabeled = labels == UNLABELED
    blend = np.zeros(unlabeled.sum())
    for name, each in scores.items():
        blend += believed[name] * _ranks(each[unlabeled], each[unlabeled])
    return auc(blend[odd[unlabeled]], blend[~odd[unlabeled]])


def _belief(agreement: float) -> float:
    """Map an agreement to 0 .. 1, rising from 0.5 to full agreement."""
    return float(np.clip((agreement - 0.5) / (FULL_AGREEMENT - 0.5), 0, 1))


def _suspicion(shift: float | None, labels: Labels) -> float:
    """How far setting unlabeled rows against labeled normals can be relied on.

    In standard errors of the AUC with which the two are told apart, within limits, and
    less the larger that AUC is: few rows are anomalies, and what tells most of the
    unlabeled rows from labeled normals is how these were chosen.
    """
    if shift is None:
        return 1.0
    n_normals, n_unlabeled = ((labels == kind).sum() for kind in (NORMAL, UNLABELED))
    error = np.sqrt((1 / n_normals + 1 / n_unlabeled) / 12)
    sureness = np.clip((shift - 0.5) / error, LEAST_SURE, MOST_SURE)
    return float(sureness) * (1 - _gini(shift)) ** 2


def _choosiness(shift: float | None) -> float:
    """How far rows were chosen to be labeled normal by their looks, 0 to 1.

    If fewer than half of the unlabeled rows are anomalies, no reading tells unlabeled
    rows from labeled normals with an AUC above 0.75 by these alone.
    """
    return 0.0 if shift is None else _gini(_gini(shift))


def _lag(recall: float | None, others: Iterable[float | None]) -> float:
    """How far a recall stays behind the best of the others, 0 to 1."""
    best = max((_gini(other) for other in others if other is not None), default=0.0)
    if recall is None or best == 0:
        return 0.0
    return 1 - min(1.0, _gini(recall) / best) ** 2


def _gini(auc: float) -> float:
    """Map an AUC of 0.5 .. 1 to 0 .. 1, and what lies below to 0."""
    return max(0.0, 2 * auc - 1)


def _shares(believed: Mapping[str, float]) -> dict[str, float]:
    """Beliefs as shares of one; if nothing is believed, all count the same."""
    total = sum(believed.values())
    if total == 0:
        return {name: 1 / len(believed) for name in believed}
    return {name: value / total for name, value in believed.items()}
