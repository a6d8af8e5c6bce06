"""Pictures of the page on plots: its program is run where they belong.

``python -m spadework_research.studies.gallery`` writes ``docs/plots/*.png``.
"""

import os
import re
from pathlib import Path

import matplotlib as mpl

from spadework.errors import InputError
from spadework_research.places import checkout

_PROGRAM = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def program_of(page: str) -> str:
    """Return the program of a page, the first block of Python."""
    found = _PROGRAM.search(page)
    if found is None:
        raise InputError("the page must hold a program in a block of Python; found none")
    return found[1]


def draw(page: Path, folder: Path) -> list[Path]:
    """Run the program of a page in a folder; return the pictures there."""
    folder.mkdir(parents=True, exist_ok=True)
    program, before = program_of(page.read_text(encoding="utf-8")), Path.cwd()
    mpl.use("Agg")
    os.chdir(folder)
    try:
        exec(compile(program, str(page), "exec"), {})
    finally:
        os.chdir(before)
    return sorted(folder.glob("*.png"))


if __name__ == "__main__":
    root = checkout()
    if root is None:
        raise InputError("pictures of the docs are drawn in a checkout")
    for path in draw(root / "docs" / "plots.md", root / "docs" / "plots"):
        print(path.relative_to(root))
