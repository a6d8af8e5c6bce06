"""``spadework evaluate``: what to expect, from labels alone."""

import json
from typing import Annotated, Any

from typer import Option

from spadework.cli import library, models, table_options
from spadework.errors import InputError


def evaluate(
    sources: models.Sources,
    label: Annotated[str, Option("--label", "-l", help="Column of the labels.")],
    label_map: table_options.LabelMap = None,
    key: table_options.Key = None,
    ignore: table_options.Ignore = None,
    category: table_options.Category = None,
    missing: table_options.Missing = None,
    query: models.Query = None,
    unlabeled: table_options.Unlabeled = None,
    learner: Annotated[str, Option(help="trees, network or forest.")] = "trees",
    folds: Annotated[int, Option(help="Fits, each with other labels hidden.", min=2)] = 5,
    budget: Annotated[
        models.Some,
        Option(help="Share of the rows that you can look at, as 2%; repeatable."),
    ] = None,
    learning_curve: Annotated[
        bool,
        Option("--learning-curve", help="Tell what more labels would bring: more fits."),
    ] = False,
    scenarios: Annotated[
        bool,
        Option(
            "--scenarios",
            help="For a table labeled in full: hide labels in each of the usual ways.",
        ),
    ] = False,
    seed: table_options.Seed = 0,
    quiet: models.Quiet = False,
    as_json: models.Json = False,
) -> None:
    """Estimate how well a model would do, by labels that its fits have not seen."""
    models.hush(quiet)
    budgets = [read_share(text) for text in budget or ()]
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
    own: Any = {"learner": learner, "random_state": seed, "verbose": False}
    detector = library.detector.SPADE(**own, label_map=library.labels.STATED)
    X, verbose = plan.encoder.encode(plan.table), not quiet
    if scenarios:
        found = library.evaluation.compare_scenarios(
            detector, X, plan.labels, verbose=verbose
        )
        plain: Any = {name: each._asdict() for name, each in found.items()}
        lines = library.evaluation.told_by_scenario(found)
    else:
        result = library.evaluation.cross_validate_labels(
            detector,
            X,
            plan.labels,
            n_folds=folds,
            budgets=budgets or library.evaluation.BUDGETS,
            learning_curve=learning_curve,
            random_state=seed,
            verbose=verbose,
        )
        plain, lines = result.as_dict(), [f"labels: {result.census}", *result.lines()]
    print(json.dumps(plain) if as_json else "\n".join(lines))


def read_share(text: str) -> float:
    """Read a share of the rows, such as 2% or 0.02.

    >>> read_share("2%"), read_share("0.02")
    (0.02, 0.02)
    """
    number = text.strip().removesuffix("%")
    try:
        share = float(number) / (100 if "%" in text else 1)
    except ValueError:
        share = 0.0
    if not 0 < share < 1:
        raise InputError(
            f"--budget needs a share of the rows, such as 2% or 0.02; got {text!r}"
        )
    return share
