"""Labels are drawn as each scenario says, with every kind of mismatch."""

from functools import cache

import pytest
import torch

from spadework_research.made_tables.draw import Draw
from spadework_research.made_tables.labeling import (
    MISMATCH,
    NO_MISMATCH,
    SCENARIOS,
    draw_labels,
)

N_TABLES, N_ROWS = 40, 600


@cache
def made():
    """Columns in which anomalies of three types lie high, and a time."""
    draw = Draw(0, "cpu")
    kind = (draw.integers(1, 3, N_TABLES, N_ROWS)) * draw.chance(0.2, N_TABLES, N_ROWS)
    columns = draw.normal(N_TABLES, N_ROWS, 4)
    columns[:, :, 0] += 2.0 * (kind > 0)
    return columns, kind, draw.uniform(N_TABLES, N_ROWS)


@cache
def labels(scenario, seed=1):
    only = tuple(float(name == scenario) for name in SCENARIOS)
    options = {"flipped": 0.0, "everything": 0.0}
    return draw_labels(Draw(seed, "cpu"), *made(), only, **options).states


def counts(scenario):
    states = labels(scenario)
    return [(states == state).sum(dim=1) for state in (0, 1, 2)]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_table_has_labels_and_unlabeled_rows(scenario):
    normals, anomalies, unlabeled = counts(scenario)
    assert (normals + anomalies >= 2).all()
    assert (unlabeled > 0).all()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_labels_are_true_unless_flips_were_asked_for(scenario):
    _, kind, _ = made()
    states = labels(scenario)
    labeled = states < 2
    assert torch.equal(states[labeled] == 1, kind[labeled] > 0)


@pytest.mark.parametrize("scenario", ["pu", "pu_new_types"])
def test_in_pu_no_normal_is_labeled(scenario):
    assert (counts(scenario)[0] == 0).all()


def test_in_nu_no_anomaly_is_labeled():
    assert (counts("nu")[1] == 0).all()


@pytest.mark.parametrize("scenario", ["new_types", "pu_new_types"])
def test_of_new_types_none_is_labeled_in_most_tables(scenario):
    _, kind, _ = made()
    states = labels(scenario)
    known = [set(k[s == 1].tolist()) for k, s in zip(kind, states, strict=True)]
    assert sum(len(types) < 3 for types in known) > N_TABLES / 2
    assert sum(map(bool, known)) > 0.8 * N_TABLES


def test_random_labels_are_a_fair_sample():
    _, kind, _ = made()
    states = labels("random")
    among_labeled = (states == 1).sum() / (states < 2).sum()
    assert abs(among_labeled - (kind > 0).float().mean()) < 0.03


def test_easy_rows_lie_further_from_the_other_class_than_the_rest():
    columns, kind, _ = made()
    states, told = labels("easy"), columns[:, :, 0]
    for state, anomalous, sign in ((1, kind > 0, 1), (0, kind == 0, -1)):
        easy = sign * told[states == state].mean()
        assert easy > sign * told[anomalous].mean() + 0.3


def test_risky_rows_hold_more_anomalies_than_there_are():
    _, kind, _ = made()
    states = labels("risk")
    assert (states == 1).sum() / (states < 2).sum() > 1.5 * (kind > 0).float().mean()


def test_the_earliest_rows_are_labeled_early():
    _, _, time = made()
    states = labels("early")
    for t, s in zip(time, states, strict=True):
        assert t[s < 2].max() < t[s == 2].min() + 0.03


def test_labels_of_a_region_are_of_rows_near_each_other():
    columns, _, _ = made()
    states = labels("region")
    spread = torch.stack(
        [
            (c[s < 2].std(dim=0) / c.std(dim=0)).min()
            for c, s in zip(columns, states, strict=True)
            if (s < 2).sum() > 20
        ]
    )
    fair = labels("random")
    spread_of_fair = torch.stack(
        [
            (c[s < 2].std(dim=0) / c.std(dim=0)).min()
            for c, s in zip(columns, fair, strict=True)
            if (s < 2).sum() > 20
        ]
    )
    assert spread.median() < spread_of_fair.median() - 0.05


def test_flipped_labels_are_few_and_only_where_both_kinds_are_kept():
    _, kind, _ = made()
    only = tuple(float(name == "random") for name in SCENARIOS)
    states = draw_labels(Draw(1, "cpu"), *made(), only, flipped=1.0).states
    labeled = states < 2
    wrong = (states[labeled] == 1) != (kind[labeled] > 0)
    assert 0.005 < wrong.float().mean() < 0.08


def test_every_row_is_labeled_in_as_many_tables_as_asked():
    only = tuple(float(name == "random") for name in SCENARIOS)
    states = draw_labels(Draw(1, "cpu"), *made(), only, everything=0.5).states
    whole = (states < 2).all(dim=1).float().mean()
    assert 0.25 < whole < 0.75


def test_scenarios_come_as_often_as_they_should():
    columns, kind, time = (part.repeat(50, *[1] * (part.ndim - 1)) for part in made())
    short = slice(0, 40)
    scenario = draw_labels(
        Draw(0, "cpu"), columns[:, short], kind[:, short], time[:, short]
    ).scenario
    often = torch.bincount(scenario, minlength=len(SCENARIOS)) / len(scenario)
    torch.testing.assert_close(often, torch.tensor(MISMATCH), rtol=0, atol=0.03)


def test_without_mismatch_labels_are_a_fair_sample_of_what_is_labeled():
    drawn = {name for name, often in zip(SCENARIOS, NO_MISMATCH, strict=True) if often}
    assert drawn == {"random", "pu", "nu"}
