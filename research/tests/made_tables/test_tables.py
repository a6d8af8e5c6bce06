"""Made tables are whole problems: rows, truth and labels."""

import torch

from spadework_research.made_tables.draw import Draw
from spadework_research.made_tables.tables import Prior, draw_tables


def tables(seed=0, n_columns=7):
    return draw_tables(
        Draw(seed, "cpu"),
        Prior(),
        n_tables=16,
        n_rows=300,
        n_columns=n_columns,
        n_context=200,
    )


def test_shapes_are_those_that_were_asked():
    made = tables()
    assert made.X.shape == (16, 300, 7)
    assert made.kind.shape == (16, 300)
    assert made.states.shape == (16, 200)
    assert made.scenario.shape == (16,)


def test_values_are_finite():
    for seed in range(5):
        assert tables(seed, n_columns=3 + seed).X.isfinite().all()


def test_the_same_seed_gives_the_same_tables():
    for one, two in zip(tables(3), tables(3), strict=True):
        assert torch.equal(one, two)


def test_every_table_has_anomalies_and_more_normal_rows():
    anomalous = (tables().kind > 0).float().mean(dim=1)
    assert (anomalous > 0).all()
    assert (anomalous < 0.6).all()


def test_rows_to_score_are_not_all_later_or_earlier_than_the_context():
    made = [tables(seed) for seed in range(3)]
    rows = torch.cat([(each.kind > 0).float() for each in made])
    context, rest = rows[:, :200].mean(), rows[:, 200:].mean()
    assert abs(context - rest) < 0.03
