"""Rules that every module keeps, and that no linter knows."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src"
PACKAGE = "spadework"
MODULES = sorted(SOURCE.joinpath(PACKAGE).rglob("*.py"))
_PRIVATE = re.compile(r"\._(?!_)")
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


def private_names(text):
    """Return what a module imports from other libraries by a private name."""
    return [
        name
        for node in ast.walk(ast.parse(text))
        for name in full_names(node)
        if name.split(".")[0] != PACKAGE and _PRIVATE.search(name)
    ]


def full_names(node):
    """Return the names that a statement imports, with their modules."""
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return imported(node)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_module_imports_what_is_private_to_another_library(path):
    assert private_names(path.read_text()) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from sklearn.tree._tree import Tree", ["sklearn.tree._tree.Tree"]),
        ("import a._b.c", ["a._b.c"]),
        ("from a import _b, c", ["a._b"]),
        ("from __future__ import annotations", []),
        ("from spadework.x import _y", []),
    ],
)
def test_private_imports_are_found(text, found):
    assert private_names(text) == found


def test_local_imports_are_found():
    text = "import spadework\ndef f():\n    import numpy\n    from spadework import x\n"
    assert local_imports(text) == [4]
