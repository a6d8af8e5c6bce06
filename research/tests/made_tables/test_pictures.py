"""The page of pictures shows every scenario and family, and repeats by its seed."""

import re

from spadework_research.made_tables.anomalies import FAMILIES
from spadework_research.made_tables.labeling import SCENARIOS
from spadework_research.made_tables.pictures import draw_page


def test_every_scenario_and_family_has_pictures():
    page = draw_page()
    shown = re.findall(r"<h3>(.*?)</h3>", page)
    names = [*SCENARIOS, *FAMILIES]
    assert shown == [*(name.replace("_", " ") for name in names), "of some tables"]
    for part in page.split("<h3>")[1:]:
        assert part.count("<figure>") >= 4


def test_only_labels_that_a_scenario_keeps_are_drawn():
    rows = dict(zip(SCENARIOS, draw_page().split("<h3>")[1:], strict=False))
    assert "told-normal" not in rows["pu"]
    assert "told-anomaly" not in rows["nu"]
    assert "told-normal" in rows["easy"]
    assert "told-anomaly" in rows["easy"]


def test_a_seed_draws_the_same_page_again_and_another_one_another():
    assert draw_page(1) == draw_page(1) != draw_page(2)
