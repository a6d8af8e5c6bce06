"""Training learns in every reading, and without pseudo-labels labels no row."""

import pytest
from sklearn.metrics import roc_auc_score

from spadework_research.reproduction.options import READINGS, complete
from spadework_research.reproduction.training import fit_all

QUICK = {
    "layers": (1, 1, 1),
    "last": "linear",
    "learning_rate": 1e-2,
    "batch": 64,
    "patience_on": "never",
    "max_epochs": 15,
}


@pytest.mark.parametrize(
    ("option", "reading"),
    [
        (option, reading)
        for option, readings in READINGS.items()
        for reading in readings[1:]
        if option not in ("learning_rate", "max_epochs")  # they are kept short
    ],
)
def test_every_reading_learns(rows, option, reading):
    X, labels, truth = rows
    fitted = fit_all(X, labels, X, complete(QUICK | {option: reading}), [0, 1])
    for one, kind in zip(fitted, truth, strict=True):
        assert roc_auc_score(kind, one.scores) > 0.7


def test_without_pseudo_labels_no_row_is_pseudo_labeled(rows):
    X, labels, _ = rows
    setting = complete({"max_epochs": 3, "alpha": 0.0})
    assert [one.pseudo for one in fit_all(X, labels, X, setting, [0, 1])] == [(0, 0)] * 2
