"""``spadework data``: list the benchmark's data sets and fetch their files."""

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from spadework_research.datasets.catalog import DATASETS, ImageDataset, get_dataset
from spadework_research.datasets.photo_sets import MVTEC_CATEGORIES

data = typer.Typer(
    help="The data sets of the comparisons.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@data.command("list")
def list_datasets() -> None:
    """List the data sets, and where their files are."""
    table = Table("name", "type", "what")
    table.add_column("files", overflow="fold")
    absent: list[str] = []
    for dataset in DATASETS.values():
        found = dataset.find()
        if found is None and dataset.name.startswith("mvtec_ad/"):
            absent.append(dataset.name.removeprefix("mvtec_ad/"))
        elif isinstance(dataset, ImageDataset):
            where = str(found[0]) if found else "not here"
            table.add_row(dataset.name, "images", dataset.about, where)
        else:
            where = str(found[0].parent) if found else "not here"
            table.add_row(dataset.name, "table", dataset.about, where)
    if absent:
        about = (
            f"{len(absent)} of {len(MVTEC_CATEGORIES)} categories: {', '.join(absent)}"
        )
        table.add_row("mvtec_ad/...", "images", about, "not here")
    Console(markup=False).print(table)


@data.command()
def fetch(
    name: Annotated[str, typer.Argument(help="A name from 'spadework data list'.")],
) -> None:
    """Download the files of a data set, or say where to get them by hand."""
    for path in get_dataset(name).fetch():
        print(path)
