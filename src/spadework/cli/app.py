"""The verbs of the command line. Heavy libraries load inside the verbs."""

from typing import Annotated

import typer

import spadework
from spadework.cli.compare import compare
from spadework.cli.demo import demo
from spadework.cli.evaluate import evaluate
from spadework.cli.explain import explain
from spadework.cli.export import export
from spadework.cli.fit import fit
from spadework.cli.report import report
from spadework.cli.research import add_commands
from spadework.cli.score import score

app = typer.Typer(
    name="spadework",
    help="Anomaly detection from a few labels that do not look like the rest.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for verb in (fit, evaluate, score, explain, report, compare, export, demo):
    app.command()(verb)
add_commands(app)


def _show_version(wanted: bool) -> None:
    """Print the version and leave."""
    if wanted:
        print(spadework.__version__)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version."
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where an error came from.")
    ] = False,
) -> None:
    """Take the options that all verbs share."""
