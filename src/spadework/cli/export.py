"""``spadework export``: one ONNX file that scores without spadework."""

import json
from pathlib import Path
from typing import Annotated

from typer import Option

from spadework.cli import library, models, pictures
from spadework.files import check_ending, check_place

_COMPARED = 64
"""Pictures, at most, that an exported graph is compared on."""


def export(
    model: models.ModelPath,
    sources: models.Sources,
    out: Annotated[Path, Option("--out", "-o", help="ONNX file to write.")],
    query: models.Query = None,
    force: models.Force = False,
    quiet: models.Quiet = False,
    as_json: models.Json = False,
) -> None:
    """Write a model as ONNX, after checking that it scores these rows the same."""
    models.hush(quiet)
    models.refuse_inputs(out, model, sources)
    check_ending(out, ".onnx")
    check_place(out, force=force)
    fitted = models.load_any(model)
    if isinstance(fitted, library.table_model.TableModel):
        models.refuse_folders(model, sources)
        sample = library.reading.read_table(
            models.source_of(sources),
            query=query,
            types=fitted.types,
            columns=fitted.columns,
        )
        difference = library.export.export_onnx(fitted, out, sample=sample)
    else:
        pictures.refuse_options("a model of pictures", query=query)
        with pictures.words_of_the_command():
            paths = pictures.find_pictures(sources).paths
            sample = list(paths[:: -(-len(paths) // _COMPARED)])
            difference = library.export.export_onnx(fitted, out, sample=sample)
    what = "pictures" if isinstance(sample, list) else "rows"
    if as_json:
        found = {"out": str(out), f"n_{what}": len(sample), "difference": difference}
        print(json.dumps(found))
    elif not quiet:
        words = f"scores of {len(sample):,} {what} differ by at most {difference:.1e}"
        print(f"{out}: {words}")
