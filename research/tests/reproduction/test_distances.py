"""Distances to the paper are means over the cells of tables that weigh the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spadework_research.reproduction.distances import (
    collect,
    deviations,
    distance,
    main_effects,
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
