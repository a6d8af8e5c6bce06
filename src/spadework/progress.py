"""Progress of long work: a bar on a terminal, log lines otherwise."""

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

logger = logging.getLogger("spadework")

Advance = Callable[[str], None]
"""Call after each step, with a note on how things stand ("" for none)."""

_LOG_SECONDS = 10.0


@contextmanager
def progress(label: str, total: int | None, *, verbose: bool) -> Iterator[Advance]:
    """Show the progress of ``total`` steps, at most, or of an unknown number if None.

    With ``verbose`` and a terminal on stderr a bar is drawn; otherwise a line is
    logged at the end and every ten seconds before (INFO, logger "spadework"), which
    ``verbose`` writes to stderr where nobody has said what to log, as in a notebook.
    """
    if verbose and sys.stderr.isatty():
        with _bar(label, total) as advance:
            yield advance
    else:
        unheard = logger.level == logging.NOTSET and not logger.isEnabledFor(logging.INFO)
        say = _write_line if verbose and unheard else logger.info
        with _lines(label, total, say) as advance:
            yield advance


@contextmanager
def _bar(label: str, total: int | None) -> Iterator[Advance]:
    """Draw a bar on stderr."""
    from rich import progress as parts
    from rich.console import Console

    columns = (
        parts.TextColumn("{task.description}"),
        parts.BarColumn(),
        parts.MofNCompleteColumn(),
        parts.TimeElapsedColumn(),
        parts.TextColumn("left"),
        parts.TimeRemainingColumn(),
        parts.TextColumn("{task.fields[note]}"),
    )
    with parts.Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(label, total=total, note="")
        yield lambda note: bar.update(task, advance=1, note=note)


@contextmanager
def _lines(label: str, total: int | None, say: Callable[..., None]) -> Iterator[Advance]:
    """Say a line now and then, and one at the end."""
    started = last = time.monotonic()
    done, latest = 0, ""

    def advance(note: str) -> None:
        nonlocal done, latest, last
        done, latest = done + 1, note
        if time.monotonic() - last >= _LOG_SECONDS:
            last = time.monotonic()
            seconds = last - started
            if total is None:
                say("%s: %.0f s %s", label, seconds, note)
                return
            left = seconds / done * max(0, total - done)
            say("%s: %d of %d, %.0f s left %s", label, done, total, left, note)

    yield advance
    seconds = time.monotonic() - started
    say("%s: done after %d steps, %.1f s %s", label, done, seconds, latest)


def _write_line(line: str, *values: object) -> None:
    """Write a line to stderr as a logger would."""
    sys.stderr.write(line % values + "\n")
    sys.stderr.flush()
