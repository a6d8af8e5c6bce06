"""Put the report into one HTML file that needs nothing else."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from spadework.files import write_whole
from spadework.report.content import make_content
from spadework.table_model import TableModel

HERE = Path(__file__).parent


def write_page(
    model: TableModel, table: pa.Table, out: Path, held_out: pa.Table | None = None
) -> None:
    """Write the report on a model and a table; parameters as of `make_content`."""
    write_whole(out, build_page(make_content(model, table, held_out)).encode())


def build_page(content: dict[str, Any]) -> str:
    """Return the HTML of a report."""
    # JSON must not end the script element it stands in.
    data = json.dumps(content, allow_nan=False).replace("&", "\\u0026")
    data = data.replace("<", "\\u003c").replace(">", "\\u003e")
    assets = {"css": asset("report.css"), "js": asset("report.js"), "data": Markup(data)}
    return new_environment().get_template("report.html.jinja").render(**content, **assets)


def new_environment() -> Environment:
    """Return what fills the templates of this folder."""
    environment = Environment(
        loader=FileSystemLoader(HERE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["sentence"] = lambda text: text[:1].upper() + text[1:]
    environment.filters["percent"] = "{:.1%}".format
    environment.filters["thousands"] = "{:,}".format
    return environment


def asset(name: str) -> Markup:
    """Return a file of this folder, to stand in a page as it is."""
    return Markup((HERE / name).read_text(encoding="utf-8"))
