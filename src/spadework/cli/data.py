"""``spadework data``: list the benchmark's data sets and fetch their files."""

from typing import Annotated

import typer

data = typer.Typer(help="The benchmark's data sets.", no_args_is_help=True)


@data.command("list")
def list_datasets() -> None:
    """List the data sets, and where their files are."""
    from rich.console import Console
    from rich.table import Table

    from spadework.benchmark.datasets import DATASETS

    table = Table("name", "what", "files")
    for dataset in DATASETS.values():
        found = dataset.find()
        where = str(found[0].parent) if found else "not here"
        table.add_row(dataset.name, dataset.about, where)
    Console().print(table)


@data.command()
def fetch(
    name: Annotated[str, typer.Argument(help="A name from 'spadework data list'.")],
) -> None:
    """Download the files of a data set, unless they are there."""
    from spadework.benchmark.datasets import get_dataset

    for path in get_dataset(name).fetch():
        print(path)
