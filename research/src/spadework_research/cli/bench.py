"""``spadework bench``: run the comparisons, and report them."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from spadework_research.places import results_folder
from spadework_research.report import write_report
from spadework_research.runs.benchmark import SEEDS, run_benchmark
from spadework_research.runs.methods import METHODS
from spadework_research.runs.precision import write_precision
from spadework_research.runs.results import results_ledger
from spadework_research.runs.tables import TABLES

bench = typer.Typer(
    help="Every comparison of the paper, and more.",
    invoke_without_command=True,
    pretty_exceptions_enable=False,
)

QUICK_TABLES = ("new_types", "easiness", "pu", "nu", "fraud")
QUICK_METHODS = (
    "spade",
    "supervised",
    "negative_supervised",
    "occ",
    "negative_occ",
    "srr",
    "tuned_forest",
    "extra_trees",
    "bagging_pu_balanced",
    "devnet",
)
QUICK_ROWS, QUICK_SEEDS = 8_000, 2
_RESULTS = "Folder of the results (research/results of a checkout)."


@bench.callback()
def run(
    context: typer.Context,
    table: Annotated[
        list[str] | None, typer.Option(help="Only this table; may be repeated.")
    ] = None,
    data: Annotated[
        list[str] | None, typer.Option(help="Only this data set; may be repeated.")
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option(help="Only this method; may be repeated.")
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(help="Seeds 0 to N - 1 (5 by default).", min=1)
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(help="Runs at a time (one for each core; 4 on a GPU)."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help=_RESULTS)] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick",
            help="Two seeds, small data, fewer methods; into a folder of their own.",
        ),
    ] = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Run again what has failed.")
    ] = False,
    limit: Annotated[float, typer.Option(help="Seconds that a run may take.")] = 3600.0,
) -> None:
    """Run what is chosen and not there yet, every run into a row of the results.

    Stop it at any time; started again, it goes on where it was.
    """
    if context.invoked_subcommand is not None:
        return
    folder = out or results_folder(quick=quick)
    summary = run_benchmark(
        folder,
        tables=table or (QUICK_TABLES if quick else TABLES),
        datasets=data,
        methods=method or (QUICK_METHODS if quick else None),
        seeds=seeds or (QUICK_SEEDS if quick else SEEDS),
        max_rows=QUICK_ROWS if quick else None,
        n_jobs=jobs,
        limit_seconds=limit,
        retry_failed=retry_failed,
    )
    results_ledger(folder).fold()
    print(
        f"{summary.done} runs done, {summary.failed} failed, {summary.found} were there "
        f"already, in {folder}"
    )
    if summary.absent:
        print(f"not here, so not run: {', '.join(summary.absent)}")
        print("(`spadework data fetch NAME` gets a data set, or says where to get it)")
    if summary.failed:
        raise typer.Exit(1)


@bench.command()
def report(
    results: Annotated[Path | None, typer.Option(help=_RESULTS)] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of the report (beside the results).")
    ] = None,
) -> None:
    """Build report.md and report.html from the results."""
    folder = results or results_folder()
    for path in write_report(folder, out or folder):
        print(path)


@bench.command()
def precision(
    results: Annotated[Path | None, typer.Option(help=_RESULTS)] = None,
) -> None:
    """Measure how pure pseudo-labels are over the score, for figure 4."""
    print(write_precision(results or results_folder()))


@bench.command()
def merge(
    folders: Annotated[list[Path], typer.Argument(help="Folders of other results.")],
    results: Annotated[Path | None, typer.Option(help=_RESULTS)] = None,
) -> None:
    """Take over the runs of other machines; theirs replace runs that are here."""
    ledger = results_ledger(results or results_folder())
    found = [row for folder in folders for row in results_ledger(folder).read()]
    for row in found:
        ledger.append(row)
    ledger.fold()
    print(f"{len(found)} runs taken over into {ledger.path}")


@bench.command("list")
def list_names() -> None:
    """List tables and methods."""
    console = Console()
    tables = Table("table", "what", "columns")
    for each in TABLES.values():
        keys = ", ".join(column.key for column in each.columns)
        tables.add_row(each.name, each.title, keys)
    console.print(tables)
    methods = Table("method", "what", "for", "settings", "needs")
    for each in METHODS.values():
        settings = ", ".join(each.settings)
        makers = {"tables": each.make, "photos": each.make_images}
        use = ", ".join(name for name, make in makers.items() if make)
        methods.add_row(each.name, each.label, use, settings, each.library or "")
    console.print(methods)
