"""The summary tells what each change of the centre adds to its distance."""

import pytest

from spadework_research.reproduction.distances import collect
from spadework_research.reproduction.summary import ablation_changes, changes, summarise
from spadework_research.reproduction.trials import PaperValue

CELL = ("drug", "easiness", "overall")
PAPER = {CELL: PaperValue(0.8, 0.01)}


def line(auc, seed=0, **setting):
    found = {"table": "drug", "scenario": "easiness", "seed": seed, "auc": [auc]}
    return found | {"setting": setting}


def test_a_setting_is_summed_up_by_its_cells_and_distances():
    (tried,) = collect([line(0.7, 0), line(0.74, 1)]).values()
    assert summarise(tried, PAPER) == {
        "setting": {},
        "distance": {"thyroid and drug": 0.08, "all": None, "deviations": 8.0},
        "cells": {"drug/easiness/overall": [0.72, 0.02, 2]},
    }


def test_changes_of_the_centre_come_best_first():
    tried = collect(
        [
            line(0.7),
            line(0.6, scaling="asinh"),
            line(0.79, init="torch"),
            line(0.5, beta=0),
        ]
    )
    first, second = changes(tried, PAPER, {})
    assert first[:2] == ("init", "torch")
    assert first[2].distance == pytest.approx(0.01 - 0.1)
    assert second[:2] == ("scaling", "asinh")
    assert second[2].distance == pytest.approx(0.2 - 0.1)


def test_ablations_are_told_by_what_they_change():
    tried = collect([line(0.7), line(0.65, n_members=1)])
    found = ablation_changes(tried, PAPER, {})
    assert found == {"no_ensemble": {"drug/easiness/overall": -0.05}}
