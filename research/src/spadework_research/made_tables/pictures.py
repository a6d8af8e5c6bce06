"""A page of pictures: what made tables look like, and how their rows are labeled.

``python -m spadework_research.made_tables.pictures PAGE.html`` draws other tables for
each ``--seed``.
"""

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import torch
from markupsafe import Markup
from torch import Tensor

from spadework_research.made_tables.anomalies import FAMILIES
from spadework_research.made_tables.draw import Draw, mid_ranks
from spadework_research.made_tables.labeling import SCENARIOS
from spadework_research.made_tables.tables import MadeTables, Prior, draw_tables

_N_ROWS, _N_COLUMNS, _N_TABLES = 400, 6, 4
_SIDE, _BARS = 170, 24
_RADII = {"normal": 2.5, "anomaly": 2.5, "told-normal": 2.5, "told-anomaly": 4.5}

_PAGE = Markup("""\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Made tables</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; padding: 0 1rem;
  max-width: 60rem; }}
h2 {{ margin: 2.5rem 0 0; font-size: 1.25rem; }}
h3 {{ margin: 1.5rem 0 .25rem; font-size: 1rem; }}
p {{ max-width: 42rem; }}
.row {{ display: flex; flex-wrap: wrap; gap: .75rem; }}
figure {{ margin: 0; width: 11.5rem; }}
figcaption {{ font-size: .8rem; opacity: .75; }}
svg {{ width: 100%; border: 1px solid #8886; border-radius: .3rem; display: block; }}
svg.key {{ display: inline; width: 1rem; border: 0; vertical-align: -.15rem; }}
.normal {{ fill: #7d8794; opacity: .45; }}
.anomaly {{ fill: #d9480f; }}
.told-normal {{ fill: #1971c2; stroke: #1971c2; }}
.told-anomaly {{ fill: none; stroke: #111; stroke-width: 1.6; }}
.bar {{ fill: #1971c2; }}
@media (prefers-color-scheme: dark) {{ .told-anomaly {{ stroke: #fff; }} }}
</style>
<h1>Made tables</h1>
<p>What the in-context model learns from. Of each table two columns are shown, by ranks:
those in which anomalies stand apart most.</p>
<p>{legend}</p>
{sections}
</html>
""")


class _Picture(NamedTuple):
    drawing: Markup
    caption: str


def draw_page(seed: int = 0) -> str:
    """Lay out labels by scenario, anomalies by family, and single columns."""
    sections = [
        _section(
            "How labels come about",
            "A fair sample of anomalies is labeled in none but the first.",
            (
                (name, _labelings(position, seed))
                for position, name in enumerate(SCENARIOS)
            ),
        ),
        _section(
            "Types of anomalies",
            "Most tables have several types, of one family or of more.",
            ((name, _types(position, seed)) for position, name in enumerate(FAMILIES)),
        ),
        _section(
            "Columns",
            "How often values occur: from the least to the largest.",
            [("of some tables", _columns(seed))],
        ),
    ]
    legend = Markup(" &emsp; ").join(
        Markup("<svg class='key' viewBox='0 0 12 12'>{}</svg> {}").format(
            Markup(_mark(6, 6, *classes)), text
        )
        for classes, text in (
            (("normal",), "normal"),
            (("anomaly",), "anomaly"),
            (("told-normal",), "labeled normal"),
            (("anomaly", "told-anomaly"), "labeled anomaly"),
        )
    )
    return _PAGE.format(legend=legend, sections=Markup("\n").join(sections))


def _labelings(scenario: int, seed: int) -> Iterator[_Picture]:
    frequencies = tuple(float(i == scenario) for i in range(len(SCENARIOS)))
    for made in _tables(Prior(frequencies, flipped=0.0), seed):
        told = [int((made.states == state).sum()) for state in (0, 1)]
        share = float((made.kind > 0).float().mean())
        yield _Picture(
            _scatter(made, labels=True),
            f"{share:.0%} anomalous; labeled: {told[0]} normal, {told[1]} anomalous",
        )


def _types(family: int, seed: int) -> Iterator[_Picture]:
    frequencies = tuple(float(i == family) for i in range(len(FAMILIES)))
    for made in _tables(replace(Prior(), families=frequencies), seed):
        n_types = len(made.kind[made.kind > 0].unique())
        yield _Picture(_scatter(made, labels=False), f"types: {n_types}")


def _columns(seed: int) -> Iterator[_Picture]:
    for made in _tables(Prior(), seed):
        for column in made.X[0].T:
            distinct = len(column.unique())
            yield _Picture(_histogram(column), f"{distinct} distinct values")


def _tables(prior: Prior, seed: int) -> Iterator[MadeTables]:
    """Batches of one table each, whose rows are all in the context."""
    made = draw_tables(
        Draw(seed),
        prior,
        n_tables=_N_TABLES,
        n_rows=_N_ROWS,
        n_columns=_N_COLUMNS,
        n_context=_N_ROWS,
    )
    for parts in zip(*(part.split(1) for part in made), strict=True):
        yield MadeTables(*parts)


def _scatter(made: MadeTables, *, labels: bool) -> Markup:
    """Draw the rows of a table, anomalies and labeled rows last."""
    ranks = mid_ranks(made.X)[0]
    anomalous = made.kind[0] > 0
    apart = (ranks[anomalous].mean(dim=0) - ranks[~anomalous].mean(dim=0)).abs()
    x, y = ranks[:, apart.topk(2).indices].T.tolist()
    states = made.states[0].tolist()
    layers: list[list[str]] = [[], [], [], []]
    for row, is_anomalous in enumerate(anomalous.tolist()):
        at = _place(x[row]), _place(1 - y[row])
        kind = "anomaly" if is_anomalous else "normal"
        layers[is_anomalous].append(_mark(*at, kind))
        if labels and states[row] < 2:
            told = ("told-normal", "told-anomaly")[states[row]]
            layers[2 + states[row]].append(_mark(*at, told))
    return _svg(mark for layer in layers for mark in layer)


def _histogram(column: Tensor) -> Markup:
    heights = torch.histc(column.clamp(-1e15, 1e15), _BARS)
    width = _SIDE / _BARS
    tallest = float(heights.max())
    bars = (
        f"<rect class='bar' x='{i * width:.1f}' y='{_SIDE * (1 - height / tallest):.1f}' "
        f"width='{width - 1:.1f}' height='{_SIDE * height / tallest:.1f}'/>"
        for i, height in enumerate(heights.tolist())
    )
    return _svg(bars)


def _section(
    title: str, lead: str, rows: Iterable[tuple[str, Iterable[_Picture]]]
) -> Markup:
    figure = Markup("<figure>{}<figcaption>{}</figcaption></figure>")
    shown = [
        Markup("<h3>{}</h3>\n<div class='row'>\n{}\n</div>").format(
            name.replace("_", " "),
            Markup("\n").join(figure.format(*picture) for picture in pictures),
        )
        for name, pictures in rows
    ]
    return Markup("<h2>{}</h2>\n<p>{}</p>\n{}").format(
        title, lead, Markup("\n").join(shown)
    )


def _place(share: float) -> float:
    return 6 + share * (_SIDE - 12)


def _mark(x: float, y: float, *classes: str) -> str:
    """Draw a dot, a ring round it, or both."""
    return "".join(
        f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{_RADII[name]}' class='{name}'/>"
        for name in classes
    )


def _svg(marks: Iterable[str]) -> Markup:
    """Put marks, in which there is nothing but numbers and classes, on a square."""
    return Markup(f"<svg viewBox='0 0 {_SIDE} {_SIDE}' role='img'>{''.join(marks)}</svg>")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m spadework_research.made_tables.pictures"
    )
    parser.add_argument("page", type=Path, help="an HTML file, to be written anew")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    asked.page.write_text(draw_page(asked.seed), encoding="utf-8")
