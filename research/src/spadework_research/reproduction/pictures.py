"""Line charts side by side, as SVG files that stand alone."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

Points = Sequence[tuple[float, float]]

WIDTH, HEIGHT, GAP = 250, 170, 62
LEFT, TOP, BELOW = 44, 34, 58
TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
COLOURS = ("#0b6e99", "#c2410c", "#7fb3cc", "#e3a587")
"""Of the lines in their order, dark enough on white."""

STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#1b2330}"
    ".axis{fill:#5b6574;text-anchor:middle}.end{text-anchor:end}"
    ".grid{stroke:#dde2e8}.line{fill:none;stroke-width:2}"
)


class Panel(NamedTuple):
    """One chart: lines by name over x, with values from 0 to 1, and marked points."""

    title: str
    lines: Mapping[str, Points]
    marks: Mapping[str, Points] = {}


def draw_panels(panels: Sequence[Panel], *, title: str, x_label: str) -> str:
    """Draw charts beside each other, whose lines of one name have one colour."""
    names = list(dict.fromkeys(name for panel in panels for name in panel.lines))
    colours = dict(zip(names, COLOURS, strict=False))
    width = LEFT + len(panels) * (WIDTH + GAP)
    parts = []
    for at, panel in enumerate(panels):
        parts += _panel(panel, LEFT + at * (WIDTH + GAP), colours, x_label)
    for at, name in enumerate(names):
        x, y = LEFT + at * 210, TOP + HEIGHT + BELOW
        stroke = f"stroke='{colours[name]}' class='line'"
        parts.append(f"<path d='M{x} {y - 4}h22' {stroke}/>")
        parts.append(_text(x + 28, y, name))
    height = TOP + HEIGHT + BELOW + 12
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' "
        f"role='img' aria-label='{escape(title, quote=True)}'>\n<style>{STYLE}</style>\n"
        f"<rect width='{width}' height='{height}' fill='#ffffff'/>\n"
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _panel(
    panel: Panel, left: float, colours: Mapping[str, str], x_label: str
) -> list[str]:
    """Draw one chart with its axes."""
    last = max(x for points in panel.lines.values() for x, _ in points)

    def place(x: float, y: float) -> tuple[float, float]:
        return left + WIDTH * x / last, TOP + HEIGHT * (1 - min(max(y, 0.0), 1.0))

    parts = [_text(left, 18, panel.title)]
    for tick in TICKS:
        _, y = place(0, tick)
        parts.append(f"<path d='M{left} {y:.1f}h{WIDTH}' class='grid'/>")
        parts.append(_text(left - 6, y + 4, f"{tick:.2f}", "axis end"))
    for share in (0.0, 0.5, 1.0):
        x, y = place(share * last, 0)
        parts.append(_text(x, y + 17, f"{share * last:g}", "axis"))
    parts.append(_text(left + WIDTH / 2, TOP + HEIGHT + 33, x_label, "axis"))
    for name, points in panel.lines.items():
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*p) for p in points))
        stroke = f"stroke='{colours[name]}' class='line'"
        parts.append(f"<polyline points='{places}' {stroke}/>")
    for name, points in panel.marks.items():
        for x, y in (place(*p) for p in points):
            parts.append(
                f"<circle cx='{x:.1f}' cy='{y:.1f}' r='4.5' fill='{colours[name]}'/>"
            )
    return parts


def _text(x: float, y: float, words: str, kind: str = "") -> str:
    classes = f" class='{kind}'" if kind else ""
    return f"<text x='{x:.1f}' y='{y:.1f}'{classes}>{escape(words)}</text>"
