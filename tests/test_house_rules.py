"""Rules that every module keeps, and that no linter knows."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
PACKAGE = "spadework"
BENCH = ("benchmark", "bench.py", "data.py")
MODULES = sorted(
    path
    for path in SOURCE.joinpath(PACKAGE).rglob("*.py")
    if not set(BENCH) & set(path.parts)
)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def imported(node):
    """Return the names of the modules that a statement imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return []


def local_imports(text):
    """Return the lines of a module on which a function imports one of our modules."""
    functions = [n for n in ast.walk(ast.parse(text)) if isinstance(n, FUNCTIONS)]
    return [
        node.lineno
        for function in functions
        for node in ast.walk(function)
        if any(name.split(".")[0] == PACKAGE for name in imported(node))
    ]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_function_imports_a_module_of_ours(path):
    assert local_imports(path.read_text()) == [], "use spadework.lazy instead"


def test_local_imports_are_found():
    text = "import spadework\ndef f():\n    import numpy\n    from spadework import x\n"
    assert local_imports(text) == [4]
