"""Charts are well formed, and their ticks and labels can be read."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spadework_research.report import build_report, charts
from spadework_research.report.cells import Cell
from spadework_research.report.summary import Standing
from spadework_research.runs.methods import ALPHAS, METHODS


def test_charts_are_well_formed_and_escape_names(folder):
    html = build_report(folder).html
    drawn = re.findall(r"<svg.*?</svg>", html, re.DOTALL)
    assert len(drawn) == 2
    for chart in drawn:
        ElementTree.fromstring(chart)
    named = replace(METHODS["spade"], label="<b> & 'c'")
    chart = charts.draw_ranks([Standing(named, 1, 1.0, 1.0, None)], 1)
    assert "<b> & 'c'" in "".join(ElementTree.fromstring(chart).itertext())


def test_the_alpha_chart_has_zero_apart_and_a_dot_for_each_value():
    cells = {alpha: Cell("ran", 0.7, 0.4) for alpha in ALPHAS}
    chart = ElementTree.fromstring(charts.draw_alpha({"drug": cells}, ALPHAS))
    places = [float(dot.attrib["cx"]) for dot in chart.iter("circle")]
    assert len(places) == len(ALPHAS)
    assert places == sorted(places)
    (joined,) = (
        line for line in chart.iter("polyline") if "curve" in line.attrib["class"]
    )
    assert len(joined.attrib["points"].split()) == len(ALPHAS) - 1


@given(st.lists(st.floats(0, 300), max_size=5))
def test_labels_that_would_overlap_are_moved_apart_in_order(heights):
    placed = charts.spread(heights, gap=15)
    assert (np.diff(sorted(placed)) >= 15 - 1e-9).all()
    assert all(new >= old for new, old in zip(placed, heights, strict=True))


@given(st.floats(0, 1), st.floats(0, 1))
def test_ticks_enclose_their_range_and_are_few(one, other):
    low, high = sorted((one, other))
    ticks = charts.share_ticks(low, high)
    assert ticks[0] <= low + 1e-9
    assert ticks[-1] >= high - 1e-9
    assert 2 <= len(ticks) <= 7


@given(st.floats(1, 60))
def test_rank_ticks_begin_at_one_and_are_few(worst):
    ticks = charts.rank_ticks(worst)
    assert ticks[0] == 1
    assert len(ticks) <= 8
    assert ticks[-1] <= max(worst, 2)
