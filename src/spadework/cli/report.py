"""``spadework report``: one HTML page on a model, its table and how well it does."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from spadework.cli import library, models, pictures
from spadework.errors import LabelError
from spadework.files import check_ending, check_place

if TYPE_CHECKING:
    from spadework.table_model import TableModel


def report(
    model: models.ModelPath,
    sources: models.Sources,
    out: Annotated[Path, Option("--out", "-o", help="HTML file to write.")] = Path(
        "report.html"
    ),
    held_out: Annotated[
        models.Some, Option(help="Labeled rows the model has not seen; repeatable.")
    ] = None,
    query: models.Query = None,
    skip_corrupt: models.SkipCorrupt = False,
    force: models.Force = False,
    quiet: models.Quiet = False,
    as_json: models.Json = False,
) -> None:
    """Write a report: labels, mismatch, scores, trust, top anomalies with reasons."""
    models.hush(quiet)
    models.refuse_inputs(out, model, [*sources, *(held_out or ())])
    check_ending(out, ".html", ".htm")
    check_place(out, force=force)
    fitted = models.load_any(model)
    if isinstance(fitted, library.table_model.TableModel):
        models.refuse_folders(model, sources)
        pictures.refuse_options("a model of a table", skip_corrupt=skip_corrupt)
        _report_table(fitted, out, models.source_of(sources), held_out, query)
    else:
        pictures.refuse_options("a model of pictures", query=query, held_out=held_out)
        fitted.on_corrupt = "skip" if skip_corrupt else "refuse"
        fitted.verbose = not quiet
        with pictures.words_of_the_command():
            photos = pictures.find_pictures(sources)
            library.picture_report.write_picture_page(fitted, photos, out)
    if as_json:
        print(json.dumps({"out": str(out)}))
    elif not quiet:
        print(out)


def _report_table(
    fitted: "TableModel", out: Path, source: Any, held_out: models.Some, query: str | None
) -> None:
    """Write the report on a table, and say which of its columns are lost."""
    read, unseen = library.reading.read_table, None
    columns = [*fitted.columns, fitted.label]
    table = read(source, query=query, types=fitted.types, columns=columns)
    if held_out:
        unseen = read(models.source_of(held_out), types=fitted.types)
    try:
        library.report.write_page(fitted, table, out, unseen)
    except LabelError as error:
        if "label_map" not in str(error):
            raise
        raise LabelError(
            f"{models.in_words_of_the_command(str(error))} The map is that of spadework "
            f"fit; fit again with one that names the labels of held-out rows, too"
        ) from error
    library.lost_columns.warn_of_lost(fitted.find_lost(table))
