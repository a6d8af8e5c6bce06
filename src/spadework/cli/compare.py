"""``spadework compare``: what has changed since the model was fitted."""

import json
from typing import Annotated

from typer import Exit, Option

from spadework.cli import library, models

_SHOWN_COLUMNS = 10


def compare(
    model: models.ModelPath,
    sources: models.Sources,
    query: models.Query = None,
    as_json: models.Json = False,
    fail_on_drift: Annotated[
        bool, Option("--fail-on-drift", help="Exit with 3 unless nothing has changed.")
    ] = False,
) -> None:
    """Say how new rows differ from training rows, and whether to refit or relabel."""
    fitted = models.load_model(model, sources)
    table = library.reading.read_table(
        models.source_of(sources), query=query, types=fitted.types, columns=fitted.columns
    )
    drift = library.differences.compare_table(fitted, table)
    lost = fitted.find_lost(table)
    if as_json:
        found = {
            "rows": drift.n_rows,
            "left_out": drift.n_left_out,
            "auc": drift.difference.auc,
            "p_value": drift.difference.p_value,
            "called_before": drift.called_before,
            "called_now": drift.called_now,
            "advice": drift.advice,
            "lost_columns": [each._asdict() for each in lost],
            "columns": [each._asdict() for each in drift.difference.columns],
        }
        print(json.dumps(found))
    else:
        for each in lost:
            print(f"{each}: before all else, look at where the rows come from")
        print(drift)
        said = {each.name for each in lost}
        others = [each for each in drift.difference.certain if each.name not in said]
        for each in others[:_SHOWN_COLUMNS]:
            print(f"  {each.name}: {each.words} (distance {each.distance:.2f})")
    if fail_on_drift and (lost or drift.advice != "keep"):
        raise Exit(3)
