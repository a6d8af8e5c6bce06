"""Distances to the paper are means over the cells of tables that weigh the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spadework_research.reproduction.distances import (
    collect,
    deviations,
    distance,
    is_near,
    main_effects,
    moved,
    reach,
)
from spadework_research.reproduction.trials import PaperValue

PAPER = {
    ("drug", "pu", "overall"): PaperValue(0.8, 0.01),
    ("drug", "pu", "given"): PaperValue(0.9, None),
    ("thyroid", "easiness", "overall"): PaperValue(0.7, 0.0),
}


def line(table, scenario, seed, *aucs, setting=None):
    found = {"table": table, "scenario": scenario, "seed": seed, "auc": aucs}
    return found | {"setting": setting or {}}


LINES = [
    line("drug", "pu", 0, 0.80, 0.80, 0.1),
    line("drug", "pu", 1, 0.84, 0.90, 0.1),
    line("thyroid", "easiness", 0, 0.6, 0.5, 0.5),
]


def test_lines_are_gathered_by_setting_and_cell():
    (plain,) = collect(LINES).values()
    assert plain.tables == {"drug", "thyroid"}
    assert plain.aucs["drug", "pu", "missed"] == {0: 0.1, 1: 0.1}
    assert plain.means()["drug", "pu", "overall"] == pytest.approx(0.82)
    assert plain.spreads()["drug", "pu", "given"] == pytest.approx(0.05)
    assert ("thyroid", "easiness", "given") not in plain.aucs
    other = line("drug", "easiness", 0, 0.9, setting={"scaling": "asinh"})
    assert len(collect([*LINES, other])) == 2


def test_equal_settings_are_one_however_they_are_written():
    named = line("drug", "pu", 2, 0.9, 0.9, 0.9, setting={"scaling": "minmax"})
    assert len(collect([*LINES, named])) == 1


def test_tables_weigh_the_same_in_a_distance():
    (plain,) = collect(LINES).values()
    of_drug = (0.02 + 0.05) / 2  # the paper has nothing for missed kinds
    assert distance(plain, PAPER, ["drug"]) == pytest.approx(of_drug)
    both = distance(plain, PAPER, ["drug", "thyroid", "covertype"])
    assert both == pytest.approx((of_drug + 0.1) / 2)
    assert distance(plain, PAPER, ["covertype"]) == float("inf")


def test_deviations_are_in_units_of_the_papers_but_of_no_less_than_0_001():
    (plain,) = collect(LINES).values()
    assert deviations(plain, PAPER) == pytest.approx((0.02 / 0.01 + 0.1 / 0.001) / 2)


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, 1)), min_size=1))
def test_effects_of_an_option_cancel_out_over_its_readings(tried):
    settings = {str(i): {"option": reading} for i, (reading, _) in enumerate(tried)}
    distances = {str(i): far for i, (_, far) in enumerate(tried)}
    effects = main_effects(distances, settings)
    assert sum(n for _, n in effects.values()) == len(tried)
    assert sum(n * mean for mean, n in effects.values()) == pytest.approx(0, abs=1e-9)


def test_what_a_setting_reaches_is_counted_over_the_cells_that_were_run():
    more = [line("drug", "pu", seed, 0.82, 0.85, 0.1) for seed in range(2, 5)]
    (plain,) = collect([*LINES, *more]).values()
    missing = PAPER | {("covertype", "pu", "overall"): PaperValue(0.9, 0.1)}
    found = reach(plain, missing)
    assert (found.n_cells, found.n_run) == (4, 3)
    assert found.distance == pytest.approx((0.02 + 0.05 + 0.1) / 3)
    assert found.n_near == 1
    assert found.paper_spread == pytest.approx(0.01 / 2)  # Thyroid has one seed


@pytest.mark.parametrize(
    ("difference", "spread", "near"),
    [
        (0.02, None, True),
        (-0.021, 0.01, False),
        (-0.039, 0.02, True),
        (0.05, 0.02, False),
    ],
)
def test_near_is_within_two_hundredths_or_two_of_the_papers_deviations(
    difference, spread, near
):
    assert is_near(difference, PaperValue(0.8, spread)) is near


def test_a_change_is_compared_on_the_cells_and_seeds_of_both():
    centre = [line("drug", "pu", seed, 0.8, 0.9, 0.1) for seed in range(3)]
    centre.append(line("drug", "pu", 7, 0.1, 0.1, 0.1))
    centre.append(line("drug", "easiness", 0, 0.1))
    off = {"scaling": "asinh"}
    changed = [line("drug", "pu", s, 0.7, 0.9, 0.1, setting=off) for s in range(3)]
    first, second = collect([*centre, *changed]).values()
    found = moved(second, first, PAPER, ["drug"])
    assert found.distance == pytest.approx(0.1 / 2)
    assert found.error == pytest.approx(0, abs=1e-9)  # every seed says the same
    assert moved(first, second, PAPER, ["drug"]).distance == pytest.approx(-0.1 / 2)
