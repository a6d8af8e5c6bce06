"""Made columns are of the kinds that real tables have."""

import torch

from spadework_research.made_tables.columns import draw_columns
from spadework_research.made_tables.draw import Draw, standardize


def columns(n_tables=200, n_rows=300, n_columns=8):
    draw = Draw(0, "cpu")
    nodes = draw.normal(n_tables, n_rows, n_columns)
    return draw_columns(draw, nodes, draw.uniform(n_tables, n_rows))


def n_values(made):
    return torch.tensor([[len(c.unique()) for c in table.T] for table in made])


def test_columns_keep_their_shape():
    assert columns(4, 50, 3).shape == (4, 50, 3)


def test_every_kind_of_column_occurs():
    made = columns()
    many = n_values(made)
    centered = made - made.mean(dim=1, keepdim=True)
    deviation = made.std(dim=1).clamp(1e-9)
    skewness = (centered**3).mean(dim=1) / deviation**3
    zeros = (made == 0).float().mean(dim=1)
    whole = (made == made.round()).all(dim=1)
    for name, found in {
        "binary": many == 2,
        "continuous": many == made.shape[1],
        "counts and codes": whole & (many > 5),
        "mostly zero": (zeros > 0.5) & (many > 5),
        "skewed": skewness > 2,
        "even": (skewness.abs() < 0.5),
    }.items():
        assert found.float().mean() > 0.02, name


def test_some_tables_hold_the_one_hot_codes_of_a_category():
    made = columns()
    binary = ((made == 0) | (made == 1)).all(dim=1)
    found = 0
    for table, of_table in zip(made, binary, strict=True):
        codes = table[:, of_table]
        found += codes.shape[1] >= 3 and bool(
            (codes.sum(dim=1) <= 1).float().mean() > 0.9
        )
    assert found > 5


def test_columns_follow_their_nodes_but_for_noise_and_codes():
    draw = Draw(3, "cpu")
    nodes = draw.normal(100, 300, 4)
    made = draw_columns(draw, nodes, draw.uniform(100, 300))
    ranks = [x.argsort(dim=1).argsort(dim=1).float() for x in (nodes, made)]
    one, two = (standardize(rank) for rank in ranks)
    assert ((one * two).mean(dim=1) > 0.5).float().mean() > 0.4
