"""Ranks, wins and losses are those of a naive count; a run costs hours once."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from made_results import VERSIONS, done, some_results
from spadework_research.report.cells import Runs
from spadework_research.report.summary import (
    TIE,
    average_ranks,
    compare_with,
    measure_costs,
    summarize,
    survey,
)

NAMES = ("spade", "occ", "srr", "vime")
shares = st.integers(0, 20).map(lambda twentieths: twentieths / 20)
all_scores = st.dictionaries(
    st.text("abc", min_size=1, max_size=3),
    st.dictionaries(st.sampled_from(NAMES), shares, min_size=1),
    max_size=6,
)


@given(all_scores)
def test_average_ranks_are_those_of_counting_who_is_better(scores):
    ranks = average_ranks(scores)
    for name in NAMES:
        cells = [cell for cell in scores.values() if name in cell]
        naive = [
            1
            + sum(other > cell[name] for other in cell.values())
            + (sum(other == cell[name] for other in cell.values()) - 1) / 2
            for cell in cells
        ]
        if cells:
            assert ranks[name] == (pytest.approx(np.mean(naive)), len(cells))
        else:
            assert name not in ranks


@given(all_scores)
def test_wins_ties_and_losses_are_those_of_a_loop(scores):
    wins = ties = losses = total = 0
    for cell in scores.values():
        if "spade" in cell and "occ" in cell:
            gap = cell["spade"] - cell["occ"]
            total += gap
            wins, losses = wins + (gap > TIE), losses + (gap < -TIE)
            ties += abs(gap) <= TIE
    record = compare_with(scores, "spade", "occ")
    met = wins + ties + losses
    if not met:
        assert record is None
    else:
        assert record == (wins, ties, losses, pytest.approx(total / met))


def test_a_gap_of_less_than_half_a_hundredth_is_a_tie():
    scores = {"a": {"spade": 0.804, "occ": 0.8}, "b": {"spade": 0.8, "occ": 0.806}}
    assert compare_with(scores, "spade", "occ")[:3] == (0, 1, 1)


def test_the_summary_is_sorted_and_says_in_how_many_cells_a_method_ran():
    standings = summarize(Runs(some_results()))
    assert [each.method.name for each in standings] == [
        "spade",
        "spade_paper",
        "vime",
        "occ",
        "supervised",
    ]
    assert standings[0].n_cells == 2
    assert standings[0].record is None
    assert standings[1].n_cells == 1
    assert standings[1].record[:3] == (1, 0, 0)


def test_the_summary_leaves_out_ablation_and_alpha():
    runs = Runs([done("ablation", "drug-easiness", "spade_paper"), *some_results()])
    assert {each.n_cells for each in summarize(runs)} == {1, 2}


def test_costs_are_medians_and_payments_come_from_fraud():
    results = [
        *(
            done("new_types", "drug", "occ", seed, fit_seconds=seconds)
            for seed, seconds in enumerate((1.0, 9.0, 2.0))
        ),
        done("easiness", "drug", "occ", fit_seconds=77.0),
        done("fraud", "creditcard-0.05", "occ", fit_seconds=3.0, peak_memory_mb=10.0),
        done("fraud", "creditcard-0.10", "occ", fit_seconds=5.0, peak_memory_mb=20.0),
    ]
    costs = measure_costs(Runs(results))["occ"]
    assert costs["drug"].fit_seconds == 2.0
    assert costs["creditcard"] == (4.0, 15.0)
    assert "thyroid" not in costs


def test_core_hours_count_a_run_once_that_two_tables_show():
    shown = done("new_types", "thyroid", "spade", fit_seconds=3000.0, score_seconds=600.0)
    twin = replace(shown, table="parts", column="thyroid-new_types")
    other = replace(shown, seed=1)
    assert survey([shown, twin, other]).core_hours == pytest.approx(2)


def test_hours_on_a_gpu_are_not_core_hours():
    cores = done("new_types", "thyroid", "spade", fit_seconds=3600.0, score_seconds=0.0)
    photos = done("images", "magnetic_tile-new_types", "spade", fit_seconds=7200.0)
    found = survey([cores, replace(photos, versions={**VERSIONS, "gpu": "H200"})])
    assert found.core_hours == pytest.approx(1)
    assert found.gpu_hours == pytest.approx(2, abs=0.01)
    assert found.versions["gpu"] == ["H200"]
