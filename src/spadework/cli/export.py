"""``spadework export``: one ONNX file that scores without spadework."""

from pathlib import Path
from typing import Annotated

import typer

from spadework.cli.models import (
    ModelPath,
    Query,
    Sources,
    load_any,
    refuse_folders,
    source_of,
)
from spadework.cli.pictures import export_pictures, refuse_options


def export(
    model: ModelPath,
    sources: Sources,
    out: Annotated[Path, typer.Option("--out", "-o", help="ONNX file to write.")],
    query: Query = None,
) -> None:
    """Write a model as ONNX, after checking that it scores these rows the same."""
    fitted = load_any(model)
    from spadework.export import export_onnx
    from spadework.table_model import TableModel
    from spadework.tables.reading import read_table

    if not isinstance(fitted, TableModel):
        refuse_options("a model of pictures", query=query)
        export_pictures(fitted, sources, out)
        return
    refuse_folders(model, sources)
    sample = read_table(
        source_of(sources), query=query, types=fitted.types, columns=fitted.columns
    )
    difference = export_onnx(fitted, out, sample=sample)
    print(f"{out}: scores of {sample.num_rows:,} rows differ by at most {difference:.1e}")
