"""``spadework fit``: learn from a table as it is."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spadework.cli.models import (
    Force,
    Json,
    Query,
    Quiet,
    Sources,
    hush,
    new_folder,
    source_of,
)
from spadework.errors import LabelError

if TYPE_CHECKING:
    from spadework.table_model import TableModel


def fit(
    sources: Sources,
    label: Annotated[str, typer.Option("--label", "-l", help="Column of the labels.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the model.")],
    label_map: Annotated[
        str | None,
        typer.Option(
            "--map",
            help="What label values mean: 'fraud=1,ok=0'; 1 anomaly, 0 normal, -1 or "
            "empty unlabeled.",
        ),
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option(help="Column that names a row, kept beside scores; repeatable."),
    ] = None,
    ignore: Annotated[
        list[str] | None, typer.Option(help="Column not to learn from; repeatable.")
    ] = None,
    category: Annotated[
        list[str] | None,
        typer.Option(help="Column of codes that look like numbers; repeatable."),
    ] = None,
    query: Query = None,
    unlabeled: Annotated[
        list[str] | None,
        typer.Option(help="Further rows, all taken as unlabeled; repeatable."),
    ] = None,
    learner: Annotated[str, typer.Option(help="forest or network.")] = "forest",
    threshold: Annotated[
        float | None, typer.Option(help="Score above which rows are called anomalous.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Fit a model on a table with a few labels, and write it to a folder."""
    hush(quiet)
    target = new_folder(out, force=force)
    mapping = None if label_map is None else parse_map(label_map)
    from rich.console import Console

    from spadework.detector import SPADE
    from spadework.differences import find_giveaways
    from spadework.persistence import save
    from spadework.table_fitting import plan_table

    console = Console(stderr=True, quiet=quiet, soft_wrap=True)
    try:
        plan = plan_table(
            source_of(sources),
            label=label,
            label_map=mapping,
            keys=key or (),
            ignore=ignore or (),
            categories=category or (),
            query=query,
            unlabeled=source_of(unlabeled) if unlabeled else None,
        )
    except LabelError as error:
        raise LabelError(f"{error} (label_map is --map here: 'fraud=1,ok=0')") from error
    for line in plan.lines():
        console.print(line, markup=False, highlight=False)
    detector = SPADE(
        learner=learner,  # type: ignore[arg-type]  # any other name is refused by fit
        threshold="auto" if threshold is None else threshold,
        random_state=seed,
        verbose=not quiet,
    )
    model = plan.fit(detector)
    target.parent.mkdir(parents=True, exist_ok=True)
    save(model, target)
    facts, giveaways = summarize(model), find_giveaways(model)
    if as_json:
        names = [each.name for each in giveaways]
        print(json.dumps({**facts, "giveaways": names, "model": str(target)}))
        return
    console.print(f"trust:  {facts['trust']}", markup=False, highlight=False)
    console.print(
        f"calls:  {facts['share_called']:.2%} of unlabeled rows at threshold "
        f"{facts['threshold']:.3f}",
        highlight=False,
    )
    for each in giveaways:
        console.print(
            f"hint:   {each.name} alone tells labeled normals from unlabeled rows "
            f"({each.words}). If it only says when or how rows were labeled, leave it "
            f"out: --ignore {each.name}",
            markup=False,
            highlight=False,
        )
    console.print(f"model:  {target}", markup=False, highlight=False)


def parse_map(text: str) -> dict[str, int]:
    """Read ``value=label`` pairs, parted by commas."""
    mapping: dict[str, int] = {}
    for pair in text.split(","):
        value, equals, number = pair.rpartition("=")
        if not equals or number.strip() not in ("1", "0", "-1"):
            raise LabelError(
                f"--map needs pairs such as 'fraud=1,ok=0' with 1 (anomaly), 0 (normal) "
                f"or -1 (unlabeled); got {pair!r}"
            )
        mapping[value.strip()] = int(number)
    return mapping


def summarize(model: "TableModel") -> dict[str, Any]:
    """Return what a fit came to, as plain values."""
    detector, reference = model.detector, model.reference
    scores = reference.scores[reference.usual]
    return {
        "rows": model.n_rows,
        "census": detector.census_._asdict(),
        "setting": detector.setting_,
        "columns": model.encoder.roles,
        "ignored": {each.name: each.why for each in model.encoder.ignored},
        "trust": str(detector.trust_) if detector.trust_ else "not judged",
        "threshold": detector.threshold_,
        "share_called": float((scores > detector.threshold_).mean()),
    }
