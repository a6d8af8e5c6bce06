"""Options that say what the columns of a table are, and the table read by them."""

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from typer import Option

from spadework.cli import library, models
from spadework.errors import InputError, LabelError
from spadework.tables.unusable import ColumnsError

if TYPE_CHECKING:
    from spadework.table_fitting import FitPlan

LabelMap = Annotated[
    models.Some,
    Option(
        "--map",
        help="What label values mean: 'fraud=1,ok=0'; 1 anomaly, 0 normal, -1 or "
        "empty unlabeled; repeatable.",
    ),
]
Key = Annotated[
    models.Some,
    Option(help="Column that names a row, kept beside scores; repeatable."),
]
Ignore = Annotated[models.Some, Option(help="Column not to learn from; repeatable.")]
Category = Annotated[
    models.Some, Option(help="Column of codes that look like numbers; repeatable.")
]
Missing = Annotated[
    models.Some,
    Option(help="Value that means missing, besides NA and such; repeatable."),
]
Unlabeled = Annotated[
    models.Some, Option(help="Further rows, all taken as unlabeled; repeatable.")
]
Seed = Annotated[int, Option(help="Random seed.", min=0)]


def plan_table(
    sources: list[str],
    *,
    label: str,
    label_map: models.Some,
    key: models.Some,
    ignore: models.Some,
    category: models.Some,
    missing: models.Some,
    query: str | None,
    unlabeled: models.Some,
) -> "FitPlan":
    """Read a table and decide what each column is, or refuse in words of the command."""
    try:
        return library.table_fitting.plan_table(
            models.source_of(sources),
            label=label,
            label_map=parse_map(label_map) if label_map else None,
            keys=key or (),
            ignore=ignore or (),
            categories=category or (),
            missing=missing or (),
            query=query,
            unlabeled=models.source_of(unlabeled) if unlabeled else None,
        )
    except LabelError as error:
        raise LabelError(models.in_words_of_the_command(str(error))) from error
    except ColumnsError as error:
        raise InputError(error.explain(as_options)) from error


def as_options(parameter: str, values: Sequence[str]) -> str:
    """Spell a parameter of `fit_table` as options that a shell takes as they are."""
    option = "--category" if parameter == "categories" else f"--{parameter}"
    return " ".join(f"{option} {shlex.quote(value)}" for value in values)


def parse_map(texts: Sequence[str]) -> dict[str, int]:
    """Read ``value=label`` pairs, parted by commas; a pair alone may hold commas."""
    mapping: dict[str, int] = {}
    for pair in (pair for text in texts for pair in _pairs(text)):
        value, equals, number = pair.rpartition("=")
        if not equals or number.strip() not in ("1", "0", "-1"):
            raise LabelError(
                f"--map needs pairs such as 'fraud=1,ok=0' with 1 (anomaly), 0 (normal) "
                f"or -1 (unlabeled); got {pair!r}"
            )
        value, meaning = value.strip(), int(number)
        if mapping.setdefault(value, meaning) != meaning:
            raise LabelError(
                f"--map gives {value!r} two meanings: {mapping[value]} and {meaning}"
            )
    return mapping


def _pairs(text: str) -> list[str]:
    return [text] if text.count("=") == 1 else text.split(",")
