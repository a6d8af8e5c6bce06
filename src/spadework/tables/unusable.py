"""Columns that nothing can be learnt from until a user says what to do with them."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from spadework.errors import InputError

Option = Callable[[str, Sequence[str]], str]
"""Spells a parameter of `fit_table` and its values."""

_SHOWN_COLUMNS, _SHOWN_WORDS, _MAX_OPTIONS = 4, 4, 30
_SHOWN_LETTERS = 40


class Empty(NamedTuple):
    """A column without any value."""

    name: str


class Mixed(NamedTuple):
    """A column of a ``kind``, number, date or time of day, in which some values are none.

    The first of these, ``n_others``, is in a row counted from 0; ``others`` holds each
    once, in the order of the rows.
    """

    name: str
    kind: str
    n_others: int
    row: int
    others: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"column {self.name}: {self.n_others:,} of its values are no {self.kind}, "
            f"such as {self.others[0][:_SHOWN_LETTERS]!r} in row {self.row:,}"
        )


class ColumnsError(InputError):
    """Columns of a table are empty or hold values of two kinds; all of them are named."""

    def __init__(self, empty: list[Empty], mixed: list[Mixed], n_rows: int) -> None:
        self.empty, self.mixed, self.n_rows = empty, mixed, n_rows
        super().__init__(self.explain(in_python))

    def explain(self, option: Option) -> str:
        """Say what is wrong and what to do, with parameters spelled as for the user."""
        said = []
        if self.empty:
            said.append(_explain_empty([c.name for c in self.empty], self.n_rows, option))
        if self.mixed:
            said.append(_explain_mixed(self.mixed, option))
        return ". Also ".join(said)


def in_python(parameter: str, values: Sequence[str]) -> str:
    """Spell a parameter as an argument of `fit_table`."""
    return f"{parameter}={list(values)!r}"


def _explain_empty(names: list[str], n_rows: int, option: Option) -> str:
    one = len(names) == 1
    these = f"column {names[0]} has" if one else f"{len(names):,} columns have"
    return (
        f"{these} no value in any of the {n_rows:,} rows; expected one at least. "
        f"Correct the table, or give {_spell_some(option, 'ignore', names)} to leave out "
        f"what is empty"
    )


def _explain_mixed(mixed: Sequence[Mixed], option: Option) -> str:
    shown = "; ".join(map(str, mixed[:_SHOWN_COLUMNS]))
    more = len(mixed) - _SHOWN_COLUMNS
    names = [column.name for column in mixed]
    others = list(dict.fromkeys(word for column in mixed for word in column.others))
    return (
        f"{shown} (counted from 0){f'; and {more:,} more columns' * (more > 0)}. "
        f"Correct the table, or say what such values mean: "
        f"{_spell_some(option, 'missing', others, _SHOWN_WORDS)} if that is missing, "
        f"{_spell_some(option, 'categories', names)} if these are codes, or leave out "
        f"with {_spell_some(option, 'ignore', names)}"
    )


def _spell_some(
    option: Option, parameter: str, values: Sequence[str], most: int = _MAX_OPTIONS
) -> str:
    """Spell a parameter with all its values, or with the first of very many."""
    more = len(values) - most
    return option(parameter, values[:most]) + f" and {more:,} more" * (more > 0)
