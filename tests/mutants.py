"""Which golden scores move when a constant of what ships is moved by a tenth.

``make mutants`` writes ``mutants.jsonl``, a line a constant: its value, and the first
golden cell that moves where it is a tenth more or, if none does, a tenth less. Only what
has no line yet is measured; delete lines, or the file, to measure them again.
"""

import ast
import json
import sys
from collections.abc import Iterator
from functools import cache
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

# Every measurement is a fork of this process, which therefore imports what is heavy once,
# and nothing of the library: a constant is moved while its module is loaded.
import sklearn.ensemble  # noqa: F401
import torch  # noqa: F401

SOURCE = Path(__file__).parents[1] / "src" / "spadework"
FILE = Path(__file__).with_name("mutants.jsonl")
PLACES = (
    *(
        f"{part}/*.py"
        for part in ("core", "predictor", "in_context", "learners", "images")
    ),
    *("detector.py", "labels.py"),
)
"""Where constants of the detectors that ship stand."""

NEAREST = {
    "core": ("forest", "neighbours", "network", "paper"),
    "in_context": ("in context", "default"),
    "images": ("pictures", "pictures, paper"),
}
"""Detectors that are measured first, by the part of the library that a constant is in."""

LESS, MORE = -1, 1

UNSCORED = {
    "how much is worked on at once": """
        core.budget._BITS
        core.gaussian._CHUNK_ROWS core.gaussian._SCORED_ROWS core.gaussian._ALONE
        core.gaussian._WIDE_ROWS core.matching._BATCH_CELLS core.neighbours._CHUNK_ROWS
        core.scaling._CHUNK_ROWS core.training._SCORE_ROWS core.trees._BLOCK_VALUES
        core.trees._WALKS core.trees._STEPS predictor.shapley._BLOCK_ROWS
        predictor.trees._BLOCK_ROWS predictor.trees._TURNED_ROWS
        in_context.members._CELLS_AT_ONCE['cpu'] in_context.members._CELLS_AT_ONCE['cuda']
        in_context.modules._LARGEST_BATCH in_context.modules._SHORT
        images.backbone._AT_ONCE['cpu'] images.network._SCORE_IMAGES
        images.patches._BOUND_BY images.patches._AT_ONCE images.reading._AHEAD_PER_WORKER
        images.reading.iter_photos(chunk) images.features._BATCH['cpu']
        images.features._BATCH['cuda'] images.storing.MEMORY_BYTES
        learners.one_class._CHUNK_ROWS
    """,
    "what a message shows, or a heat map": """
        images.heat._COOL(0)[0] images.heat._COOL(0)[1] images.heat._COOL(0)[2]
        images.heat._HOT(0)[0] images.heat._HOT(0)[1] images.heat._HOT(0)[2]
        images.heat._OPACITY images.heat._USUAL images.heat._ODD images.heat._SAMPLE
        images.photo_files._SHOWN images.photos._SHOWN images.reading._SHOWN
        labels._SHOWN_VALUES labels._NAMED_VALUES
        learners.label_trust.LIKE_THE_REST[0] learners.label_trust.LIKE_THE_REST[1]
    """,
    "a guard against rounding, or against what is not finite": """
        core.matching._ROUNDING core.neighbours.SAME core.pseudo_labels._SMALLEST_UNIT
        core.scaling.FARTHEST predictor.boosting.SUREST in_context.encoding._BOUNDS[0]
        in_context.encoding._BOUNDS[1] images.backbone.SHORTEST images.spotting._SMALLEST
        images.linear._SMALLEST
    """,
    "a limit beyond the tables and pictures of golden cells": """
        core.scaling._SAMPLE_ROWS predictor.boosting._SAMPLE_ROWS
        in_context.contexts.MAX_LABELED in_context.contexts.MAX_UNLABELED
        in_context.contexts.MAX_COLUMNS in_context.detector._THRESHOLD_ROWS
        learners.trees.MAX_PSEUDO_LABELED learners.trees.MAX_JUDGES
        learners.trees.MAX_LABELED learners.network.MAX_STEPS learners.network.ROW_BUDGET
        learners.one_class.SVM_MAX_ROWS images.patches.MAX_PATCHES
        images.pretrained.MAX_UNLABELED images.features.MAX_BANK_PHOTOS
        images.spotting.MAX_VIEWS images.linear.MAX_SEEN images.linear._MAX_STEPS
    """,
    "a limit that no golden cell comes within a tenth of": """
        images.features.MIN_NORMALS images.spotting.SPOTS
    """,
    "how closely a search comes to trying all, which its tests say": """
        core.matching.SEARCH_TOLERANCE core.matching.EXHAUSTIVE_CELLS
    """,
    "what a file of weights states, or training starts from": """
        in_context.modules._FIRST_LOG_ODDS in_context.modules.ModelConfig.cell_width
        in_context.modules.ModelConfig.cell_heads in_context.modules.ModelConfig.n_queries
        in_context.modules.ModelConfig.n_cell_blocks
        in_context.modules.ModelConfig.n_inducing
        in_context.modules.ModelConfig.n_identity in_context.modules.ModelConfig.row_heads
        in_context.modules.ModelConfig.n_row_blocks
        in_context.modules.ModelConfig.expansion
        in_context.modules.ModelConfig.n_share_bins
    """,
    "how long training on pictures takes, which wants a GPU; its tests state it": """
        images.training.ImageTraining.batch_size images.training.ImageTraining.max_epochs
        images.training.ImageTraining.patience images.training.ImageTraining.epoch_steps
    """,
    "pseudo-labels of photos, which are there to be looked at": """
        images.pretrained.N_AXES images.pretrained.LABELER(1)
    """,
    "settings of ablations, which ship for comparison": """
        detector.PAPER_ABLATIONS['no_ensemble']['n_members']
        detector.PAPER_ABLATIONS['no_self_supervision']['learner__beta']
    """,
    "the name of a state, or a count": """
        core.budget._SIGN(0) core.pseudo_labels.BOTH
        learners.network.NetworkLearner.n_layers
    """,
    "what files may hold": """
        core.trees.MAX_DEPTH predictor.trees.MAX_DEPTH
    """,
    "files and sizes of photos, which are arrays here": """
        images.decoding._ORIENTATION images.decoding._MAX_GREY
        images.decoding._DRAFT_FACTOR images.decoding._REDUCING_GAP
        images.detector.SMALLEST_SIZE images.detector.LARGEST_SIZE
        images.reading.DEFAULT_SIZE
    """,
}
"""Why some constants move no score, with their names."""


class Constant(NamedTuple):
    """A number at the top of a module or a class, or a default of a parameter."""

    module: str
    name: str
    value: str
    place: tuple[int, int, int, int]
    """Its first line and column and those behind it, lines from 0."""


class Moved(SourceFileLoader):
    """Load a module with one of its constants moved by a tenth."""

    def __init__(self, constant: Constant, direction: int) -> None:
        super().__init__(constant.module, str(path_of(constant.module)))
        self.constant, self.direction = constant, direction

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """Be the finder of this module, too."""
        mine = name == self.constant.module
        return spec_from_file_location(name, self.path, loader=self) if mine else None

    def get_code(self, fullname: str) -> Any:
        """Compile the module, with other text where the constant stands."""
        first, left, last, right = self.constant.place
        lines = Path(self.path).read_text().splitlines(keepends=True)
        value = moved_by_a_tenth(self.constant.value, self.direction)
        lines[first : last + 1] = [lines[first][:left] + value + lines[last][right:]]
        return compile("".join(lines), self.path, "exec")


def excused() -> dict[str, str]:
    """Return why constants move no score, by module and name."""
    return {
        f"spadework.{name}": why
        for why, names in UNSCORED.items()
        for name in names.split()
    }


@cache
def constants() -> list[Constant]:
    """Return every constant, by module and line."""
    paths = sorted(path for place in PLACES for path in SOURCE.glob(place))
    return [constant for path in paths for constant in constants_of(path)]


def constants_of(path: Path) -> Iterator[Constant]:
    """Give the constants of a module."""
    module = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
    for name, value in _named_values(ast.parse(path.read_text())):
        for label, node in _numbers(name, value):
            place = (node.lineno - 1, node.col_offset)
            end = (node.end_lineno - 1, node.end_col_offset)
            yield Constant(module, label, ast.unparse(node), (*place, *end))


def path_of(module: str) -> Path:
    """Return the file of a module."""
    return SOURCE.joinpath(*module.split(".")[1:]).with_suffix(".py")


def moved_by_a_tenth(value: str, direction: int) -> str:
    """Return a tenth less or more than a number; of integers at least one."""
    number = eval(value)  # an expression of numbers alone
    step = abs(number) / 10 or 0.1
    return repr(
        number + direction * (max(1, round(step)) if isinstance(number, int) else step)
    )


def read() -> list[dict[str, Any]]:
    """Read what moved, a record a constant."""
    return [json.loads(line) for line in FILE.read_text().splitlines()]


def as_measured() -> dict[tuple[str, ...], Any]:
    """Measure the golden cells here and now, by name; in a process of its own."""
    import golden

    return {tuple(cell): tuple(golden.measure(cell)) for cell in golden.CELLS}


def first_moved(task: tuple[Constant, int, dict[tuple[str, ...], Any]]) -> str | None:
    """Name the first cell that a moved constant moves or breaks; in its own process."""
    constant, direction, kept = task
    sys.meta_path.insert(0, Moved(constant, direction))
    import golden

    nearest = NEAREST.get(constant.module.split(".")[1], ())
    for cell in sorted(golden.CELLS, key=lambda cell: cell.detector not in nearest):
        try:
            moved = golden.moved(golden.Golden(*kept[tuple(cell)]), golden.measure(cell))
        except Exception as error:
            moved = f"{type(error).__name__}"
        if moved:
            return f"{', '.join(cell)}: {moved}"
    return None


def main(n_processes: int) -> None:
    """Measure all constants without a line, each in a fork, and write a line for each."""
    read_ones = read() if FILE.exists() else []
    known = {(line["module"], line["name"], line["value"]): line for line in read_ones}
    with get_context("fork").Pool(n_processes, maxtasksperchild=1) as pool:
        kept = pool.apply(as_measured)
        for direction, said in ((MORE, "a tenth more"), (LESS, "a tenth less")):
            unmoved = [c for c in wanted() if is_open(known.get(c[:3]), direction)]
            tasks = [(constant, direction, kept) for constant in unmoved]
            for constant, moved in zip(
                unmoved, pool.imap(first_moved, tasks, chunksize=1), strict=True
            ):
                line = dict(zip(("module", "name", "value"), constant, strict=False))
                line["moved"] = moved and f"{said}: {moved}"
                known[constant[:3]] = line
                sys.stdout.write(f"{json.dumps(line)}\n")
                sys.stdout.flush()
                write([known[c[:3]] for c in wanted() if c[:3] in known])


def is_open(line: dict[str, Any] | None, direction: int) -> bool:
    """Tell whether a constant with such a line, or none, is to be moved so."""
    return line is None if direction == MORE else bool(line) and not line["moved"]


def wanted() -> list[Constant]:
    """Return the constants that are not excused."""
    return [c for c in constants() if f"{c.module}.{c.name}" not in excused()]


def write(lines: list[dict[str, Any]]) -> None:
    """Write what moved, a line a constant."""
    FILE.write_text("".join(json.dumps(line) + "\n" for line in lines))


def _named_values(scope: Any, owner: str = "") -> Iterator[tuple[str, ast.expr]]:
    """Give the values that a module or a class and its signatures name, with names."""
    for line in scope.body:
        match line:
            case ast.Assign(targets=[target], value=value):
                yield from _unpacked(owner, target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                yield f"{owner}{ast.unparse(target)}", value
            case ast.ClassDef(name=name):
                yield from _named_values(line, f"{owner}{name}.")
            case ast.FunctionDef(name=name, args=arguments):
                yield from _defaults(f"{owner}{name}", arguments)


def _defaults(owner: str, arguments: ast.arguments) -> Iterator[tuple[str, ast.expr]]:
    places = [*arguments.posonlyargs, *arguments.args]
    named = zip(reversed(places), reversed(arguments.defaults), strict=False)
    keywords = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    for argument, value in [*named, *keywords]:
        if value is not None:
            yield f"{owner}({argument.arg})", value


def _unpacked(
    owner: str, target: ast.expr, value: ast.expr
) -> Iterator[tuple[str, ast.expr]]:
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for each, its in zip(target.elts, value.elts, strict=True):
            yield from _unpacked(owner, each, its)
    else:
        yield f"{owner}{ast.unparse(target)}", value


def _numbers(name: str, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Give a number, or those in a tuple, list, dictionary or call, with their names."""
    if _is_number(value):
        yield name, value
    elif isinstance(value, ast.Tuple | ast.List):
        for i, each in enumerate(value.elts):
            yield from _numbers(f"{name}[{i}]", each)
    elif isinstance(value, ast.Dict):
        for key, each in zip(value.keys, value.values, strict=True):
            yield from _numbers(f"{name}[{ast.unparse(key) if key else '**'}]", each)
    elif isinstance(value, ast.Call):
        for i, each in enumerate([*value.args, *(k.value for k in value.keywords)]):
            yield from _numbers(f"{name}({i})", each)


def _is_number(value: ast.expr) -> bool:
    match value:
        case ast.Constant(value=number):
            return type(number) in (int, float)
        case ast.UnaryOp(operand=operand):
            return _is_number(operand)
        case ast.BinOp(left=left, right=right):
            return _is_number(left) and _is_number(right)
    return False


if __name__ == "__main__":
    main(int(sys.argv[1]))
