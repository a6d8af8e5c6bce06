"""``spadework score``: score a table of any size."""

import json
from pathlib import Path
from typing import Annotated

import typer

from spadework.cli.models import (
    Force,
    Json,
    ModelPath,
    Query,
    Quiet,
    Sources,
    hush,
    load_model,
    source_of,
)


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
    query: Query = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Score rows, in their order, with constant memory."""
    hush(quiet)
    from spadework.scoring import score_table

    counts = score_table(
        load_model(model),
        source_of(sources),
        out,
        query=query,
        top=top,
        only_anomalies=only_anomalies,
        force=force,
        verbose=not quiet,
    )
    if as_json:
        typer.echo(json.dumps(counts._asdict()), err=str(out) == "-")
    elif not quiet:
        typer.echo(
            f"{counts.n_rows:,} rows scored, {counts.n_anomalies:,} called anomalous, "
            f"{counts.n_written:,} written to {out}",
            err=True,
        )
