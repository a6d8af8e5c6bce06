"""How far labels are to be trusted: what labeled rows that were held out say of them."""

from dataclasses import dataclass
from typing import Self

from spadework.arrays import Floats

IMAGINED = 10
"""Labeled normals that look like the rest, imagined beside the real ones: a few of these
prove little."""

FOUND = 0.8
"""AUC from which anomalies count as found without their labels; at 1 they surely are."""

LIKE_THE_REST = (0.35, 0.65)
"""Shares of unlabeled rows below which labeled normals lie that are worth no comment."""


@dataclass(frozen=True)
class LabelTrust:
    """What held-out labels say of labels and of pseudo-labels.

    Attributes
    ----------
    recall : float or None
        Share of unlabeled rows above which pseudo-labels rank a labeled anomaly that the
        context did not hold, on average: an AUC. None where none could be held out.
    typical : float or None
        Share of unlabeled rows below which they rank a labeled normal row. It is 0.5
        where labeled normals look like the rest, near 0 where only suspicious rows were
        checked, and near 1 where only easy ones were. None without labeled normals.
    one_class_recall : float or None
        Share of unlabeled rows above which a context that holds no labeled anomaly ranks
        one, on average. None without labeled anomalies.
    """

    recall: float | None
    typical: float | None
    one_class_recall: float | None = None

    @classmethod
    def of(cls, below_anomalies: Floats, below_normals: Floats, n_normals: int) -> Self:
        """Judge by the shares of unlabeled rows that score below held-out labeled rows.

        Of so many labeled normals, those that could be held out count.
        """
        recall = float(below_anomalies.mean()) if len(below_anomalies) else None
        above = float((1 - below_normals).sum()) + IMAGINED / 2
        typical = above / (len(below_normals) + IMAGINED) if n_normals else None
        return cls(recall, typical)

    @property
    def of_normals(self) -> float:
        """Weight of a labeled normal row, where a pseudo-labeled one has 1.

        A row that was checked because it looked suspicious is a borderline case, and
        no example of what ordinary rows are like.
        """
        return 1.0 if self.typical is None else min(1.0, 2 * self.typical)

    @property
    def of_labels_alone(self) -> float:
        """Weight of what labels alone say of unlabeled rows, where pseudo-labels have 1.

        Where labels show the easy cases, the others lie between them, and there a model
        of the labels alone is a good guess.
        """
        return 0.0 if self.typical is None else max(0.0, 2 * self.typical - 1)

    @property
    def of_one_class(self) -> float:
        """Weight of a context without labeled anomalies, where pseudo-labels have 1.

        Where being unlike ordinary rows tells labeled anomalies, it will tell types that
        nobody has labeled. Labels of rows that were chosen by their looks prove nothing.
        """
        if self.one_class_recall is None:
            return 0.0
        chosen = 0.0 if self.typical is None else abs(2 * self.typical - 1)
        found = max(0.0, self.one_class_recall - FOUND) / (1 - FOUND)
        return (1 - chosen) * found

    def __str__(self) -> str:
        """Say it in short sentences."""
        if self.recall is None:
            first = "No labeled anomaly could be held out to judge the pseudo-labels."
        else:
            first = (
                f"Pseudo-labels rank labeled anomalies that they have not seen above "
                f"{self.recall:.0%} of the unlabeled rows."
            )
        said = (first, self._normals_in_words(), self._one_class_in_words())
        return " ".join(filter(None, said))

    def _normals_in_words(self) -> str:
        if self.typical is None:
            return ""
        low, high = LIKE_THE_REST
        if self.typical < low:
            return (
                f"Labeled normals look more suspicious than most rows (below "
                f"{self.typical:.0%} of them): each counts for {self.of_normals:.2f} of "
                f"a row."
            )
        if self.typical > high:
            return (
                f"Labeled normals look easier than most rows (below {self.typical:.0%} "
                f"of them): what labels alone say has weight {self.of_labels_alone:.2f} "
                f"beside pseudo-labels."
            )
        return f"Labeled normals look like the rest (below {self.typical:.0%} of it)."

    def _one_class_in_words(self) -> str:
        if not self.of_one_class:
            return ""
        return (
            f"Labeled anomalies are found without their labels, too (above "
            f"{self.one_class_recall:.0%}): being unlike other rows has weight "
            f"{self.of_one_class:.2f}."
        )
