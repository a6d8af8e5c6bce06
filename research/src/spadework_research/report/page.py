"""Put the report together from results: Markdown, and one HTML page."""

from collections import defaultdict
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from spadework.errors import DataError
from spadework.files import write_whole
from spadework_research.report import charts
from spadework_research.report.agreement import compare_baselines
from spadework_research.report.calibration import SETTINGS, measure_calibration
from spadework_research.report.cells import (
    SHOWN_DIGITS,
    Runs,
    TableView,
    view_average_precision,
    view_table,
    without_absent_photos,
)
from spadework_research.report.choices import CHOICES
from spadework_research.report.published import read_explanations
from spadework_research.report.sixty import PARTS, view_methods, view_weights
from spadework_research.report.summary import (
    OURS,
    SUMMARIZED,
    Standing,
    mean_scores,
    measure_costs,
    summarize,
    survey,
)
from spadework_research.report.verdict import judge
from spadework_research.runs.methods import (
    ALPHAS,
    COMPARED,
    METHODS,
    SWEPT,
    SWEPT_LITERAL,
)
from spadework_research.runs.precision import DATASETS, read_precision
from spadework_research.runs.results import read_results
from spadework_research.runs.sweeps import read_sweeps, sum_sweeps
from spadework_research.runs.tables import IMAGES, TABLES

_MINUS, _NONE = "\u2212", "\u2013"


class Report(NamedTuple):
    """The same report twice."""

    markdown: str
    html: str


def build_report(folder: Path) -> Report:
    """Read the results below a folder and put them into words, tables and charts."""
    content = _content(Path(folder))
    environment = _environment()
    return Report(
        environment.get_template("report.md.jinja").render(content),
        environment.get_template("report.html.jinja").render(content),
    )


def write_report(folder: Path, out: Path) -> list[Path]:
    """Write ``report.md`` and ``report.html`` into the folder ``out``."""
    report = build_report(folder)
    written = {"report.md": report.markdown, "report.html": report.html}
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    for name, text in written.items():
        write_whole(out / name, text.encode())
    return [out / name for name in written]


def _content(folder: Path) -> dict[str, Any]:
    """Prepare all that the templates show."""
    results = read_results(folder)
    if not results:
        raise DataError(f"{folder} holds no results. Run the benchmark first")
    runs = Runs(results)
    shown = {name: without_absent_photos(table, runs) for name, table in TABLES.items()}
    shown = {name: table for name, table in shown.items() if table.columns}
    views = {name: view_table(table, runs) for name, table in shown.items()}
    standings = summarize(runs)
    n_cells = len(mean_scores(runs, "auc"))
    costs = measure_costs(runs)
    curves = read_precision(folder)
    return {
        "overview": survey(results),
        "ours": OURS,
        "standings": standings,
        "n_cells": n_cells,
        "n_all_cells": sum(len(TABLES[name].columns) for name in SUMMARIZED),
        "absent": [METHODS[name] for name in COMPARED if name not in _names(standings)],
        "verdicts": judge(runs),
        "choices": CHOICES,
        "rank_chart": charts.draw_ranks(standings, n_cells) if standings else None,
        "tables": TABLES,
        "views": views,
        "precision_views": {
            name: view_average_precision(table, runs) for name, table in shown.items()
        },
        "images": IMAGES,
        "photo_verdicts": judge(runs, [IMAGES]),
        "absent_photos": _absent_photos(runs),
        "seeds": {name: describe_seeds(runs, name) for name in TABLES},
        "alpha_chart": _alpha_chart(views["alpha"], SWEPT),
        "literal_alpha_chart": _alpha_chart(views["alpha"], SWEPT_LITERAL),
        "agreement": compare_baselines(runs, read_explanations()),
        "sixty_parts": list(PARTS.values()),
        "sixty_methods": view_methods(folder),
        "sixty_weights": view_weights(folder),
        "curve_names": DATASETS,
        "curves": curves,
        "curve_charts": {
            name: charts.draw_precision(name, curve) for name, curve in curves.items()
        },
        "settings": SETTINGS,
        "calibration": measure_calibration(runs),
        "sweeps": sum_sweeps(read_sweeps(folder)),
        "costs": [(METHODS[name], costs[name]) for name in COMPARED if name in costs],
        "cost_names": [*DATASETS, "creditcard", "xente"],
    }


def describe_seeds(runs: Runs, table: str) -> str:
    """Say how many seeds the columns of a table were run with, data sets together."""
    names: dict[int, list[str]] = defaultdict(list)
    columns = without_absent_photos(TABLES[table], runs).columns
    counts = {column: runs.n_seeds(table, column.key) for column in columns}
    for column, count in counts.items():
        same = {counts[each] for each in columns if each.dataset == column.dataset}
        name = column.dataset if len(same) == 1 else column.key
        if name not in names[count]:
            names[count].append(name)
    if len(names) < 2:
        return str(next(iter(names), 0))
    return ", ".join(f"{count} for {' and '.join(of)}" for count, of in names.items())


def _absent_photos(runs: Runs) -> list[str]:
    """Name the sets of photos that no method was run on, under no scenario."""
    columns = TABLES[IMAGES].columns
    ran = {column.dataset for column in columns if runs.n_seeds(IMAGES, column.key)}
    return [name for name in dict.fromkeys(c.dataset for c in columns) if name not in ran]


def _names(standings: list[Standing]) -> set[str]:
    return {each.method.name for each in standings}


def _alpha_chart(view: TableView, swept: Sequence[str]) -> Markup | None:
    """Draw figure 5 from the rows of a sweep, None if nothing was run."""
    weight = dict(zip(swept, ALPHAS, strict=True))
    series = {
        head.label: {
            weight[row.method.name]: row.cells[at]
            for row in view.rows
            if row.method.name in weight and row.cells[at].state == "ran"
        }
        for at, head in enumerate(view.heads)
    }
    ran = {name: points for name, points in series.items() if points}
    return charts.draw_alpha(ran, ALPHAS) if ran else None


def _environment() -> Environment:
    """Templates lie beside this file; only HTML is escaped by itself."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=select_autoescape(("html.jinja",)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "share": show_share,
        "signed": show_signed,
        "seconds": show_seconds,
        "plain": plain_text,
    }
    return environment


def show_share(value: float | None) -> str:
    """Show a share with the digits of the tables, a dash where there is none."""
    return _NONE if value is None else f"{value:.{SHOWN_DIGITS}f}"


def show_signed(value: float) -> str:
    """Show a difference with its sign, and no minus before a zero."""
    rounded = round(value, SHOWN_DIGITS) + 0.0
    return f"{rounded:+.{SHOWN_DIGITS}f}".replace("-", _MINUS)


def show_seconds(value: float) -> str:
    """Show a time with the digits that matter."""
    return (
        f"{value:.2f}"
        if value < 10
        else f"{value:.1f}"
        if value < 100
        else f"{value:.0f}"
    )


def plain_text(text: str) -> str:
    """Keep text from being read as Markdown or HTML, and on one line."""
    one_line = escape(" ".join(text.split()), quote=False)
    for mark in "\\`*_[]|":
        one_line = one_line.replace(mark, f"\\{mark}")
    return one_line
