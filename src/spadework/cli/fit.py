"""``spadework fit``: learn from a table, or from a folder of pictures, as it is."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from spadework.cli import library, models, pictures, table_options
from spadework.errors import InputError

if TYPE_CHECKING:
    from spadework.table_model import TableModel


def fit(
    sources: models.Sources,
    out: Annotated[Path, Option("--out", "-o", help="Folder of the model.")],
    label: Annotated[
        str | None, Option("--label", "-l", help="Column of the labels of a table.")
    ] = None,
    labels: Annotated[
        Path | None, Option(help="Table of pictures' labels: columns file and label.")
    ] = None,
    label_map: table_options.LabelMap = None,
    key: table_options.Key = None,
    ignore: table_options.Ignore = None,
    category: table_options.Category = None,
    missing: table_options.Missing = None,
    query: models.Query = None,
    unlabeled: table_options.Unlabeled = None,
    learner: Annotated[
        str | None,
        Option(help="trees, network or forest; for pictures pretrained or paper."),
    ] = None,
    size: Annotated[
        int | None, Option(help="Side that pictures are resized to, 256 if not set.")
    ] = None,
    skip_corrupt: models.SkipCorrupt = False,
    threshold: Annotated[
        float | None, Option(help="Score above which rows are called anomalous.")
    ] = None,
    calls: models.Calls = None,
    cost_missed: models.CostMissed = None,
    cost_call: models.CostCall = None,
    seed: table_options.Seed = 0,
    force: models.Force = False,
    quiet: models.Quiet = False,
    as_json: models.Json = False,
) -> None:
    """Fit a model on a table, or on pictures in good/, defect/ and unlabeled/."""
    models.hush(quiet)
    target = models.new_folder(out, force=force)
    from rich.console import Console

    console = Console(
        stderr=True, quiet=quiet, soft_wrap=True, markup=False, highlight=False
    )
    own: Any = {"random_state": seed, "verbose": not quiet}
    budget = None if calls is None else models.read_calls(calls)
    log_odds = learner in (None, "trees") and not pictures.is_folder(sources)
    threshold = models.decide_by(
        threshold, budget, cost_missed, cost_call, log_odds=log_odds
    )
    own["threshold"] = "auto" if threshold is None else threshold
    if pictures.is_folder(sources):
        files = Path(sources[0]) / "*.csv"
        pictures.refuse_options(
            f"a folder of pictures (the files of a table would be '{files}')",
            label=label,
            key=key,
            ignore=ignore,
            category=category,
            missing=missing,
            query=query,
            unlabeled=unlabeled,
            calls=calls,
        )
        own["on_corrupt"] = "skip" if skip_corrupt else "refuse"
        own["size"] = library.photo_reading.DEFAULT_SIZE if size is None else size
        own["learner"] = learner or "pretrained"
        detector, facts = pictures.fit_pictures(
            sources[0],
            labels,
            table_options.parse_map(label_map) if label_map else None,
            own,
            console.print,
        )
        models.save_into(target, detector)
        if as_json:
            print(json.dumps({**facts, "model": str(target)}))
            return
        if facts["left_out"]:
            console.print(f"left out: {facts['left_out']:,} pictures that cannot be read")
        console.print(f"calls:  pictures that score above {facts['threshold']:.3f}")
        console.print(f"model:  {target}")
        return
    pictures.refuse_options(
        "a table", labels=labels, size=size, skip_corrupt=skip_corrupt
    )
    if label is None:
        models.refuse_absent(sources)
        raise InputError(
            "a table needs --label, the name of its column of labels; pictures are given "
            "as one folder that holds good/, defect/ and unlabeled/"
        )
    plan = table_options.plan_table(
        sources,
        label=label,
        label_map=label_map,
        key=key,
        ignore=ignore,
        category=category,
        missing=missing,
        query=query,
        unlabeled=unlabeled,
    )
    for line in plan.lines():
        console.print(line)
    own["learner"] = learner or "trees"
    if budget is not None:
        own["contamination" if budget < 1 else "n_calls"] = budget
    model = plan.fit(library.detector.SPADE(**own))
    models.save_into(target, model)
    facts, giveaways = summarize(model), library.differences.find_giveaways(model)
    if facts["warning"]:
        console.print(f"warning: {facts['warning']}")
    if as_json:
        names = [each.name for each in giveaways]
        found = {"missing": plan.stated, "giveaways": names, "model": str(target)}
        print(json.dumps({**facts, **found}))
        return
    console.print(f"trust:  {facts['trust']}")
    usual = "unlabeled" if facts["census"]["n_unlabeled"] else "all"
    share = f"{facts['share_called']:.2%} of {usual} rows"
    console.print(f"calls:  {share} at threshold {facts['threshold']:.3f}")
    for each in giveaways:
        console.print(
            f"hint:   {each.name} alone tells labeled normals from unlabeled rows "
            f"({each.words}). If it only says when or how rows were labeled, leave it "
            f"out: {table_options.as_options('ignore', [each.name])}"
        )
    if model.detector.calls_ is not None:
        console.print(f"expect: {model.detector.calls_}")
    console.print(f"model:  {target}")


def summarize(model: "TableModel") -> dict[str, Any]:
    """Return what a fit came to, as plain values."""
    detector, reference = model.detector, model.reference
    scores = reference.scores[reference.usual]
    calls = detector.calls_
    return {
        "rows": model.n_rows,
        "census": detector.census_._asdict(),
        "setting": detector.setting_,
        "columns": model.encoder.roles,
        "ignored": {each.name: each.why for each in model.encoder.ignored},
        "trust": str(detector.trust_) if detector.trust_ else "not judged",
        "threshold": detector.threshold_,
        "share_called": float((scores > detector.threshold_).mean()),
        "calls": None if calls is None else calls.as_plain(),
        "warning": None if calls is None else calls.warning,
    }
