"""How far to believe each reading of the unlabeled rows, from training data alone.

Each reading is learnt on its own and scores the rows it has not learnt from. The labels
then say which readings hold.
"""

from collections.abc import Iterable, Mapping

import numpy as np

from spadework.arrays import Flags, Floats, Labels
from spadework.core.trust import (
    AS_NORMAL,
    AS_SUSPECT,
    LABELS,
    ONE_CLASS,
    PSEUDO,
    UNLIKE_NORMAL,
    Evidence,
    Trust,
    as_shares,
    belief_in,
    choosiness_of,
    gini,
)
from spadework.labels import ANOMALY, NORMAL, UNLABELED

BY_CONSENSUS = (PSEUDO, ONE_CLASS, UNLIKE_NORMAL)
"""Readings that count as far as all others agree with the one-class classifiers."""

TAUGHT = (LABELS, AS_NORMAL, PSEUDO)
"""Readings that learn from labeled anomalies."""

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

FEW_ANOMALIES = 8
"""Labeled anomalies at which agreement with what they teach settles half of whether
one-class classifiers are believed; the less, the less it settles."""

LEAST_SURE, MOST_SURE = 0.5, 4.0
"""Weight, at least and at most, of setting unlabeled rows against labeled normals; it is
1 where the two are told apart by one standard error."""

AGREED_SHARE = 0.5
"""Weight, at most, of learning what readings agree on, where these weigh 1 together."""

SURE_ALONE = 8.0
"""Standard errors by which unlabeled rows are told from labeled normals at which that has
halved: suspects need no second round where many labels make them sure."""

ODDEST = 0.1
"""Share of the unlabeled rows that count as odd, by the highest scores."""


def weigh_readings(
    scores: Mapping[str, Floats], labels: Labels, odd: Flags, *, doubt_shift: bool = True
) -> Trust:
    """Weigh readings by what held-out labels say about them.

    A reading counts as far as it ranks labeled anomalies above unlabeled rows, less where
    labeled normals are not typical; see `_believe_learners`. What one-class classifiers
    say counts as far as the other readings, too, rank high what these find odd; see
    `_believe_consensus`.

    Scores are held out, (n_rows,) for each reading; ``odd`` are the rows that the
    one-class classifiers find so. With ``doubt_shift`` suspects and unjudged
    pseudo-labels count less, and unlabeled rows taken for normal more, the better
    unlabeled rows are told from labeled normals that look safer. Trees learn by heart how
    rows were chosen for labeling; a penalised linear model does not, and is judged by the
    labeled anomalies alone.
    """
    evidence = {name: find_evidence(each, labels, name) for name, each in scores.items()}
    riskiness = _riskiness(evidence)
    learners = {name: scores[name] for name in scores if name not in BY_CONSENSUS}
    believed = _believe_learners(
        learners, labels, evidence, riskiness, doubt_shift=doubt_shift
    )
    agreement = _agreement(learners, believed, labels, odd)
    believed |= _believe_consensus(
        believed, labels, evidence, riskiness, agreement, doubt_shift=doubt_shift
    )
    weights = as_shares({name: believed[name] for name in scores})
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
        name: 1.0 if recall is None else gini(recall) for name, recall in recalls.items()
    }
    if LABELS in scores and AS_NORMAL in scores:
        shift = evidence[AS_NORMAL].shift
        safety = 0.0 if shift is None else gini(shift)
        risky = oddest(scores[AS_NORMAL], labels)
        alone = {LABELS: scores[LABELS]}
        consent = _agreement(alone, {LABELS: 1.0}, labels, risky)
        believed[LABELS] *= max(1 - riskiness, 0.0 if consent is None else gini(consent))
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
    """Say how far to believe pseudo-labels and one-class scores, as other learners are.

    They count as far as the other readings agree, and by half where nothing can be
    compared. What few labeled anomalies teach cannot refute them: the fewer there are,
    the nearer to half they count where the others disagree, less as far as they tell
    unlabeled rows from labeled normals, which all of them have seen.

    Where labeled normals look risky, what these teach by pseudo-labels or alone gives
    way. One-class scores learn nothing from labeled anomalies: they count as far as they
    rank these like the best of the readings that do, and more if they do so, unless
    labeled normals look risky.

    Where no anomaly is labeled, one-class scores count by half as far as suspects cannot
    be relied on to judge them, those of labeled normals alone in full, and pseudo-labels
    by half; the latter two the less the better they tell most unlabeled rows from labeled
    normals: then they have learnt how these were chosen.
    """
    belief = UNJUDGED_SHARE if agreement is None else belief_in(agreement)
    sureness = 1.0
    believed: dict[str, float] = {}
    n_anomalies = int((labels == ANOMALY).sum())
    has_anomalies = n_anomalies > 0
    if has_anomalies:
        shift = evidence[ONE_CLASS].shift if ONE_CLASS in evidence else None
        unjudged = UNJUDGED_SHARE * (1 - choosiness_of(shift))
        belief += max(0.0, unjudged - belief) / (1 + (n_anomalies / FEW_ANOMALIES) ** 2)
    if PSEUDO in evidence and has_anomalies:
        believed[PSEUDO] = belief * (1 - riskiness)
    elif PSEUDO in evidence:
        choosiness = choosiness_of(evidence[PSEUDO].shift) if doubt_shift else 0.0
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
        in_full = (1 - sureness) * (1 - choosiness_of(evidence[UNLIKE_NORMAL].shift))
        believed[UNLIKE_NORMAL] *= max(0.0, 1 - 2 * riskiness) * (1 - in_full)
        believed[UNLIKE_NORMAL] += in_full
    return believed


def share_of_agreed(shift: float, labels: Labels) -> float:
    """Return the weight of learning what readings agree on, where these weigh 1 together.

    It is the less the surer suspects are told from labeled normals, with an AUC of so
    much and so many labels, (n_judged,).

    Examples
    --------
    >>> few, many = (np.repeat(np.array([0, -1], np.int8), n) for n in (50, 5_000))
    >>> round(share_of_agreed(0.6, few), 2), round(share_of_agreed(0.6, many), 2)
    (0.48, 0.09)
    """
    sureness = max(0.0, _standard_errors(shift, labels))
    return AGREED_SHARE / (1 + (sureness / SURE_ALONE) ** 2)


def oddest(scores: Floats, labels: Labels) -> Flags:
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


def find_evidence(scores: Floats, labels: Labels, name: str) -> Evidence:
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
    return 0.0 if shift is None else gini(1 - shift)


def _agreement(
    scores: Mapping[str, Floats],
    believed: Mapping[str, float],
    labels: Labels,
    odd: Flags,
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


def _suspicion(shift: float | None, labels: Labels) -> float:
    """How far setting unlabeled rows against labeled normals can be relied on.

    In standard errors of the AUC with which the two are told apart, within limits, and
    less the larger that AUC is: few rows are anomalies, and what tells most of the
    unlabeled rows from labeled normals is how these were chosen.
    """
    if shift is None:
        return 1.0
    sureness = np.clip(_standard_errors(shift, labels), LEAST_SURE, MOST_SURE)
    return float(sureness) * (1 - gini(shift)) ** 2


def _standard_errors(shift: float, labels: Labels) -> float:
    """How far a shift lies above one half, in standard errors of an AUC by chance."""
    n_normals, n_unlabeled = ((labels == kind).sum() for kind in (NORMAL, UNLABELED))
    return float((shift - 0.5) / np.sqrt((1 / n_normals + 1 / n_unlabeled) / 12))


def _lag(recall: float | None, others: Iterable[float | None]) -> float:
    """How far a recall stays behind the best of the others, 0 to 1."""
    best = max((gini(other) for other in others if other is not None), default=0.0)
    if recall is None or best == 0:
        return 0.0
    return 1 - min(1.0, gini(recall) / best) ** 2
