"""A second round: learn what the readings of the first one agree on.

Where no anomaly is labeled, nothing can judge what one-class classifiers teach. So the
other readings label the unlabeled rows anew, as Algorithm 1 of the paper does from epoch
to epoch: rows that they would call together are taken for anomalous, most others for
normal. Trees that learn from these see what sets apart the rows that several readings
find odd, each of which has whims of its own.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from spadework.arrays import Floats, Labels
from spadework.core.matching import decide_threshold
from spadework.core.trust import AGREED, AS_SUSPECT, Trust
from spadework.core.weighing import find_evidence, share_of_agreed
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework.learners.blend import blend_held_out, blend_readings
from spadework.learners.companions import NEGLIGIBLE, Beside, side_by_side
from spadework.learners.contract import GrownReading, Task
from spadework.learners.growing import Grower
from spadework.learners.readings import read_targets

NORMAL_SHARE, ANOMALOUS_SHARE = 0.8, 0.1
"""Shares of the unlabeled rows: of those that readings rank lowest, taken for normal; of
those that they rank highest, taken for anomalous at most."""


def learn_agreed(
    trees: Grower,
    grown: Mapping[str, GrownReading],
    beside: Beside,
    trust: Trust,
    **limits: Any,
) -> tuple[dict[str, GrownReading], Trust]:
    """Grow trees on what readings agree on, unless these would count for nothing.

    Limits are as of `read_targets`. The new reading is returned, if there is one, and the
    trust with its weight, which may be 0.
    """
    task = trees.task
    shift = trust.evidence[AS_SUSPECT].shift
    assert shift is not None  # normal and unlabeled rows are judged
    share = share_of_agreed(shift, task.judged_labels)
    reading = None
    if share > NEGLIGIBLE * (1 + share):
        targets = agree(grown, beside, trust.weights, task)
        reading = read_targets(task.labels, targets, **limits)
    if reading is None:
        return {}, trust.joined_by(AGREED, 0.0)
    agreed = trees.grow({AGREED: reading}, "growing trees on what readings agree on")
    evidence = find_evidence(agreed[AGREED].held_out, task.judged_labels, AGREED)
    return agreed, trust.joined_by(AGREED, share, evidence)


def agree(
    grown: Mapping[str, GrownReading],
    beside: Beside,
    weights: Mapping[str, float],
    task: Task,
) -> Labels:
    """Label unlabeled rows by what readings, each believed so far, agree on.

    Returns 1, 0 and -1, (n_unlabeled,).
    """
    every, shares = side_by_side(grown, beside, weights)
    model = blend_readings(every, shares.values(), task.judged_labels, task.scaler)
    scores = np.full(len(task.labels), np.nan)
    scores[task.judged] = blend_held_out(model, every)
    return take_for(scores, task.labels)


def take_for(scores: Floats, labels: Labels) -> Labels:
    """Take unlabeled rows that would be called for anomalous, most others for normal.

    At least the first row is called. Rows that tie with the next one are taken for
    nothing: they cannot be parted; nor are rows that were not scored, of NaN.

    Examples
    --------
    >>> labels = np.array([0] * 20 + [-1] * 20, dtype=np.int8)
    >>> scores = np.concatenate([np.arange(20.0), np.arange(1, 41, 2)])
    >>> take_for(scores, labels)
    array([ 0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  0, -1,
           -1,  1,  1], dtype=int8)
    """
    unlabeled = scores[labels == UNLABELED]
    ranked = np.sort(unlabeled[~np.isnan(unlabeled)])
    n_called = (ranked > decide_threshold(scores, labels)).sum()
    n_above = int(np.clip(n_called, 1, max(1, ANOMALOUS_SHARE * len(ranked))))
    n_below = int(NORMAL_SHARE * len(ranked))
    targets = np.full(len(unlabeled), UNLABELED, dtype=np.int8)
    targets[unlabeled < ranked[n_below]] = NORMAL
    targets[unlabeled > ranked[max(0, len(ranked) - 1 - n_above)]] = ANOMALY
    return targets
