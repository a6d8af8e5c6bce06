"""``spadework report``: one HTML page on a model, its table and how well it does."""

import json
from pathlib import Path
from typing import Annotated

import typer

from spadework.cli import library
from spadework.cli.models import (
    Force,
    Json,
    ModelPath,
    Query,
    Quiet,
    SkipCorrupt,
    Sources,
    hush,
    in_words_of_the_command,
    load_any,
    refuse_folders,
    refuse_inputs,
    source_of,
)
from spadework.cli.pictures import refuse_options, report_pictures
from spadework.errors import LabelError
from spadework.files import check_ending, check_place


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
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write a report: labels, mismatch, scores, trust, top anomalies with reasons."""
    hush(quiet)
    refuse_inputs(out, model, [*sources, *(held_out or ())])
    check_ending(out, ".html", ".htm")
    check_place(out, force=force)
    fitted = load_any(model)

    if not isinstance(fitted, library.table_model.TableModel):
        refuse_options("a model of pictures", query=query, held_out=held_out)
        report_pictures(fitted, sources, out, skip_corrupt=skip_corrupt, quiet=quiet)
        _say(out, quiet=quiet, as_json=as_json)
        return

    refuse_folders(model, sources)
    refuse_options("a model of a table", skip_corrupt=skip_corrupt)
    table = library.reading.read_table(
        source_of(sources),
        query=query,
        types=fitted.types,
        columns=[*fitted.columns, fitted.label],
    )
    unseen = None
    if held_out:
        unseen = library.reading.read_table(source_of(held_out), types=fitted.types)
    try:
        library.report.write_page(fitted, table, out, unseen)
    except LabelError as error:
        if "label_map" not in str(error):
            raise
        raise LabelError(
            f"{in_words_of_the_command(str(error))} The map is that of spadework fit; "
            f"fit again with one that names the labels of held-out rows, too"
        ) from error
    library.lost_columns.warn_of_lost(fitted.find_lost(table))
    _say(out, quiet=quiet, as_json=as_json)


def _say(out: Path, *, quiet: bool, as_json: bool) -> None:
    """Name the file that was written."""
    if as_json:
        print(json.dumps({"out": str(out)}))
    elif not quiet:
        print(out)
