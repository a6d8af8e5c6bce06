"""The report shows what was run, says what was not, and is the same every time."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spadework.errors import DataError
from spadework_research.report import build_report, charts, page, write_report
from spadework_research.report.agreement import compare_baselines
from spadework_research.report.calibration import measure_calibration
from spadework_research.report.cells import (
    Cell,
    Runs,
    auc_heads,
    mark_best,
    measure_cell,
    order_rows,
    view_table,
)
from spadework_research.report.published import (
    NO_EXPLANATION,
    explain,
    is_within,
    paper_value,
    read_paper,
)
from spadework_research.report.summary import (
    TIE,
    Standing,
    average_ranks,
    compare_with,
    measure_costs,
    summarize,
    survey,
)
from spadework_research.runs.methods import ABLATED, ALPHAS, COMPARED, METHODS, SWEPT
from spadework_research.runs.results import FAILED, Result, write_result
from spadework_research.runs.tables import TABLES

VERSIONS = {"spadework": "0.1.0", "numpy": "2.0.0"}
NAMES = ("spade", "occ", "srr", "vime")
shares = st.integers(0, 20).map(lambda twentieths: twentieths / 20)
all_scores = st.dictionaries(
    st.text("abc", min_size=1, max_size=3),
    st.dictionaries(st.sampled_from(NAMES), shares, min_size=1),
    max_size=6,
)


def identity(table, column, method, seed):
    found = next(each for each in TABLES[table].columns if each.key == column)
    return {
        "table": table,
        "column": column,
        "dataset": found.dataset,
        "scenario": found.scenario,
        "share": found.share,
        "setting": found.setting,
        "method": method,
        "seed": seed,
        "versions": VERSIONS,
    }


def done(table, column, method, seed=0, auc=0.8, **measured):
    """A run that ended well."""
    measured = {
        "auc_given": auc,
        "auc_missed": auc,
        "average_precision": auc / 2,
        "fit_seconds": 1.0,
        "score_seconds": 0.1,
        "peak_memory_mb": 300.0,
        "n_train": 100,
        "n_test": 100,
        "n_labeled_anomalies": 5,
        "n_labeled_normals": 10,
    } | measured
    return Result(**identity(table, column, method, seed), auc=auc, **measured)


def failed(table, column, method, seed=0, reason="it broke"):
    where = identity(table, column, method, seed)
    return Result(**where, status=FAILED, reason=reason)


def some_results():
    """Two seeds of a few methods, one of them failed, and all alphas."""
    return [
        *(
            done("new_types", "thyroid", method, seed, 0.7 + at / 20 + seed / 100)
            for at, method in enumerate(("supervised", "occ", "spade_paper", "spade"))
            for seed in (0, 1)
        ),
        done("new_types", "thyroid", "vime", 0),
        failed("new_types", "thyroid", "vime", 1),
        failed("new_types", "thyroid", "dann", 0),
        done("pu", "drug", "spade", 0, 0.9),
        *(done("alpha", "drug", method, 0, 0.6) for method in SWEPT),
    ]


def stored(results, folder):
    for result in results:
        write_result(result, folder)
    return folder


@pytest.fixture
def folder(tmp_path):
    return stored(some_results(), tmp_path / "results")


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


# Ranks, wins and losses


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


def test_results_that_no_table_has_a_place_for_are_counted_and_left_out(tmp_path):
    known = done("new_types", "thyroid", "spade", auc=0.911)
    strange = replace(known, method="forgotten", auc=0.999)
    assert survey([known, strange]).n_unknown == 1
    report = build_report(stored([known, strange], tmp_path))
    assert "no table of this version, left out: 1\n" in report.markdown
    assert "0.999" not in report.html


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


# Photos


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


def test_probabilities_are_compared_over_the_same_cells_alone():
    def run(column, method, error):
        measured = {"calibration_error": error, "brier_score": error / 2}
        return done("new_types", column, method, **measured)

    both = [run(column, "spade", 0.1) for column in ("thyroid", "drug")]
    rows = measure_calibration(Runs([*both, run("drug", "occ", 0.01)]))
    assert [row.method.name for row in rows] == ["spade"]
    assert rows[0].by_setting == {"PNU": (0.1, 0.05)}
    as_many = [run(column, "occ", 0.01) for column in ("thyroid", "drug")]
    rows = measure_calibration(Runs([*both, *as_many]))
    assert [row.method.name for row in rows] == ["spade", "occ"]


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


# Tables


def test_every_number_of_the_paper_has_a_place_in_a_table():
    for name, rows in read_paper().items():
        table, found = TABLES[name], set()
        for head in auc_heads(table):
            for method in table.methods:
                row = METHODS[method].paper
                if paper_value(name, head.column, head.measure, row):
                    found.add((row, head.column.key, head.measure))
        # Of photos, those of MVTec are means over categories, which no column is.
        printed = [key for columns in rows.values() for key in columns]
        assert len(found) == sum(not key.startswith("mvtec/") for key in printed)


def test_rows_are_the_papers_in_its_order_then_the_others():
    rows = order_rows(TABLES["new_types"])
    assert rows[:9] == [
        "supervised",
        "negative_supervised",
        "occ",
        "negative_occ",
        "srr",
        "vime",
        "dann",
        "spade_paper",
        "spade",
    ]
    assert sorted(rows) == sorted(COMPARED)
    assert order_rows(TABLES["ablation"]) == [*ABLATED[1:], ABLATED[0]]
    assert order_rows(TABLES["alpha"]) == list(SWEPT)


def test_methods_that_do_not_apply_come_last():
    table = TABLES["nu"]
    others = order_rows(table)[9:]
    applies = [table.applies(table.columns[0], method) for method in others]
    assert applies == sorted(applies, reverse=True)
    assert set(applies) == {True, False}


@pytest.mark.parametrize("method", ["spade", "spade_paper"])
def test_spade_in_both_forms_is_held_against_the_papers(method):
    table = TABLES["new_types"]
    runs = Runs([done("new_types", "thyroid", method, auc=0.9)])
    cell = measure_cell(runs, table, table.columns[0], method, "auc")
    assert cell.paper == 0.921
    assert cell.difference == pytest.approx(-0.021)


@given(st.lists(shares, min_size=1, max_size=6))
def test_a_cell_is_mean_and_sample_deviation_over_seeds(values):
    table = TABLES["easiness"]
    runs = Runs([done("easiness", "drug", "occ", *run) for run in enumerate(values)])
    cell = measure_cell(runs, table, table.columns[1], "occ", "auc")
    assert cell.mean == pytest.approx(np.mean(values))
    if len(values) == 1:
        assert cell.std is None
    else:
        assert cell.std == pytest.approx(np.std(values, ddof=1))


@given(st.lists(st.none() | st.floats(0, 1), max_size=8))
def test_the_best_are_those_shown_with_the_highest_mean(means):
    cells = [Cell("not run" if mean is None else "ran", mean) for mean in means]
    shown = [f"{mean:.3f}" for mean in means if mean is not None]
    for mean, cell in zip(means, mark_best(cells), strict=True):
        assert cell.best == (mean is not None and f"{mean:.3f}" == max(shown))


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


def test_kinds_of_anomaly_are_shown_apart_where_the_paper_does_so():
    labels = {name: [head.label for head in auc_heads(TABLES[name])] for name in TABLES}
    kinds = ["overall", "given", "missed"]
    assert labels["new_types"] == labels["pu"] == labels["nu"] == 3 * kinds
    assert labels["easiness"] == ["thyroid", "drug", "covertype"]
    assert labels["fraud"] == ["5.0%", "10.0%", "10.0%", "20.0%"]
    groups = view_table(TABLES["ablation"], Runs([])).groups
    assert groups == [("new types", 3), ("easiness", 3)]


def test_seeds_are_told_by_data_set_where_they_differ():
    results = [done("high_risk", key, "occ") for key in ("drug-0.010", "drug-0.015")]
    assert page.describe_seeds(Runs(results), "high_risk") == (
        "0 for thyroid and drug-0.025 and covertype, 1 for drug-0.010 and drug-0.015"
    )
    assert page.describe_seeds(Runs(results), "alpha") == "0"


# Agreement with the paper


@pytest.mark.parametrize(
    ("difference", "std", "within"),
    [
        (0.03, None, True),
        (0.831 - 0.801, None, True),  # a little more than 0.03 in binary
        (-0.031, 0.015, False),
        (-0.031, 0.016, True),
        (0.029, 0.0, True),
        (0.2, 0.099, False),
    ],
)
def test_within_is_the_larger_of_0_03_and_two_deviations(difference, std, within):
    assert is_within(difference, std) is within


def test_agreement_counts_the_baselines_and_not_spade_or_ablations():
    results = [
        done("new_types", "thyroid", "supervised", auc=0.80),  # 0.815, 0.996, 0.741
        done("new_types", "thyroid", "spade", auc=0.1),
        done("new_types", "thyroid", "tuned_forest", auc=0.1),
        done("ablation", "drug-easiness", "spade_paper_no_ensemble", auc=0.1),
    ]
    agreement = compare_baselines(Runs(results), {"supervised": "because"})
    assert [cell.within for cell in agreement.cells] == [True, False, True]
    (outside,) = agreement.outside
    assert (outside.paper, outside.std, outside.ours) == (0.996, 0.003, 0.8)
    assert outside.difference == pytest.approx(-0.196)
    assert outside.explanation == "because"
    assert agreement.n_within == 2
    assert agreement.n_published > 200


def test_the_most_specific_explanation_is_taken():
    table = TABLES["high_risk"]
    column = table.columns[0]
    sentences = {
        "vime": "coarse",
        "thyroid/vime": "finer",
        "high_risk/thyroid-0.010/vime": "finest",
    }
    found = []
    for key in reversed(list(sentences)):
        found.append(explain("high_risk", column, "vime", sentences))
        del sentences[key]
    assert found == ["finest", "finer", "coarse"]
    assert explain("high_risk", column, "vime", sentences) == NO_EXPLANATION


def test_the_report_prints_explanations_and_says_where_there_is_none(folder, monkeypatch):
    sentences = {"supervised": "forests <differ> | much"}
    monkeypatch.setattr(page, "read_explanations", lambda: sentences)
    report = build_report(folder)
    assert "forests &lt;differ&gt; | much" in report.html
    assert "forests &lt;differ&gt; \\| much |" in report.markdown
    assert NO_EXPLANATION in report.html


# The page


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


# Charts


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
