"""``spadework score``: score a table or pictures, however many."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option, echo

from spadework.cli import library, models, pictures
from spadework.errors import InputError

if TYPE_CHECKING:
    from spadework.budgets import Budget


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
    calls: models.Calls = None,
    cost_missed: models.CostMissed = None,
    cost_call: models.CostCall = None,
    per_day: Annotated[
        int | None, Option(help="Call so many rows of each day; needs --date.")
    ] = None,
    date: Annotated[
        str | None, Option(help="Column of dates that tells the days of --per-day.")
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
    budget = read_budget(calls, per_day, date)
    models.refuse_inputs(out, model, sources)
    fitted = models.load_any(model)
    is_table = isinstance(fitted, library.table_model.TableModel)
    log_odds = is_table and fitted.detector.model_.gives_log_odds
    threshold = models.decide_by(
        threshold, budget, cost_missed, cost_call, log_odds=log_odds
    )
    if threshold is not None:
        library.validation.check_threshold(threshold)
    wanted: Any = {
        "top": top,
        "only_anomalies": only_anomalies,
        "force": force,
        "verbose": not quiet,
    }
    unreadable = true = ""
    if is_table:
        models.refuse_folders(model, sources)
        pictures.refuse_options(
            "a model of a table", heat_maps=heat_maps, skip_corrupt=skip_corrupt
        )
        source = models.source_of(sources)
        counts = library.scoring.score_table(
            fitted, source, out, query=query, threshold=threshold, budget=budget, **wanted
        )
        lost = [each._asdict() for each in counts.lost_columns]
        expected = counts.expected and counts.expected._asdict()
        found = {**counts._asdict(), "lost_columns": lost, "expected": expected}
        if counts.expected:
            true = f" (of these, {counts.expected} should be anomalies)"
        scored = f"{counts.n_rows:,} rows"
    else:
        pictures.refuse_options(
            "a model of pictures", query=query, calls=calls, per_day=per_day
        )
        if threshold is not None:
            fitted.threshold_ = threshold
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
            f"{scored} scored, {counts.n_anomalies:,} called anomalous{true}, "
            f"{counts.n_written:,} written to {out}{unreadable}",
            err=True,
        )


def read_budget(
    calls: str | None, per_day: int | None, date: str | None
) -> "Budget | None":
    """Read what --calls, --per-day and --date come to together."""
    if calls is not None and per_day is not None:
        raise InputError("give --calls or --per-day, and not both")
    if (per_day is None) != (date is None):
        raise InputError(
            "--per-day N and --date COLUMN need each other: the column tells the days"
        )
    if calls is not None:
        return library.budgets.Budget(models.read_calls(calls))
    return None if per_day is None else library.budgets.Budget(per_day, date)
