"""``spadework fit``: learn from a table, or from a folder of pictures, as it is."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from spadework.cli import library
from spadework.cli.models import (
    Force,
    Json,
    Query,
    Quiet,
    SkipCorrupt,
    Sources,
    hush,
    in_words_of_the_command,
    new_folder,
    refuse_absent,
    save_into,
    source_of,
)
from spadework.cli.pictures import fit_pictures, is_folder, refuse_options
from spadework.errors import InputError, LabelError
from spadework.tables.unusable import ColumnsError

if TYPE_CHECKING:
    from spadework.table_model import TableModel


def fit(
    sources: Sources,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the model.")],
    label: Annotated[
        str | None, typer.Option("--label", "-l", help="Column of the labels of a table.")
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="Table of pictures' labels: columns file and label."),
    ] = None,
    label_map: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            help="What label values mean: 'fraud=1,ok=0'; 1 anomaly, 0 normal, -1 or "
            "empty unlabeled; repeatable.",
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
    missing: Annotated[
        list[str] | None,
        typer.Option(help="Value that means missing, besides NA and such; repeatable."),
    ] = None,
    query: Query = None,
    unlabeled: Annotated[
        list[str] | None,
        typer.Option(help="Further rows, all taken as unlabeled; repeatable."),
    ] = None,
    learner: Annotated[
        str | None,
        typer.Option(
            help="forest (default) or network; for pictures pretrained or paper."
        ),
    ] = None,
    size: Annotated[
        int | None,
        typer.Option(help="Side that pictures are resized to, 256 if not set."),
    ] = None,
    skip_corrupt: SkipCorrupt = False,
    threshold: Annotated[
        float | None, typer.Option(help="Score above which rows are called anomalous.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Random seed.", min=0)] = 0,
    force: Force = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    """Fit a model on a table, or on pictures in good/, defect/ and unlabeled/."""
    hush(quiet)
    target = new_folder(out, force=force)
    mapping = parse_map(label_map) if label_map else None
    if is_folder(sources):
        files = Path(sources[0]) / "*.csv"
        refuse_options(
            f"a folder of pictures (the files of a table would be '{files}')",
            label=label,
            key=key,
            ignore=ignore,
            category=category,
            missing=missing,
            query=query,
            unlabeled=unlabeled,
        )
        fit_pictures(
            sources[0],
            target,
            labels=labels,
            label_map=mapping,
            learner=learner,
            size=size,
            skip_corrupt=skip_corrupt,
            threshold=threshold,
            seed=seed,
            quiet=quiet,
            as_json=as_json,
        )
        return
    refuse_options("a table", labels=labels, size=size, skip_corrupt=skip_corrupt)
    if label is None:
        refuse_absent(sources)
        raise InputError(
            "a table needs --label, the name of its column of labels; pictures are given "
            "as one folder that holds good/, defect/ and unlabeled/"
        )
    from rich.console import Console

    console = Console(stderr=True, quiet=quiet, soft_wrap=True)
    try:
        plan = library.table_fitting.plan_table(
            source_of(sources),
            label=label,
            label_map=mapping,
            keys=key or (),
            ignore=ignore or (),
            categories=category or (),
            missing=missing or (),
            query=query,
            unlabeled=source_of(unlabeled) if unlabeled else None,
        )
    except LabelError as error:
        raise LabelError(in_words_of_the_command(str(error))) from error
    except ColumnsError as error:
        raise InputError(error.explain(as_options)) from error
    for line in plan.lines():
        console.print(line, markup=False, highlight=False)

    detector = library.detector.SPADE(
        learner=learner or "forest",  # type: ignore[arg-type]  # any other name is refused by fit
        threshold="auto" if threshold is None else threshold,
        random_state=seed,
        verbose=not quiet,
    )
    model = plan.fit(detector)
    save_into(target, model)
    facts, giveaways = summarize(model), library.differences.find_giveaways(model)
    if as_json:
        names = [each.name for each in giveaways]
        found = {"missing": plan.stated, "giveaways": names, "model": str(target)}
        print(json.dumps({**facts, **found}))
        return
    console.print(f"trust:  {facts['trust']}", markup=False, highlight=False)
    console.print(
        f"calls:  {facts['share_called']:.2%} of "
        f"{'unlabeled' if facts['census']['n_unlabeled'] else 'all'} rows at threshold "
        f"{facts['threshold']:.3f}",
        highlight=False,
    )
    for each in giveaways:
        console.print(
            f"hint:   {each.name} alone tells labeled normals from unlabeled rows "
            f"({each.words}). If it only says when or how rows were labeled, leave it "
            f"out: {as_options('ignore', [each.name])}",
            markup=False,
            highlight=False,
        )
    console.print(f"model:  {target}", markup=False, highlight=False)


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
