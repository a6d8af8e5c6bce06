"""End in good order when a signal says so: files that are half written go first."""

import os
import signal
import sys
from typing import Any, NoReturn

_WORDS = {
    "SIGINT": "interrupted",
    "SIGTERM": "told to stop",
    "SIGHUP": "the terminal was closed",
}


class Stopped(BaseException):
    """A signal has arrived; no error, so that nothing takes it for one."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = 128 + number  # as shells give it

    def __str__(self) -> str:
        words = _WORDS[signal.Signals(self.status - 128).name]
        return f"{words}; nothing was half written"


def heed_signals() -> None:
    """Raise `Stopped` on a signal that ends the process, unless it is ignored."""
    for each in _known_signals():
        if signal.getsignal(each) != signal.SIG_IGN:
            signal.signal(each, _stop)


def leave(words: str, status: int) -> NoReturn:
    """Say why, and end at once: threads that still read could disturb Python's end."""
    print(f"spadework: {words}", file=sys.stderr, flush=True)
    os._exit(status)


def _stop(number: int, frame: Any) -> NoReturn:
    """Raise once; a second signal must not interrupt the tidying up."""
    for each in _known_signals():
        signal.signal(each, signal.SIG_IGN)
    raise Stopped(number)


def _known_signals() -> list[signal.Signals]:
    """Return those of the signals that this system has."""
    return [signal.Signals[name] for name in _WORDS if hasattr(signal, name)]
