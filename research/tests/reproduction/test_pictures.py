"""Pictures are whole SVG files that keep lines apart and words unharmed."""

from xml.etree import ElementTree

from spadework_research.reproduction.pictures import (
    COLOURS,
    HEIGHT,
    TOP,
    Panel,
    draw_panels,
)

SVG = "{http://www.w3.org/2000/svg}"
PANEL = Panel("a < b & c", {"one": [(0, 0.0), (4, 1.0)]}, {"one": [(2, 0.5)]})


def drawn(*panels):
    return ElementTree.fromstring(draw_panels(panels, title="'x' & y", x_label="epoch"))


def test_a_line_runs_from_the_bottom_to_the_top_and_a_mark_lies_on_it():
    root = drawn(PANEL)
    ((first, last),) = [
        line.get("points").split() for line in root.iter(f"{SVG}polyline")
    ]
    (x0, y0), (x1, y1) = (map(float, each.split(",")) for each in (first, last))
    (mark,) = root.iter(f"{SVG}circle")
    assert (y0, y1) == (TOP + HEIGHT, TOP)
    assert float(mark.get("cx")) == (x0 + x1) / 2
    assert float(mark.get("cy")) == (y0 + y1) / 2


def test_words_are_written_as_they_are():
    words = [text.text for text in drawn(PANEL).iter(f"{SVG}text")]
    assert {"a < b & c", "one", "epoch"} <= set(words)


def test_a_name_has_one_colour_in_all_panels_and_another_name_another():
    other = Panel("second", {"two": [(0, 0.5), (4, 0.5)], "one": [(0, 1.0), (4, 1.0)]})
    strokes = [line.get("stroke") for line in drawn(PANEL, other).iter(f"{SVG}polyline")]
    assert strokes == [COLOURS[0], COLOURS[1], COLOURS[0]]


def test_values_beyond_the_axis_stay_on_the_chart():
    root = drawn(Panel("far", {"one": [(0, -3.0), (1, 9.0)]}))
    (line,) = root.iter(f"{SVG}polyline")
    heights = [float(each.split(",")[1]) for each in line.get("points").split()]
    assert heights == [TOP + HEIGHT, TOP]
