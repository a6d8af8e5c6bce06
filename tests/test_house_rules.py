"""Rules that every module of both distributions keeps, and that no linter knows."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TESTS_OF = {
    ROOT / "src" / "spadework": ROOT / "tests",
    ROOT / "research" / "src" / "spadework_research": ROOT / "research" / "tests",
}
MODULES = [path for package in TESTS_OF for path in sorted(package.rglob("*.py"))]
OURS = {package.name for package in TESTS_OF}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
PRIVATE = re.compile(r"\b_(?!_)\w*")
DOCUMENTED = {"_asdict", "_exit", "_fields", "_make", "_replace"}
"""Names of the standard library that are not private for all their underscore."""

every_module = pytest.mark.parametrize(
    "path", MODULES, ids=lambda path: str(path.relative_to(ROOT))
)


def nodes(text):
    """Return all parts of a module."""
    return list(ast.walk(ast.parse(text)))


def imported(node):
    """Return the names that a statement imports, with their modules."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def is_ours(name):
    """Tell whether a full name is one of our own."""
    return name.split(".")[0] in OURS


# No function imports a module of ours


def local_imports(text):
    """Return the lines of a module on which a function imports one of our modules."""
    functions = [node for node in nodes(text) if isinstance(node, FUNCTIONS)]
    return [
        node.lineno
        for function in functions
        for node in ast.walk(function)
        if any(map(is_ours, imported(node)))
    ]


@every_module
def test_no_function_imports_a_module_of_ours(path):
    assert local_imports(path.read_text()) == [], "use spadework.lazy instead"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "import spadework\ndef f():\n    import numpy\n    from spadework import x\n",
            [4],
        ),
        ("class A:\n    def f(self):\n        import spadework_research.places\n", [3]),
        ("def f():\n    from spadeworks import x\n", []),
    ],
)
def test_local_imports_are_found(text, found):
    assert local_imports(text) == found


# Nothing is used that is private to another library


def private_imports(text):
    """Return what a module imports from other libraries by a private name."""
    names = [name for node in nodes(text) for name in imported(node)]
    return [name for name in names if not is_ours(name) and PRIVATE.search(name)]


def defined(text):
    """Return the names that a module gives to something."""
    found = set()
    for node in nodes(text):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found.add(node.attr)
    return found


def private_attributes(text, known):
    """Return the private names that a module asks objects for, but for known ones."""
    asked = [node.attr for node in nodes(text) if isinstance(node, ast.Attribute)]
    private = {name for name in asked if PRIVATE.fullmatch(name)}
    return sorted(private - DOCUMENTED - known)


@pytest.fixture(scope="module")
def our_names():
    """What is defined anywhere in our code."""
    return set().union(*(defined(path.read_text()) for path in MODULES))


@every_module
def test_no_module_uses_what_is_private_to_another_library(path, our_names):
    assert private_imports(path.read_text()) == []
    assert private_attributes(path.read_text(), our_names) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("from sklearn.tree._tree import Tree", ["sklearn.tree._tree.Tree"]),
        ("import a._b.c", ["a._b.c"]),
        ("import _thread", ["_thread"]),
        ("from a import _b, c", ["a._b"]),
        ("from __future__ import annotations", []),
        ("from spadework.x import _y", []),
    ],
)
def test_private_imports_are_found(text, found):
    assert private_imports(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("torch.ops.mkldnn._convolution(x)", ["_convolution"]),
        ("torch._C.set()", ["_C"]),
        ("pool._processes.values()", ["_processes"]),
        ("self._ours = 3\nself._ours + self._theirs()", ["_theirs"]),
        ("def _f(): ...\nmodule._f()", []),
        ("pair._replace(x=1)._asdict()", []),
        ("x.__class__", []),
    ],
)
def test_private_attributes_are_found(text, found):
    assert private_attributes(text, defined(text)) == found


# Every module has a test file of its name


def place_of_tests(path):
    """Return where the tests of a module lie."""
    for package, tests in TESTS_OF.items():
        if path.is_relative_to(package):
            return tests / path.relative_to(package).with_name(f"test_{path.name}")
    raise ValueError(f"{path} is in no package of ours")


def does_something(path):
    """Tell whether a module defines a function or a method, and is no package's front."""
    if path.name in ("__init__.py", "__main__.py"):
        return False
    return any(isinstance(node, ast.FunctionDef) for node in nodes(path.read_text()))


TESTED = [path for path in MODULES if does_something(path)]


@pytest.mark.parametrize("path", TESTED, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_has_a_test_file_of_its_name(path):
    assert place_of_tests(path).exists()


def test_files_in_a_folder_of_tests_test_a_module_each():
    """What tests no module by itself lies above them."""
    places = set(map(place_of_tests, MODULES))
    found = {path for tests in TESTS_OF.values() for path in tests.glob("*/**/test_*.py")}
    assert sorted(found - places) == []
