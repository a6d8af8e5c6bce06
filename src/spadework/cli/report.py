"""``spadework report``: one HTML page on a model, its table and how well it does."""

from pathlib import Path
from typing import Annotated

import typer

from spadework.cli.models import Force, ModelPath, Query, Sources, load_model, source_of
from spadework.errors import InputError


def report(
    model: ModelPath,
    sources: Sources,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file to write.")] = Path(
        "report.html"
    ),
    held_out: Annotated[
        list[str] | None,
        typer.Option(help="Labeled rows the model has not seen; repeatable."),
    ] = None,
    query: Query = None,
    force: Force = False,
) -> None:
    """Write a report: labels, mismatch, scores, trust, top anomalies with reasons."""
    if out.exists() and not force:
        raise InputError(f"{out} exists and is left as it is; give --force to replace it")
    from spadework.report import write_page
    from spadework.tables.reading import read_table

    fitted = load_model(model)
    table = read_table(
        source_of(sources), query=query, types=fitted.types, columns=fitted.columns
    )
    unseen = None
    if held_out:
        unseen = read_table(source_of(held_out), types=fitted.types)
    write_page(fitted, table, out, unseen)
    print(out)
