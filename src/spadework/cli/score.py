"""``spadework score``: score a table or pictures, however many."""

import json
from pathlib import Path
from typing import Annotated, Any

from typer import Option, echo

from spadework.cli import library, models, pictures


def score(
    model: models.ModelPath,
    sources: models.Sources,
    out: Annotated[
        Path,
        Option(
            "--out", "-o", help="File ending in .csv, .tsv or .parquet; '-' prints CSV."
        ),
    ] = Path("-"),
    top: Annotated[
        int | None, Option(help="Only the N highest scores, highest first.")
    ] = None,
    only_anomalies: Annotated[
        bool, Option("--only-anomalies", help="Only rows called anomalous.")
    ] = False,
    threshold: Annotated[
        float | None,
        Option(help="Score above which to call rows, instead of the model's."),
    ] = None,
    heat_maps: Annotated[
        Path | None,
        Option(help="Folder for what is odd in each written picture, as PNG."),
    ] = None,
    skip_corrupt: models.SkipCorrupt = False,
    query: models.Query = None,
    force: models.Force = False,
    quiet: models.Quiet = False,
    as_json: models.Json = False,
) -> None:
    """Score rows, or pictures by name, in their order, with constant memory."""
    models.hush(quiet)
    models.refuse_inputs(out, model, sources)
    fitted = models.load_any(model)
    is_table = isinstance(fitted, library.table_model.TableModel)
    if threshold is not None:
        library.validation.check_threshold(threshold)
        (fitted.detector if is_table else fitted).threshold_ = threshold
    wanted: Any = {
        "top": top,
        "only_anomalies": only_anomalies,
        "force": force,
        "verbose": not quiet,
    }
    unreadable = ""
    if is_table:
        models.refuse_folders(model, sources)
        pictures.refuse_options(
            "a model of a table", heat_maps=heat_maps, skip_corrupt=skip_corrupt
        )
        source = models.source_of(sources)
        counts = library.scoring.score_table(fitted, source, out, query=query, **wanted)
        lost = [each._asdict() for each in counts.lost_columns]
        found = {**counts._asdict(), "lost_columns": lost}
        scored = f"{counts.n_rows:,} rows"
    else:
        pictures.refuse_options("a model of pictures", query=query)
        fitted.on_corrupt = "skip" if skip_corrupt else "refuse"
        with pictures.words_of_the_command():
            photos = pictures.find_pictures(sources)
            counts = library.photo_scoring.score_photos(
                fitted, photos, out, heat_maps=heat_maps, **wanted
            )
        found = counts._asdict()
        scored = f"{counts.n_pictures - counts.n_unreadable:,} pictures"
        if counts.n_unreadable:
            unreadable = f", {counts.n_unreadable:,} could not be read"
    if as_json:
        echo(json.dumps(found), err=str(out) == "-")
    elif not quiet:
        echo(
            f"{scored} scored, {counts.n_anomalies:,} called anomalous, "
            f"{counts.n_written:,} written to {out}{unreadable}",
            err=True,
        )
