"""``spadework export``: one ONNX file that scores without spadework."""

from pathlib import Path
from typing import Annotated

import typer

from spadework.cli.models import ModelPath, Query, Sources, load_model, source_of


def export(
    model: ModelPath,
    sources: Sources,
    out: Annotated[Path, typer.Option("--out", "-o", help="ONNX file to write.")],
    query: Query = None,
) -> None:
    """Write a model as ONNX, after checking that it scores these rows the same."""
    from spadework.export import export_onnx
    from spadework.tables.reading import read_table

    fitted = load_model(model)
    sample = read_table(
        source_of(sources), query=query, types=fitted.types, columns=fitted.columns
    )
    difference = export_onnx(fitted, out, sample=sample)
    print(f"{out}: scores of {sample.num_rows:,} rows differ by at most {difference:.1e}")
