"""The report is one HTML file that shows what the model found, and runs nothing else."""

import json
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

from reported import fit, made_table
from spadework.errors import DataError, InputError
from spadework.report import build_page, write_page
from spadework.report.content import N_TOP, make_content

HOSTILE = "</script><script>alert(1)</script>"


@pytest.fixture(scope="module")
def table():
    return made_table(800, 0)


@pytest.fixture(scope="module")
def model(table):
    return fit(table)


@pytest.fixture(scope="module")
def content(model, table):
    return make_content(model, table, made_table(400, 1, labeled=1.0))


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


def ranked_rows(model, table):
    scores = model.score(table).column("anomaly_score").to_numpy()
    return np.argsort(-scores, kind="stable")


def test_columns_that_say_nothing_of_the_rows_are_named_before_all_else(model):
    page = build_page(make_content(model, made_table(300, 2, kind=("app", "till"))))
    head, _ = page.split('<section id="scores">')
    assert "Column kind has values that training had not in all 300 rows" in head
    usual = build_page(make_content(model, made_table(300, 2)))
    assert "training had not" not in usual


def test_the_top_rows_are_those_with_the_highest_scores_without_a_label(
    model, table, content
):
    status = np.array(table.column("status").to_pylist())
    ranked = ranked_rows(model, table)
    expected = ranked[status[ranked] == ""][:N_TOP]
    last = int(np.flatnonzero(ranked == expected[-1])[0])
    assert content["n_labeled_higher"] == last + 1 - N_TOP
    assert [each["row"] for each in content["top"]] == expected.tolist()
    assert content["top"][0]["keys"] == {"id": f"p{expected[0]}"}
    assert content["top"][0]["reasons"][0]["column"] == "amount"


def test_a_table_without_labels_or_with_others_shows_its_highest_scores(model, table):
    for status in (None, ["pending"] * len(table)):
        new = table.drop_columns(["status"])
        if status is not None:
            new = new.append_column("status", pa.array(status))
        content = make_content(model, new)
        expected = ranked_rows(model, table)[:N_TOP].tolist()
        assert [each["row"] for each in content["top"]] == expected
        assert content["n_labeled_higher"] is None
        assert "nobody has labeled" not in build_page(content)


def test_the_counts_of_the_histogram_are_all_rows(model, table, content):
    found = content["scores"]
    assert sum(found["counts"]["table"]) == len(table)
    called = model.score(table).column("anomaly").to_numpy().sum()
    assert found["n_called"] == called


def test_performance_is_measured_on_held_out_labels(content):
    assert content["performance"]["n_rows"] == 400
    assert content["performance"]["measures"]["ROC AUC"][0] > 0.9


def test_rows_whose_labels_were_learnt_from_are_not_held_out(model, table):
    unseen = made_table(400, 1, labeled=1.0)
    both = pa.concat_tables([table, unseen])
    measured = make_content(model, table, both)["performance"]
    n_labeled = sum(status != "" for status in table.column("status").to_pylist())
    assert (measured["n_rows"], measured["n_left_out"]) == (400, n_labeled)
    assert (
        measured["measures"]
        == make_content(model, table, unseen)["performance"]["measures"]
    )
    assert f"Left out: {n_labeled} whose labels it has" in build_page(
        make_content(model, table, both)
    )


def test_no_label_that_was_learnt_from_is_held_out_though_few_rows_are_remembered(
    table, monkeypatch
):
    monkeypatch.setattr("spadework.table_fitting.REFERENCE_ROWS", 4)
    few = fit(table)
    with pytest.raises(InputError, match="has learnt from the labels of all"):
        make_content(few, table, table)


def test_rows_without_keys_or_no_rows_are_refused(model, table):
    with pytest.raises(InputError, match="lacks the key columns"):
        make_content(model, table.drop_columns(list(model.keys)))
    with pytest.raises(DataError, match="no rows"):
        make_content(model, table.slice(0, 0))


def test_held_out_rows_that_were_all_learnt_from_are_refused(model, table):
    with pytest.raises(InputError, match="has learnt from the labels of all"):
        make_content(model, table, table)


def test_without_held_out_labels_the_page_says_that_it_cannot_judge(model, table):
    page = build_page(make_content(model, table))
    assert "cannot say how often a call is right" in page


def test_the_page_says_whether_pseudo_labels_were_learnt(model, table):
    statuses = ["" if each == "fraud" else each for each in table["status"].to_pylist()]
    normals_alone = table.set_column(3, "status", pa.array(statuses))
    says = "Nothing has been learnt from these pseudo-labels"
    assert says in build_page(make_content(fit(normals_alone), normals_alone))
    assert says not in build_page(make_content(model, table))


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


def test_hostile_values_stay_text():
    table = made_table(300, 2, kind=(HOSTILE, "shop"))
    page = build_page(make_content(fit(table), table))
    scripts = [attributes for tag, attributes in tags_of(page) if tag == "script"]
    assert scripts == [{"type": "application/json", "id": "data"}, {}]
    assert HOSTILE not in page


def test_a_page_is_written_whole(model, table, tmp_path):
    out = tmp_path / "report.html"
    write_page(model, table, out)
    assert out.read_text().rstrip().endswith("</html>")
    assert list(tmp_path.iterdir()) == [out]


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
    n_curves, n_members = 5, content["one_class"]["n_members"]
    assert drawn.count("<svg") == 1 + n_members + n_curves
    assert drawn.count('class="bound"') == 2 * n_members
    assert drawn.count('class="band"') == 3
    assert drawn.count('class="interval"') == len(content["performance"]["calibration"])
    assert "NaN" not in re.sub(r"<script.*?</script>", "", drawn, flags=re.DOTALL)
    assert "(chosen by the model)" in drawn
