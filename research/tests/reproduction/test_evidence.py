"""Evidence is of the very readings it names, and knows the truth of training rows."""

import json

import numpy as np
import pytest

from spadework.detector import SPADE
from spadework.labels import ANOMALY, NORMAL
from spadework.scenarios import LabeledTable
from spadework_research.reproduction import evidence, trials


@pytest.fixture
def table(monkeypatch):
    """A small table in the place of Drug."""
    rng = np.random.default_rng(0)
    kind = np.repeat([0, 1, 2], [240, 30, 30])
    X = rng.normal(size=(300, 6)) + 3 * (kind > 0)[:, None]
    X[:40, 0] = 1e4  # some of them train, whatever the seed
    small = LabeledTable(X, kind, given=(1,))
    for module in (evidence, trials):
        monkeypatch.setattr(module, "read_table", lambda name: small)
    trials.make_trial.cache_clear()
    yield small
    trials.make_trial.cache_clear()


def test_the_steps_lead_from_the_literal_reading_to_the_nearest():
    changes = {k: v for step in evidence.STEPS.values() for k, v in step.items()}
    walked = SPADE.paper(literal=True, **changes).get_params()
    nearest = SPADE.paper().get_params()
    del walked["learner"], nearest["learner"]
    assert walked == nearest


@pytest.mark.parametrize("scenario", ["new_types", "pu"])
def test_the_truth_of_training_rows_agrees_with_their_labels(table, scenario):
    drawn = evidence.draw("drug", scenario, seed=3)
    assert len(drawn.anomalous) == len(drawn.trial.X)
    assert drawn.anomalous[drawn.trial.y == ANOMALY].all()
    assert not drawn.anomalous[drawn.trial.y == NORMAL].any()


@pytest.mark.parametrize("literal", [True, False])
def test_every_epoch_is_measured(table, literal):
    drawn = evidence.draw("drug", "new_types", seed=0)
    curves = evidence.watch(drawn, literal=literal, alpha=1.0, seed=0, epochs=3)
    assert {len(values) for values in curves.values()} == {3}
    for name in ("auc", "dead"):
        assert all(0 <= value <= 1 for value in curves[name])
    assert all(value is None or 0 <= value <= 1 for value in curves["precision"])
    json.dumps(curves, allow_nan=False)


def test_values_far_out_leave_less_of_the_range_to_a_column_unless_they_are_cut(table):
    far, *others = evidence.columns("drug")
    assert far["minmax"]["share"] < 0.01 < 0.1 < far["clipped"]["share"]
    assert all(each["minmax"]["share"] > 0.1 for each in others)
    assert all(each["auc"] > 0.9 for each in others)
