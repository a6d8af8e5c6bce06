"""What deep baselines share: seeded layers, batches of known size, steps downhill."""

import numpy as np
import pytest
import torch

from mismatch import mismatch_data
from spadework_research.baselines import deep, vime
from spadework_research.baselines.deep import BATCH_ROWS, draw, layers, take_steps
from spadework_research.baselines.vime import VIME


def test_layers_come_from_the_generator_alone():
    torch.manual_seed(0)
    one = layers((3, 5, 2), np.random.default_rng(7))
    torch.manual_seed(1)
    two = layers((3, 5, 2), np.random.default_rng(7))
    other = layers((3, 5, 2), np.random.default_rng(8))
    for first, second, third in zip(
        one.parameters(), two.parameters(), other.parameters(), strict=True
    ):
        assert torch.equal(first, second)
        assert not torch.equal(first, third)


def test_layers_have_their_widths_and_relus_between_only():
    made = layers((3, 5, 2), np.random.default_rng(0), bias=False)
    assert [type(each).__name__ for each in made] == ["Linear", "ReLU", "Linear"]
    assert [tuple(p.shape) for p in made.parameters()] == [(5, 3), (2, 5)]
    assert all(p.abs().max() <= p.shape[1] ** -0.5 for p in made.parameters())


@pytest.mark.parametrize(("n_positions", "n_rows"), [(3, 12), (1_000, BATCH_ROWS)])
def test_a_batch_is_drawn_from_its_positions_only(n_positions, n_rows):
    X = torch.arange(2_000.0)[:, None]
    positions = np.arange(500, 500 + n_positions)
    batch = draw(X, positions, np.random.default_rng(0))
    assert len(batch) == n_rows
    assert set(batch[:, 0].tolist()) <= set(positions.tolist())


def test_steps_go_downhill():
    weight = torch.nn.Parameter(torch.tensor([3.0]))
    losses = []

    def loss():
        losses.append(float(weight.detach() ** 2))
        return (weight**2).sum()

    take_steps(iter([weight]), loss, 100)
    assert len(losses) == 100
    assert (np.diff(losses) < 0).all()


def test_scores_do_not_depend_on_how_rows_are_split(monkeypatch):
    for name in ("N_PRETRAINING", "N_STEPS"):
        monkeypatch.setattr(vime, name, 3)
    X, y, _ = mismatch_data(150, seed=0)
    detector = VIME(random_state=0).fit(X, y)
    whole = detector.anomaly_score(X)
    monkeypatch.setattr(deep, "_SCORE_ROWS", 7)
    np.testing.assert_allclose(detector.anomaly_score(X), whole, rtol=1e-5, atol=1e-6)
