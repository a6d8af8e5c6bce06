"""Types of anomalies: as many rows as were drawn, changed in their own way."""

import pytest
import torch

from spadework_research.made_tables.anomalies import (
    FAMILIES,
    N_TYPES,
    Types,
    break_dependence,
    change_causes,
    draw_types,
    name_regions,
    place,
)
from spadework_research.made_tables.draw import Draw
from spadework_research.made_tables.structure import N_LATENT

N_TABLES, N_ROWS = 12, 500


def types_of(family, count=40):
    """One type of a family in every table."""
    counts = torch.zeros(N_TABLES, N_TYPES, dtype=torch.long)
    counts[:, 0] = count
    return Types(torch.full((N_TABLES, N_TYPES), FAMILIES.index(family)), counts)


def latent():
    return Draw(1, "cpu").normal(N_TABLES, N_ROWS, N_LATENT)


def changed_rows(family):
    draw, types = Draw(0, "cpu"), types_of(family)
    kind = place(draw, types, N_ROWS)
    return kind > 0, change_causes(draw, types, kind, latent())


def test_shares_of_anomalies_reach_from_rare_to_two_fifths():
    counts = draw_types(Draw(0, "cpu"), 2000, 4000).counts.sum(dim=1) / 4000
    assert counts.min() < 0.004
    assert 0.3 < counts.max() < 0.45
    assert (draw_types(Draw(0, "cpu"), 2000, 4000).counts[:, 0] >= 2).all()


@pytest.mark.parametrize("family", FAMILIES[1:])
def test_rows_that_change_are_as_many_as_were_drawn(family):
    kind = place(Draw(0, "cpu"), types_of(family), N_ROWS)
    assert (kind == 1).sum(dim=1).tolist() == [40] * N_TABLES


@pytest.mark.parametrize("family", ["cluster", "shift", "variance"])
def test_changes_leave_ordinary_rows_alone(family):
    anomalous, moved = changed_rows(family)
    assert torch.equal(moved[~anomalous], latent()[~anomalous])
    assert not torch.isclose(moved[anomalous], latent()[anomalous]).all(dim=1).any()


def spread(rows):
    return rows.reshape(N_TABLES, 40, N_LATENT).std(dim=1).mean(dim=1)


def test_clusters_are_tight_and_inflated_rows_wide():
    anomalous, cluster = changed_rows("cluster")
    wide_rows, wide = changed_rows("variance")
    assert (spread(cluster[anomalous]) < 0.9).all()
    assert (spread(wide[wide_rows]) > 1.4).all()


def test_a_shift_moves_all_rows_of_a_type_alike():
    anomalous, moved = changed_rows("shift")
    steps = (moved - latent())[anomalous].reshape(N_TABLES, 40, N_LATENT)
    assert steps.std(dim=1).max() < 1e-4


def test_broken_rows_keep_the_values_of_their_columns_but_not_their_company():
    draw, types = Draw(0, "cpu"), types_of("broken")
    kind = place(draw, types, N_ROWS)
    node = Draw(2, "cpu").normal(N_TABLES, N_ROWS, 1)
    nodes = node + torch.arange(4)  # columns that depend on each other wholly
    broken = break_dependence(draw, types, kind, nodes) - torch.arange(4)
    apart = broken.amax(dim=2) - broken.amin(dim=2) > 1e-5
    assert torch.equal(apart, kind > 0)


def test_regions_name_rows_without_changing_them_as_many_as_were_drawn():
    draw, types = Draw(0, "cpu"), types_of("region")
    columns = Draw(2, "cpu").normal(N_TABLES, N_ROWS, 5)
    before = columns.clone()
    kind = place(draw, types, N_ROWS)
    assert (kind == 0).all()
    kind = name_regions(draw, types, kind, latent(), columns)
    assert (kind == 1).sum(dim=1).tolist() == [40] * N_TABLES
    assert torch.equal(columns, before)
