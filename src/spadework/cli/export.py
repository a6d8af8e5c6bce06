"""``spadework export``: one ONNX file that scores without spadework."""

import json
from pathlib import Path
from typing import Annotated

import typer

from spadework.cli import library
from spadework.cli.models import (
    Force,
    Json,
    ModelPath,
    Query,
    Quiet,
    Sources,
    hush,
    load_any,
    refuse_folders,
    refuse_inputs,
    source_of,
)
from spadework.cli.pictures import export_pictures, refuse_options
from spadework.files import check_ending, check_place


def export(
    model: ModelPath,
    sources: Sources,
    out: Annotated[Path, typer.Option("--out", "-o", help="ONNX file to write.")],
    query: Query = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Write a model as ONNX, after checking that it scores these rows the same."""
    hush(quiet)
    refuse_inputs(out, model, sources)
    check_ending(out, ".onnx")
    check_place(out, force=force)
    fitted = load_any(model)

    if not isinstance(fitted, library.table_model.TableModel):
        refuse_options("a model of pictures", query=query)
        n_compared, difference = export_pictures(fitted, sources, out)
        _say(out, n_compared, "pictures", difference, quiet=quiet, as_json=as_json)
        return
    refuse_folders(model, sources)
    sample = library.reading.read_table(
        source_of(sources), query=query, types=fitted.types, columns=fitted.columns
    )
    difference = library.export.export_onnx(fitted, out, sample=sample)
    _say(out, sample.num_rows, "rows", difference, quiet=quiet, as_json=as_json)


def _say(
    out: Path,
    n_compared: int,
    what: str,
    difference: float,
    *,
    quiet: bool,
    as_json: bool,
) -> None:
    """Say what was written, and how far its scores differ from the model's."""
    if as_json:
        found = {"out": str(out), f"n_{what}": n_compared, "difference": difference}
        print(json.dumps(found))
    elif not quiet:
        words = f"scores of {n_compared:,} {what} differ by at most {difference:.1e}"
        print(f"{out}: {words}")
