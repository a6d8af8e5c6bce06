"""The command ``spadework``: one file a verb, each parses, calls, prints."""

import logging
import sys


def main() -> None:
    """Run the command line; every error of ours is one clear paragraph."""
    from spadework.cli.app import app
    from spadework.errors import SpadeworkError

    if not sys.stderr.isatty():
        logging.basicConfig(format="%(message)s", level=logging.INFO, stream=sys.stderr)
    try:
        app()
    except SpadeworkError as error:
        sys.exit(f"spadework: {error}")
