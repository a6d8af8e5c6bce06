"""``spadework demo``: the main job, end to end, on data inside scikit-learn.

Handwritten digits. Ones and sevens are the anomalies, but only a few ones have
been labeled: nobody has told the detector that sevens exist.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from spadework.cli import library
from spadework.cli.payments import write_payments

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

GIVEN, MISSED = 1, 7
N_LABELED_ANOMALIES, N_LABELED_NORMALS = 10, 40
_SHADES = " .:-=+*#@"


class DemoTable(NamedTuple):
    """Rows to learn from, rows to test on, and which digit each test row is."""

    X: "NDArray[np.float64]"
    y: "NDArray[np.int64]"
    X_test: "NDArray[np.float64]"
    digit_test: "NDArray[np.int64]"


def demo(
    seed: Annotated[int, typer.Option(help="Random seed of split and detector.")] = 0,
    table: Annotated[
        Path | None,
        typer.Option(help="Instead, write a made CSV of payments to practise on."),
    ] = None,
) -> None:
    """Find a kind of anomaly that nobody labeled, in handwritten digits."""
    if table is not None:
        write_payments(table, seed)
        print(table)
        return
    from rich.console import Console

    console = Console()
    digits = load_digits_table(seed)
    detector = library.detector.SPADE(random_state=seed, verbose=True)
    console.print(
        f"\n[bold]Handwritten digits[/]: {len(digits.X)} rows to learn from, "
        f"{len(digits.X_test)} to test on.\n"
        f"Anomalies are {GIVEN}s and {MISSED}s, but only {N_LABELED_ANOMALIES} of the "
        f"{GIVEN}s are labeled. {MISSED}s are a new kind.\n"
    )
    detector.fit(digits.X, digits.y)
    ignoring = library.trees.TreeLearner(pseudo_labels=False)
    labels_only = library.detector.SPADE(learner=ignoring, random_state=seed)
    labels_only.fit(digits.X, digits.y)
    pseudo, share = detector.pseudo_labels_, detector.share_
    assert pseudo is not None
    console.print(f"[bold]Labels[/]         {detector.census_}")
    console.print(
        f"[bold]Pseudo-labels[/]  {pseudo.n_anomalies:,} anomalies, "
        f"{pseudo.n_normals:,} normals, where all {pseudo.votes.shape[1]} members agree"
    )
    console.print(f"[bold]Trust[/]          {detector.trust_}\n")
    scores = {
        "labels alone": labels_only.anomaly_score(digits.X_test),
        "SPADE": detector.anomaly_score(digits.X_test),
    }
    console.print(_auc_table(scores, digits.digit_test))
    found = scores["SPADE"] > detector.threshold_
    anomalous = (digits.digit_test == GIVEN) | (digits.digit_test == MISSED)
    console.print(
        f"\nWithout validation data, SPADE takes {share:.0%} of unlabeled rows for "
        f"anomalies. At the threshold that calls so many ({detector.threshold_:.3f}): "
        f"{found.sum()} test rows flagged, {(found & anomalous).sum()} of them among the "
        f"{anomalous.sum()} anomalies.\n"
    )
    console.print("[bold]The four most anomalous test rows[/]")
    top = scores["SPADE"].argsort()[::-1][:4]
    console.print(_pictures(digits.X_test[top]), highlight=False)


def load_digits_table(seed: int) -> DemoTable:
    """Split scikit-learn's digits and label a few rows of the known kinds."""
    import numpy as np
    from sklearn.datasets import load_digits

    digits: Any = load_digits()
    X, digit = digits.data, digits.target
    rng = np.random.default_rng(seed)
    train, test = np.array_split(rng.permutation(len(X)), 2)
    anomalous = np.isin(digit[train], (GIVEN, MISSED))
    y = np.full(len(train), -1)
    y[rng.choice(np.flatnonzero(~anomalous), N_LABELED_NORMALS, replace=False)] = 0
    given = np.flatnonzero(digit[train] == GIVEN)
    y[rng.choice(given, N_LABELED_ANOMALIES, replace=False)] = 1
    return DemoTable(X[train], y, X[test], digit[test])


def _auc_table(scores: "dict[str, NDArray[np.float64]]", digit: "NDArray[np.int64]"):
    """Lay out the AUC of each method for all, given and missed anomalies."""
    from rich.table import Table
    from sklearn.metrics import roc_auc_score

    table = Table(title="ROC AUC on the test rows", title_justify="left")
    table.add_column("")
    for column in ("all anomalies", f"labeled kind ({GIVEN})", f"new kind ({MISSED})"):
        table.add_column(column, justify="right")
    for name, score in scores.items():
        cells = []
        for left_out in ((), (MISSED,), (GIVEN,)):
            rows = [value not in left_out for value in digit]
            truth = (digit[rows] == GIVEN) | (digit[rows] == MISSED)
            cells.append(f"{roc_auc_score(truth, score[rows]):.3f}")
        table.add_row(name, *cells)
    return table


def _pictures(X: "NDArray[np.float64]") -> str:
    """Draw 8 x 8 digits side by side."""
    shade = (X / 16 * (len(_SHADES) - 1)).round().astype(int).reshape(len(X), 8, 8)
    lines = [
        "   ".join("".join(2 * _SHADES[cell] for cell in digit[row]) for digit in shade)
        for row in range(8)
    ]
    return "\n".join(lines)
