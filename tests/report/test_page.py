"""The report is one HTML file that shows what it was given, and runs nothing else."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import pytest

from reported import fit, made_table
from spadework.report import build_page, write_page
from spadework.report.content import make_content

HOSTILE = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """A folder with the report on a table whose values would like to be a script."""
    table = made_table(150, 2, labeled=0.5, kind=(HOSTILE, "shop"))
    folder = tmp_path_factory.mktemp("hostile")
    write_page(fit(table), table, folder / "report.html")
    return folder


class Collector(HTMLParser):
    """Collects tags, their attributes, and the text of elements by id."""

    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


def tags_of(page):
    collector = Collector()
    collector.feed(page)
    return collector.tags


def test_columns_that_say_nothing_of_the_rows_are_named_before_all_else(model, content):
    page = build_page(make_content(model, made_table(300, 2, kind=("app", "till"))))
    head, _ = page.split('<section id="scores">')
    assert "Column kind has values that training had not in all 300 rows" in head
    assert "training had not" not in build_page(content)


def test_the_page_says_what_unlabeled_rows_were_used_for(model, table, content):
    page, detector = build_page(content), model.detector
    counted = content["pseudo_labels"]
    assert str(detector.trust_) in page
    assert f"<dd>{detector.share_:.1%}</dd>" in page
    assert counted["n_anomalies"] == detector.pseudo_labels_.n_anomalies
    parts = (counted[f"n_{name}"] for name in ("anomalies", "normals", "open"))
    assert sum(parts) == detector.census_.n_unlabeled
    alone = fit(table, pseudo_labels=False)
    assert "learnt from labels alone" in build_page(make_content(alone, table))
    assert "learnt from labels alone" not in page


def test_the_page_asks_for_nothing_from_outside(content):
    page = build_page(content)
    for tag, attributes in tags_of(page):
        assert tag not in ("link", "iframe", "img")
        assert "src" not in attributes
        assert not attributes.get("href", "#").startswith("http")
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest", page)


def test_the_data_in_the_page_are_those_of_the_report(content):
    page = build_page(content)
    text = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1]
    assert json.loads(text) == json.loads(json.dumps(content))


def test_hostile_values_stay_text(hostile):
    page = (hostile / "report.html").read_text()
    scripts = [attributes for tag, attributes in tags_of(page) if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "data"}, {}]
    assert HOSTILE not in page


def test_without_held_out_labels_the_page_says_that_it_cannot_judge(hostile):
    page = (hostile / "report.html").read_text()
    assert "cannot say how often a call is right" in page


def test_a_page_is_written_whole(hostile):
    assert (hostile / "report.html").read_text().rstrip().endswith("</html>")
    assert [path.name for path in hostile.iterdir()] == ["report.html"]


def rendered(page, folder):
    """What a browser makes of a page, as HTML."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("needs chromium or google-chrome")
    path = folder / "report.html"
    path.write_text(page)
    profile = f"--user-data-dir={folder / 'profile'}"
    options = ("--headless", "--no-sandbox", "--disable-gpu", profile, "--dump-dom")
    done = subprocess.run(
        [browser, *options, path.as_uri()], capture_output=True, text=True, timeout=60
    )
    return done.stdout


def test_a_browser_draws_every_chart(content, tmp_path):
    drawn = rendered(build_page(content), tmp_path)
    n_curves = 5
    assert drawn.count("<svg") == 1 + n_curves
    assert drawn.count('class="band"') == 3
    assert drawn.count('class="interval"') == len(content["performance"]["calibration"])
    assert "NaN" not in re.sub(r"<script.*?</script>", "", drawn, flags=re.DOTALL)
    assert "(chosen by the model)" in drawn
