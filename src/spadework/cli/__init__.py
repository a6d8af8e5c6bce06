"""The command ``spadework``: one file a verb, each parses, calls, prints."""

import logging
import os
import sys
import warnings
from typing import TYPE_CHECKING

from spadework.cli.stopping import Stopped, heed_signals, leave
from spadework.errors import SpadeworkError
from spadework.lazy import LazyModule

if TYPE_CHECKING:
    from spadework.cli import app
else:
    app = LazyModule("spadework.cli.app")


def main() -> None:
    """Run the command line; every error is one clear paragraph, unless for --debug."""
    heed_signals()
    for told_by_libraries in ("lbfgs failed to converge", "Image size .* exceeds limit"):
        warnings.filterwarnings("ignore", message=told_by_libraries)
    if not sys.stderr.isatty():
        logging.basicConfig(format="%(message)s", level=logging.INFO, stream=sys.stderr)
    try:
        app.app()
    except Stopped as stopped:
        leave(str(stopped), stopped.status)
    except BrokenPipeError:
        # Who reads our output has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        if "--debug" in sys.argv:
            raise
        leave(_in_words(error), 1)


def _in_words(error: Exception) -> str:
    """Say what went wrong; our own errors speak for themselves."""
    if isinstance(error, SpadeworkError):
        return str(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory; use fewer rows or columns"
    if isinstance(error, OSError):
        return f"{error.filename or 'a file'}: {error.strerror or error}"
    return (
        f"unexpected {type(error).__name__}: {error}. Run the command again with --debug "
        f"in front (spadework --debug ...) to see where, and report it"
    )
