"""The report shows what was run, says what was not, and is the same every time."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from made_results import done, failed, some_results, stored
from spadework.errors import DataError
from spadework_research.report import build_report, page, write_report
from spadework_research.report.cells import Runs
from spadework_research.report.published import NO_EXPLANATION
from spadework_research.report.summary import survey
from spadework_research.runs.methods import METHODS, SWEPT, SWEPT_LITERAL
from spadework_research.runs.tables import TABLES


class Tags(HTMLParser):
    """Collects tags with their attributes, and checks that they close."""

    def __init__(self, text):
        super().__init__()
        self.found, self.open = [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def row_of(text, label):
    """Cells of a method's row in the first Markdown table after a heading."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {label} |"))
    return [cell.strip() for cell in line.strip("|").split("|")][1:]


def section(markdown, title):
    return markdown.split(f"## {title}\n")[1].split("\n## ")[0]


def test_results_that_no_table_has_a_place_for_are_counted_and_left_out(tmp_path):
    known = done("new_types", "thyroid", "spade", auc=0.911)
    strange = replace(known, method="forgotten", auc=0.999)
    assert survey([known, strange]).n_unknown == 1
    report = build_report(stored([known, strange], tmp_path))
    assert "no table of this version, left out: 1\n" in report.markdown
    assert "0.999" not in report.html


def some_photos(ours=0.9):
    results = []
    for seed in (0, 1):
        where = "images", "magnetic_tile-new_types"
        results += [
            done(*where, "spade", seed, ours),
            done(*where, "spade_paper", seed, 0.99),
            done(*where, "linear", seed, 0.88 + 0.04 * seed),  # 0.90, error 0.02
            done(*where, "supervised", seed, 0.8),
        ]
    return [*results, done("images", "mvtec_ad-bottle-easiness", "spade", auc=0.7)]


def photo_section(folder):
    """The part of a report on photos."""
    return section(build_report(folder).markdown, TABLES["images"].title)


def test_photos_change_nothing_in_what_is_said_of_tables(folder):
    before = page._content(folder)
    after = page._content(stored(some_photos(), folder))
    for name in ("standings", "n_cells", "verdicts", "absent", "costs", "calibration"):
        assert after[name] == before[name]
    assert after["agreement"] == before["agreement"]
    same = {name: view for name, view in after["views"].items() if name != "images"}
    assert same == before["views"]


def test_photos_are_shown_beside_the_papers_and_absent_ones_are_named(folder):
    text = photo_section(stored(some_photos(), folder))
    assert "| new types magnetic\\_tile | easiness mvtec\\_ad/bottle |" in text
    assert "0.900 ± 0.000<br><sub>0.852, +0.048</sub>" in text
    assert "| FixMatch | not run<br><sub>0.691</sub> | not run |" in text
    assert "Seeds: 2 for magnetic\\_tile, 1 for mvtec\\_ad/bottle." in text
    absent = text.split("Not run with any method: ")[1].splitlines()[0]
    assert absent.startswith("mvtec\\_ad/cable, ")
    assert absent.count("mvtec") == 14


@pytest.mark.parametrize(
    ("ours", "lines"),
    [
        (0.881, ("**1 of 1** cells\n", "**1 of 1** cells\n")),
        (0.849, ("**0 of 1** cells\n", "**0 of 1** cells; not in new types magnetic")),
    ],
)
def test_photos_have_a_verdict_of_their_own(folder, ours, lines):
    text = photo_section(stored(some_photos(ours), folder))
    paper, rival = lines
    assert f"at least the paper's SPADE in {paper}" in text
    assert f"less one standard error of its mean, in {rival}" in text


def test_a_report_without_photos_says_so(folder):
    text = photo_section(folder)
    assert "Seeds: 0." in text
    assert "Not run with any method: magnetic\\_tile, " in text
    assert "| method |" not in text


def test_the_best_mean_of_a_column_is_marked(folder):
    report = build_report(folder)
    rows = section(report.markdown, "New types of anomalies")
    assert row_of(rows, "SPADE (ours)")[0].startswith("**0.855** ± 0.007")
    assert "**" not in row_of(rows, "OCC")[0]
    assert re.search(r'class="best">\s*<span class="mean">0.855</span>', report.html)


def test_a_table_says_what_was_not_run_does_not_apply_failed_or_lacks_seeds(folder):
    report = build_report(folder)
    new_types = section(report.markdown, "New types of anomalies")
    assert row_of(new_types, "Supervised")[3].startswith("not run")
    assert row_of(new_types, "VIME")[0].endswith("<sub>1 of 2 seeds</sub>")
    assert row_of(new_types, "DANN")[0].startswith("failed")
    only_normals = section(report.markdown, "NU: only normals are labeled")
    assert set(row_of(only_normals, "Supervised")) == {"\u2013"}
    for text in ("not run", "failed", "\u2013"):
        assert f'<span class="none">{text}</span>' in report.html
    assert '<small class="note">1 of 2 seeds</small>' in report.html


def test_a_cell_shows_the_papers_mean_and_the_signed_difference(folder):
    report = build_report(folder)
    rows = section(report.markdown, "New types of anomalies")
    assert (
        row_of(rows, "Supervised")[0] == "0.705 ± 0.007<br><sub>0.815, \u22120.110</sub>"
    )
    assert "<small>0.815 <b>\u22120.110</b></small>" in report.html


def test_seeds_are_told_by_data_set_where_they_differ():
    results = [done("high_risk", key, "occ") for key in ("drug-0.010", "drug-0.015")]
    assert page.describe_seeds(Runs(results), "high_risk") == (
        "0 for thyroid and drug-0.025 and covertype, 1 for drug-0.010 and drug-0.015"
    )
    assert page.describe_seeds(Runs(results), "alpha") == "0"


def test_the_report_prints_explanations_and_says_where_there_is_none(folder, monkeypatch):
    sentences = {"supervised": "forests <differ> | much"}
    monkeypatch.setattr(page, "read_explanations", lambda: sentences)
    report = build_report(folder)
    assert "forests &lt;differ&gt; | much" in report.html
    assert "forests &lt;differ&gt; \\| much |" in report.markdown
    assert NO_EXPLANATION in report.html


def test_the_page_asks_nothing_of_the_network(folder):
    html = build_report(folder).html
    for tag, attributes in Tags(html).found:
        assert tag not in ("script", "link", "img", "iframe", "object", "use")
        assert "src" not in attributes
        within = attributes.get("href", "#").startswith("#")
        assert within or (tag == "a" and "arxiv.org" in attributes["href"])
    assert "@import" not in html
    assert "url(" not in html


def test_every_tag_of_the_page_is_closed(folder):
    assert Tags(build_report(folder).html).open == []


def test_every_link_within_the_page_has_its_target(folder):
    tags = Tags(build_report(folder).html).found
    ids = {attributes.get("id") for _, attributes in tags}
    links = [attributes["href"] for tag, attributes in tags if tag == "a"]
    assert {link[1:] for link in links if link.startswith("#")} <= ids


def test_the_same_results_give_the_same_bytes(folder, tmp_path):
    again = stored(reversed(some_results()), tmp_path / "again")
    write_report(folder, tmp_path / "one")
    write_report(again, tmp_path / "other")
    for name in ("report.md", "report.html"):
        one = (tmp_path / "one" / name).read_bytes()
        assert one == (tmp_path / "other" / name).read_bytes()
        assert str(tmp_path).encode() not in one


def test_reasons_and_method_names_are_escaped(tmp_path, monkeypatch):
    nasty = "<script>alert('x')</script> | a\nnew line"
    named = replace(METHODS["spade"], label="<i>SPADE</i>")
    monkeypatch.setitem(METHODS, "spade", named)
    results = [*some_results(), failed("pu", "thyroid", "spade", 3, nasty)]
    report = build_report(stored(results, tmp_path))
    for text in report:
        assert "<script" not in text
        assert "<i>SPADE" not in text
        assert "&lt;i&gt;SPADE&lt;/i&gt;" in text
        assert "&lt;script&gt;" in text
    assert "\\| a new line\n" in report.markdown


def test_failed_runs_are_listed_with_their_reasons_and_seeds(tmp_path):
    results = [
        done("pu", "drug", "spade", 0),
        *(failed("pu", "drug", "occ", seed, "no normals") for seed in (0, 2)),
        failed("pu", "drug", "occ", 1, "out of time"),
    ]
    report = build_report(stored(results, tmp_path))
    assert "4 runs with 3 seeds, 3 of them failed" in report.markdown
    assert "- **pu / drug / occ, seeds 0, 2**: no normals" in report.markdown
    assert "<b>pu / drug / occ, seed 1</b>: out of time" in report.html


def test_versions_are_listed_each_once(tmp_path):
    results = [
        done("pu", "drug", "spade", 0),
        replace(done("pu", "drug", "spade", 1), versions={"numpy": "1.26.0"}),
    ]
    report = build_report(stored(results, tmp_path))
    assert "numpy 1.26.0 and 2.0.0, spadework 0.1.0" in report.markdown


def test_a_folder_without_results_is_refused(tmp_path):
    with pytest.raises(DataError, match="holds no results"):
        build_report(tmp_path)


def test_sections_without_runs_say_so(tmp_path):
    report = build_report(stored([done("alpha", "drug", SWEPT[0])], tmp_path))
    assert "No cell was run." in report.html
    assert "No baseline of the paper was run." in report.markdown
    assert "| thyroid | not run |" in report.markdown


def test_each_reading_of_the_paper_has_an_alpha_chart_of_its_own(tmp_path):
    captions = ("The reading that comes nearest to the paper", "The literal reading")
    for swept, shown in zip((SWEPT, SWEPT_LITERAL), captions, strict=True):
        runs = [done("alpha", "drug", name) for name in swept]
        report = build_report(stored(runs, tmp_path / shown))
        assert [each for each in captions if f">{each}<" in report.html] == [shown]
