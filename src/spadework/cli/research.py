"""Commands that the research distribution brings; it loads when one is called."""

from collections.abc import Callable
from importlib.metadata import entry_points

import typer

from spadework.errors import InputError

COMMANDS = {
    "bench": "Every comparison of the paper, and more.",
    "data": "The data sets of those comparisons.",
}
GROUP = "spadework.commands"


def add_commands(app: typer.Typer) -> None:
    """Let an app pass all words behind such a command on to it."""
    take_all = {"allow_extra_args": True, "ignore_unknown_options": True}
    for name, about in COMMANDS.items():
        app.command(name, help=about, add_help_option=False, context_settings=take_all)(
            _passed_on(name)
        )


def _passed_on(name: str) -> Callable[[typer.Context], None]:
    """Return what runs the command of that name."""

    def run(context: typer.Context) -> None:
        found = entry_points(group=GROUP, name=name)
        if not found:
            raise InputError(
                f"'spadework {name}' needs spadework-research, which is not installed. "
                f"In a checkout of spadework, run: pip install ./research"
            )
        (command,) = found
        command.load()(args=context.args, prog_name=f"spadework {name}")

    return run
