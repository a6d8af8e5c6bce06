"""Model folders of the command line: where a model lies, and what is in it."""

import logging
import re
from contextlib import suppress
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from spadework.cli import library
from spadework.errors import InputError, ModelFileError
from spadework.files import MODEL_FILE, model_file, refuse_to_replace

if TYPE_CHECKING:
    from spadework.images.detector import ImageSPADE
    from spadework.table_model import TableModel

ModelPath = Annotated[Path, typer.Argument(help="Folder that 'spadework fit' wrote.")]
Sources = Annotated[
    list[str],
    typer.Argument(
        help="Files (CSV, TSV, Parquet, Arrow; also .gz, .zst), globs, '-' for standard "
        "input, or a database URL (sqlite:///file.db, postgresql://host/name); or a "
        "folder of pictures."
    ),
]
Some = list[str] | None
Query = Annotated[
    str | None, typer.Option(help="What to ask the database: a SELECT statement.")
]
Calls = Annotated[
    str | None,
    typer.Option(help="Call so many rows, such as 200, or a share of them, such as 2%."),
]
CostMissed = Annotated[
    float | None,
    typer.Option(help="What an anomaly costs that is missed; with --cost-call."),
]
CostCall = Annotated[
    float | None,
    typer.Option(
        help="What it costs to look at a called row: call where it is worth it."
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say only what went wrong.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
SkipCorrupt = Annotated[
    bool, typer.Option("--skip-corrupt", help="Leave out pictures that cannot be read.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace what is there.")]


def hush(quiet: bool) -> None:
    """Keep log lines to warnings where the user wants to hear nothing else."""
    if quiet:
        logging.getLogger("spadework").setLevel(logging.WARNING)


def in_words_of_the_command(text: str) -> str:
    """Write label maps as options.

    >>> in_words_of_the_command("Say which with label_map: {1: 1, 'ok': 0}, or not")
    'Say which with --map 1=1,ok=0, or not'
    """
    text = text.replace("label_map: ", "").replace("label_map", "--map")

    def as_option(found: re.Match[str]) -> str:
        return "--map " + found[1].replace("'", "").replace(": ", "=").replace(", ", ",")

    return re.sub(r"\{(.*?)\}", as_option, text)


def read_calls(text: str) -> float:
    """Read a number of rows to call or, below 1, a share of them.

    >>> read_calls("200"), read_calls("2%")
    (200, 0.02)
    """
    is_share = text.endswith("%")
    try:
        number = float(text.removesuffix("%"))
    except ValueError:
        number = 0.0
    if is_share and 0 < number < 100:
        return number / 100
    if is_share or number < 1 or not number.is_integer():
        raise InputError(
            f"--calls needs a whole number of rows, such as 200, or a share of them "
            f"between 0% and 100%, such as 2%; got {text!r}"
        )
    return int(number)


def decide_by(
    threshold: float | None,
    budget: object,
    cost_missed: float | None,
    cost_call: float | None,
    *,
    log_odds: bool,
) -> float | None:
    """Return the threshold that is given, or that costs come to; None for a budget.

    Costs need scores that are log-odds.
    """
    if (cost_missed is None) != (cost_call is None):
        raise InputError("--cost-missed and --cost-call need each other")
    given = {"--threshold": threshold, "a budget of calls": budget, "costs": cost_call}
    named = [name for name, value in given.items() if value is not None]
    if len(named) > 1:
        raise InputError(f"give {' or '.join(named)}, and not both")
    if cost_missed is None or cost_call is None:
        return threshold
    if not log_odds:
        raise InputError(
            "costs need probabilities, which only models of tables by --learner trees "
            "give; give --threshold or --calls"
        )
    return library.calls.cost_threshold(cost_missed, cost_call)


def source_of(sources: list[str]) -> str | list[str]:
    """Return the one source, or all of several files."""
    return sources[0] if len(sources) == 1 else sources


def new_folder(folder: Path, *, force: bool) -> Path:
    """Return where a model goes, unless another one is there."""
    target = folder / MODEL_FILE
    if not folder.is_dir() and (folder.exists() or folder.is_symlink()):
        raise InputError(f"{folder} is a file; name a folder for the model")
    above = next(each for each in folder.absolute().parents if each.exists())
    if not above.is_dir():
        raise InputError(f"{above} is a file; no folder for the model can be made in it")
    refuse_to_replace(target, force=force)
    if target.exists():
        library.persistence.refuse_other_file(target)
    return target


def refuse_inputs(out: Path, model: Path, sources: list[str]) -> None:
    """Refuse to write over what is read, whatever is wanted."""
    named = [Path(each) for source in sources for each in (source, *glob(source))]
    for each in (model_file(model), *named):
        if out.exists() and each.exists() and out.samefile(each):
            raise InputError(f"{out} is read, and left as it is; name another file")


def save_into(target: Path, model: "TableModel | ImageSPADE") -> None:
    """Write a model and the folder it goes into, both or neither."""
    folder = target.parent
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        library.persistence.save(model, target)
    except BaseException:
        if is_new:
            with suppress(OSError):
                folder.rmdir()
        raise


def load_model(folder: Path, sources: list[str]) -> "TableModel":
    """Load the model of a table; refuse one of pictures, and pictures for it."""
    model = load_any(folder)
    if not isinstance(model, library.table_model.TableModel):
        raise ModelFileError(
            f"{folder} was fitted on pictures, and this command is for tables. Pictures "
            f"have spadework score --heat-maps, spadework report and spadework export"
        )
    refuse_folders(folder, sources)
    return model


def refuse_absent(sources: list[str]) -> None:
    """Refuse a name without an ending under which nothing is to be found."""
    for source in sources:
        named = "://" in source or source == "-" or Path(source).suffix
        if not named and not Path(source).exists() and not glob(source):
            raise InputError(f"{source} does not exist; expected a table or a folder")


def refuse_folders(model: Path, sources: list[str]) -> None:
    """Refuse a folder of pictures where a table is expected."""
    for source in sources:
        if Path(source).is_dir():
            raise InputError(
                f"{model} was fitted on a table and {source} is a folder: give files, or "
                f"a glob in quotes such as '{Path(source) / '*.csv'}'"
            )


def load_any(folder: Path) -> "TableModel | ImageSPADE":
    """Load the model of a folder, or a model file itself: of a table or of pictures."""
    path = model_file(folder)
    if not path.is_file():
        raise ModelFileError(
            f"there is no model at {path}. Make one with spadework fit ... -o {folder}"
        )
    try:
        model = library.persistence.load(path)
    except OSError as error:
        raise ModelFileError(f"{path} cannot be read: {error}") from error
    if type(model).__name__ not in ("TableModel", "ImageSPADE"):
        raise ModelFileError(
            f"{path} was fitted on a matrix in Python and knows no columns; load it "
            f"there with spadework.load"
        )
    return cast("TableModel | ImageSPADE", model)
