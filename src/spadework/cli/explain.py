"""``spadework explain``: why rows have their scores."""

import json
from dataclasses import asdict
from typing import Annotated

import typer

from spadework.cli.models import (
    Json,
    ModelPath,
    Query,
    Sources,
    load_model,
    source_of,
)
from spadework.errors import InputError


def explain(
    model: ModelPath,
    sources: Sources,
    top: Annotated[int, typer.Option(help="Explain the N highest scores.")] = 10,
    row: Annotated[
        list[int] | None,
        typer.Option(help="Explain this row instead, counted from 0; repeatable."),
    ] = None,
    query: Query = None,
    as_json: Json = False,
) -> None:
    """Say which columns make rows anomalous, and which labeled rows are near."""
    import numpy as np
    import pyarrow as pa

    from spadework.explain import explain_rows
    from spadework.tables.reading import read_table

    fitted = load_model(model)
    table = read_table(source_of(sources), query=query, types=fitted.types)
    if row:
        beyond = [each for each in row if not 0 <= each < table.num_rows]
        if beyond:
            raise InputError(
                f"there is no row {beyond[0]}; the table has {table.num_rows}"
            )
        chosen = np.array(row)
    else:
        scores = fitted.score(table).column("anomaly_score").to_numpy()
        chosen = np.argsort(-scores, kind="stable")[:top]
    rows = table.take(pa.array(chosen))
    found = explain_rows(fitted, rows)
    keys = [rows.column(name).to_pylist() for name in fitted.keys]
    for at, (number, each) in enumerate(zip(chosen.tolist(), found, strict=True)):
        named = {name: values[at] for name, values in zip(fitted.keys, keys, strict=True)}
        if as_json:
            print(json.dumps({"row": number, **named, **asdict(each)}, default=str))
        else:
            title = ", ".join(f"{name} {value}" for name, value in named.items())
            print(f"row {number}{f' ({title})' if title else ''}: {each}\n")
