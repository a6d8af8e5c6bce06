"""``spadework report``: one HTML page on a model, its table and how well it does."""

from pathlib import Path
from typing import Annotated

import typer

from spadework.cli.models import (
    Force,
    ModelPath,
    Query,
    SkipCorrupt,
    Sources,
    load_any,
    refuse_folders,
    source_of,
)
from spadework.cli.pictures import refuse_options, report_pictures
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
    skip_corrupt: SkipCorrupt = False,
    force: Force = False,
) -> None:
    """Write a report: labels, mismatch, scores, trust, top anomalies with reasons."""
    if out.exists() and not force:
        raise InputError(f"{out} exists and is left as it is; give --force to replace it")
    fitted = load_any(model)
    from spadework.table_model import TableModel

    if not isinstance(fitted, TableModel):
        refuse_options("a model of pictures", query=query, held_out=held_out)
        report_pictures(fitted, sources, out, skip_corrupt=skip_corrupt)
        print(out)
        return
    from spadework.report import write_page
    from spadework.tables.reading import read_table

    refuse_folders(model, sources)
    refuse_options("a model of a table", skip_corrupt=skip_corrupt)
    table = read_table(
        source_of(sources),
        query=query,
        types=fitted.types,
        columns=[*fitted.columns, fitted.label],
    )
    unseen = None
    if held_out:
        unseen = read_table(source_of(held_out), types=fitted.types)
    write_page(fitted, table, out, unseen)
    print(out)
