"""Charts as SVG text. Colours are classes, so that the style sheet decides them."""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from markupsafe import Markup

from spadework_research.report.cells import Cell
from spadework_research.report.summary import OURS, Standing
from spadework_research.runs.precision import PrecisionCurve

Point = tuple[float, float]

_ROW = 19
_SERIES = ("s1", "s2", "s3")


class Scale(NamedTuple):
    """Map values from ``low`` to ``high`` onto ``start`` to ``end``."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Return the place of a value."""
        share = (value - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)


def draw_ranks(standings: Sequence[Standing], n_cells: int) -> Markup:
    """Draw a dot for each method's average rank by AUC, a ring for average precision."""
    top, bottom = 44, 44 + _ROW * len(standings)
    worst = max(max(each.auc_rank, each.precision_rank) for each in standings)
    x = Scale(1, max(worst, 2), 204, 392)
    marks = [
        _text(204, 12, "average rank, 1 is best", "axis start"),
        _text(440, 32, "cells", "axis end"),
    ]
    for tick in rank_ticks(worst):
        marks += [
            _line((x(tick), top - 4), (x(tick), bottom), "grid"),
            _text(x(tick), 32, str(tick), "axis"),
        ]
    for row, each in enumerate(standings):
        marks.append(_rank_row(each, x, top + _ROW * (row + 0.5), n_cells))
    return _svg(440, bottom + 4, "Average ranks of all methods", marks)


def draw_alpha(
    series: Mapping[str, Mapping[float, Cell]], alphas: Sequence[float]
) -> Markup:
    """Draw mean AUC over alpha, a line for each data set, with standard deviations.

    Parameters
    ----------
    series : mapping
        Data set to alpha to a cell that ran.
    alphas : sequence of float
        The values on the axis, rising.
    """
    ends = [_span(cell) for points in series.values() for cell in points.values()]
    ticks = share_ticks(min(low for low, _ in ends), max(high for _, high in ends))
    x, y = _alpha_scale(alphas), Scale(ticks[0], ticks[-1], 230, 28)
    marks = [_text(10, 12, "AUC", "axis start"), *_share_grid(ticks, y, 48, 352)]
    for alpha in alphas:
        marks.append(_text(x[alpha], 248, f"{alpha:g}", "axis"))
    marks.append(_text(200, 268, "alpha, the weight of the pseudo-labels", "axis"))
    heights = [y(points[max(points)].mean or 0.0) for points in series.values()]
    labels = zip(series, spread(heights, gap=15), _SERIES, strict=False)
    for name, height, series_class in labels:
        marks += _alpha_line(series[name], x, y, series_class)
        marks.append(_text(360, height + 4, name, f"{series_class} start"))
    return _svg(440, 276, "AUC over the weight of the pseudo-labels", marks)


def draw_precision(name: str, curve: PrecisionCurve) -> Markup:
    """Draw precision over the score percentile, with base rate and thresholds."""
    x, y = Scale(0, 100, 40, 328), Scale(0, 1, 220, 34)
    marks = _share_grid([0.0, 0.25, 0.5, 0.75, 1.0], y, 40, 328)
    for tick in (0, 25, 50, 75, 100):
        marks.append(_text(x(tick), 237, str(tick), "axis"))
    marks.append(_text(184, 254, "percentile of the score", "axis"))
    marks.append(_path([(40, y(curve.base_rate)), (328, y(curve.base_rate))], "base"))
    thresholds = (
        ("normal below", curve.normal_threshold, "s1", 12),
        ("anomaly above", curve.anomaly_threshold, "s2", 27),
    )
    for words, at, series_class, height in thresholds:
        side, shift = ("end", -4) if at > 50 else ("start", 4)
        marks += [
            _line((x(at), height - 8), (x(at), 220), f"{series_class} threshold"),
            _text(x(at) + shift, height, f"{words} {at:.0f}", f"{series_class} {side}"),
        ]
    for shares, series_class in ((curve.normal, "s1"), (curve.anomaly, "s2")):
        points = zip(curve.percentiles, shares, strict=True)
        known = [(x(at), y(share)) for at, share in points if share is not None]
        marks.append(_path(known, f"{series_class} curve"))
    return _svg(340, 262, f"Precision of pseudo-labels on {name}", marks)


def rank_ticks(worst: float) -> list[int]:
    """Return 1 and the round ranks up to the worst."""
    step = next(step for step in (1, 2, 5, 10, 20, 50, 100) if worst <= 7 * step)
    return sorted({1, *range(step, math.floor(max(worst, 2)) + 1, step)})


def share_ticks(low: float, high: float) -> list[float]:
    """Return three to seven round values that enclose a range."""
    span = max(high - low, 0.01)
    step = next(step for step in (0.005, 0.01, 0.02, 0.05, 0.1, 0.2) if span <= 5 * step)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [round(tick * step, 4) for tick in range(first, max(last, first + 1) + 1)]


def spread(heights: Sequence[float], *, gap: float) -> list[float]:
    """Move labels down until none is nearer than the gap to another; order is kept."""
    placed = list(heights)
    order = sorted(range(len(placed)), key=lambda each: placed[each])
    for above, below in pairwise(order):
        placed[below] = max(placed[below], placed[above] + gap)
    return placed


def _rank_row(each: Standing, x: Scale, height: float, n_cells: int) -> Markup:
    """Draw a method's name, its two marks joined by a line, and where it ran."""
    name_class = "ours end" if each.method.name == OURS else "end"
    some = each.n_cells < n_cells
    title = (
        f"{each.method.label}: {each.auc_rank:.2f} by AUC, {each.precision_rank:.2f} by "
        f"average precision, in {each.n_cells} of {n_cells} cells"
    )
    ends = [(x(each.auc_rank), height), (x(each.precision_rank), height)]
    cells = f"{each.n_cells}/{n_cells}" if some else str(n_cells)
    group = "ours" if each.method.name == OURS else "some" if some else "all"
    return Markup("<g class='{}'><title>{}</title>{}</g>").format(
        group,
        title,
        Markup("").join(
            [
                _text(194, height + 4, each.method.label, name_class),
                _line(ends[0], ends[1], "join"),
                _circle(ends[1], "ring"),
                _circle(ends[0], "dot"),
                _text(440, height + 4, cells, "axis end"),
            ]
        ),
    )


def _alpha_scale(alphas: Sequence[float]) -> dict[float, float]:
    """Place weights by their logarithm, and zero apart on the left."""
    positive = [alpha for alpha in alphas if alpha > 0]
    x = Scale(math.log(positive[0]), math.log(positive[-1]), 130, 340)
    return {alpha: x(math.log(alpha)) if alpha else 62.0 for alpha in alphas}


def _alpha_line(
    points: Mapping[float, Cell], x: Mapping[float, float], y: Scale, series_class: str
) -> list[Markup]:
    """Draw one data set: bars for the deviations, dots, a line but not from zero."""
    marks: list[Markup] = []
    places = {alpha: (x[alpha], y(cell.mean or 0.0)) for alpha, cell in points.items()}
    for alpha, cell in points.items():
        low, high = _span(cell)
        marks.append(
            _line((x[alpha], y(low)), (x[alpha], y(high)), f"{series_class} bar")
        )
        marks.append(_circle(places[alpha], f"{series_class} dot"))
    joined = [place for alpha, place in sorted(places.items()) if alpha > 0]
    if 0.0 in places and joined:
        marks.append(_path([places[0.0], joined[0]], f"{series_class} gap"))
    return [*marks, _path(joined, f"{series_class} curve")]


def _span(cell: Cell) -> tuple[float, float]:
    """Return the mean less and plus its deviation, from 0 to 1."""
    mean, std = cell.mean or 0.0, cell.std or 0.0
    return max(mean - std, 0.0), min(mean + std, 1.0)


def _share_grid(
    ticks: Iterable[float], y: Scale, left: float, right: float
) -> list[Markup]:
    """Draw horizontal lines with their values."""
    marks: list[Markup] = []
    for tick in ticks:
        marks.append(_line((left, y(tick)), (right, y(tick)), "grid"))
        marks.append(_text(left - 6, y(tick) + 4, f"{tick:.2f}", "axis end"))
    return marks


def _svg(width: float, height: float, title: str, marks: Iterable[Markup]) -> Markup:
    return Markup(
        "<svg viewBox='0 0 {:g} {:g}' role='img' aria-label='{}'>\n{}\n</svg>"
    ).format(width, height, title, Markup("\n").join(marks))


def _text(x: float, y: float, content: str, classes: str) -> Markup:
    return Markup("<text x='{:.1f}' y='{:.1f}' class='{}'>{}</text>").format(
        x, y, classes, content
    )


def _line(start: Point, end: Point, classes: str) -> Markup:
    return Markup(
        "<line x1='{:.1f}' y1='{:.1f}' x2='{:.1f}' y2='{:.1f}' class='{}'/>"
    ).format(*start, *end, classes)


def _circle(at: Point, classes: str) -> Markup:
    return Markup("<circle cx='{:.1f}' cy='{:.1f}' r='4' class='{}'/>").format(
        *at, classes
    )


def _path(points: Sequence[Point], classes: str) -> Markup:
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return Markup("<polyline points='{}' class='{}'/>").format(places, classes)
