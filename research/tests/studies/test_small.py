"""Small tables have the kinds that are said of them, and cells are laid out in lines."""

from itertools import product

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics import roc_auc_score

from spadework.scenarios import positives_only
from spadework_research.baselines.one_class import OneClass
from spadework_research.studies.cells import Cell, Means
from spadework_research.studies.small import (
    METHODS,
    SCENARIOS,
    SEEDS,
    TABLES,
    measure_cell,
    rows,
)


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_normal_rows_and_known_and_new_anomalies(name):
    table = TABLES[name]()
    normals, known, new = np.bincount(table.kind)
    assert min(normals, known, new) > 10
    assert table.given == (1,)


def test_every_cultivar_is_normal_once():
    cultivars = load_wine().target
    tables = [TABLES[f"wine, {normal} normal"]() for normal in range(3)]
    for normal, table in enumerate(tables):
        np.testing.assert_array_equal(table.kind == 0, cultivars == normal)


def test_large_malignant_cases_are_known_and_small_ones_new():
    table, data = TABLES["breast cancer"](), load_breast_cancer()
    np.testing.assert_array_equal(table.kind > 0, data.target == 0)
    radius = table.X[:, 0]
    assert radius[table.kind == 1].min() > radius[table.kind == 2].max()


def test_the_anomalies_among_digits_are_few():
    kinds = np.bincount(TABLES["digits, 1 and 2"]().kind)
    assert kinds[1:].sum() < kinds[0] / 10


def test_a_cell_is_the_mean_over_seeds_of_a_fit_by_hand():
    aucs = []
    for seed in SEEDS:
        trial = positives_only(TABLES["wine, 0 normal"](), seed)
        detector = OneClass(unlabeled="normal", random_state=seed).fit(trial.X, trial.y)
        scores = detector.anomaly_score(trial.X_test)
        aucs.append(roc_auc_score(trial.kind_test > 0, scores))
    found = measure_cell(Cell("wine, 0 normal", "PU", "negative_occ"))
    assert found.auc == pytest.approx(np.mean(aucs))


def test_means_are_over_lines_that_every_method_has():
    cells = [Cell(*each) for each in product(TABLES, SCENARIOS, METHODS)]
    measured = {cell: Means(0.5, 0.1) for cell in cells if cell.scenario == "PU"}
    measured |= {cell: Means(0.9, 0.1) for cell in cells if cell.scenario == "NU"}
    for table in TABLES:
        del measured[Cell(table, "NU", "tuned_forest")]
    head, *lines, last = rows(measured)
    assert len(lines) == len(TABLES) * len(SCENARIOS)
    assert head.split()[0] == "spade"
    assert last.split()[-len(METHODS) :] == ["0.500"] * len(METHODS)
