"""The errors spadework raises, each also a built-in that people already catch."""

from collections.abc import Sequence
from difflib import get_close_matches

_SHOWN_NAMES = 12


class SpadeworkError(Exception):
    """Base of every error that spadework raises on purpose."""


class InputError(SpadeworkError, ValueError):
    """The data or a parameter cannot be used; the message says what to do."""


class LabelError(InputError):
    """The labels are unknown, ambiguous or impossible."""


class ModelFileError(SpadeworkError, ValueError):
    """A model cannot be written as plain data, or a file is not a whole model."""


class ExportError(SpadeworkError, ValueError):
    """A model cannot be exported, or its exported form does not score as it does."""


class DataError(SpadeworkError, OSError):
    """A data file is missing, cut off or not the original one."""


def suggest(name: str, names: Sequence[str]) -> str:
    """Ask whether a like name was meant, if there is one.

    >>> suggest("Outcome", ["age", "outcome"])
    ". Did you mean 'outcome'?"
    >>> suggest("Outcome", ["age"])
    ''
    """
    by_case = {each.lower(): each for each in reversed(names)}
    found = get_close_matches(name.lower(), by_case, n=1)
    return f". Did you mean {by_case[found[0]]!r}?" if found else ""


def list_some(names: Sequence[str]) -> str:
    """List names, the first of very many.

    >>> list_some(["a", "b"])
    'a, b'
    """
    more = len(names) - _SHOWN_NAMES
    return ", ".join(names[:_SHOWN_NAMES]) + (f" and {more} more" if more > 0 else "")
