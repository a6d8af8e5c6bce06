"""``spadework score``: score a table or pictures, however many."""

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
    detector_of,
    hush,
    load_any,
    refuse_folders,
    refuse_inputs,
    source_of,
)
from spadework.cli.pictures import refuse_options, score_pictures


def score(
    model: ModelPath,
    sources: Sources,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="File ending in .csv, .tsv or .parquet; '-' prints CSV."
        ),
    ] = Path("-"),
    top: Annotated[
        int | None, typer.Option(help="Only the N highest scores, highest first.")
    ] = None,
    only_anomalies: Annotated[
        bool, typer.Option("--only-anomalies", help="Only rows called anomalous.")
    ] = False,
    threshold: Annotated[
        float | None,
        typer.Option(help="Score above which to call rows, instead of the model's."),
    ] = None,
    heat_maps: Annotated[
        Path | None,
        typer.Option(help="Folder for what is odd in each written picture, as PNG."),
    ] = None,
    skip_corrupt: SkipCorrupt = False,
    query: Query = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Score rows, or pictures by name, in their order, with constant memory."""
    hush(quiet)
    refuse_inputs(out, model, sources)
    fitted = load_any(model)
    if threshold is not None:
        library.validation.check_threshold(threshold)
        detector_of(fitted).threshold_ = threshold
    if not isinstance(fitted, library.table_model.TableModel):
        refuse_options("a model of pictures", query=query)
        score_pictures(
            fitted,
            sources,
            out,
            top=top,
            only_anomalies=only_anomalies,
            heat_maps=heat_maps,
            skip_corrupt=skip_corrupt,
            force=force,
            quiet=quiet,
            as_json=as_json,
        )
        return
    refuse_folders(model, sources)
    refuse_options("a model of a table", heat_maps=heat_maps, skip_corrupt=skip_corrupt)
    counts = library.scoring.score_table(
        fitted,
        source_of(sources),
        out,
        query=query,
        top=top,
        only_anomalies=only_anomalies,
        force=force,
        verbose=not quiet,
    )
    if as_json:
        lost = [each._asdict() for each in counts.lost_columns]
        found = {**counts._asdict(), "lost_columns": lost}
        typer.echo(json.dumps(found), err=str(out) == "-")
    elif not quiet:
        typer.echo(
            f"{counts.n_rows:,} rows scored, {counts.n_anomalies:,} called anomalous, "
            f"{counts.n_written:,} written to {out}",
            err=True,
        )
