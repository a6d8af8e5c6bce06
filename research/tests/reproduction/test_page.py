"""The committed page and its pictures are what the committed results give."""

import re

import pytest

from spadework_research.reproduction import page
from spadework_research.reproduction.options import READINGS


@pytest.fixture(scope="module")
def sources():
    return page.read_sources()


@pytest.fixture(scope="module")
def text():
    return page.PAGE.read_text(encoding="utf-8")


def test_the_committed_page_is_what_the_results_give(sources, text):
    assert page.fill(text, sources) == text


def test_the_committed_pictures_are_what_the_results_give(sources):
    drawn = page.pictures(sources)
    committed = {path.name: path.read_text() for path in page.PICTURES.iterdir()}
    assert committed == drawn


def test_the_page_shows_every_picture_and_no_other(sources, text):
    shown = re.findall(r"!\[.+?\]\(reproduction/(.+?)\)", text)
    assert sorted(shown) == sorted(page.pictures(sources))


def test_a_block_that_was_changed_by_hand_is_written_anew(sources, text):
    spoilt = text.replace("| nearest setting |", "| worst setting |")
    assert spoilt != text
    assert page.fill(spoilt, sources) == text


def test_a_page_without_a_mark_is_refused(sources, text):
    mark = page.MARKS.format(name="walk")
    with pytest.raises(ValueError, match=r"needs the mark .*walk.* once; found 0"):
        page.fill(text.replace(mark, ""), sources)


def test_every_open_detail_has_a_reason_and_a_row(text):
    assert page.REASONS.keys() == READINGS.keys()
    for option, reason in page.REASONS.items():
        assert f"| {option} | `" in text
        assert reason in text


def test_cells_that_were_not_run_are_said_to_be_missing(sources, text):
    missing = [cell for cell in sources.paper if cell not in sources.nearest.aucs]
    overall = {
        (table, scenario) for table, scenario, which in missing if which == "overall"
    }
    (line,) = re.findall(r"^Not run: .*$", text, re.MULTILINE)
    for table, scenario in overall:
        assert table in line
        assert page.SCENARIOS.get(scenario, scenario.replace("/", " ")) in line
