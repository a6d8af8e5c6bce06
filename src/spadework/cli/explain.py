"""``spadework explain``: why rows have their scores."""

import json
from dataclasses import asdict
from typing import Annotated, Any

from typer import Option

from spadework.cli import library, models
from spadework.errors import InputError


def explain(
    model: models.ModelPath,
    sources: models.Sources,
    top: Annotated[int, Option(help="Explain the N highest scores.")] = 10,
    row: Annotated[
        list[int] | None,
        Option(help="Explain this row instead, counted from 0; repeatable."),
    ] = None,
    key_value: Annotated[
        list[str] | None,
        Option(help="Explain the row with this key instead; repeatable."),
    ] = None,
    query: models.Query = None,
    quiet: models.Quiet = False,
    as_json: models.Json = False,
) -> None:
    """Say which columns make rows anomalous, and which labeled rows are near."""
    models.hush(quiet)
    fitted, source = models.load_model(model, sources), models.source_of(sources)
    if row and key_value:
        raise InputError("give rows by --row or by --key-value, not both")
    if row:
        rows = library.reading.read_rows(
            source, row, query=query, types=fitted.types, columns=fitted.columns
        )
        numbers = row
    else:
        found, rows = (
            library.scoring.find_named(fitted, source, key_value, query=query)
            if key_value
            else library.scoring.find_top(fitted, source, top, query=query)
        )
        numbers = found.tolist()
    fitted.refuse_without_keys(rows.column_names)
    explained = library.explain.explain_rows(fitted, rows, verbose=not quiet)
    keys = rows.select(fitted.keys).to_pylist() if fitted.keys else [{}] * len(explained)
    if as_json:
        facts = [
            {"row": number, "keys": _without_nan(key), **asdict(each)}
            for number, key, each in zip(numbers, keys, explained, strict=True)
        ]
        print(json.dumps(facts, default=str, allow_nan=False))
        return
    titles = library.table_model.name_rows(rows, fitted.keys)
    for number, title, each in zip(numbers, titles, explained, strict=True):
        print(f"row {number}{f' ({title})' if title else ''}: {each}\n")


def _without_nan(values: dict[str, Any]) -> dict[str, Any]:
    """Write no number as null: JSON has no other word for it."""
    return {name: None if value != value else value for name, value in values.items()}
