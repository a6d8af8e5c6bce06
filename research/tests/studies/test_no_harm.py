"""The study of harm compares the same rows, seen and blind."""

import pytest

from spadework_research.made_tables.labeling import SCENARIOS
from spadework_research.studies.no_harm import measure
from tiny_context import tiny_model


def test_differences_are_of_the_same_tables():
    told = measure(tiny_model(), list(SCENARIOS).index("new_types"), 6)
    assert told.scenario == "new_types"
    assert told.n_tables == 6
    assert told.difference == pytest.approx(told.auc - told.auc_blind, abs=2e-4)
    assert told.standard_error > 0


def test_unlabeled_rows_change_what_a_model_says():
    told = measure(tiny_model(), 0, 4)
    assert 0 <= told.auc <= 1
    assert told.auc != told.auc_blind
