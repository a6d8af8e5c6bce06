"""The forest learner: readings of the unlabeled rows, blended by trust.

Pseudo-labels come once, by consensus of one-class classifiers. They are one of six
ways to read the unlabeled rows; each but those that are one-class scores is learnt by
trees of its own, which are judged on rows they have not drawn. Where no anomaly is
labeled, trees learn what the other readings agree on instead of pseudo-labels. The
number of draws per tree is capped, so time grows with the rows only as far as reading
them. Where trees have few rows to draw, a linear model and boosted trees stand beside
them, and trees to the last row do where these rank labeled anomalies better. Distances
to the nearest rows stand beside one-class scores.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from spadework.arrays import Labels, Rows
from spadework.core.pseudo_labels import (
    PseudoLabeler,
    PseudoLabels,
    learning_targets,
)
from spadework.core.trees import MAX_DEPTH
from spadework.core.trust import (
    AGREED,
    AS_NORMAL,
    AS_SUSPECT,
    LABELS,
    ONE_CLASS,
    PSEUDO,
    READINGS,
)
from spadework.errors import InputError
from spadework.labels import ANOMALY, NORMAL, UNLABELED
from spadework.learners.agreeing import learn_agreed
from spadework.learners.blend import judge_readings
from spadework.learners.companions import (
    BOOSTED,
    LINEAR,
    NEIGHBOURS,
    NEIGHBOURS_SHARE,
    WHOLE,
    Companion,
    blend_by_trust,
    boost_companion,
    fit_companions,
    join_all,
    share_of_whole,
)
from spadework.learners.contract import Learnt, Scaler, Task
from spadework.learners.growing import Grower
from spadework.learners.oddness import read_neighbours, read_one_class
from spadework.learners.readings import (
    MAX_DRAWS,
    Reading,
    check_readings,
    judged_rows,
    make_readings,
)
from spadework.parameters import check_positive_integer, check_weight

MUCH = 0.05
"""Weight of a reading from which boosted trees, and trees to the last row, are worth
their time."""


@dataclass(eq=False, repr=False, kw_only=True)
class ForestLearner(BaseEstimator):
    """Trees on readings of the unlabeled rows.

    Parameters
    ----------
    readings : sequence of str, optional
        Which of "labels" (unlabeled rows left out), "as_normal", "as_suspect" (set
        against labeled normals), "pseudo" (pseudo-labeled), "one_class" (one-class
        scores as they are), "unlike_normal" (those of labeled normals alone) and "agreed"
        (for what the others agree on) to use; by default all that the labels allow. One
        of the first four must be there. Where a class has no labels, "labels" takes
        unlabeled rows for that class. Where no anomaly is labeled and readings are
        judged, "agreed" takes the place of "pseudo", beside "as_suspect" or "labels".
    judge : bool
        Weigh readings by what held-out labels say about them; otherwise all count
        the same.
    linear : bool
        Let a linear model count beside the trees of a reading, the more the fewer rows
        these draw.
    boosted : bool
        Let boosted trees count beside the trees of "labels" and "as_normal", the more
        the fewer rows these draw.
    whole : bool
        Let trees that grow to the last row count beside those of a reading: as far as
        they rank labeled anomalies better, beside those of "labels" the more the fewer
        labels there are and the less risky labeled normals look, and beside those of
        "as_normal" as far as they tell unlabeled rows apart.
    neighbours : bool
        Let the distance to the nearest of a few rows count beside one-class scores,
        and that to the nearest of a few labeled normals beside those of these: unlike
        a Gaussian it sees several clusters.
    lift : bool
        Lift rows that score like labeled anomalies, by how much likelier such scores are
        for these than for unlabeled rows: ranks alone do not tell how far the first rows
        lie in front of the others.
    anomaly_weight, normal_weight : float
        The alpha of eq. 5 for pseudo-anomalies and for pseudo-normals, of one-class
        classifiers or of readings that agree: the weight of all of them, where the
        labels of their class weigh 1. A class without labels has nothing to be weighed
        against.
    n_trees : int, optional
        Trees of each reading. By default as many as a fixed number of draws allows,
        64 to 100, or 300 to the last row: small tables get many trees, large ones few
        but large trees.
    max_depth : int
    min_samples_leaf : int
    """

    readings: Sequence[str] | None = None
    judge: bool = True
    linear: bool = True
    boosted: bool = True
    whole: bool = True
    neighbours: bool = True
    lift: bool = True
    anomaly_weight: float = 0.3
    normal_weight: float = 0.3
    n_trees: int | None = None
    max_depth: int = 14
    min_samples_leaf: int = 5

    def learn(
        self,
        X: Rows,
        labels: Labels,
        scaler: Scaler,
        labeler: PseudoLabeler,
        rng: np.random.Generator,
        *,
        verbose: bool,
    ) -> Learnt:
        """Pseudo-label the scaled rows, then grow trees on the raw ones."""
        self._check_parameters()
        fitted, pseudo = None, None
        if (labels == UNLABELED).any():
            fitted, pseudo = labeler.fit(scaler.transform(X), labels, rng)
        readings = self._readings(labels, pseudo, stand_in=labeler.stand_in)
        task = Task(X, labels, scaler, judged_rows(labels, rng), rng)
        judged_labels = task.judged_labels
        trees = Grower(task, self.n_trees, self.max_depth, verbose)
        grown = trees.grow(readings)
        beside: dict[str, dict[str, Companion]] = {name: {} for name in grown}
        if self.linear:
            for name, companion in fit_companions(task, readings).items():
                beside[name][LINEAR] = companion
        oddness = None
        if fitted is not None:
            one_class = read_one_class(fitted.members, labeler.one_class, task)
            oddness = one_class[ONE_CLASS].held_out
            grown |= {name: one_class[name] for name in one_class if self._wants(name)}
            if self.neighbours:
                distances = read_neighbours(task)
                for name in filter(self._wants, distances):
                    nearest = Companion(NEIGHBOURS_SHARE, distances[name])
                    beside[name] = {NEIGHBOURS: nearest}
        joined = join_all(grown, beside, judged_labels, scaler)
        trust = judge_readings(joined, judged_labels, oddness)
        if not self.judge:
            trust = replace(trust, weights={name: 1 / len(joined) for name in joined})
        for name in (LABELS, AS_NORMAL):
            if self.boosted and trust.weights.get(name, 0.0) >= MUCH:
                if boosted := boost_companion(task, readings[name]):
                    beside[name][BOOSTED] = boosted
        if self.whole and (labels == ANOMALY).any() and (labels == UNLABELED).any():
            for name, reading in readings.items():
                if trust.weights[name] < MUCH:
                    continue
                whole = trees.grow_whole(reading)
                share = share_of_whole(
                    name, reading, grown[name], whole, judged_labels, trust.riskiness
                )
                beside[name][WHOLE] = Companion(share, whole)
        if self._may_agree(labels, readings):
            limits = self._limits()
            agreed, trust = learn_agreed(trees, grown, beside, trust, **limits)
            grown |= agreed
        scores = np.full(len(X), np.nan)
        model, scores[task.judged], trust = blend_by_trust(
            grown, beside, trust, judged_labels, scaler, lift=self.lift
        )
        counts: dict[str, float] = {
            "pseudo_anomalies": pseudo.n_anomalies if pseudo else 0,
            "pseudo_normals": pseudo.n_normals if pseudo else 0,
            "n_trees": trees.n_grown,
        }
        return Learnt(model, fitted, pseudo, scores, [counts], trust)

    def _check_parameters(self) -> None:
        """Refuse parameters that have no meaning."""
        for name in ("anomaly_weight", "normal_weight"):
            check_weight(name, getattr(self, name))
        for name in ("max_depth", "min_samples_leaf"):
            check_positive_integer(name, getattr(self, name))
        if self.n_trees is not None:
            check_positive_integer("n_trees", self.n_trees)
        if self.max_depth > MAX_DEPTH:
            raise InputError(
                f"max_depth must be {MAX_DEPTH} at most; got {self.max_depth}"
            )
        check_readings(self.readings, READINGS)

    def _readings(
        self, labels: Labels, pseudo: PseudoLabels | None, *, stand_in: bool
    ) -> dict[str, Reading]:
        """Return the readings that are wanted and that the labels allow."""
        targets = learning_targets(
            labels, pseudo.labels if pseudo else None, stand_in=stand_in
        )
        possible = make_readings(labels, targets, **self._limits())
        stands_in = LABELS not in possible and self._wants(LABELS)
        chosen = {
            name: reading
            for name, reading in possible.items()
            if self._wants(name) or (stands_in and name in (AS_NORMAL, AS_SUSPECT))
        }
        if not chosen:
            raise InputError(
                f"a forest needs a reading that trees learn, and the labels allow "
                f"{', '.join(possible) or 'none'}; wanted {self.readings}. Name one of "
                f"these too, label rows of both classes, or set readings=None and "
                f"stand_in=True"
            )
        if self._may_agree(labels, chosen):
            chosen.pop(PSEUDO, None)
        return chosen

    def _limits(self) -> dict[str, Any]:
        """Say how far targets of unlabeled rows count, and how large trees are."""
        return {
            "alphas": {ANOMALY: self.anomaly_weight, NORMAL: self.normal_weight},
            "max_draws": MAX_DRAWS,
            "min_leaf": self.min_samples_leaf,
        }

    def _may_agree(self, labels: Labels, readings: Collection[str]) -> bool:
        """Tell whether what readings agree on takes the place of pseudo-labels."""
        unjudged = AS_SUSPECT in readings and not (labels == ANOMALY).any()
        return self.judge and self._wants(AGREED) and bool(unjudged)

    def _wants(self, reading: str) -> bool:
        """Tell whether a reading is to be used."""
        return self.readings is None or reading in self.readings
